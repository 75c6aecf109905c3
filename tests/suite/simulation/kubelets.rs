//! When the simulator's kubelets of several versions say that the network is ready, against when it was,
//! and what podinit makes of it, without and with Events.
//!
//! ```text
//! cargo test --test suite simulation::kubelets:: -- --nocapture    # prints the table
//! ```

use std::collections::BTreeMap;

use podinit_core::lifecycle::{
    Delivery, Interval, Observation, PodEvent, PodObservation, SourceId, Stage, TimestampMode,
    Tracker, TrackerConfig,
};
use podinit_core::pod::ConditionType;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};
use podinit_sim::component_events::drafts;
use podinit_sim::container::ContainerRef;
use podinit_sim::event_correlator::EventReporter;
use podinit_sim::life::PodChange;
use podinit_sim::pod::SimulatedPod;
use podinit_sim::profile::{LifeKind, LifeSpeed};
use podinit_sim::rng::Rng;
use podinit_sim::{plan, pod_json};
use serde_json::json;

const PODS: i64 = 800;
/// Between a write and the delivery of its watch event.
const DELIVERY: i64 = 50_000_000;

/// By how many nanoseconds each source is off, for one pod: the condition, podinit without Events and with.
type Errors = [i64; 3];

/// One pod's life, watched with Events or without: what its kubelet is, when its sandbox was ready by the
/// kubelet's clock, and when it is by the condition and by podinit.
fn live(number: i64, events: bool) -> Option<(u8, Timestamp, Timestamp, Timestamp)> {
    let mut rng = Rng::new(number as u64);
    let life = plan::life(LifeKind::Plain, LifeSpeed::Usual, &mut rng);
    let created = Timestamp::from_nanos(
        (1_795_000_000 + number * 100) * NANOS_PER_SECOND + number * 7_919_000,
    );
    let mut pod = SimulatedPod::new(life.manifest.clone(), created);
    let mut tracker = Tracker::new(TrackerConfig {
        timestamps: TimestampMode::Fused,
        events,
        ..TrackerConfig::default()
    });
    let (mut sandbox, mut condition, mut scheduled, mut network) = (None, None, None, None);
    let (mut decoder, mut event_decoder) =
        (PodDecoder::new(DecodeOptions::default()), EventDecoder::default());
    for step in &life.steps {
        let at = created.plus_nanos(step.after);
        pod.apply(&step.change, at);
        let skew = pod.node.map_or(0, |node| node.skew);
        if step.change == PodChange::MakeSandbox {
            sandbox.get_or_insert(at.plus_nanos(skew));
        }
        let observed = at.plus_nanos(DELIVERY);
        let mut deliveries = Vec::new();
        if step.change.is_written() {
            let object =
                String::from_utf8(pod_json::render(&pod, 1_000 + step.after as u64)).unwrap();
            let line = format!(r#"{{"type":"MODIFIED","object":{object}}}"#);
            let WatchEventKind::Modified(snapshot) =
                decoder.watch_event(line.as_bytes()).unwrap().kind
            else {
                panic!("{line}");
            };
            let since = |kind| snapshot.conditions.holding(kind)?.last_transition;
            condition = condition.or(since(ConditionType::PodReadyToStartContainers));
            let stated = since(ConditionType::PodScheduled);
            let estimate = stated.and(TimestampMode::Fused.estimate(stated, Some(observed)).at);
            scheduled = scheduled.or(estimate);
            deliveries.push((PodEvent::Applied(snapshot), Some(observed)));
        }
        for draft in drafts(&step.change, &pod, at) {
            let Some(ContainerRef::Regular(index)) = draft.container else {
                continue;
            };
            let name = life.manifest.containers[index].name;
            let EventReporter::Kubelet(..) = draft.reporter else {
                continue;
            };
            let second = draft.at.as_nanos().div_euclid(NANOS_PER_SECOND);
            let line = json!({"type": "ADDED", "object": {
                "kind": "Event", "metadata": {"name": format!("p.{:x}", draft.at.as_nanos())},
                "involvedObject": {"kind": "Pod", "uid": life.manifest.uid,
                    "fieldPath": format!("spec.containers{{{name}}}")},
                "reason": draft.reason, "message": draft.message, "reportingComponent": "kubelet",
                "firstTimestamp": jiff::Timestamp::from_second(second).unwrap().to_string(),
            }});
            match event_decoder.line(line.to_string().as_bytes()).unwrap().kind {
                EventLineKind::Applied(event) => deliveries.push((PodEvent::Event(event), None)),
                other => panic!("{other:?}"),
            }
        }
        for (event, observed) in deliveries {
            let delivery = Delivery {
                source: SourceId(0),
                event,
                now: at.plus_nanos(DELIVERY),
                observed,
                version: None,
            };
            tracker.apply(delivery, &mut |_, observation: Observation<'_>| {
                if let Observation::Pod(_, PodObservation::Measured { interval, latency }) =
                    observation
                    && interval == Interval::Stage(Stage::Network)
                {
                    network = Some(latency.as_nanos() as i64);
                }
            });
        }
        if condition.is_some() {
            break;
        }
    }
    let podinit = scheduled?.plus_nanos(network?);
    Some((pod.kubelet.minor, sandbox?, condition?, podinit))
}

/// The errors of all pods, by minor version of their kubelets.
fn errors() -> BTreeMap<u8, Vec<Errors>> {
    let mut errors: BTreeMap<u8, Vec<Errors>> = BTreeMap::new();
    for number in 0..PODS {
        let (Some(without), Some(with)) = (live(number, false), live(number, true)) else {
            continue;
        };
        let (minor, sandbox, condition, plain) = without;
        let of = [condition, plain, with.3].map(|said| said.nanos_since(sandbox).abs());
        errors.entry(minor).or_default().push(of);
    }
    errors
}

/// The median and the greatest error of a source, in seconds.
fn spread(errors: &[Errors], source: usize) -> [f64; 2] {
    let mut of_it: Vec<i64> = errors.iter().map(|errors| errors[source]).collect();
    of_it.sort_unstable();
    [of_it[of_it.len() / 2], of_it[of_it.len() - 1]].map(|nanos| nanos as f64 / 1e9)
}

#[test]
fn late_kubelets_are_late_by_the_pull_and_events_mend_it() {
    let errors = errors();
    println!(
        "| kubelet | pods | condition: p50 | max | without Events: p50 | max | with Events: p50 | max |"
    );
    for (minor, errors) in &errors {
        let cells: Vec<String> = (0..3)
            .flat_map(|source| spread(errors, source))
            .map(|seconds| format!("{seconds:.2} s"))
            .collect();
        println!("| 1.{minor} | {} | {} |", errors.len(), cells.join(" | "));
    }
    for minor in [33, 35, 36, 37] {
        let errors = &errors[&minor];
        assert!(errors.len() >= 20, "1.{minor}: {} pods", errors.len());
        let [[_, condition], [_, without], [half, with]] =
            [0, 1, 2].map(|source| spread(errors, source));
        let is_late = minor < 36;
        assert_eq!(
            condition > 2.0,
            is_late,
            "1.{minor}: the condition is off by up to {condition} s"
        );
        assert_eq!(without > 2.0, is_late, "1.{minor}: without Events off by up to {without} s");
        assert!(half <= 0.1, "1.{minor}: with Events off by {half} s at the median");
        // Where the clock of a node is behind, the time is raised to that of Scheduled.
        assert!(with <= 2.0, "1.{minor}: with Events off by up to {with} s");
    }
}
