//! Restores the tracker, the metrics and the watches from a checkpoint.

use std::sync::Arc;

use super::source_map::SourceMap;
use crate::ingest_sink::IngestSink;
use podinit_checkpoint::content::CheckpointContent;
use podinit_core::lifecycle::{
    EndedStartup, PodInFlight, SavedPod, SourceId, SourceSuccessor, Tracker, TrackerConfig, Version,
};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::saved::RestoredDurations;

/// Restores counters, histograms and records into `sink`, and returns a tracker with the pods.
pub(super) fn restore(
    mut content: CheckpointContent,
    mut pods: Vec<SavedPod>,
    config: TrackerConfig,
    sources: &SourceMap,
    pod_labels: &[String],
    sink: &mut IngestSink,
) -> Tracker {
    if content.scope.pod_labels != pod_labels {
        let in_flight = pods.iter_mut().filter_map(SavedPod::in_flight_mut);
        let infos = in_flight.map(PodInFlight::info_mut);
        let records = content.records.records.iter_mut();
        // What was just read is shared with nobody.
        let startups = records.filter_map(|record| Arc::get_mut(&mut record.startup));
        let infos = infos.chain(startups.map(EndedStartup::pod_mut));
        relabel(infos, &content.scope.pod_labels, pod_labels);
    }
    sink.records.restore(content.records);
    let recorder = &mut sink.recorder;
    let in_flight = pods.iter().filter_map(SavedPod::in_flight);
    let durations = recorder.restore(&content.metrics, in_flight);
    let now = content.tracker.now.unwrap_or(Timestamp::EPOCH);
    recorder.restore_holds(now, &mut pods);
    if durations == RestoredDurations::OtherLabels {
        tracing::warn!(
            "the duration series have other labels than before, so they begin at zero; other counters continue"
        );
        for pod in pods.iter().filter_map(SavedPod::in_flight) {
            recorder.show(pod.info(), pod.conditional_stages());
        }
    }
    let successor = |source| sources.successor(source);
    let mut tracker =
        Tracker::restored(config, content.tracker, freed_on_the_way(pods), successor, sink);
    let kept = sink.records.kept().records;
    tracker.look_after(kept.iter().map(|record| &*record.startup));
    tracker
}

/// The pods, whose memory is given back while they are taken, so that many pods are not held twice.
fn freed_on_the_way(mut pods: Vec<SavedPod>) -> impl Iterator<Item = SavedPod> {
    const GIVE_BACK: usize = 16_384;
    pods.reverse();
    std::iter::from_fn(move || {
        let pod = pods.pop();
        if pods.len().is_multiple_of(GIVE_BACK) {
            pods.shrink_to_fit();
        }
        pod
    })
}

/// Reorders the values of pod labels and of fields of the spec for those that are chosen now. The values of
/// newly chosen ones are unknown.
fn relabel<'a>(pods: impl Iterator<Item = &'a mut PodInfo>, old: &[String], new: &[String]) {
    let places: Vec<Option<usize>> =
        new.iter().map(|key| old.iter().position(|other| other == key)).collect();
    for pod in pods {
        let values = &pod.pod_labels;
        let moved = places.iter().map(|place| {
            let value = place.and_then(|place| values.get(place));
            value.cloned().unwrap_or_default()
        });
        pod.pod_labels = moved.collect();
    }
}

/// For each of `scopes` scopes, the version from which its watch resumes. If the API server was
/// restored from a backup and is behind that version, the watch finds out itself.
pub(super) fn resume(
    content: &CheckpointContent,
    sources: &SourceMap,
    scopes: usize,
) -> Vec<Option<Version>> {
    let mut resume: Vec<Option<Version>> = vec![None; scopes];
    for (source, saved) in &content.tracker.sources {
        let SourceSuccessor::Same(SourceId(scope)) = sources.successor(*source) else {
            continue;
        };
        if let (Some(_), Some(place)) = (saved.first_list, resume.get_mut(usize::from(scope))) {
            place.clone_from(&saved.progress.version);
        }
    }
    resume
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_where_the_labels_of_now_want_them() {
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let values = ["blue", "volcano"].map(Box::from);
        let mut pods = [PodInfo { pod_labels: values.into(), ..PodInfo::default() }];
        let old = names(&["team", ".spec.schedulerName"]);
        let new = names(&["scheduler", ".spec.runtimeClassName", ".spec.schedulerName", "team"]);
        relabel(pods.iter_mut(), &old, &new);
        assert_eq!(*pods[0].pod_labels, ["", "", "volcano", "blue"].map(Box::from));
        relabel(pods.iter_mut(), &new, &[]);
        assert!(pods[0].pod_labels.is_empty());
    }
}
