//! What a million pods cost `podinit serve`: memory and CPU time of the first list, of another list after a
//! gap, of a restart from the saved state, and of a scrape. In a release build: others take more. With a tenth of
//! the pods, tests of every run compare one cost with another.

#![cfg(target_os = "linux")]

use std::thread;
use std::time::Duration;

use crate::support::large_cluster::{
    Cluster, Exporter, Form, Pods, State, end_beside, read_beside,
};

const MIB: u64 = 1 << 20;

const PODS: usize = 1_000_000;

const FINISHED: &str = "podinit_pods_finished_total{outcome=\"preexisting\"}";
const PROBLEM: &str = "podinit_problem_pods{cause=\"image\"";
const LISTS: &str = "podinit_relists_total{reason=\"gone\"}";

/// Larger ones take longer to send and to decode, but no more memory.
const POD_BYTES: usize = 2048;

/// What is measured of a process since the step before.
struct Step {
    exporter: Exporter,
    before: Duration,
}

impl Step {
    fn of(exporter: Exporter) -> Self {
        Self { exporter, before: Duration::ZERO }
    }

    /// Waits until the exporter has nothing more to do, and prints what this step took.
    fn done(&mut self, what: &str) -> Cost {
        let mut spent = self.exporter.cpu_time();
        loop {
            thread::sleep(Duration::from_millis(200));
            let before = std::mem::replace(&mut spent, self.exporter.cpu_time());
            if spent - before < Duration::from_millis(10) {
                break;
            }
        }
        let [peak, steady] = self.exporter.resident().map(|bytes| bytes / MIB);
        let cpu = spent - self.before;
        println!("{what}: {cpu:.2?} of CPU, {peak} MiB at the peak, {steady} MiB after it");
        self.exporter.forget_peak();
        self.before = spent;
        Cost { cpu, peak, steady }
    }
}

/// What a step took: CPU time, and resident memory in MiB at its peak and after it.
struct Cost {
    cpu: Duration,
    peak: u64,
    steady: u64,
}

fn cluster(count: usize, form: Form) -> Cluster {
    let pods = Pods { count, bytes: POD_BYTES, state: State::Ready };
    Cluster::start(pods, form)
}

/// What a first list costs, and another one after a gap.
fn lists(count: usize, list: &str, form: Form) -> [Cost; 2] {
    let cluster = cluster(count, form);
    let mut step = Step::of(Exporter::start(&cluster, &["--list", list]));
    cluster.until_listed();
    step.exporter.until(FINISHED, count);
    let first = step.done(&format!("--list {list}, {form:?}: first list"));
    cluster.expire_watch();
    cluster.until_listed();
    step.exporter.until(LISTS, 1);
    let again = step.done(&format!("--list {list}, {form:?}: another list"));
    [first, again]
}

/// What a first list costs with the commit after it, and a restart.
fn state(count: usize) -> [Cost; 2] {
    let cluster = cluster(count, Form::Protobuf);
    let directory = tempfile::tempdir().unwrap();
    let flags = ["--state-dir", directory.path().to_str().unwrap()];
    let mut step = Step::of(Exporter::start(&cluster, &flags));
    cluster.until_listed();
    step.exporter.until(FINISHED, count);
    step.exporter.until("podinit_checkpoint_durable", 1);
    let first = step.done("with --state-dir: first list and its commits");
    step.exporter.terminate();
    let mut step = Step::of(Exporter::start(&cluster, &flags));
    step.exporter.until(FINISHED, count);
    cluster.until_listed();
    let restart = step.done("restart from the checkpoint");
    for _ in 0..10 {
        step.exporter.scrape();
    }
    step.done("ten scrapes");
    [first, restart]
}

#[test]
#[ignore = "takes a minute; cargo test --profile dist --test suite memory::large_cluster:: -- --ignored --nocapture --test-threads 1"]
fn what_lists_of_1_000_000_pods_cost() {
    for list in ["whole", "pages", "stream"] {
        for form in [Form::Protobuf, Form::Json] {
            let [first, again] = lists(PODS, list, form);
            assert!(first.peak <= 128 && first.steady <= 80);
            assert!(again.peak <= 144 && again.steady <= 80);
        }
    }
}

#[test]
#[ignore = "takes half a minute; cargo test --profile dist --test suite memory::large_cluster:: -- --ignored --nocapture --test-threads 1"]
fn what_the_state_of_1_000_000_pods_costs() {
    let [first, restart] = state(PODS);
    assert!(first.peak <= 128 && first.steady <= 80);
    assert!(restart.peak <= 128 && restart.steady <= 80);
    assert!(restart.cpu < Duration::from_secs(3));
}

/// What `podinit serve` takes with this evidence in a cluster of 150,000 pods on 5,000 nodes, and for heartbeats of
/// nodes in each form if they are evidence.
fn evidence(evidence: &str, form: Form) -> Cost {
    const NODES: usize = 5_000;
    const PODS: usize = 150_000;
    const HEARTBEATS: u32 = 50_000;
    let pods = Pods { count: PODS, bytes: POD_BYTES, state: State::Ready };
    let cluster = Cluster::with_nodes(pods, NODES, form);
    let mut step = Step::of(Exporter::start(&cluster, &["--evidence", evidence]));
    cluster.until_listed();
    step.exporter.until(FINISHED, PODS);
    let of_nodes = evidence.contains("nodes");
    if of_nodes {
        let known = "podinit_nodes_finished_total{outcome=\"preexisting\"}";
        step.exporter.until(known, NODES);
    }
    let first = step.done(&format!("--evidence {evidence}, {form:?}: first lists"));
    if of_nodes {
        cluster.send_heartbeats(HEARTBEATS as usize);
        let beats = step.done("50,000 heartbeats");
        println!("a heartbeat: {:.2?} of CPU", beats.cpu / HEARTBEATS);
    }
    first
}

#[test]
#[ignore = "takes half a minute; cargo test --profile dist --test suite memory::large_cluster:: -- --ignored --nocapture --test-threads 1"]
fn what_5_000_nodes_cost() {
    for form in [Form::Protobuf, Form::Json] {
        let [without, with] = ["events", "events,nodes"].map(|sources| evidence(sources, form));
        // At most 2 KiB for each node, and what the allocator keeps of the pages of their list.
        assert!(with.steady <= without.steady + 10 + 10);
    }
}

/// What so many pods take that cannot pull their image, problems included, and by how many bytes of resident memory
/// each is more than a ready one: once its problem is found, and the most until then.
fn failing(count: usize, state: State) -> [u64; 2] {
    let cost = |state, series| {
        let pods = Pods { count, bytes: POD_BYTES, state };
        let cluster = Cluster::start(pods, Form::Protobuf);
        let mut step = Step::of(Exporter::start(&cluster, &[]));
        cluster.until_listed();
        step.exporter.until_sum(series, count);
        step.done(&format!("{count} pods, {state:?}"))
    };
    let ready = cost(State::Ready, FINISHED);
    let failing = cost(state, PROBLEM);
    let [steady, peak] = [failing.steady - ready.steady, failing.peak - ready.peak]
        .map(|more| more * MIB / count as u64);
    println!("{state:?}: {steady} bytes for each pod, {peak} at the peak");
    [steady, peak]
}

/// The memory limit that ships, in MiB.
fn shipped_limit() -> u64 {
    let deployment = include_str!("../../../deploy/base/deployment.yaml");
    let (_, limits) = deployment.split_once("            limits:\n").unwrap();
    let (_, memory) = limits.split_once("memory: ").unwrap();
    memory.split_once("Mi\n").unwrap().0.parse().unwrap()
}

/// So many read at once.
const READERS: usize = 16;

/// What 16 readers of everything see of so many failing pods, and that they do not cost the exporter its life. Says too how
/// old findings are without them, and how long the exporter takes to end beside them.
fn read_beside_failing(count: usize, state: State) {
    let pods = Pods { count, bytes: POD_BYTES, state };
    let cluster = Cluster::start(pods, Form::Protobuf);
    let mut exporter = Exporter::start(&cluster, &[]);
    cluster.until_listed();
    exporter.until_sum(PROBLEM, count);
    let [before, _] = exporter.resident().map(|bytes| bytes / MIB);
    let alone = read_beside(&exporter, 0, 5).oldest;
    exporter.forget_peak();
    let seen = read_beside(&exporter, READERS, 5);
    let [peak, after] = exporter.resident().map(|bytes| bytes / MIB);
    // Those of a build for tests are several times those of the program that ships.
    let files = exporter.resident_files() / MIB;
    let ended = end_beside(exporter, READERS);
    println!(
        "{count} pods, {state:?}: the oldest finding is {alone:.1} s old without readers; the exporter ends in {ended:.1?} \
         beside them; {before} MiB at the peak before, {peak} MiB beside 16 readers, {after} MiB after them, \
         {files} MiB of each are pages of the program; {seen:?}"
    );
    assert!(seen.oldest_fresh <= 15.1, "{seen:?}");
    assert!(before.max(peak) - files < shipped_limit());
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn readers_beside_100_000_failing_pods_see_fresh_problems_within_the_memory_that_ships() {
        for (count, state) in [(50_000, State::Failing), (100_000, State::FailingApart)] {
            read_beside_failing(count, state);
        }
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn another_list_of_100_000_pods_costs_little_more_than_the_first() {
        for list in ["whole", "stream"] {
            let [first, again] = lists(100_000, list, Form::Protobuf);
            assert!(again.peak <= first.peak + 12 && again.steady <= first.steady + 8);
        }
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn a_restart_with_100_000_pods_costs_no_more_memory_than_a_first_list_and_its_commit() {
        let [first, restart] = state(100_000);
        assert!(restart.peak <= first.peak + 8 && restart.steady <= first.steady + 8);
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn a_failing_pod_of_100_000_takes_little() {
        for (state, most) in [(State::Failing, 1_100), (State::FailingApart, 1_700)] {
            let [steady, peak] = failing(100_000, state);
            assert!(steady <= most && peak <= 2 * most);
        }
    }
}
