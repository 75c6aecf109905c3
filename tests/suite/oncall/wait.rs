//! `podinit wait` on a cluster that rolls out Deployments as Kubernetes does.

use std::io::{BufRead, BufReader, Read};
use std::process::{Output, Stdio};
use std::time::Duration;

use podinit_sim::deployment::{DeploymentSpec, PodTemplate};
use podinit_sim::image::ContainerImage;
use podinit_sim::object::ServedKind;
use podinit_sim::profile::LifeKind;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::{Value, json};

use crate::support::doctor::Kubeconfig;
use crate::support::output::one_line;
use crate::support::process::{KilledChild, podinit, run_beside};

const FIRST: ContainerImage =
    ContainerImage { name: "registry.example.com/shop/cart:1.9.0", bytes: 90_000_000 };
const NEXT: ContainerImage =
    ContainerImage { name: "registry.example.com/shop/cart:2.0.0", bytes: 90_000_000 };

/// A cluster that a test steps, and how commands find it.
struct World {
    cluster: SimulatedCluster,
    kubeconfig: Kubeconfig,
}

fn cart() -> DeploymentSpec {
    DeploymentSpec::new("shop", "cart", 3, FIRST)
}

fn next(template: PodTemplate) -> DeploymentSpec {
    DeploymentSpec { template, ..cart() }
}

/// Nobody can pull its image.
fn wrong_tag() -> PodTemplate {
    PodTemplate { life: LifeKind::BadTag, ..good() }
}

fn good() -> PodTemplate {
    PodTemplate { image: NEXT, ..cart().template }
}

impl World {
    /// One in which the Deployment `cart` has been rolled out.
    async fn new() -> Self {
        let config = ClusterConfig { images_present: true, ..ClusterConfig::manual() };
        let cluster = SimulatedCluster::start(config).await.unwrap();
        let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
        let world = Self { cluster, kubeconfig };
        world.cluster.deploy(cart());
        world.pass(300);
        world
    }

    fn pass(&self, seconds: u64) {
        (0..seconds).for_each(|_| _ = self.cluster.step(Duration::from_secs(1)));
    }

    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let own = ["wait", "--kubeconfig", self.kubeconfig.path().to_str().unwrap(), "-n", "shop"];
        // The clock of the cluster is not that of the machine, which is said.
        let log = if args.contains(&"--log-level") { &[][..] } else { &["--log-level", "error"] };
        [&own[..], args, log].concat()
    }

    async fn wait(&self, args: &[&str]) -> Output {
        run_beside(&self.args(args)).await
    }

    async fn answer(&self, args: &[&str]) -> Value {
        let output = self.wait(&[args, &["-o", "json"]].concat()).await;
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(answer["status"], json!(output.status.code()), "{answer}");
        answer
    }

    /// Waits beside the test, and reads a first line of what happens.
    async fn begin(&self, args: &[&str]) -> Waiting {
        let mut command = podinit(self.args(args));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        tokio::task::spawn_blocking(move || {
            let mut child = KilledChild(command.spawn().unwrap());
            let mut said = BufReader::new(child.stderr.take().unwrap());
            let mut first = String::new();
            said.read_line(&mut first).unwrap();
            Waiting { child, first, said: Box::new(said) }
        })
        .await
        .unwrap()
    }
}

/// A wait beside the test.
struct Waiting {
    child: KilledChild,
    first: String,
    said: Box<dyn BufRead + Send>,
}

impl Waiting {
    /// Lets time pass until it ends. Its status, its answer, and what it said meanwhile.
    async fn end(mut self, world: &World) -> (Option<i32>, String, String) {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            world.pass(1);
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        let (mut answer, mut said) = (String::new(), self.first);
        self.child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
        self.said.read_to_string(&mut said).unwrap();
        (status.code(), answer, said)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_rolled_out_is_done_at_once() {
    let world = World::new().await;
    let answer = world.answer(&["deploy/cart"]).await;
    assert_eq!((&answer["outcome"], &answer["status"]), (&json!("done"), &json!(0)));
    let target = &answer["targets"][0];
    assert_eq!(target["pods"], json!({"wanted": 3, "ready": 3, "old": 0}));
    assert_eq!([&target["target"], &target["namespace"]], ["deployment/cart", "shop"]);
    let sentence = target["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("deployment/cart is rolled out after ")
            && sentence.contains("3 of 3 pods of the new revision ready; the slowest, cart-"),
        "{sentence}"
    );
    assert_eq!(target["slowest"]["pod"].as_str().unwrap().split('-').next(), Some("cart"));
    // So many pods of a selector, and one of them.
    let pods = world.answer(&["-l", "app.kubernetes.io/name=cart", "--pods", "3"]).await;
    assert_eq!(pods["outcome"], "done", "{pods}");
    let name = format!("pod/{}", target["slowest"]["pod"].as_str().unwrap());
    assert_eq!(world.answer(&[&name]).await["outcome"], "done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollout_is_followed_to_its_end() {
    let world = World::new().await;
    world.cluster.deploy(next(good()));
    let waiting = world.begin(&["deploy/cart"]).await;
    assert!(waiting.first.starts_with("deployment/cart: "), "{}", waiting.first);
    let (status, answer, said) = waiting.end(&world).await;
    assert_eq!(status, Some(0), "{said}{answer}");
    assert!(answer.starts_with("deployment/cart is rolled out after "), "{answer}");
    assert!(answer.contains("; the slowest, cart-") && answer.lines().count() == 1, "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_is_not_there_is_said_and_given_up() {
    let world = World::new().await;
    world.cluster.deploy(next(wrong_tag()));
    world.pass(300);
    let answer = world.answer(&["deploy/cart", "--fail-after", "1s"]).await;
    assert_eq!((&answer["outcome"], &answer["status"]), (&json!("failed"), &json!(3)));
    let target = &answer["targets"][0];
    assert_eq!(target["problems"][0]["cause"], "image");
    assert!(target["pods"]["old"].as_u64().unwrap() >= 2, "{target}");
    let output = world.wait(&["deploy/cart", "--fail-after", "1s"]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3));
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(first.contains("cannot pull image") && first.contains("Since "), "{text}");
    assert!(first.contains("deployment/cart has failed after "), "{text}");
    assert!(rest.contains("Next: kubectl -n shop events --for pod/cart-"), "{text}");
    // The same in Markdown, beside one that is done.
    world.cluster.deploy(DeploymentSpec::new("shop", "till", 1, FIRST));
    world.pass(120);
    let args = ["deploy/till", "deploy/cart", "--fail-after", "1s", "-o", "markdown"];
    let output = world.wait(&args).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.starts_with("**") && text.contains("\n**Next**: `kubectl"), "{text}");
    assert!(text.contains("deployment/till is rolled out"), "{text}");
    // With patience the time is over first.
    let args = ["deploy/cart", "--fail-after", "never", "--timeout", "1s"];
    let answer = world.answer(&args).await;
    assert_eq!((&answer["outcome"], &answer["status"]), (&json!("timed_out"), &json!(4)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_is_told_with_its_last_lines() {
    let world = World::new().await;
    world.cluster.deploy(next(PodTemplate { life: LifeKind::BadRelease, ..good() }));
    world.pass(600);
    let output = world.wait(&["deploy/cart", "--fail-after", "1s"]).await;
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("\nLast lines of container "), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_nobody_may_create_are_told_of_by_their_replica_set() {
    let world = World::new().await;
    world.cluster.refuse_pods("shop", Some("exceeded quota: small"));
    world.cluster.deploy(next(good()));
    world.pass(120);
    let answer = world.answer(&["deploy/cart", "--fail-after", "1s"]).await;
    assert_eq!(answer["status"], 3);
    let sentence = answer["targets"][0]["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("ReplicaSet cart-") && sentence.contains("exceeded quota: small"),
        "{sentence}"
    );
    let next = answer["targets"][0]["next_command"].as_str().unwrap();
    assert!(next.starts_with("kubectl -n shop describe replicaset/cart-"), "{next}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_there_is_an_error_unless_it_is_to_come() {
    let world = World::new().await;
    for target in ["deploy/other", "sts/cart", "ds/cart", "pod/cart"] {
        let output = world.wait(&[target]).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let line = one_line(&output);
        assert!(line.contains("has no ") && line.contains("--until-created"), "{line}");
    }
    let waiting = world.begin(&["deploy/other", "--until-created"]).await;
    assert!(waiting.first.contains("does not exist yet"), "{}", waiting.first);
    world.cluster.deploy(DeploymentSpec { name: "other".to_owned(), ..cart() });
    let (status, answer, _) = waiting.end(&world).await;
    assert_eq!(status, Some(0), "{answer}");
    assert!(answer.starts_with("deployment/other is rolled out"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigint_ends_it_with_130_and_what_is_known() {
    let world = World::new().await;
    world.cluster.deploy(next(wrong_tag()));
    let waiting = world.begin(&["deploy/cart", "-o", "json"]).await;
    let process = rustix::process::Pid::from_child(&waiting.child.0);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let (status, answer, _) = waiting.end(&world).await;
    assert_eq!(status, Some(130));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["outcome"], "interrupted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_deleted_meanwhile_has_failed() {
    let world = World::new().await;
    world.cluster.deploy(next(wrong_tag()));
    let waiting = world.begin(&["deploy/cart"]).await;
    assert!(world.cluster.undeploy("shop", "cart"));
    let (status, answer, _) = waiting.end(&world).await;
    assert_eq!(status, Some(3), "{answer}");
    assert!(
        answer.contains("deployment/cart has failed after ") && answer.contains("it was deleted"),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_goes_on_without_the_rights_that_it_can_do_without() {
    let world = World::new().await;
    world.cluster.deploy(next(wrong_tag()));
    world.pass(300);
    let (_, faults) = world.cluster.workloads(ServedKind::ReplicaSets).unwrap();
    faults.set_modes(|modes| modes.forbidden = true);
    world.cluster.event_request_faults().set_modes(|modes| modes.forbidden = true);
    let args = ["deploy/cart", "--fail-after", "1s", "-o", "json", "--log-level", "warn"];
    let output = world.wait(&args).await;
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("grant the verbs list and watch on replicasets"), "{log}");
    assert!(log.contains("grant the verbs list and watch on events"), "{log}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["status"], 3, "{answer}");
    let target = &answer["targets"][0];
    assert_eq!(target["problems"][0]["cause"], "image");
    let note = target["notes"][0].as_str().unwrap();
    assert!(note.starts_with("the ReplicaSets cannot be read, so the youngest revision"), "{note}");
    // The object itself has to be read.
    let (_, faults) = world.cluster.workloads(ServedKind::Deployments).unwrap();
    faults.set_modes(|modes| modes.forbidden = true);
    let output = world.wait(&["deploy/cart"]).await;
    assert_eq!(output.status.code(), Some(1));
    let line = one_line(&output);
    assert!(
        line.contains("cannot read deployment/cart in namespace shop") && line.contains("403"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_line_that_makes_no_sense_is_a_usage_error() {
    for args in [
        &["wait"][..],
        &["wait", "web"],
        &["wait", "cronjob/backup"],
        &["wait", "-l", "app=web"],
        &["wait", "--pods", "3"],
        &["wait", "deploy/web", "-l", "app=web", "--pods", "3"],
        &["wait", "deploy/web", "--fail-after", "soon"],
    ] {
        assert_eq!(run_beside(args).await.status.code(), Some(2), "{args:?}");
    }
}
