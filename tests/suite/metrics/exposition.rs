//! Golden scrapes: observations in, exposition out, in every format, each read back by a parser
//! that is not podinit's.

use std::sync::Arc;
use std::time::Duration;

use crate::support::parsed_exposition;
use podinit::families;
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    AnomalyKind, Cause, CustomInterval, CustomMilestone, CustomStart, GateEvent, GateKind,
    GateObservation, GatesEvent, GatesObservation, ImageSource, Interval, Latency, MeasuredStep,
    Milestone, NodeObservation, NodeState, NodeStep, Observation, Observer, Outcome,
    PodObservation, PodState, PullObservation, RolloutHolder, RolloutObservation, RolloutOutcome,
    RolloutWorkload, SloRule, Stage, TrackerObservation, UnobservedReason, WaitReason,
};
use podinit_core::pod::{GateNames, PodInfo, PodSnapshot, PodUid, Workload};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, ProblemPods, Recorder,
    SeriesLabel, SloDoc, StatedProblem, StuckRollouts,
};
use podinit_exporter::{CheckpointGauges, ClockFamilies, ConfigGauges};
use podinit_http::AccessStats;
use podinit_instruments::{
    ExpositionEncoder, FamilyDoc, FamilySource, SampleNumber, SavedFamilies,
};
use podinit_kube::cluster::clock::{ClockCorrections, ClockReading, DeliveryClock};
use podinit_kube::watch::events::stats::EvidenceStats;
use podinit_kube::watch::stats::{WATCH_STATE, WatchCounters};
use podinit_traces::TraceStats;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::registry::Unit;

/// A watch with few series.
struct Watch;

impl FamilySource for Watch {
    fn families(&self) -> Vec<FamilyDoc> {
        [&WatchCounters::FAMILIES[..], &WATCH_STATE].concat()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        let family = |name| families().iter().find(|family| family.name == name).unwrap();
        let series: [(_, &[(&str, u64)]); 3] = [
            ("podinit_watch_events_total", &[("ADDED", 3), ("MODIFIED", 14)]),
            ("podinit_watch_errors_total", &[("timeout", 0)]),
            ("podinit_relists_total", &[("expired", 1)]),
        ];
        for (name, series) in series {
            let series = series.iter();
            let series = series.map(|(value, count)| (*value, SampleNumber::Integer(*count)));
            family(name).write_by_label(out, series);
        }
        family("podinit_out_of_sync_seconds_total").write(out, SampleNumber::Float(12.5));
        family("podinit_synced").write(out, SampleNumber::Integer(1));
        let namespaces = [("shop", SampleNumber::Integer(1))];
        family("podinit_namespace_synced").write_by_label(out, namespaces);
        family("podinit_watch_last_contact_timestamp_seconds").write(out, SampleNumber::Float(2.5));
    }

    fn save(&self, _: &mut SavedFamilies) {}

    fn restore(&self, _: &SavedFamilies) {}
}

/// A clock that is corrected.
struct Corrected;

impl DeliveryClock for Corrected {
    fn read(&self) -> ClockReading {
        Timestamp::from_seconds(1_800_000_000).into()
    }
    fn corrections(&self) -> ClockCorrections {
        ClockCorrections { steps: 1, seconds: -3600.0, unchecked: false }
    }
}

#[derive(Debug)]
struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let cpu = ConstCounter::new(1.5);
        let help = "Total user and system CPU time spent in seconds.";
        let unit = Some(&Unit::Seconds);
        let encoder = encoder.encode_descriptor("process_cpu", help, unit, cpu.metric_type())?;
        cpu.encode(encoder)
    }
}

fn pod(namespace: &str, name: &str, team: &str) -> PodInfo {
    PodInfo {
        pod_labels: [Box::from(team)].into(),
        ..PodSnapshot::bare(PodUid::from_text(name), namespace, name).info
    }
}

fn seconds(seconds: f64) -> Latency {
    Latency::from_nanos((seconds * 1e9) as u64)
}

fn built() -> (Recorder, Arc<Exposition>) {
    let labels = LabelConfig {
        labels: vec![SeriesLabel::Namespace, SeriesLabel::PodLabel("example.com/team".to_owned())],
        ..LabelConfig::default()
    };
    let builder = ExpositionBuilder::new(labels.clone())
        .events(true)
        .nodes(true)
        .watch(Arc::new(Watch))
        .shard(Shard::ALL)
        .milestones(Arc::new(vec![
            CustomMilestone::parse("loaded=condition:example.com/Loaded").unwrap(),
        ]))
        .slos(vec![SloDoc::new(
            &SloRule {
                name: Arc::from("network-ready"),
                interval: Interval::CreatedToReady.into(),
                threshold: Duration::from_secs(10),
                ..SloRule::default()
            },
            0.99,
            604_800.0,
        )])
        .events(true)
        .source(Box::new(EvidenceStats::new(1, true)))
        .source(Box::new(ClockFamilies::new(Arc::new(Corrected))))
        .source(Box::new(ConfigGauges::new(Timestamp::from_seconds(1_700_000_000))))
        .source(Box::new(CheckpointGauges::new()))
        .source(Box::new(Arc::new(AccessStats::new(Timestamp::from_seconds(1_700_000_000)))))
        .source(Box::new(TraceStats::default()))
        .source(Box::new(broken()))
        .source(Box::new(stuck_rollouts(&labels)))
        .collector(Box::new(Process));
    builder.build().unwrap()
}

/// Two problems, one of which names what its pods share.
fn broken() -> ProblemPods {
    let registry = Some(("registry", "registry.example.com"));
    let problems = ProblemPods::default();
    let all = [
        StatedProblem { cause: Cause::Image, shared: registry, pods: 122 },
        StatedProblem { cause: Cause::Resources, shared: None, pods: 7 },
    ];
    problems.state(all, tokio::time::Instant::now() + Duration::from_secs(15));
    problems
}

/// One that does not go on.
fn stuck_rollouts(labels: &LabelConfig) -> StuckRollouts {
    let rollouts = StuckRollouts::new(labels);
    let workload = Workload { kind: "Deployment".into(), name: "ledger".into() };
    let until = tokio::time::Instant::now() + Duration::from_secs(15);
    rollouts.state([("payments", &workload)].into_iter(), until);
    rollouts
}

fn moved(from: PodState, to: PodState) -> PodObservation {
    PodObservation::Moved { from, to }
}

fn measured(interval: Interval, latency: f64) -> PodObservation {
    PodObservation::Measured { interval, latency: seconds(latency) }
}

/// Three pods: one becomes ready, one is stuck in its network, one was ready before.
fn scraped() -> Arc<Exposition> {
    let (mut recorder, exposition) = built();
    let start = Timestamp::from_seconds(1_800_000_000);
    let stage = |stage| PodState::InFlight(WaitReason::otherwise(stage), CapacityState::Unknown);

    let ready = pod("shop", "cart-0", "quo\"te \\ new\nline ü");
    let now = start;
    recorder.observe_pod(now, &ready, moved(PodState::Undiscovered, stage(Stage::Scheduling)));
    let now = start.plus_nanos(1_500_000_000);
    let scheduling = Interval::Stage(Stage::Scheduling);
    recorder.observe_pod(now, &ready, measured(scheduling, 0.0));
    recorder.observe_pod(now, &ready, PodObservation::Anomaly(AnomalyKind::Rounded));
    recorder.observe_pod(now, &ready, moved(stage(Stage::Scheduling), stage(Stage::Network)));
    recorder.observe_pod(now, &ready, measured(Interval::Stage(Stage::Network), 1.0));
    recorder.observe_pod(now, &ready, moved(stage(Stage::Network), stage(Stage::Containers)));
    recorder.observe_pod(now, &ready, measured(Interval::Stage(Stage::Containers), 2.0));
    recorder.observe_pod(now, &ready, measured(Interval::ScheduledToReady, 3.25));
    recorder.observe_pod(now, &ready, measured(Interval::CreatedToReady, 3.25));
    let outcome = PodState::Finished(Outcome::Ready);
    recorder.observe_pod(now, &ready, moved(stage(Stage::Containers), outcome));
    recorder.observe_pod(now, &ready, PodObservation::Delivered(seconds(0.125)));
    recorder.observe_pod(now, &ready, PodObservation::Reentered(Milestone::NetworkReady));

    let stuck = pod("bank", "checkpoint-7", "");
    recorder.observe_pod(now, &stuck, moved(PodState::Undiscovered, stage(Stage::Scheduling)));
    recorder.observe_pod(now, &stuck, measured(scheduling, 40_000.0));
    recorder.observe_pod(now, &stuck, moved(stage(Stage::Scheduling), stage(Stage::Network)));
    let oldest = PodObservation::OldestInFlight {
        stage: Stage::Network,
        entered: Some(start.plus_nanos(250_000_000)),
    };
    recorder.observe_pod(now, &stuck, oldest);

    let old = pod("bank", "vault-0", "");
    let outcome = PodState::Finished(Outcome::Preexisting);
    recorder.observe_pod(now, &old, moved(PodState::Undiscovered, outcome));
    let unobserved =
        PodObservation::Unobserved { stage: Stage::Init.into(), reason: UnobservedReason::NotSeen };
    recorder.observe_pod(now, &old, unobserved);
    let pull = PullObservation {
        source: Some(ImageSource::Pulled),
        registry: &Arc::from("registry.example.com"),
        duration: Some(Latency::from_nanos(4_000_000_000)),
        wait: Some(Latency::from_nanos(500_000_000)),
        bytes: Some(1_000_000),
        earlier: &[],
    };
    recorder.observe(now, Observation::Pull(&old, pull));
    let gate = "kueue.x-k8s.io/admission";
    let names = GateNames { scheduling: [gate].into_iter().collect(), ..GateNames::default() };
    let met = GatesObservation { gates: &names, event: GatesEvent::Met };
    recorder.observe(now, Observation::Gates(&old, met));
    for event in [GateEvent::Held, GateEvent::Passed(seconds(2.5))] {
        let gate = GateObservation { kind: GateKind::Scheduling, gate, event };
        recorder.observe(now, Observation::Gate(&old, gate));
    }
    let interval = CustomInterval { milestone: 0, from: CustomStart::Created };
    let loaded = PodObservation::CustomMeasured { interval, latency: seconds(7.5) };
    recorder.observe_pod(now, &ready, loaded);
    for node in [
        NodeObservation::Moved { from: NodeState::Undiscovered, to: NodeState::Starting },
        NodeObservation::Measured(MeasuredStep {
            step: NodeStep::Ready,
            latency: seconds(31.0),
            pool: "general",
            is_first: true,
        }),
    ] {
        recorder.observe(now, Observation::Node(node));
    }
    let rollout = RolloutWorkload {
        namespace: "shop".into(),
        workload: Arc::new(Workload { kind: "Deployment".into(), name: "cart".into() }),
    };
    let (by, nanos) = (RolloutHolder::Starting, 31_500_000_000);
    for observation in [
        RolloutObservation::Entered,
        RolloutObservation::Held { from: None, to: Some(by) },
        RolloutObservation::HeldFor { by, nanos },
        RolloutObservation::Held { from: Some(by), to: None },
        RolloutObservation::Ended { outcome: RolloutOutcome::Completed, nanos: Some(nanos) },
        RolloutObservation::Held { from: None, to: Some(RolloutHolder::Controller) },
    ] {
        recorder.observe(now, Observation::Rollout(&rollout, observation));
    }
    let advanced = TrackerObservation::Advanced {
        remembered: 0,
        judged: start.plus_nanos(250_000_000),
        lag: Some(250_000_000),
    };
    recorder.observe(now, Observation::Tracker(advanced));
    exposition
}

fn text(exposition: &Exposition, format: ExpositionFormat) -> String {
    without_version(exposition.encode(format).unwrap())
}

fn without_version(exposition: Vec<u8>) -> String {
    let text = String::from_utf8(exposition).unwrap();
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    let json = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    text.replace(&version, "version=\"VERSION\"").replace(&json, "\"version\":\"VERSION\"")
}

#[test]
fn golden_text() {
    insta::assert_snapshot!("text", text(&scraped(), ExpositionFormat::Text));
}

#[test]
fn golden_openmetrics() {
    insta::assert_snapshot!("openmetrics", text(&scraped(), ExpositionFormat::OpenMetrics));
}

#[test]
fn golden_json() {
    let json = without_version(scraped().encode_json().unwrap());
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
    insta::assert_snapshot!("json", json);
}

#[test]
fn golden_protobuf() {
    let families =
        parsed_exposition::protobuf(&scraped().encode(ExpositionFormat::Protobuf).unwrap());
    let shown: Vec<_> = families
        .iter()
        .filter(|family| {
            let name = family.name.as_str();
            name.starts_with("podinit_created") || name.starts_with("podinit_inflight")
        })
        .collect();
    insta::assert_snapshot!("protobuf", format!("{shown:#?}"));
}

#[test]
fn all_formats_state_the_same() {
    let exposition = scraped();
    let encode = |format| exposition.encode(format).unwrap();
    let text = |format| String::from_utf8(encode(format)).unwrap();
    let protobuf = parsed_exposition::samples_of_protobuf(&parsed_exposition::protobuf(&encode(
        ExpositionFormat::Protobuf,
    )));
    assert_eq!(protobuf, parsed_exposition::samples_of_text(&text(ExpositionFormat::Text)));
    assert_eq!(
        protobuf,
        parsed_exposition::samples_of_openmetrics(&text(ExpositionFormat::OpenMetrics))
    );
    let json = String::from_utf8(exposition.encode_json().unwrap()).unwrap();
    assert_eq!(protobuf, parsed_exposition::samples_of_json(&json));
}

#[test]
fn every_documented_family_is_exposed_as_documented_and_no_other() {
    let exposed =
        parsed_exposition::protobuf(&scraped().encode(ExpositionFormat::Protobuf).unwrap());
    let own = |name: &str| name.starts_with("podinit_");
    let exposed: Vec<_> = exposed.iter().filter(|family| own(&family.name)).collect();
    assert_eq!(exposed.len(), families().len());
    for (family, doc) in exposed.iter().zip(families()) {
        assert_eq!((family.name.as_str(), family.help.as_str()), (doc.name, doc.help));
        let kind = family.r#type().as_str_name().to_lowercase();
        assert_eq!(kind, doc.kind.as_str());
        let labels = family.metric[0].label.iter().map(|pair| pair.name.as_str());
        let set: &[&str] = match doc.label_set {
            true => &["namespace", "label_example_com_team"],
            false => &[],
        };
        // Those of rollouts are of the label set, as far as it has them.
        let is_there = |label: &&str| !label.starts_with("workload");
        let documented = doc.labels.iter().chain(set).copied().filter(is_there);
        assert!(labels.eq(documented), "{}", doc.name);
    }
}

#[test]
fn what_can_be_known_stands_at_zero_before_the_first_pod() {
    let (_recorder, exposition) = built();
    insta::assert_snapshot!("before_the_first_pod", text(&exposition, ExpositionFormat::Text));
}

#[test]
fn labels_may_be_switched_off() {
    let labels = LabelConfig { labels: Vec::new(), ..LabelConfig::default() };
    let (mut recorder, exposition) = ExpositionBuilder::new(labels).build().unwrap();
    let outcome = PodState::Finished(Outcome::Static);
    recorder.observe_pod(
        Timestamp::EPOCH,
        &pod("a", "b", ""),
        moved(PodState::Undiscovered, outcome),
    );
    let text = text(&exposition, ExpositionFormat::Text);
    assert!(text.contains("podinit_created_to_ready_duration_seconds_bucket{le=\"0.5\"} 0\n"));
    assert!(text.contains("podinit_created_to_ready_duration_seconds_count 0\n"));
}
