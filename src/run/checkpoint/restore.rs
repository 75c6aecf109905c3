//! Restores the tracker, the metrics and the watches from a checkpoint.

use super::source_map::SourceMap;
use crate::checkpoint::content::Content;
use crate::lifecycle::{SavedPod, SourceId, Successor, Tracker, TrackerConfig, Version};
use crate::metrics::saved::RestoredDurations;
use crate::run::ingest_sink::IngestSink;

/// Restores counters and histograms into `sink`, and returns a tracker with the pods.
pub(super) fn restore(
    content: Content,
    mut pods: Vec<SavedPod>,
    config: TrackerConfig,
    sources: &SourceMap,
    pod_labels: &[String],
    sink: &mut IngestSink,
) -> Tracker {
    let recorder = &mut sink.recorder;
    if content.scope.pod_labels != pod_labels {
        relabel(&mut pods, &content.scope.pod_labels, pod_labels);
    }
    let in_flight = pods.iter().filter_map(SavedPod::waiting);
    if recorder.restore(&content.metrics, in_flight) == RestoredDurations::OtherLabels {
        tracing::warn!(
            "the duration series carry other labels than before, and begin at zero; other counters continue"
        );
        for pod in &pods {
            if let SavedPod::InFlight(pod) = pod {
                recorder.show(&pod.info);
            }
        }
    }
    let successor = |source| sources.successor(source);
    Tracker::restored(config, content.tracker, pods, successor, sink)
}

/// Reorders the values of pod labels for the labels that are chosen now. The values of newly chosen
/// labels are unknown for pods in flight.
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

/// For each of `scopes` scopes, the version from which its watch resumes. If the API server was
/// restored from a backup and is behind that version, the watch finds out itself.
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
