//! One list of a cluster's pods, in which those to explain start up.

use super::listed_cluster::ClusterListing;
use crate::explain::ExplainTarget;
use podinit_core::claim_events::ClaimEvents;
use podinit_core::kube_event::KubeEvent;
use podinit_core::lifecycle::{
    Delivery, NetworkTime, NodeEvent, Observer, PodEvent, SourceId, Tracker, TrackerConfig,
};
use podinit_core::pod::{ConditionType, ContainerState, PodSnapshot, StatusConditions};

/// What a list does not show.
pub(super) const OF_A_LIST: &str =
    "one list of the pods shows only the present cause, and only times that their status states";

/// Accounts for the list as one moment ([§13.2](crate::specification#s13-2)), whose Events are in order of time. They count
/// only while a startup is under way, so the pods to explain that are ready come twice: before they were, and after the
/// Events as they are.
pub(super) fn replayed_list<S: Observer>(
    list: ClusterListing,
    config: TrackerConfig,
    target: &ExplainTarget,
    mut sink: S,
) -> (S, Tracker) {
    let ClusterListing { pods, events, nodes, now, .. } = list;
    let mut pods: Vec<PodSnapshot> = pods.into_iter().flat_map(|(_, pods)| pods).collect();
    let mut claims = ClaimEvents::default();
    claims.pods(&pods);
    let said: Vec<KubeEvent> = events.iter().flat_map(|event| claims.event(event)).collect();
    let mut ready = Vec::new();
    for pod in &mut pods {
        let is_ready = pod.conditions.holding(ConditionType::Ready).is_some();
        if is_ready && target.fits(&pod.info) {
            let began = before_it_was_ready(pod);
            ready.push(std::mem::replace(pod, began));
        }
    }
    let nodes = nodes.map(|(_, nodes)| nodes).filter(|nodes| config.nodes && !nodes.is_empty());
    let nodes = nodes.map(|nodes| PodEvent::Nodes(NodeEvent::Listed { nodes, began: now }));
    let listed = PodEvent::Listed { pods: pods.into(), began: now };
    let shown = events.iter().chain(&said).filter(|_| config.events).cloned().map(PodEvent::Event);
    let all = nodes.into_iter().chain([listed]).chain(shown).map(|event| (event, None));
    let ready = ready.into_iter().map(|pod| (PodEvent::Applied(pod), Some(now)));
    let mut tracker = Tracker::new(config.clone());
    for (event, observed) in all.chain(ready) {
        let delivery = Delivery { source: SourceId(0), event, now, observed, version: None };
        tracker.apply(delivery, &mut sink);
    }
    tracker.know_present_causes(&events, now);
    (sink, tracker)
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
