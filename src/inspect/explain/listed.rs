//! An explanation from one list of a cluster's pods, and what is evidence beside them.

use std::cell::RefCell;
use std::convert::Infallible;

use super::explanation::Explanation;
use super::replayed::Followed;
use super::statuses::Statuses;
use super::target::{NoStartup, Target};
use crate::inspect::listed_cluster::Unlisted;
use crate::reports::reader::{Body, Document, RecordingPosition};
use crate::reports::replay::{ReplayConfig, replayed};
use podinit_core::kube_event::{KubeEvent, in_order_of_time};
use podinit_core::lifecycle::{NetworkTime, Sink, Tracker, TrackerConfig};
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::{ConditionType, Conditions, ContainerState, PodSnapshot};
use podinit_core::timestamp::Timestamp;
use podinit_decode::WatchEventKind;

/// What a list does not show.
const OF_A_LIST: &str =
    "one list of the pods shows only the present cause, and only times that their status states";

/// The pods of a cluster or a namespace, as one list shows them.
#[derive(Clone, Debug)]
pub struct ListedPods {
    pub pods: Vec<PodSnapshot>,
    /// The Events about them
    pub events: Vec<KubeEvent>,
    /// Their nodes
    pub nodes: Vec<NodeSnapshot>,
    /// What was asked for and cannot be listed
    pub unlisted: Vec<Unlisted>,
    /// The cluster's time after the lists
    pub now: Timestamp,
}

/// Explains the startup of `target`, with the choice of [`explain`](super::explain).
///
/// # Errors
/// If the list has no startup of it.
pub fn explain_list(
    list: ListedPods,
    tracker: TrackerConfig,
    target: &Target,
) -> Result<Explanation, NoStartup> {
    let mut doubts = vec![OF_A_LIST.to_owned()];
    doubts.extend(list.unlisted.iter().map(Unlisted::to_string));
    let statuses = RefCell::new(Statuses::default());
    for pod in &list.pods {
        statuses.borrow_mut().add(pod, target, true);
    }
    let new_sink = || Followed::new(target, &statuses);
    let (followed, tracker) = replayed_list(list, tracker, target, new_sink, |_| {});
    followed.explanation(&tracker, doubts)
}

/// Replays the list as one moment ([§13.2](crate::specification#s13-2)). `see` sees every document before.
pub(super) fn replayed_list<S: Sink>(
    mut list: ListedPods,
    tracker: TrackerConfig,
    target: &Target,
    new_sink: impl Fn() -> S,
    see: impl FnMut(&Document),
) -> (S, Tracker) {
    let config = ReplayConfig { tracker, ..ReplayConfig::default() };
    in_order_of_time(&mut list.events);
    let (events, now) = (list.events.clone(), list.now);
    let documents = documents(list, target).map(Ok::<_, Infallible>);
    let Ok((sink, mut tracker)) = replayed(documents, config, new_sink, see);
    tracker.know_present_causes(&events, now);
    (sink, tracker)
}

/// The documents of a recording that shows the same. Events count only while a startup is under way, so
/// the pods to explain that are ready come twice: before they were, and after the Events as they are.
fn documents(list: ListedPods, target: &Target) -> impl Iterator<Item = Document> + use<> {
    let ListedPods { mut pods, events, nodes, now, .. } = list;
    let mut ready = Vec::new();
    for pod in &mut pods {
        let is_ready = pod.conditions.holding(ConditionType::Ready).is_some();
        if is_ready && target.fits(&pod.info) {
            let began = before_it_was_ready(pod);
            ready.push(std::mem::replace(pod, began));
        }
    }
    let listed = Body::List { pods, events, nodes, continue_token: None, resource_version: None };
    let ready = ready.into_iter();
    let modified = ready.map(|pod| Body::Event(WatchEventKind::Modified(pod)));
    let bodies = std::iter::once(listed).chain(modified);
    bodies.zip(1..).map(move |(body, document)| Document {
        position: RecordingPosition { line: document, column: 1, byte: 0, document },
        observed_at: Some(now),
        latest_event: None,
        body,
    })
}

/// The pod before it was ready. Where its status does not say exactly since when its network was ready,
/// the pod as it was bound, so that Events can say it ([§9.2](crate::specification#s9-2)).
fn before_it_was_ready(pod: &PodSnapshot) -> PodSnapshot {
    let network = [ConditionType::PodReadyToStartContainers, ConditionType::PodHasNetwork];
    let network = (network.into_iter()).find_map(|kind| pod.conditions.holding(kind));
    let network = network.and_then(|condition| condition.last_transition);
    let mut before =
        PodSnapshot { resource_version: None, conditions: Conditions::default(), ..pod.clone() };
    if network.is_some() && NetworkTime::of(network, &pod.containers) == Some(NetworkTime::Exact) {
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
