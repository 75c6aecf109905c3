//! Gates by name ([§16](crate::specification#s16)) of a simulated cluster: as many as the truth knows, as long as it
//! knows, and those that still hold pods.

use std::time::Duration;

use podinit_sim::life::{READINESS_GATE, SCHEDULING_GATE};
use podinit_sim::profile::LifeKind;
use podinit_sim::scene::Scene;
use podinit_sim::truth::PodTruth;

use crate::support::scene::SceneSettings;

/// By how many seconds a duration may differ: the API states whole seconds, and the watch is read once a second.
const LOOSE: f64 = 2.0;

/// How long the readiness gate has held the pod, by the clocks of those who say so; `None` while it does, or before.
fn readiness(pod: &PodTruth) -> Option<f64> {
    let passed = pod.condition(READINESS_GATE)?.stamped;
    let nanos = passed.nanos_since(pod.containers_ready?.stamped);
    Some(nanos.max(0) as f64 / 1e9)
}

fn scheduling(pod: &PodTruth) -> Option<f64> {
    Some(pod.gate_removed(SCHEDULING_GATE)?.nanos_since(pod.created) as f64 / 1e9)
}

#[tokio::test]
async fn every_gate_is_counted_and_takes_as_long_as_it_did() {
    let settings = SceneSettings {
        rate: 2.0,
        after: Duration::from_secs(180),
        length: Duration::from_secs(300),
        ..SceneSettings::of(Scene::GateForgotten)
    };
    let recording = settings.record().await;
    let pods = recording.cluster.truth().pods();
    let starts = |pod: &&PodTruth| pod.ending.is_none() && pod.removed.is_none();
    let held_by_balancer = |pod: &&PodTruth| {
        pod.kind == Some(LifeKind::ReadinessGate)
            && pod.containers_ready.is_some()
            && pod.condition(READINESS_GATE).is_none()
    };
    let held_by_queue =
        |pod: &&PodTruth| pod.kind == Some(LifeKind::Gated) && pod.ungated.is_none();
    let starting = || pods.iter().filter(starts);
    let gates: [(_, _, Vec<f64>, usize); 2] = [
        (
            "scheduling",
            SCHEDULING_GATE,
            pods.iter().filter_map(scheduling).collect(),
            starting().filter(held_by_queue).count(),
        ),
        (
            "readiness",
            READINESS_GATE,
            pods.iter().filter_map(readiness).collect(),
            starting().filter(held_by_balancer).count(),
        ),
    ];
    for (kind, gate, lengths, held) in gates {
        assert!(lengths.len() > 5, "{kind}: {}", lengths.len());
        assert!(kind == "readiness" || held > 3, "{held}");
        let scrape = recording.last();
        let labels = format!("kind=\"{kind}\",gate=\"{gate}\"");
        let value = |name: &str| scrape.value(&format!("{name}{{{labels}}}")).unwrap_or(0.0);
        assert_eq!(value("podinit_gate_duration_seconds_count"), lengths.len() as f64, "{kind}");
        let (sum, truth) =
            (value("podinit_gate_duration_seconds_sum"), lengths.iter().sum::<f64>());
        assert!((sum - truth).abs() < LOOSE * lengths.len() as f64, "{kind}: {sum} of {truth}");
        assert_eq!(value("podinit_gated_pods"), held as f64, "{kind}");
    }
}
