//! From what a checkpoint says to a tracker, metrics and watches that go on from it.

use super::source_map::SourceMap;
use crate::checkpoint::content::Content;
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::saved::SavedPod;
use crate::lifecycle::sources::Successor;
use crate::lifecycle::stage::Stage;
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::lifecycle::version::Version;
use crate::metrics::Recorder;
use crate::metrics::saved::Durations;

/// Goes on from `content`: its counters and histograms in `recorder`, its pods in the tracker that
/// is returned.
pub(super) fn restore(
    content: Content,
    mut pods: Vec<SavedPod>,
    config: TrackerConfig,
    sources: &SourceMap,
    pod_labels: &[String],
    recorder: &mut Recorder,
) -> Tracker {
    let mut in_flight = [0; Stage::ALL.len()];
    for stage in pods.iter().filter_map(SavedPod::stage) {
        in_flight[stage as usize] += 1;
    }
    if content.scope.pod_labels != pod_labels {
        relabel(&mut pods, &content.scope.pod_labels, pod_labels);
    }
    if recorder.restore(&content.metrics, in_flight) == Durations::OtherLabels {
        tracing::warn!(
            "the duration series carry other labels than before, and begin at zero; other counters go on"
        );
        for pod in &pods {
            if let SavedPod::InFlight(pod) = pod {
                recorder.show(&pod.info);
            }
        }
    }
    let successor = |source| sources.successor(source);
    Tracker::restored(config, content.tracker, pods, successor, recorder)
}

/// Puts the values of pod labels where they now belong. What was not read of a pod before, is not
/// known of those that are in flight.
fn relabel(pods: &mut [SavedPod], old: &[String], new: &[String]) {
    let places: Vec<Option<usize>> = new
        .iter()
        .map(|key| old.iter().position(|other| other == key))
        .collect();
    for pod in pods {
        let SavedPod::InFlight(pod) = pod else {
            continue;
        };
        let values = &pod.info.pod_labels;
        let moved = places.iter().map(|place| {
            let value = place.and_then(|place| values.get(place));
            value.cloned().unwrap_or_default()
        });
        pod.info.pod_labels = moved.collect();
    }
}

/// By scope, of which there are so many: where the watch goes on. That the API server may be behind
/// that by now, restored from a backup, the watch finds out itself.
pub(super) fn resume(
    content: &Content,
    sources: &SourceMap,
    scopes: usize,
) -> Vec<Option<Version>> {
    let mut resume: Vec<Option<Version>> = vec![None; scopes];
    for (source, saved) in &content.tracker.sources {
        let Successor::Same(SourceId(scope)) = sources.successor(*source) else {
            continue;
        };
        if let (Some(_), Some(place)) = (saved.first_list, resume.get_mut(usize::from(scope))) {
            place.clone_from(&saved.progress.version);
        }
    }
    resume
}
