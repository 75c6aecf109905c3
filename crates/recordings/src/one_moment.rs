//! Lists that show one moment, as one list ([§8.4](crate::specification#s8-4)): what writes a file for each
//! namespace, as must-gather and `kubectl cluster-info dump` do, shows one cluster in many lists.

use std::collections::HashSet;
use std::sync::Arc;

use super::reader::{DocumentBody, RecordingDocument, RecordingPosition};
use podinit_core::pod::PodSnapshot;

/// What stands for the token of the API server on a page that another follows.
const MORE: &str = "more";

/// The documents with all lists before the first watch event as one, if `is_one_moment`. Events before the
/// end of that list follow its pods.
pub fn joined<E>(
    documents: impl Iterator<Item = Result<RecordingDocument, E>>,
    is_one_moment: bool,
) -> impl Iterator<Item = Result<RecordingDocument, E>> {
    let mut documents = documents.fuse();
    let mut passes_all = !is_one_moment;
    // Where the list that was given last began, and what follows the last page.
    let (mut last, mut held) = (None, None);
    std::iter::from_fn(move || {
        if let Some(document) = held.take() {
            return Some(document);
        }
        let document = documents.next();
        if passes_all {
            return document;
        }
        match document {
            Some(Ok(document))
                if !matches!(
                    document.body,
                    DocumentBody::Event(_) | DocumentBody::NodeEvent(_)
                ) =>
            {
                if !matches!(document.body, DocumentBody::Events(_)) {
                    last = Some(document.position);
                }
                Some(Ok(page(document)))
            }
            Some(Err(error)) => Some(Err(error)),
            other => {
                passes_all = true;
                match last {
                    Some(position) => {
                        held = other;
                        Some(Ok(last_page(position)))
                    }
                    None => other,
                }
            }
        }
    })
}

/// A list or Events as a page of a list that goes on.
pub(super) fn page(document: RecordingDocument) -> RecordingDocument {
    let RecordingDocument { position, observed_at, latest_event, latest_heartbeat, body } =
        document;
    let (pods, events, nodes, observed_at) = match body {
        DocumentBody::List { pods, events, nodes, .. } => (pods, events, nodes, observed_at),
        DocumentBody::Pod(pod) => (vec![pod], Vec::new(), Vec::new(), observed_at),
        // Neither Events nor nodes move time ([§9.5](crate::specification#s9-5),
        // [§14.1](crate::specification#s14-1)).
        DocumentBody::Events(events) => (Vec::new(), events, Vec::new(), None),
        DocumentBody::Nodes { nodes, events, .. } => (Vec::new(), events, nodes, None),
        DocumentBody::Event(_) | DocumentBody::NodeEvent(_) => {
            return RecordingDocument {
                position,
                observed_at,
                latest_event,
                latest_heartbeat,
                body,
            };
        }
    };
    RecordingDocument {
        position,
        observed_at,
        latest_event,
        latest_heartbeat,
        body: DocumentBody::List {
            pods,
            events,
            nodes,
            continue_token: Some(MORE.to_owned()),
            resource_version: None,
        },
    }
}

/// The empty page that ends a list.
pub(super) fn last_page(position: RecordingPosition) -> RecordingDocument {
    RecordingDocument {
        position,
        observed_at: None,
        latest_event: None,
        latest_heartbeat: None,
        body: DocumentBody::List {
            pods: Vec::new(),
            events: Vec::new(),
            nodes: Vec::new(),
            continue_token: None,
            resource_version: None,
        },
    }
}

/// Whether a recording shows one moment: it is one list, or several of different namespaces. Only its end
/// shows that it was no more than that.
#[derive(Debug, Default)]
pub(super) struct OneMoment {
    lists: usize,
    /// Something has happened to a pod
    has_others: bool,
    /// Something has happened to a node
    has_node_events: bool,
    /// A list is a later one: it shares a namespace with one before, or their times are stated
    has_later: bool,
    states_times: bool,
    /// The last page of a list has not come yet
    is_incomplete: bool,
    /// The namespaces with pods in the lists before, and in this one
    before: HashSet<Arc<str>>,
    present: HashSet<Arc<str>>,
}

impl OneMoment {
    /// Looks at one more document.
    pub(crate) fn read(&mut self, document: &RecordingDocument) {
        let states_time = document.observed_at.is_some();
        match &document.body {
            DocumentBody::Events(_) | DocumentBody::Nodes { .. } => {}
            DocumentBody::Event(_) => self.has_others = true,
            DocumentBody::NodeEvent(_) => self.has_node_events = true,
            // All of them are the first list.
            DocumentBody::Pod(pod) => {
                self.lists = 1;
                self.states_times |= states_time;
                self.present.insert(Arc::clone(&pod.info.namespace));
            }
            DocumentBody::List { pods, continue_token, .. } => {
                self.list(pods, states_time, continue_token.is_some())
            }
        }
    }

    fn list(&mut self, pods: &[PodSnapshot], states_time: bool, goes_on: bool) {
        if !self.is_incomplete {
            self.lists += 1;
            self.before.extend(self.present.drain());
        }
        self.states_times |= states_time;
        self.has_later |= self.lists > 1 && self.states_times;
        for pod in pods {
            let namespace = &pod.info.namespace;
            self.has_later |= self.before.contains(namespace);
            if !self.present.contains(namespace) {
                self.present.insert(Arc::clone(namespace));
            }
        }
        self.is_incomplete = goes_on;
    }

    /// Whether it is one so far.
    pub(crate) const fn holds(&self) -> bool {
        self.is_one_list() && !self.has_node_events
    }

    /// The same, whatever has happened to nodes: it is a lone list ([§13.2](crate::specification#s13-2)).
    pub(super) const fn is_one_list(&self) -> bool {
        !self.has_others && !self.has_later
    }

    /// Whether it has a list, and the last one is complete.
    pub(crate) const fn is_complete(&self) -> bool {
        self.lists > 0 && !self.is_incomplete
    }

    /// How many lists a recording holds that holds nothing else and is not one moment.
    pub(super) const fn relists(&self) -> Option<usize> {
        match self.has_later && !self.has_others && !self.has_node_events {
            true => Some(self.lists),
            false => None,
        }
    }
}
