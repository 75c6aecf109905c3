//! The documents of what may be a lone list.

use std::mem;

use crate::one_moment::{OneMoment, last_page, page};
use crate::reader::{DocumentBody, RecordingDocument};
use podinit_core::kube_event::in_order_of_time;
use podinit_core::timestamp::Timestamp;

/// So many Events are held at least. Beyond twice as many, those that happened last the longest ago are let go.
const MOST_EVENTS: usize = 200_000;

/// Documents that show one moment so far.
pub(super) struct HeldDocuments {
    moment: OneMoment,
    documents: Vec<RecordingDocument>,
    /// Whether Events are a source of evidence
    takes_events: bool,
    /// How many of them there are
    events: usize,
    most_events: usize,
    /// A list states when it was observed
    is_observed: bool,
}

impl HeldDocuments {
    pub(super) fn new(takes_events: bool) -> Self {
        Self {
            moment: OneMoment::default(),
            documents: Vec::new(),
            takes_events,
            events: 0,
            most_events: MOST_EVENTS,
            is_observed: false,
        }
    }

    /// Whether what was read shows one moment with `document`, the next one.
    pub(super) fn holds_with(&mut self, document: &RecordingDocument) -> bool {
        self.moment.read(document);
        self.moment.is_one_list()
    }

    /// Holds one more.
    pub(super) fn push(&mut self, mut document: RecordingDocument) {
        let is_list = matches!(document.body, DocumentBody::List { .. } | DocumentBody::Pod(_));
        self.is_observed |= is_list && document.observed_at.is_some();
        document.latest_event = document.latest_event.filter(|_| self.takes_events);
        if let Some(events) = document.body.events_mut() {
            // Nothing is said of others.
            events.retain(|event| self.takes_events && event.pod.is_some());
            self.events += events.len();
        }
        // Those by themselves are many, and their position is of no use.
        match (self.documents.last_mut(), &mut document) {
            (
                Some(RecordingDocument {
                    body: DocumentBody::Events(events), latest_event, ..
                }),
                RecordingDocument { body: DocumentBody::Events(more), latest_event: later, .. },
            ) => {
                events.append(more);
                *latest_event = (*latest_event).max(*later);
            }
            _ => self.documents.push(document),
        }
        if self.events > 2 * self.most_events {
            self.let_go();
        }
    }

    /// Lets all but the newest Events go.
    fn let_go(&mut self) {
        let events = |documents: &[RecordingDocument]| -> Vec<(Option<Timestamp>, usize)> {
            let all = documents.iter().flat_map(|document| document.body.events());
            all.map(|event| event.occurred.last).zip(0..).collect()
        };
        let mut order = events(&self.documents);
        let (_, oldest, _) = order.select_nth_unstable(self.events - self.most_events);
        let oldest = *oldest;
        let mut place = 0;
        for document in &mut self.documents {
            if let Some(events) = document.body.events_mut() {
                events.retain(|event| {
                    let own = (event.occurred.last, place);
                    place += 1;
                    own >= oldest
                });
                events.shrink_to_fit();
            }
        }
        self.events = self.most_events;
    }

    /// The documents as they were.
    pub(super) fn into_documents(self) -> Vec<RecordingDocument> {
        self.documents
    }

    /// The pages of the one list that a lone list is, the last one, which has all its Events and tells the time, and what
    /// tells it; the documents as they were if they are no list.
    pub(super) fn into_moment(
        mut self,
    ) -> Result<(Vec<RecordingDocument>, RecordingDocument, LoneList), Vec<RecordingDocument>> {
        let end = self.documents.last().map(|document| document.position);
        let (true, Some(end)) = (self.moment.is_complete(), end) else {
            return Err(self.documents);
        };
        let (mut events, mut latest, mut heartbeat) = (Vec::new(), None, None);
        for document in &mut self.documents {
            latest = latest.max(document.latest_event);
            // What states its own time need not be of the moment of the list.
            let of_list = document.latest_heartbeat.filter(|_| document.observed_at.is_none());
            heartbeat = heartbeat.max(of_list);
            if let Some(own) = document.body.events_mut() {
                events.append(own);
            }
        }
        in_order_of_time(&mut events);
        let of_events =
            |document: &RecordingDocument| matches!(document.body, DocumentBody::Events(_));
        let others = mem::take(&mut self.documents).into_iter();
        let pages = others.filter(|document| !of_events(document)).map(page);
        let mut last = last_page(end);
        last.observed_at = latest.max(heartbeat).filter(|_| !self.is_observed);
        if let Some(own) = last.body.events_mut() {
            *own = events;
        }
        let told = LoneList { is_observed: self.is_observed, heartbeat };
        Ok((pages.collect(), last, told))
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
    use crate::reader::RecordingPosition;
    use podinit_core::kube_event::{EventOccurrence, EventReason, InvolvedPod, KubeEvent};
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
            latest_event: None,
            latest_heartbeat: None,
            body: DocumentBody::Events(seconds.iter().map(event).collect()),
        }
    }

    fn seconds(held: &HeldDocuments) -> Vec<i64> {
        let events = held.documents.iter().flat_map(|document| document.body.events());
        let last = events.map(|event| event.occurred.last);
        last.map(|at| at.map_or(0, |at| at.as_nanos() / 1_000_000_000)).collect()
    }

    #[test]
    fn of_too_many_events_those_stay_that_happened_last() {
        let mut held = HeldDocuments { most_events: 3, ..HeldDocuments::new(true) };
        for seconds in [&[5, 1, 9][..], &[0, 7], &[7]] {
            held.push(document(seconds));
        }
        assert_eq!(seconds(&held), [5, 1, 9, 0, 7, 7]);
        assert_eq!(held.documents.len(), 1, "they are one document");
        held.push(document(&[2]));
        assert_eq!((seconds(&held), held.events), (vec![9, 7, 7], 3));
        // Of equals, those that came last.
        for _ in 0..4 {
            held.push(document(&[9]));
        }
        assert_eq!((seconds(&held), held.events), (vec![9, 9, 9], 3));
    }

    #[test]
    fn nothing_is_held_of_events_that_nobody_asked_for() {
        let mut held = HeldDocuments::new(false);
        held.push(document(&[1, 2]));
        assert_eq!((seconds(&held), held.events), (vec![], 0));
    }
}
