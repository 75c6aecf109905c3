//! From when on the stages are exposed that only some pods have ([§7.2](crate::specification#s7-2)).

#![allow(clippy::unwrap_used)]

use super::tests::discovered;
use super::*;
use crate::metrics::saved::{RestoredDurations, SavedMetrics};
use crate::metrics::{Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig};
use podinit_core::pod::{PodSnapshot, PodUid};

fn pod(namespace: &str) -> PodInfo {
    PodSnapshot::bare(PodUid::from_text("u"), namespace, "p").info
}

fn process() -> (Recorder, Arc<Exposition>) {
    ExpositionBuilder::new(LabelConfig::default()).build().unwrap()
}

/// The stages whose durations are exposed of a namespace.
fn exposed(exposition: &Exposition, namespace: &str) -> Vec<&'static str> {
    let text = String::from_utf8(exposition.encode(ExpositionFormat::Text).unwrap()).unwrap();
    let is_exposed = |stage: &&str| {
        let labels = format!("{{stage=\"{stage}\",namespace=\"{namespace}\"}}");
        text.contains(&format!("podinit_stage_duration_seconds_count{labels}"))
    };
    Stage::ALL.into_iter().map(Stage::as_str).filter(is_exposed).collect()
}

fn measured(stage: Stage) -> PodObservation {
    let latency = Latency::from_nanos(1);
    PodObservation::Measured { interval: Interval::Stage(stage), latency }
}

const OF_ALL_PODS: [&str; 3] = ["scheduling", "network", "containers"];

#[test]
fn a_stage_is_exposed_from_the_first_pod_on_that_has_it() {
    let (mut recorder, exposition) = process();
    let mut observe = |namespace, observation| {
        recorder.observe_pod(Timestamp::EPOCH, &pod(namespace), observation);
    };
    observe("a", discovered());
    observe("b", discovered());
    assert_eq!(exposed(&exposition, "a"), OF_ALL_PODS);
    observe("a", PodObservation::Applies(Stage::Init));
    assert_eq!(exposed(&exposition, "a"), ["scheduling", "network", "init", "containers"]);
    for stage in Stage::ALL.into_iter().filter(|stage| stage.is_conditional()) {
        observe("a", PodObservation::Applies(stage));
    }
    assert_eq!(exposed(&exposition, "a"), Stage::ALL.map(Stage::as_str));
    assert_eq!(exposed(&exposition, "b"), OF_ALL_PODS);
}

#[test]
fn what_is_exposed_outlives_the_process() {
    let restored = |saved: &SavedMetrics| {
        let (mut recorder, exposition) = process();
        assert_eq!(recorder.restore(saved, []), RestoredDurations::Continued);
        exposed(&exposition, "a")
    };
    let (mut recorder, _) = process();
    let mut observe = |observation| {
        recorder.observe_pod(Timestamp::EPOCH, &pod("a"), observation);
    };
    observe(discovered());
    observe(PodObservation::Applies(Stage::Gated));
    observe(PodObservation::Applies(Stage::Readiness));
    observe(measured(Stage::Readiness));
    let mut saved = recorder.saved();
    let stages = ["gated", "scheduling", "network", "containers", "readiness"];
    assert_eq!(restored(&saved), stages);
    // A stage that this podinit does not have is skipped.
    saved.conditional[0].push("of_later".into());
    assert_eq!(restored(&saved), stages);
    // An earlier podinit did not say.
    saved.conditional.clear();
    assert_eq!(restored(&saved), ["scheduling", "network", "containers", "readiness"]);
}
