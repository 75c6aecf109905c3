//! Pods by themselves ([§8.4](crate::specification#s8-4)), as `jq '.items[]'` and `kubectl get pods -w -o json` write
//! them: a list first, and then what the watch brings.

use std::collections::HashSet;

use super::document::DocumentBody;
use podinit_core::pod::PodUid;
use podinit_decode::WatchEventKind;

/// Whether the next pod by itself is one of the first list.
#[derive(Debug)]
pub(super) enum BarePods {
    /// Nothing but pods by themselves so far, these, Events and nodes aside
    FirstList(HashSet<PodUid>),
    /// That list is over
    Watched,
}

impl Default for BarePods {
    fn default() -> Self {
        Self::FirstList(HashSet::new())
    }
}

impl BarePods {
    /// Makes an event of a pod by itself that is not one of the first list.
    pub(super) fn place(&mut self, body: &mut DocumentBody) {
        let goes_on = match (&mut *self, &*body) {
            (Self::Watched, DocumentBody::Pod(_)) => false,
            (Self::Watched, _) => return,
            (Self::FirstList(pods), DocumentBody::Pod(pod)) => pods.insert(pod.uid),
            (
                Self::FirstList(_),
                DocumentBody::Events(_) | DocumentBody::Nodes { .. } | DocumentBody::NodeEvent(_),
            ) => true,
            (Self::FirstList(_), DocumentBody::List { .. } | DocumentBody::Event(_)) => false,
        };
        if goes_on {
            return;
        }
        *self = Self::Watched;
        *body = match std::mem::replace(body, DocumentBody::Events(Vec::new())) {
            DocumentBody::Pod(pod) => DocumentBody::Event(WatchEventKind::Modified(pod)),
            other => other,
        };
    }
}
