//! What a recorder makes of the Events of one pod before it sends them, as client-go does
//! (`tools/record/events_cache.go`): similar ones are aggregated, equal ones counted, and an object
//! that causes too many is silenced.

use std::collections::BTreeSet;

use super::container::ContainerRef;
use super::event::EventDraft;
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
pub(super) struct Correlated {
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
    groups: Vec<Group>,
    logged: Vec<Logged>,
    senders: Vec<Sender>,
    last_name: i64,
}

/// What reporters have in common whose Events are counted together.
type Origin = (&'static str, &'static str, bool);

/// Events that differ only in their messages.
#[derive(Clone, Debug)]
struct Group {
    key: (Origin, &'static str),
    messages: BTreeSet<String>,
    last: Timestamp,
}

/// An Event that was sent, or silenced.
#[derive(Clone, Debug)]
struct Logged {
    key: LogKey,
    named: Timestamp,
    first: Timestamp,
    count: u32,
}

/// Equal Events have equal keys; aggregated ones have no message.
type LogKey = (
    (Origin, &'static str),
    Option<(String, Option<ContainerRef>)>,
);

/// A token bucket: when it would be full again.
#[derive(Clone, Debug)]
struct Sender {
    origin: Origin,
    full_at: i64,
}

impl PodEvents {
    /// What is sent of `draft`; `None` where the object has caused too many. `combines` aggregates at
    /// once.
    pub(super) fn correlate(&mut self, draft: &EventDraft, combines: bool) -> Option<Correlated> {
        let reporter = &draft.reporter;
        let origin = (reporter.component(), reporter.instance(), draft.warning);
        let kind = (origin, draft.reason);
        let aggregates = self.aggregates(kind, draft) || combines;
        let (key, message) = match aggregates {
            true => {
                let message = format!("(combined from similar events): {}", draft.message);
                ((kind, None), message)
            }
            false => {
                let equal = (draft.message.clone(), draft.container);
                ((kind, Some(equal)), draft.message.clone())
            }
        };
        let sent = self.log(key, draft.at, message);
        self.may_send(origin, draft.at).then_some(sent)
    }

    fn aggregates(&mut self, key: (Origin, &'static str), draft: &EventDraft) -> bool {
        let index = self.groups.iter().position(|group| group.key == key);
        let index = index.unwrap_or_else(|| {
            self.groups.push(Group {
                key,
                messages: BTreeSet::new(),
                last: draft.at,
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        if draft.at.nanos_since(group.last) > SIMILAR_WITHIN {
            group.messages.clear();
        }
        group.last = draft.at;
        group.messages.insert(draft.message.clone());
        if group.messages.len() < SIMILAR {
            return false;
        }
        group.messages.pop_first();
        true
    }

    fn log(&mut self, key: LogKey, at: Timestamp, message: String) -> Correlated {
        let index = self.logged.iter().position(|logged| logged.key == key);
        let index = match index {
            Some(index) => {
                self.logged[index].count += 1;
                index
            }
            None => {
                // Two Events of a pod never have one name.
                self.last_name = at.as_nanos().max(self.last_name + 1);
                self.logged.push(Logged {
                    key,
                    named: Timestamp::from_nanos(self.last_name),
                    first: at,
                    count: 1,
                });
                self.logged.len() - 1
            }
        };
        let logged = &self.logged[index];
        Correlated {
            named: logged.named,
            first: logged.first,
            last: at,
            count: logged.count,
            message,
        }
    }

    fn may_send(&mut self, origin: Origin, at: Timestamp) -> bool {
        let now = at.as_nanos();
        let index = self.senders.iter().position(|known| known.origin == origin);
        let index = index.unwrap_or_else(|| {
            self.senders.push(Sender {
                origin,
                full_at: now,
            });
            self.senders.len() - 1
        });
        let sender = &mut self.senders[index];
        let full_at = sender.full_at.max(now) + SPAM_INTERVAL;
        if full_at - now > SPAM_BURST * SPAM_INTERVAL {
            return false;
        }
        sender.full_at = full_at;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Reporter;
    use super::super::node::CURRENT;
    use super::*;

    fn draft(message: &str, second: i64) -> EventDraft {
        EventDraft {
            reporter: Reporter::Kubelet(CURRENT, CURRENT.kubelet),
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
        let first = events
            .correlate(&draft("a", 10), false)
            .unwrap_or_else(|| panic!());
        let second = events
            .correlate(&draft("a", 25), false)
            .unwrap_or_else(|| panic!());
        assert_eq!((first.count, second.count), (1, 2));
        assert_eq!((first.named, first.first), (second.named, second.first));
        assert_eq!(second.last, Timestamp::from_seconds(25));
    }

    #[test]
    fn the_tenth_of_similar_events_is_an_aggregate_of_its_own() {
        let mut events = PodEvents::default();
        let sent: Vec<Correlated> = (0..12)
            .filter_map(|number| {
                events.correlate(&draft(&format!("attempt {number}"), number), false)
            })
            .collect();
        assert!(sent[..9].iter().all(|sent| sent.count == 1));
        assert_eq!(sent[9].message, "(combined from similar events): attempt 9");
        assert_eq!(sent[9].first, Timestamp::from_seconds(9));
        assert_eq!((sent[11].count, sent[11].named), (3, sent[9].named));
        let later = events.correlate(&draft("attempt 12", 700), false);
        assert_eq!(
            later.map(|sent| sent.message),
            Some("attempt 12".to_owned())
        );
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
