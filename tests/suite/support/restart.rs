//! podinit with a state directory, as its own process in front of a simulated cluster.

pub mod load;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use podinit_sim::{ClusterConfig, SimulatedCluster};

use crate::support::PATIENCE;
use crate::support::process::KilledChild;
use crate::support::scrape::Scrape;

/// Between two questions to a process that can only be asked.
const PAUSE: Duration = Duration::from_millis(10);

/// A cluster that the test moves by hand, and a directory for the process that watches it.
pub struct World {
    pub cluster: SimulatedCluster,
    pub dir: tempfile::TempDir,
}

impl World {
    pub async fn start() -> Self {
        let config = ClusterConfig {
            stepped: false,
            start: None,
            history: 1_000_000,
            ..ClusterConfig::manual()
        };
        Self::of(SimulatedCluster::start(config).await.unwrap())
    }

    pub fn of(cluster: SimulatedCluster) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let world = Self { cluster, dir };
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: sim\n\
             clusters: [{{name: sim, cluster: {{server: \"{}\"}}}}]\n\
             contexts: [{{name: sim, context: {{cluster: sim, user: sim}}}}]\n\
             users: [{{name: sim, user: {{}}}}]\n",
            world.cluster.url()
        );
        std::fs::write(world.kubeconfig(), kubeconfig).unwrap();
        world
    }

    pub fn state_dir(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    pub fn checkpoint(&self) -> PathBuf {
        self.state_dir().join("checkpoint")
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.path().join("kubeconfig")
    }

    pub fn command(&self) -> Command {
        self.command_in(&self.state_dir())
    }

    pub fn command_in(&self, state_dir: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_podinit"));
        command.env_clear();
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command.arg("--kubeconfig").arg(self.kubeconfig());
        command.arg("--state-dir").arg(state_dir);
        command
    }

    pub fn podinit(&self) -> Exporter {
        Exporter::spawn(&mut self.command())
    }
}

/// A process. Killed when it is dropped.
pub struct Exporter {
    process: KilledChild,
    address: Option<String>,
    log: mpsc::Receiver<String>,
}

impl Exporter {
    pub fn spawn(command: &mut Command) -> Self {
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let (sender, log) = mpsc::channel();
        // Ends with the process.
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { process: KilledChild(process), address: None, log }
    }

    /// Where it listens, once it says so; `None` if it ends, or is killed, before that.
    pub fn address(&mut self) -> Option<&str> {
        while self.address.is_none() {
            let line = self.log.recv().ok()?;
            self.read(&line);
        }
        self.address.as_deref()
    }

    /// Whether it has said where it listens.
    pub fn listens(&mut self) -> bool {
        while self.address.is_none() {
            let Ok(line) = self.log.try_recv() else {
                return false;
            };
            self.read(&line);
        }
        true
    }

    fn read(&mut self, line: &str) {
        if let Some((_, address)) = line.split_once("address=") {
            let address = address.split_whitespace().next().unwrap();
            self.address = Some(address.to_owned());
        }
    }

    /// The next line of its log that holds `text`.
    pub fn says(&mut self, text: &str) -> String {
        let mut last = String::new();
        loop {
            let line = self.log.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("it never says {text:?}, but last {last:?}"));
            if line.contains(text) {
                return line;
            }
            last = line;
        }
    }

    /// A scrape; an error where the process cannot be asked.
    pub fn scrape(&mut self) -> Scrape {
        let address = self.address().expect("it listens").to_owned();
        scrape(&address).expect("it answers")
    }

    /// The startups that a list of the API answers with.
    pub fn startups(&mut self, path: &str) -> Vec<serde_json::Value> {
        let address = self.address().expect("it listens").to_owned();
        let (head, body) = get(&address, path).expect("it answers");
        assert!(is_success(&head), "{head}");
        let page: serde_json::Value = serde_json::from_str(&body).unwrap();
        page["items"].as_array().unwrap().clone()
    }

    /// The body of a path, once it holds `text`.
    pub fn until_says(&mut self, path: &str, text: &str) -> String {
        let address = self.address().expect("it listens").to_owned();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (_, body) = get(&address, path).expect("it answers");
            if body.contains(text) {
                return body;
            }
            assert!(Instant::now() < deadline, "{path} never says {text:?}: {body}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Scrapes until it shows what is wanted.
    pub fn until(&mut self, what: &str, wanted: impl Fn(&Scrape) -> bool) -> Scrape {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let seen = self.scrape();
            if wanted(&seen) {
                return seen;
            }
            assert!(Instant::now() < deadline, "it never shows {what}: {seen:?}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until it is in sync and has accounted for all that there was, and scrapes it then.
    pub fn until_synced(&mut self) -> Scrape {
        let address = self.address().expect("it listens").to_owned();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = get(&address, "/readyz");
            if answer.as_ref().is_some_and(|(head, _)| is_success(head)) {
                break;
            }
            assert!(Instant::now() < deadline, "it is never ready: {answer:?}");
            std::thread::sleep(PAUSE);
        }
        self.until("that it is in sync", |seen| seen.value("podinit_synced") == Some(1.0))
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// SIGTERM, and whether it has ended in good order.
    pub fn terminate(mut self) -> bool {
        self.process.terminate()
    }
}

/// What a process shows that listens at `address`, if it answers to the end.
pub fn scrape(address: &str) -> Option<Scrape> {
    let (head, body) = get(address, "/metrics")?;
    assert!(is_success(&head), "{head}");
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then_some(value)
    });
    // Killed while it answered.
    (length.and_then(|length| length.parse().ok()) == Some(body.len()))
        .then(|| Scrape::parse(&body))
}

/// The head and the body of an answer, as far as it came.
fn get(address: &str, path: &str) -> Option<(String, String)> {
    let answer = super::get(address, path).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.to_owned(), body.to_owned()))
}

fn is_success(head: &str) -> bool {
    head.starts_with("HTTP/1.1 200 ")
}

/// The files in a state directory.
pub fn files(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
