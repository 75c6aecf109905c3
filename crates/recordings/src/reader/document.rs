//! Documents of a recording, made from the fields found in their text.

use std::borrow::Cow;

use super::error::RecordingFault;
use super::misfit::NonRecording;
use super::position::RecordingPosition;
use podinit_core::kube_event::KubeEvent;
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::PodSnapshot;
use podinit_core::pod::packed::PackedPods;
use podinit_core::timestamp::Timestamp;
use podinit_decode::node::watch::{NodeLineKind, NodeWatchLine};
use podinit_decode::pod::DecodeContext;
use podinit_decode::pod::envelope::{DocumentEnvelope, ListItem, ListItems, ObservedAt};
use podinit_decode::pod::object::shorten;
use podinit_decode::{DecodeError, ObjectFault, WatchEventKind, event, event_kind};

/// The kinds of lists that a recording may hold.
pub(super) const LISTS: [&str; 4] = ["PodList", "List", "EventList", "NodeList"];

/// One document of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingDocument {
    /// Where it begins
    pub position: RecordingPosition,
    /// `observedAt`
    pub observed_at: Option<Timestamp>,
    /// What it says of pods; `None` where it is evidence only
    pub pods: Option<RecordedPods>,
    pub evidence: RecordedEvidence,
}

/// What a document says of pods.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedPods {
    /// A `PodList`, or a `List` that is not of evidence only
    List {
        pods: PackedPods,
        /// `metadata.continue`: the next document has the next page of this list
        goes_on: bool,
    },
    /// A pod by itself ([§8.4](crate::specification#s8-4))
    Bare(PodSnapshot),
    /// A watch event of a pod, a bookmark, or an error
    Event(WatchEventKind),
}

/// What a document says of anything else. Within a list, nodes come before the pods, and Events after them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedEvidence {
    /// Events ([§9.5](crate::specification#s9-5)), but for those of a watch that were not added or modified
    pub events: Vec<KubeEvent>,
    /// The latest time at which one of them happened last, of those that do not lie in the future
    /// ([§8.7](crate::specification#s8-7))
    pub latest_event: Option<Timestamp>,
    /// `None` where a list of pods has no nodes
    pub nodes: Option<RecordedNodes>,
    /// The latest lastHeartbeatTime of nodes, likewise
    pub latest_heartbeat: Option<Timestamp>,
}

/// What a document says of nodes ([§14.1](crate::specification#s14-1)).
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedNodes {
    /// Those of a list, or a node by itself
    List {
        nodes: Vec<NodeSnapshot>,
        /// A later document has the next page of this list
        goes_on: bool,
    },
    /// A watch event of a node
    Event(NodeLineKind),
}

impl RecordedPods {
    const fn listed_or_single(&self) -> (Option<&PackedPods>, Option<&PodSnapshot>) {
        match self {
            Self::List { pods, .. } => (Some(pods), None),
            Self::Bare(pod)
            | Self::Event(
                WatchEventKind::Added(pod)
                | WatchEventKind::Modified(pod)
                | WatchEventKind::Deleted(pod),
            ) => (None, Some(pod)),
            Self::Event(_) => (None, None),
        }
    }

    /// The pods, one at a time. Those of a list are copies.
    pub fn snapshots(&self) -> impl Iterator<Item = Cow<'_, PodSnapshot>> {
        let (list, single) = self.listed_or_single();
        let listed = list.into_iter().flat_map(PackedPods::copies);
        listed.map(Cow::Owned).chain(single.map(Cow::Borrowed))
    }

    /// Those of the pods that say something rare, such as how they ended; all that are of no list.
    pub fn rare_snapshots(&self) -> impl Iterator<Item = &PodSnapshot> {
        let (list, single) = self.listed_or_single();
        list.into_iter().flat_map(PackedPods::others).chain(single)
    }

    /// The greatest API time of the pods.
    pub(crate) fn latest_api_time(&self) -> Option<Timestamp> {
        match self {
            Self::List { pods, .. } => pods.latest_api_time(),
            _ => self.snapshots().find_map(|pod| pod.latest_api_time),
        }
    }

    /// Changes each of the pods.
    pub(super) fn change(&mut self, mut change: impl FnMut(&mut PodSnapshot)) {
        match self {
            Self::List { pods, .. } => {
                let changed = std::mem::take(pods).into_iter().map(|mut pod| {
                    change(&mut pod);
                    pod
                });
                *pods = changed.collect();
            }
            Self::Bare(pod)
            | Self::Event(
                WatchEventKind::Added(pod)
                | WatchEventKind::Modified(pod)
                | WatchEventKind::Deleted(pod),
            ) => change(pod),
            Self::Event(_) => {}
        }
    }
}

/// The items of a list while they are read.
#[derive(Default)]
pub(super) struct StreamedItems {
    pods: PackedPods,
    others: ListItems,
}

impl StreamedItems {
    /// Adds the item at `position`; `is_pod` if the list says that it holds pods only.
    pub(super) fn push(&mut self, position: usize, item: ListItem, is_pod: bool) {
        self.others.push(position, Ok(item));
        self.pods.extend(self.others.pods.drain(..));
        if is_pod {
            self.others.unnamed_nodes.clear();
        }
    }
}

impl RecordingDocument {
    /// Makes the document from `envelope`. `streamed` are the items that were decoded before it.
    pub(super) fn new(
        position: RecordingPosition,
        envelope: Option<DocumentEnvelope<'_>>,
        streamed: Option<StreamedItems>,
        context: &mut DecodeContext,
    ) -> Result<Self, RecordingFault> {
        let mut envelope = envelope.ok_or(RecordingFault::Object(ObjectFault::NotAnObject))?;
        let observed_at = match envelope.observed_at {
            ObservedAt::Absent => None,
            ObservedAt::At(instant) => Some(instant),
            ObservedAt::Unusable => return Err(RecordingFault::ObservedAt),
        };
        let mut pods = PackedPods::default();
        if let Some(StreamedItems { pods: streamed, others }) = streamed {
            let items = envelope.items.get_or_insert_default();
            items.events.extend(others.events);
            items.nodes.extend(others.nodes);
            items.unnamed_nodes.extend(others.unnamed_nodes);
            pods = streamed;
        }
        // Those of another array of items, and of YAML.
        pods.extend(envelope.items.iter_mut().flat_map(|items| items.pods.drain(..)));
        let (pods, evidence) = body(envelope, pods, context)?;
        Ok(Self { position, observed_at, pods, evidence })
    }

    /// Its pods, one at a time.
    pub fn snapshots(&self) -> impl Iterator<Item = Cow<'_, PodSnapshot>> {
        self.pods.iter().flat_map(RecordedPods::snapshots)
    }

    /// Its pods that say something rare ([`RecordedPods::rare_snapshots`]).
    pub fn rare_snapshots(&self) -> impl Iterator<Item = &PodSnapshot> {
        self.pods.iter().flat_map(RecordedPods::rare_snapshots)
    }

    /// Whether its pods are those of a list, or of a part of one.
    pub const fn is_list(&self) -> bool {
        matches!(self.pods, Some(RecordedPods::List { .. } | RecordedPods::Bare(_)))
    }

    /// Whether it holds Events and nothing else.
    pub(crate) const fn is_of_events(&self) -> bool {
        self.pods.is_none() && self.evidence.nodes.is_none()
    }

    /// Whether it is an event of a watch, of something else than Events.
    pub(crate) const fn is_watch_event(&self) -> bool {
        matches!(self.pods, Some(RecordedPods::Event(_)))
            || matches!(self.evidence.nodes, Some(RecordedNodes::Event(_)))
    }

    /// The same as a page of a list that goes on. A watch event stays what it is.
    pub(crate) fn into_page(mut self) -> Self {
        if self.is_watch_event() {
            return self;
        }
        let pods = match self.pods {
            Some(RecordedPods::List { pods, .. }) => pods,
            Some(RecordedPods::Bare(pod)) => PackedPods::from_iter([pod]),
            // Evidence moves no time ([§9.5](crate::specification#s9-5), [§14.1](crate::specification#s14-1)).
            Some(RecordedPods::Event(_)) | None => {
                self.observed_at = None;
                PackedPods::default()
            }
        };
        Self { pods: Some(RecordedPods::List { pods, goes_on: true }), ..self }
    }

    /// The empty page that ends a list.
    pub(crate) fn last_page(position: RecordingPosition) -> Self {
        let pods = Some(RecordedPods::List { pods: PackedPods::default(), goes_on: false });
        Self { position, observed_at: None, pods, evidence: RecordedEvidence::default() }
    }
}

/// What a document says of pods, and of anything else.
type PodsAndEvidence = (Option<RecordedPods>, RecordedEvidence);

fn only_pods(pods: RecordedPods) -> PodsAndEvidence {
    (Some(pods), RecordedEvidence::default())
}

fn only_events(events: Vec<KubeEvent>) -> PodsAndEvidence {
    (None, RecordedEvidence { events, ..RecordedEvidence::default() })
}

fn only_nodes(nodes: RecordedNodes) -> PodsAndEvidence {
    (None, RecordedEvidence { nodes: Some(nodes), ..RecordedEvidence::default() })
}

/// `pods` are those among its items.
fn body(
    envelope: DocumentEnvelope<'_>,
    pods: PackedPods,
    context: &mut DecodeContext,
) -> Result<PodsAndEvidence, RecordingFault> {
    let objects = [Some(&envelope.own), envelope.object.iter().flatten().next()];
    for object in objects.into_iter().flatten() {
        object.check().map_err(RecordingFault::Object)?;
    }
    let kind = envelope.own.kind.as_deref();
    // Secrets and Events have a `type` of their own.
    let is_event = envelope.object.is_some() || (envelope.event_type.is_some() && kind.is_none());
    if is_event {
        let event_type = envelope.event_type.as_deref();
        let object = match (envelope.object.flatten(), event_type) {
            (Some(object), Some("ADDED" | "MODIFIED")) if object.is_event() => {
                return Ok(only_events(vec![event::of_object(object, context)]));
            }
            // A bookmark of a watch of Events says nothing about pods.
            (Some(object), Some("DELETED" | "BOOKMARK")) if object.is_event() => {
                return Ok(only_events(Vec::new()));
            }
            (Some(object), _) if object.is_node() => {
                return NodeWatchLine::from_object(event_type, Some(object), context)
                    .map(|line| only_nodes(RecordedNodes::Event(line.kind)))
                    .map_err(fault);
            }
            (object, _) => object,
        };
        return event_kind(event_type, object, context)
            .map(|kind| only_pods(RecordedPods::Event(kind)))
            .map_err(fault);
    }
    match kind {
        Some("Event") => Ok(only_events(vec![event::of_object(envelope.own, context)])),
        Some("Node") => {
            let node = envelope.own.into_node(context).map_err(RecordingFault::Object)?;
            Ok(only_nodes(RecordedNodes::List { nodes: vec![node], goes_on: false }))
        }
        Some(kind) if LISTS.contains(&kind) => list(envelope, pods),
        None if envelope.items.is_some() => {
            Err(RecordingFault::Object(ObjectFault::NotAList(String::new())))
        }
        Some(kind) if kind.ends_with("List") => {
            Err(RecordingFault::Object(ObjectFault::NotAList(shorten(kind))))
        }
        _ => match NonRecording::of_object(&envelope.own) {
            Some(misfit) => Err(RecordingFault::Misfit(misfit)),
            None => (envelope.own.into_pod(context))
                .map(|pod| only_pods(RecordedPods::Bare(pod)))
                .map_err(RecordingFault::Object),
        },
    }
}

fn fault(error: DecodeError) -> RecordingFault {
    match error {
        DecodeError::Object { fault, .. } => RecordingFault::Object(fault),
        DecodeError::Json { why, .. } => RecordingFault::Syntax { format: "JSON", why },
        DecodeError::Protobuf(why) => RecordingFault::Syntax { format: "protobuf", why },
    }
}

/// What a list holds, all of whose items could be decoded.
fn list(
    envelope: DocumentEnvelope<'_>,
    mut pods: PackedPods,
) -> Result<PodsAndEvidence, RecordingFault> {
    let items = envelope.items.ok_or(RecordingFault::Object(ObjectFault::NoItems))?;
    if let Some((index, fault)) = items.first_fault {
        return Err(RecordingFault::Item { number: index + 1, fault });
    }
    let ListItems { events, mut nodes, unnamed_nodes, .. } = items;
    let kind = envelope.own.kind.as_deref();
    match kind {
        // An item that does not state its kind is of the kind of its list.
        Some("NodeList") if pods.len() == unnamed_nodes.len() && events.is_empty() => {
            nodes.extend(unnamed_nodes);
            pods = PackedPods::default();
        }
        Some("NodeList") => return Err(RecordingFault::NotANode),
        Some("EventList") if !pods.is_empty() || !nodes.is_empty() => {
            return Err(RecordingFault::NotAnEvent);
        }
        Some("PodList") if !events.is_empty() => return Err(not_a_pod("Event")),
        Some("PodList") if !nodes.is_empty() => return Err(not_a_pod("Node")),
        _ => {}
    }
    let goes_on = envelope.own.metadata.continue_token.is_some();
    let is_of_pods = match kind {
        Some("NodeList" | "EventList") => false,
        _ => !pods.is_empty() || (nodes.is_empty() && events.is_empty()),
    };
    let has_nodes = !nodes.is_empty() || kind == Some("NodeList");
    let nodes = has_nodes.then_some(RecordedNodes::List { nodes, goes_on });
    let pods = is_of_pods.then_some(RecordedPods::List { pods, goes_on });
    Ok((pods, RecordedEvidence { events, nodes, ..RecordedEvidence::default() }))
}

fn not_a_pod(kind: &str) -> RecordingFault {
    RecordingFault::Object(ObjectFault::NotAPod(kind.to_owned()))
}
