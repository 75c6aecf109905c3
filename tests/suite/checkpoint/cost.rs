//! The cost of a commit: the bytes saved, and the time for which the ingest task is busy with it. And how long it is
//! busy with one step, of a commit or of deadlines, after which it takes what was delivered meanwhile.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::support::sinks::Counted;
use podinit_checkpoint::content::{self, CheckpointContent, UnsealedCheckpoint};
use podinit_checkpoint::frame;
use podinit_core::lifecycle::{
    Delivery, PodEvent, SourceId, SourceSuccessor, Tracker, TrackerConfig,
};
use podinit_core::pod::{ConditionStatus, ConditionType, PodSnapshot, PodUid, StatusCondition};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{ExpositionBuilder, LabelConfig};
use podinit_oncall::records::RecordStore;
use podinit_slo::SloFile;

const START: i64 = 1_800_000_000;

struct Exporter {
    config: TrackerConfig,
    tracker: Tracker,
    said: Counted,
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

impl Exporter {
    /// With `ready` pods that have become ready and `starting` pods that have not, in `namespaces`
    /// namespaces.
    fn of(ready: u64, starting: u64, namespaces: u64) -> Self {
        let slos = SloFile::built_in().slos;
        let config = TrackerConfig {
            slos: slos.iter().map(|slo| slo.rule.clone()).collect(),
            ..TrackerConfig::default()
        };
        let (recorder, _) = ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
        let mut exporter = Self {
            tracker: Tracker::new(config.clone()),
            config,
            said: Counted { recorder, records: RecordStore::default() },
        };
        for pod in 0..ready + starting {
            exporter.apply(pod, pod < ready, namespaces);
        }
        exporter
    }

    fn apply(&mut self, number: u64, ready: bool, namespaces: u64) {
        // UUIDs, as API servers make them.
        let id = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        let id = format!("{id:032x}");
        let uid = [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-");
        let namespace = format!("namespace-{}", number % namespaces);
        let name = format!("deployment-{}-7c6d8f9b5d-x{:04}", number % 500, number % 10_000);
        let mut pod = PodSnapshot::bare(PodUid::from_text(&uid), namespace, name);
        let at =
            |second: u64| Some(Timestamp::from_seconds(START + i64::try_from(second).unwrap()));
        let created = number / 10;
        pod.created = at(created);
        pod.resource_version = Some(900_000_000 + number);
        for (later, kind) in (1..).zip(ConditionType::ALL) {
            if kind == ConditionType::PodHasNetwork || later > 1 && !ready {
                continue;
            }
            let condition = StatusCondition {
                status: ConditionStatus::True,
                last_transition: at(created + later * (1 + number % 7)),
            };
            pod.conditions.insert(kind, condition);
        }
        self.deliver(pod, at(created + 60).unwrap());
    }

    fn deliver(&mut self, pod: PodSnapshot, now: Timestamp) {
        let delivery = Delivery {
            source: SourceId(0),
            event: PodEvent::Applied(pod),
            now,
            observed: Some(now),
            version: None,
        };
        self.tracker.apply(delivery, &mut self.said);
    }

    fn encode(&self, with_records: bool) -> content::UnsealedCheckpoint {
        let records = || self.said.records.kept();
        let content = CheckpointContent {
            tracker: self.tracker.saved(),
            metrics: self.said.recorder.saved(),
            records: with_records.then(records).unwrap_or_default(),
            ..CheckpointContent::default()
        };
        content::encode(&content, self.tracker.saved_pods())
    }

    /// What each step of a commit takes. Between them there are events.
    fn commit_in_steps(&mut self, pods: u64) -> Vec<Duration> {
        let begun = cpu_time();
        let content = CheckpointContent {
            tracker: self.tracker.begin_saving(),
            metrics: self.said.recorder.saved(),
            records: self.said.records.kept(),
            ..CheckpointContent::default()
        };
        let mut file = UnsealedCheckpoint::begin(content, self.tracker.remembered());
        let mut steps = vec![cpu_time() - begun];
        let mut is_left = true;
        while is_left {
            for event in 0..64 {
                let pod = (steps.len() as u64 * 64 + event) * 7919 % pods;
                self.apply(pod, true, 50);
            }
            let begun = cpu_time();
            is_left = file.add_chunk(&mut self.tracker);
            steps.push(cpu_time() - begun);
        }
        black_box(file);
        steps
    }

    /// Without the records of startups that have ended.
    fn bytes(&self) -> f64 {
        self.encode(false).finish().len() as f64
    }

    /// The least CPU time that a commit takes, of the owner of the pods and of the thread that writes.
    fn commit(&self, with_records: bool) -> [Duration; 2] {
        let commits = (0..20).map(|_| {
            let begun = cpu_time();
            let unfinished = self.encode(with_records);
            let encoded = cpu_time();
            black_box(unfinished.finish());
            [encoded - begun, cpu_time() - encoded]
        });
        let least =
            |one: [Duration; 2], other: [Duration; 2]| [one[0].min(other[0]), one[1].min(other[1])];
        commits.reduce(least).unwrap()
    }
}

#[test]
fn the_saved_state_takes_as_many_bytes_as_documented() {
    let empty = Exporter::of(0, 0, 1).bytes();
    let one_namespace = Exporter::of(1_000, 0, 1).bytes();
    let finished = (Exporter::of(11_000, 0, 1).bytes() - one_namespace) / 10_000.0;
    let in_flight =
        (Exporter::of(0, 11_000, 1).bytes() - Exporter::of(0, 1_000, 1).bytes()) / 10_000.0;
    let namespace =
        (Exporter::of(11_000, 0, 101).bytes() - Exporter::of(11_000, 0, 1).bytes()) / 100.0;
    let recorded = Exporter::of(10_000, 0, 1);
    let records = recorded.said.records.kept().records.len();
    let with_records = recorded.encode(true).finish().len() as f64;
    let record = (with_records - recorded.bytes()) / records as f64;
    println!("bytes: {record:.0} each of {records} records");
    assert!((1_000..=2_200).contains(&records) && record < 260.0);
    println!(
        "bytes: {empty} of none, {finished:.1} a finished pod, {in_flight:.1} one in flight, {namespace:.0} a label set with all of its durations"
    );
    // One byte says that nothing is followed. Ten bytes of it are there while a pod has been ready for less than ten minutes.
    // So do two of the rollouts of a pod without a workload.
    assert!(finished < 44.0 && in_flight < 240.0 && namespace < 1_000.0 && empty < 17_000.0);
}

#[test]
#[ignore = "measures time; cargo test --profile dist --test suite checkpoint::cost:: -- --ignored --nocapture"]
fn what_records_add_to_a_commit() {
    for (pods, starting) in [(10_000, 0), (10_000, 10_000), (100_000, 1_000)] {
        let exporter = Exporter::of(pods, starting, 50);
        let [[owner, thread], [owner_with, thread_with]] =
            [false, true].map(|with| exporter.commit(with));
        let ratio = (owner_with + thread_with).as_secs_f64() / (owner + thread).as_secs_f64();
        let records = exporter.said.records.kept().records.len();
        println!(
            "{pods} pods and {starting} in flight, {records} records: {owner:.1?} of the owner and \
             {thread:.1?} of the thread without them, {owner_with:.1?} and {thread_with:.1?} with them: \
             {ratio:.2} times as much"
        );
        assert!(owner_with < owner + Duration::from_millis(10));
    }
}

#[test]
#[ignore = "measures time; cargo test --profile dist --test suite checkpoint::cost:: -- --ignored --nocapture"]
fn what_a_commit_costs_the_ingest_task() {
    for pods in [10_000, 100_000, 1_000_000] {
        let exporter = Exporter::of(pods, 1_000, 50);
        let begun = Instant::now();
        let writer = exporter.encode(true);
        let encoded = begun.elapsed();
        let file = writer.finish();
        let hashed = begun.elapsed() - encoded;
        let begun = Instant::now();
        let content::DecodedCheckpoint { content, pods: saved, .. } =
            content::decode(&frame::read(&file).unwrap(), podinit::families()).unwrap();
        let (mut recorder, _) = ExpositionBuilder::new(LabelConfig::default()).build().unwrap();
        recorder.restore(&content.metrics, []);
        let config = exporter.config.clone();
        let tracker =
            Tracker::restored(config, content.tracker, saved, SourceSuccessor::Same, &mut recorder);
        let restored = begun.elapsed();
        assert_eq!(tracker.remembered(), exporter.tracker.remembered());
        println!(
            "{pods} pods, {} bytes: {encoded:.1?} for the ingest task, {hashed:.1?} to hash, {restored:.1?} to restore",
            file.len()
        );
    }
}

/// Prints how long an event waits that arrives during work which was one step, and now has these.
fn print_waits(what: &str, at_once: Duration, steps: &[Duration]) {
    let longest = steps.iter().max().unwrap();
    let all: Duration = steps.iter().sum();
    println!(
        "{what}: an event waits {at_once:.2?} at most if there is one step, {longest:.2?} with {} steps of {all:.2?} in all",
        steps.len()
    );
}

#[test]
#[ignore = "measures time; cargo test --profile dist --test suite checkpoint::cost:: -- --ignored --nocapture"]
fn how_long_an_event_waits_for_a_commit() {
    for (ready, starting) in [(1_000_000, 1_000), (100_000, 1_000), (0, 100_000)] {
        let mut exporter = Exporter::of(ready, starting, 50);
        let [at_once, _] = exporter.commit(true);
        let steps = exporter.commit_in_steps(ready + starting);
        let what = format!("a commit of {ready} ready pods and {starting} in flight");
        print_waits(&what, at_once, &steps);
    }
}

/// All deadlines of so many pods pass at once.
fn due_deadlines(pods: u64, deadlines_at_once: usize) -> Exporter {
    let mut exporter = Exporter::of(0, 0, 1);
    exporter.config.deadlines_at_once = deadlines_at_once;
    exporter.tracker = Tracker::new(exporter.config.clone());
    for pod in 0..pods {
        let mut pod = PodSnapshot::bare(PodUid::from_text(&pod.to_string()), "ns", "pod");
        pod.created = Some(Timestamp::from_seconds(START));
        let scheduled =
            StatusCondition { status: ConditionStatus::True, last_transition: pod.created };
        pod.conditions.insert(ConditionType::PodScheduled, scheduled);
        exporter.deliver(pod, Timestamp::from_seconds(START));
    }
    exporter
}

#[test]
#[ignore = "measures time; cargo test --profile dist --test suite checkpoint::cost:: -- --ignored --nocapture"]
fn how_long_an_event_waits_for_deadlines() {
    for pods in [100_000, 300_000] {
        let steps = [usize::MAX, 64].map(|at_once| {
            let Exporter { mut tracker, mut said, .. } = due_deadlines(pods, at_once);
            let begun = cpu_time();
            tracker.advance(Timestamp::from_seconds(START + 86_400), &mut said);
            let mut steps = vec![cpu_time() - begun];
            while tracker.is_behind() {
                let begun = cpu_time();
                tracker.pass_more(&mut said);
                steps.push(cpu_time() - begun);
            }
            steps
        });
        let [at_once, steps] = &steps;
        let what = format!("the deadlines of {pods} pods");
        print_waits(&what, at_once.iter().sum(), steps);
    }
}
