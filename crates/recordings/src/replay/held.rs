//! Documents that wait for what follows them: they may be a lone list, or the first pods of a watch without a list.

use std::mem;

use crate::reader::{RecordingDocument, RecordingPosition};
use podinit_core::kube_event::{EventReason, KubeEvent, in_order_of_time};
use podinit_core::timestamp::Timestamp;

/// So many Events of a lone list are held at least. Beyond twice as many, those that happened last the longest ago are
/// let go.
const MOST_EVENTS: usize = 200_000;

/// Documents, each with the time at which it was read.
pub(super) struct HeldDocuments {
    documents: Vec<(RecordingDocument, Timestamp)>,
    /// How many Events they have
    events: usize,
    most_events: usize,
}

impl Default for HeldDocuments {
    fn default() -> Self {
        Self { documents: Vec::new(), events: 0, most_events: MOST_EVENTS }
    }
}

impl HeldDocuments {
    /// Holds one more.
    pub(super) fn push(&mut self, document: RecordingDocument, at: Timestamp) {
        self.events += document.evidence.events.len();
        // Events by themselves are many, and their position is of no use.
        match self.documents.last_mut() {
            Some((last, _)) if last.is_of_events() && document.is_of_events() => {
                let (last, evidence) = (&mut last.evidence, document.evidence);
                last.events.extend(evidence.events);
                last.latest_event = last.latest_event.max(evidence.latest_event);
            }
            _ => self.documents.push((document, at)),
        }
    }

    /// Holds one more of what may be a lone list, without the Events that nothing is said of: where they are no source of
    /// evidence, all.
    pub(super) fn push_of_list(
        &mut self,
        mut document: RecordingDocument,
        at: Timestamp,
        takes_events: bool,
    ) {
        let evidence = &mut document.evidence;
        let is_of_use = |event: &KubeEvent| {
            event.pod.is_some() || matches!(event.reason, EventReason::OfClaim { .. })
        };
        evidence.events.retain(|event| takes_events && is_of_use(event));
        evidence.latest_event = evidence.latest_event.filter(|_| takes_events);
        self.push(document, at);
        if self.events > 2 * self.most_events {
            self.let_go();
        }
    }

    /// Lets all but the newest Events go.
    fn let_go(&mut self) {
        let events = self.documents.iter().flat_map(|(document, _)| &document.evidence.events);
        let mut order: Vec<(Option<Timestamp>, usize)> =
            events.map(|event| event.occurred.last).zip(0..).collect();
        let (_, oldest, _) = order.select_nth_unstable(self.events - self.most_events);
        let oldest = *oldest;
        let mut place = 0;
        for (document, _) in &mut self.documents {
            let events = &mut document.evidence.events;
            events.retain(|event| {
                let own = (event.occurred.last, place);
                place += 1;
                own >= oldest
            });
            events.shrink_to_fit();
        }
        self.events = self.most_events;
    }

    /// The documents as they are.
    pub(super) fn into_documents(self) -> Vec<(RecordingDocument, Timestamp)> {
        self.documents
    }

    /// Makes pages of a list of the documents. Its Events by time are on the last one, which is not among them, ends at
    /// `end`, and has the time of the list; and what tells that.
    pub(super) fn gather(&mut self, end: RecordingPosition) -> (RecordingDocument, LoneList) {
        let mut last = RecordingDocument::last_page(end);
        let events = &mut last.evidence.events;
        let (mut latest, mut heartbeat, mut is_observed) = (None, None, false);
        for (document, _) in &mut self.documents {
            is_observed |= document.is_list() && document.observed_at.is_some();
            let evidence = &mut document.evidence;
            latest = latest.max(evidence.latest_event);
            // What states its own time need not be of the moment of the list.
            let of_list = evidence.latest_heartbeat.filter(|_| document.observed_at.is_none());
            heartbeat = heartbeat.max(of_list);
            events.append(&mut evidence.events);
        }
        in_order_of_time(events);
        last.observed_at = latest.max(heartbeat).filter(|_| !is_observed);
        let documents = mem::take(&mut self.documents).into_iter();
        self.documents = documents.filter(|(document, _)| !document.is_of_events()).collect();
        (last, LoneList { is_observed, heartbeat })
    }
}

/// What tells the time of a lone list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoneList {
    /// A list states when it was observed
    pub is_observed: bool,
    /// The latest heartbeat of nodes beside it
    pub heartbeat: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::reader::RecordedEvidence;
    use podinit_core::kube_event::{EventOccurrence, InvolvedPod};
    use podinit_core::pod::PodUid;

    fn document(seconds: &[i64]) -> RecordingDocument {
        let event = |second: &i64| KubeEvent {
            pod: Some(InvolvedPod::new(PodUid::from_text("a"), "shop", "web-0")),
            from_kubelet: true,
            container: None,
            first: None,
            named: None,
            occurred: EventOccurrence {
                first: None,
                last: (*second > 0).then(|| Timestamp::from_seconds(*second)),
            },
            reason: EventReason::Created,
            message: None,
        };
        RecordingDocument {
            position: RecordingPosition { line: 1, column: 1, byte: 0, document: 1 },
            observed_at: None,
            pods: None,
            evidence: RecordedEvidence {
                events: seconds.iter().map(event).collect(),
                ..RecordedEvidence::default()
            },
        }
    }

    fn seconds(held: &HeldDocuments) -> Vec<i64> {
        let events = held.documents.iter().flat_map(|(document, _)| &document.evidence.events);
        let last = events.map(|event| event.occurred.last);
        last.map(|at| at.map_or(0, |at| at.as_nanos() / 1_000_000_000)).collect()
    }

    #[test]
    fn of_too_many_events_those_stay_that_happened_last() {
        let mut held = HeldDocuments { most_events: 3, ..HeldDocuments::default() };
        for seconds in [&[5, 1, 9][..], &[0, 7], &[7]] {
            held.push_of_list(document(seconds), Timestamp::EPOCH, true);
        }
        assert_eq!(seconds(&held), [5, 1, 9, 0, 7, 7]);
        assert_eq!(held.documents.len(), 1, "they are one document");
        held.push_of_list(document(&[2]), Timestamp::EPOCH, true);
        assert_eq!((seconds(&held), held.events), (vec![9, 7, 7], 3));
        // Of equals, those that came last.
        for _ in 0..4 {
            held.push_of_list(document(&[9]), Timestamp::EPOCH, true);
        }
        assert_eq!((seconds(&held), held.events), (vec![9, 9, 9], 3));
    }

    #[test]
    fn nothing_is_held_of_events_that_nobody_asked_for() {
        let mut held = HeldDocuments::default();
        held.push_of_list(document(&[1, 2]), Timestamp::EPOCH, false);
        assert_eq!((seconds(&held), held.events), (vec![], 0));
    }
}
