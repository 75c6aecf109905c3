//! One list of a cluster's pods as a recording that shows the same, in which those to explain start up.

use std::convert::Infallible;

use super::listed_cluster::ClusterListing;
use crate::explain::ExplainTarget;
use podinit_core::lifecycle::{NetworkTime, Observer, Tracker, TrackerConfig};
use podinit_core::pod::{ConditionType, ContainerState, PodSnapshot, StatusConditions};
use podinit_decode::WatchEventKind;
use podinit_recordings::reader::{
    RecordedEvidence, RecordedNodes, RecordedPods, RecordingDocument, RecordingPosition,
};
use podinit_recordings::replay::{ReplayConfig, replayed};

/// What a list does not show.
pub(super) const OF_A_LIST: &str =
    "one list of the pods shows only the present cause, and only times that their status states";

/// Replays the list as one moment ([§13.2](crate::specification#s13-2)), whose Events are in order of time.
pub(super) fn replayed_list<S: Observer>(
    list: ClusterListing,
    tracker: TrackerConfig,
    target: &ExplainTarget,
    new_sink: impl Fn() -> S,
) -> (S, Tracker) {
    let config = ReplayConfig { tracker, ..ReplayConfig::default() };
    let (events, now) = (list.events.clone(), list.now);
    let documents = documents(list, target).map(Ok::<_, Infallible>);
    let Ok(mut end) = replayed(documents, config, |_| Ok(new_sink()), |_, _| {});
    end.tracker.know_present_causes(&events, now);
    (end.sink, end.tracker)
}

/// The documents of a recording that shows the same. Events count only while a startup is under way, so
/// the pods to explain that are ready come twice: before they were, and after the Events as they are.
fn documents(
    list: ClusterListing,
    target: &ExplainTarget,
) -> impl Iterator<Item = RecordingDocument> + use<> {
    let ClusterListing { pods, events, nodes, now, .. } = list;
    let mut pods: Vec<PodSnapshot> = pods.into_iter().flat_map(|(_, pods)| pods).collect();
    let nodes = nodes.map(|(_, nodes)| nodes).unwrap_or_default();
    let mut ready = Vec::new();
    for pod in &mut pods {
        let is_ready = pod.conditions.holding(ConditionType::Ready).is_some();
        if is_ready && target.fits(&pod.info) {
            let began = before_it_was_ready(pod);
            ready.push(std::mem::replace(pod, began));
        }
    }
    let nodes = Some(RecordedNodes::List { nodes, goes_on: false });
    let evidence = RecordedEvidence { events, nodes, ..RecordedEvidence::default() };
    let listed = (RecordedPods::List { pods, goes_on: false }, evidence);
    let modified = ready.into_iter().map(|pod| RecordedPods::Event(WatchEventKind::Modified(pod)));
    let modified = modified.map(|pods| (pods, RecordedEvidence::default()));
    let all = std::iter::once(listed).chain(modified);
    all.zip(1..).map(move |((pods, evidence), document)| RecordingDocument {
        position: RecordingPosition { line: document, column: 1, byte: 0, document },
        observed_at: Some(now),
        pods: Some(pods),
        evidence,
    })
}

/// The pod before it was ready. Where its status does not say exactly since when its network was ready,
/// the pod as it was bound, so that Events can say it ([§9.2](crate::specification#s9-2)).
fn before_it_was_ready(pod: &PodSnapshot) -> PodSnapshot {
    let network = [ConditionType::PodReadyToStartContainers, ConditionType::PodHasNetwork];
    let network = (network.into_iter()).find_map(|kind| pod.conditions.holding(kind));
    let network = network.and_then(|condition| condition.last_transition);
    let mut before = PodSnapshot {
        resource_version: None,
        conditions: StatusConditions::default(),
        ..pod.clone()
    };
    if network.is_some()
        && NetworkTime::from_condition(network, &pod.containers) == Some(NetworkTime::Exact)
    {
        for kind in ConditionType::ALL {
            let is_later = matches!(kind, ConditionType::ContainersReady | ConditionType::Ready);
            if let Some(condition) = pod.conditions.get(kind).filter(|_| !is_later) {
                before.conditions.insert(kind, condition);
            }
        }
        return before;
    }
    for container in &mut before.containers {
        container.state = ContainerState::default();
        container.started = None;
    }
    before
}
