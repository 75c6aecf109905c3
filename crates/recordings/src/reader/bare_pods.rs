//! Pods by themselves ([§8.4](crate::specification#s8-4)), as `jq '.items[]'` and `kubectl get pods -w -o json` write
//! them: a list first, and then what the watch brings.

use std::collections::HashSet;

use super::document::Body;
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
    pub(super) fn place(&mut self, body: &mut Body) {
        let goes_on = match (&mut *self, &*body) {
            (Self::Watched, Body::Pod(_)) => false,
            (Self::Watched, _) => return,
            (Self::FirstList(pods), Body::Pod(pod)) => pods.insert(pod.uid),
            (Self::FirstList(_), Body::Events(_) | Body::Nodes { .. } | Body::NodeEvent(_)) => true,
            (Self::FirstList(_), Body::List { .. } | Body::Event(_)) => false,
        };
        if goes_on {
            return;
        }
        *self = Self::Watched;
        *body = match std::mem::replace(body, Body::Events(Vec::new())) {
            Body::Pod(pod) => Body::Event(WatchEventKind::Modified(pod)),
            other => other,
        };
    }
}
