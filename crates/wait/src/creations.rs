//! What Events say of pods that could not be created.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::Event;
use podinit_core::timestamp::Timestamp;

use super::object::instant;

/// So many Events are kept, the first of them.
const MOST: usize = 1_000;

/// The Events `FailedCreate` of a namespace, by name.
#[derive(Debug, Default)]
pub(crate) struct FailedCreations(HashMap<String, FailedCreationEvent>);

#[derive(Debug)]
struct FailedCreationEvent {
    /// What it was at first
    first: FailedCreation,
    last: Timestamp,
    times: i32,
}

/// That a controller cannot create pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedCreation {
    pub kind: String,
    pub name: String,
    pub message: String,
    pub since: Timestamp,
}

impl FailedCreations {
    /// Takes in an Event that is about no pod.
    pub(crate) fn take(&mut self, event: Event) {
        let is_one = event.reason.as_deref() == Some("FailedCreate");
        let Some(name) = event.metadata.name.filter(|_| is_one) else {
            return;
        };
        if self.0.len() >= MOST && !self.0.contains_key(&name) {
            return;
        }
        let series = event.series.unwrap_or_default();
        let time = event.event_time.map(|time| instant(time.0));
        let since = event.first_timestamp.map(|at| instant(at.0)).or(time).unwrap_or_default();
        let last = event.last_timestamp.map(|at| at.0);
        let last = last.or(series.last_observed_time.map(|at| at.0));
        let message = event.message.unwrap_or_default();
        let first = FailedCreation {
            kind: event.involved_object.kind.unwrap_or_default(),
            name: event.involved_object.name.unwrap_or_default(),
            message: without_prefixes(&message).to_owned(),
            since,
        };
        let (last, times) =
            (last.map_or(since, instant), event.count.or(series.count).unwrap_or(1));
        self.0.insert(name, FailedCreationEvent { first, last, times });
    }

    /// What was said at least twice after `after` of objects that are concerned, by kind and name.
    pub(crate) fn holding(
        &self,
        is_concerned: impl Fn(&str, &str) -> bool,
        after: Option<Timestamp>,
    ) -> Option<FailedCreation> {
        let is_later = |at: Timestamp| after.is_none_or(|after| at > after);
        let concerned =
            self.0.values().filter(|one| is_concerned(&one.first.kind, &one.first.name));
        let holding: Vec<_> = concerned.filter(|one| is_later(one.last)).collect();
        let last = holding.iter().max_by_key(|one| (one.last, &one.first.message))?;
        let times: i32 = holding.iter().map(|one| one.times).sum();
        // The first of an Event that has come again since may have been before.
        let since = holding.iter().map(|one| match is_later(one.first.since) {
            true => one.first.since,
            false => one.last,
        });
        let since = since.min().unwrap_or(last.last);
        (times >= 2).then(|| FailedCreation { since, ..last.first.clone() })
    }
}

/// The message without what says only that it is an error of a creation, or one of several.
fn without_prefixes(message: &str) -> &str {
    let one = message.strip_prefix("(combined from similar events): ").unwrap_or(message);
    one.strip_prefix("Error creating: ").unwrap_or(one)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn event(number: u32, about: &str, (first, last): (&str, &str), count: Option<i32>) -> Event {
        let time = |second: &str| format!("2026-01-01T00:00:{second}Z");
        serde_json::from_value(json!({
            "metadata": {"name": format!("{about}.{number}"), "namespace": "shop"},
            "involvedObject": {"kind": "ReplicaSet", "name": about},
            "reason": "FailedCreate", "message": format!("(combined from similar events): Error creating: no {number}"),
            "firstTimestamp": time(first), "lastTimestamp": time(last), "count": count,
        }))
        .unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600 + second)
    }

    #[test]
    fn it_counts_once_it_came_again() {
        let mut events = FailedCreations::default();
        let holding =
            |events: &FailedCreations, after| events.holding(|_, name| name == "web-1", after);
        events.take(event(1, "web-1", ("10", "10"), Some(1)));
        events.take(event(2, "web-2", ("10", "30"), Some(9)));
        assert_eq!(holding(&events, None), None);
        // Names are generated, so that each is an Event of its own.
        events.take(event(3, "web-1", ("20", "20"), None));
        let found = holding(&events, None).unwrap();
        assert_eq!((&*found.message, found.since), ("no 3", at(10)));
        // A pod was created since.
        assert_eq!(holding(&events, Some(at(20))), None);
        assert_eq!(holding(&events, Some(at(15))), None);
        events.take(event(3, "web-1", ("20", "40"), Some(3)));
        assert_eq!(holding(&events, Some(at(25))).unwrap().since, at(40));
    }
}
