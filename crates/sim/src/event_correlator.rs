//! What a recorder makes of the Events of one pod before it sends them, as client-go does
//! (`tools/record/events_cache.go`): similar ones are aggregated, equal ones counted, and an object
//! that causes too many is silenced. An Event comes as its reporter makes it.

use std::collections::{BTreeSet, HashMap};

use super::component_fault::ScaleUp;
use super::container::ContainerRef;
use super::node::{KubeletMinor, SimulatedNode};
use super::sim_clock::SECOND;
use podinit_core::timestamp::Timestamp;

/// From this many different messages of one kind within ten minutes on, they become one Event.
const SIMILAR: usize = 10;
const SIMILAR_WITHIN: i64 = 600 * SECOND;
/// A reporter may send this many Events of one type about an object at once, and one more every five
/// minutes.
const SPAM_BURST: i64 = 25;
const SPAM_INTERVAL: i64 = 300 * SECOND;

/// An Event as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CorrelatedEvent {
    /// The instant in the Event's name
    pub(super) named: Timestamp,
    /// `firstTimestamp`, not yet truncated
    pub(super) first: Timestamp,
    /// `lastTimestamp`, not yet truncated
    pub(super) last: Timestamp,
    /// `count`
    pub(super) count: u32,
    /// `message`
    pub(super) message: String,
}

/// The recorders' memory of one pod.
#[derive(Clone, Debug, Default)]
pub(super) struct PodEvents {
    /// The different messages of each kind within the time, and when the last one came
    similar: HashMap<EventGroup, (BTreeSet<String>, Timestamp)>,
    logged: HashMap<LogKey, LoggedEvent>,
    /// The token bucket of each origin: when it would be full again
    full_at: HashMap<EventOrigin, i64>,
    last_name: i64,
}

/// What reporters have in common whose Events are counted together: component, instance and type.
type EventOrigin = (&'static str, &'static str, bool);

/// Events that differ only in their messages: their origin and reason.
type EventGroup = (EventOrigin, &'static str);

/// Equal Events have equal keys; aggregated ones have no message.
type LogKey = (EventGroup, Option<(String, Option<ContainerRef>)>);

/// An Event that was sent, or silenced.
#[derive(Clone, Debug)]
struct LoggedEvent {
    named: Timestamp,
    first: Timestamp,
    count: u32,
}

impl PodEvents {
    /// What is sent of `draft`; `None` where the object has caused too many. `combines` aggregates at
    /// once.
    pub(super) fn correlate(
        &mut self,
        draft: &EventDraft,
        combines: bool,
    ) -> Option<CorrelatedEvent> {
        let reporter = &draft.reporter;
        let origin = (reporter.component(), reporter.instance(), draft.warning);
        let kind = (origin, draft.reason);
        let (mut message, mut equal) = (draft.message.clone(), None);
        if self.aggregates(kind, draft) || combines {
            message = format!("(combined from similar events): {message}");
        } else {
            equal = Some((message.clone(), draft.container));
        }
        let sent = self.log((kind, equal), draft.at, message);
        self.may_send(origin, draft.at).then_some(sent)
    }

    fn aggregates(&mut self, kind: EventGroup, draft: &EventDraft) -> bool {
        let similar = self.similar.entry(kind);
        let (messages, last) = similar.or_insert_with(|| (BTreeSet::new(), draft.at));
        if draft.at.nanos_since(*last) > SIMILAR_WITHIN {
            messages.clear();
        }
        *last = draft.at;
        messages.insert(draft.message.clone());
        let aggregates = messages.len() >= SIMILAR;
        if aggregates {
            messages.pop_first();
        }
        aggregates
    }

    fn log(&mut self, key: LogKey, at: Timestamp, message: String) -> CorrelatedEvent {
        let logged = self.logged.entry(key).or_insert_with(|| {
            // Two Events of a pod never have one name.
            self.last_name = at.as_nanos().max(self.last_name + 1);
            LoggedEvent { named: Timestamp::from_nanos(self.last_name), first: at, count: 0 }
        });
        logged.count += 1;
        CorrelatedEvent {
            named: logged.named,
            first: logged.first,
            last: at,
            count: logged.count,
            message,
        }
    }

    fn may_send(&mut self, origin: EventOrigin, at: Timestamp) -> bool {
        let now = at.as_nanos();
        let known = self.full_at.entry(origin).or_insert(now);
        let full_at = (*known).max(now) + SPAM_INTERVAL;
        let may = full_at - now <= SPAM_BURST * SPAM_INTERVAL;
        if may {
            *known = full_at;
        }
        may
    }
}

/// Who reports an Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventReporter {
    /// The kubelet of this version on this node
    Kubelet(SimulatedNode, KubeletMinor),
    /// The scheduler, by the API of `events.k8s.io`
    Scheduler,
    /// The controller that attaches volumes
    VolumeController,
    /// cluster-autoscaler, or Karpenter
    Autoscaler(ScaleUp),
}

impl EventReporter {
    /// `reportingComponent`
    pub const fn component(&self) -> &'static str {
        match self {
            Self::Kubelet(..) => "kubelet",
            Self::Scheduler => "default-scheduler",
            Self::VolumeController => "attachdetach-controller",
            Self::Autoscaler(ScaleUp::Triggered | ScaleUp::NotTriggered) => "cluster-autoscaler",
            Self::Autoscaler(ScaleUp::Nominated | ScaleUp::OverLimit) => "karpenter",
        }
    }

    /// Which process it is: the name of the node or of the component.
    pub const fn instance(&self) -> &'static str {
        match self {
            Self::Kubelet(node, _) => node.name,
            Self::Scheduler | Self::VolumeController | Self::Autoscaler(_) => self.component(),
        }
    }
}

/// An Event as its reporter makes it, before its recorder sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDraft {
    /// Who reports it
    pub reporter: EventReporter,
    /// `type: Warning`, otherwise `Normal`
    pub warning: bool,
    /// `reason`
    pub reason: &'static str,
    /// `message`
    pub message: String,
    /// The container that `involvedObject.fieldPath` names
    pub container: Option<ContainerRef>,
    /// When, by the reporter's clock
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::super::event_correlator::EventReporter;
    use super::super::node::CURRENT;
    use super::*;

    fn draft(message: &str, second: i64) -> EventDraft {
        EventDraft {
            reporter: EventReporter::Kubelet(CURRENT, CURRENT.kubelet),
            warning: true,
            reason: "FailedCreatePodSandBox",
            message: message.to_owned(),
            container: None,
            at: Timestamp::from_seconds(second),
        }
    }

    #[test]
    fn equal_events_are_counted_and_keep_their_name_and_first_time() {
        let mut events = PodEvents::default();
        let first = events.correlate(&draft("a", 10), false).unwrap_or_else(|| panic!());
        let second = events.correlate(&draft("a", 25), false).unwrap_or_else(|| panic!());
        assert_eq!((first.count, second.count), (1, 2));
        assert_eq!((first.named, first.first), (second.named, second.first));
        assert_eq!(second.last, Timestamp::from_seconds(25));
    }

    #[test]
    fn the_tenth_of_similar_events_is_an_aggregate_of_its_own() {
        let mut events = PodEvents::default();
        let sent: Vec<CorrelatedEvent> = (0..12)
            .filter_map(|number| {
                events.correlate(&draft(&format!("attempt {number}"), number), false)
            })
            .collect();
        assert!(sent[..9].iter().all(|sent| sent.count == 1));
        assert_eq!(sent[9].message, "(combined from similar events): attempt 9");
        assert_eq!(sent[9].first, Timestamp::from_seconds(9));
        assert_eq!((sent[11].count, sent[11].named), (3, sent[9].named));
        let later = events.correlate(&draft("attempt 12", 700), false);
        assert_eq!(later.map(|sent| sent.message), Some("attempt 12".to_owned()));
    }

    #[test]
    fn after_a_burst_of_25_an_object_may_cause_one_event_in_five_minutes() {
        let mut events = PodEvents::default();
        let mut sent = |second| events.correlate(&draft("a", second), false).is_some();
        assert_eq!((0..40).filter(|_| sent(1)).count(), 25);
        assert!(!sent(200));
        assert!(sent(302) && !sent(303) && sent(602));
    }
}
