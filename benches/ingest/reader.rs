//! The processes that are measured: each reads one watch of the API server.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, fs, thread};

/// A process, which is killed at the end.
pub(crate) struct Reader {
    child: Child,
    /// The address on which it serves
    pub(crate) address: String,
    _files: Option<tempfile::TempDir>,
}

impl Reader {
    /// `podinit serve`, which waits for the API server at `address`.
    pub(crate) fn podinit(api_server: SocketAddr, encoding: &str, state: bool) -> Self {
        let files = tempfile::tempdir().unwrap();
        let kubeconfig = files.path().join("kubeconfig");
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: \"http://{api_server}\"}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
        );
        fs::write(&kubeconfig, text).unwrap();
        let program = env::var("PODINIT_BIN");
        let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_podinit").to_owned());
        let mut command = Command::new(program);
        if state {
            command.env("PODINIT_STATE_DIR", files.path().join("state"));
        }
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--label-cap", "100000"])
            .args(["--api-encoding", encoding, "--kubeconfig"])
            .arg(kubeconfig)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut lines = log.lines().map_while(Result::ok);
        let address = lines.find_map(|line| {
            let address = line.split("address=").nth(1)?;
            Some(address.split(' ').next()?.to_owned())
        });
        // What else it logs is read, so that it never waits.
        thread::spawn(move || lines.for_each(|line| eprintln!("{line}")));
        Self {
            child,
            address: address.expect("podinit says where it listens"),
            _files: Some(files),
        }
    }

    /// `curl`, which throws away what it reads; `None` where there is none.
    pub(crate) fn curl(api_server: SocketAddr, encoding: &str) -> Option<Self> {
        let accept = match encoding {
            "json" => "Accept: application/json",
            _ => "Accept: application/vnd.kubernetes.protobuf;stream=watch",
        };
        let url = format!("http://{api_server}/api/v1/pods?watch=1");
        let child = Command::new("curl")
            .args(["-s", "-N", "-H", accept, "-o"])
            .arg(Path::new("/dev/null"))
            .arg(url)
            .spawn()
            .ok()?;
        Some(Self { child, address: String::new(), _files: None })
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
