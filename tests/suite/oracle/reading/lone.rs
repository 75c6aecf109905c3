//! [§13.2](crate::specification#s13-2), lone lists: what a recording of one moment tells of causes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kube_event::KubeEvent;
use super::snapshot::api_time;
use super::startup::Startup;
use super::{Options, PRESENT, Spec, cause, for_each_life, stream};
use crate::oracle::instant::{Nanos, SECOND, parse, rfc3339};

/// The clauses that can be got wrong.
pub(crate) trait LoneRules: Sync {
    /// "in the order of their last time"
    fn order(&self, event: &Value) -> Option<Nanos> {
        last(event)
    }

    /// "the earliest [first time] of those that did", that is, that gave the cause
    fn first(&self, times: &[Nanos]) -> Option<Nanos> {
        times.iter().min().copied()
    }

    /// "but not before the stage and not after the list"
    fn within(&self, began: Nanos, entered: Nanos, list: Nanos) -> Nanos {
        began.max(entered).min(list)
    }

    /// [§10.4](crate::specification#s10-4): "the earliest first time of the last of these Events, as far as they say the
    /// same by the same reporter"
    fn capacity(&self, said: &[Said]) -> Option<Nanos> {
        let last = said.last()?;
        let same = said.iter().rev().take_while(|one| one.what == last.what);
        same.filter_map(|one| one.first).min()
    }

    /// "the last times of its Events tell the time too (within F9)"
    fn tells_time(&self, last: Nanos) -> bool {
        last <= PRESENT + 5 * SECOND
    }
}

/// As it is written.
pub(crate) struct SpecLone;

impl LoneRules for SpecLone {}

/// An Event of an autoscaler.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The state, and who reports it
    pub(crate) what: (&'static str, String),
    pub(crate) first: Option<Nanos>,
}

/// What is told of a pod in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) stage: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) began: Nanos,
    /// The state of capacity of an unschedulable pod, and since when it holds
    pub(crate) capacity: Option<(&'static str, Nanos)>,
}

/// "`lastTimestamp`, else the series' last, else `eventTime`"
fn last(event: &Value) -> Option<Nanos> {
    api_time(event.get("lastTimestamp"))
        .or_else(|| api_time(event.pointer("/series/lastObservedTime")))
        .or_else(|| api_time(event.get("eventTime")))
}

/// The pods in flight, by UID. The documents are lists and bare pods, with Events.
pub(crate) fn lone_list(rules: &dyn LoneRules, documents: &[Value]) -> BTreeMap<String, Told> {
    let items = documents.iter().flat_map(|document| match document["items"].as_array() {
        Some(items) => items.iter().collect(),
        None => vec![document],
    });
    let (mut events, pods): (Vec<&Value>, Vec<&Value>) =
        items.partition(|item| item["kind"] == "Event");
    events.sort_by_key(|event| rules.order(event));
    let observed = (documents.iter()).filter(|document| document["kind"] != "Event");
    let observed = observed.filter_map(|document| parse(document["observedAt"].as_str()?));
    let mut list = json!({"kind": "PodList", "metadata": {}, "items": pods});
    let options = Options { events: true, ..Options::DEFAULT };
    // The time of the list by its pods.
    let of_pods = stream::read(&Spec, &[list.clone()], &options).now;
    let of_events = events.iter().filter_map(|event| last(event));
    let of_events = of_events.filter(|last| rules.tells_time(*last)).max();
    let now = match observed.max() {
        Some(observed) => observed,
        None => of_pods.max(of_events.unwrap_or(of_pods)),
    };
    list["observedAt"] = rfc3339(now).into();
    let one_after_another: Vec<Value> =
        [list].into_iter().chain(events.iter().copied().cloned()).collect();
    let recording = stream::read(&Spec, &one_after_another, &options);
    let mut told = BTreeMap::new();
    for_each_life(&Spec, &recording, &options, |startup| {
        if startup.end().is_none() {
            let uid = startup.life.folded[0].pod.uid.clone();
            told.insert(uid, tell(rules, startup, &events, now));
        }
    });
    told
}

fn tell(rules: &dyn LoneRules, startup: &Startup<'_>, events: &[&Value], list: Nanos) -> Told {
    let place = startup.last_place();
    let (stage, cause) = cause::at(startup, place);
    let (_, entered) = startup.stage_at(place);
    let heard: Vec<&Value> = (events.iter().copied())
        .filter(|event| {
            let heard = KubeEvent::read(event);
            let mut folded = startup.life.folded.iter();
            folded.any(|one| one.event.as_ref() == Some(&heard))
        })
        .collect();
    let gives = |event: &&&Value| gives(startup, &KubeEvent::read(event), (stage, cause));
    let own = heard.iter().filter(gives);
    let first = |event: &&Value| {
        api_time(event.get("firstTimestamp")).or_else(|| api_time(event.get("eventTime")))
    };
    let firsts: Vec<Nanos> = own.filter_map(first).collect();
    let began = rules.first(&firsts);
    let began = began.map(|began| rules.within(began, entered, list));
    let said = heard.iter().filter_map(|event| {
        let read = KubeEvent::read(event);
        let state = startup.rules.causes().capacity(&read)?;
        let reporter = match &*read.reporting_component {
            "" => read.source_component,
            reporter => reporter.to_owned(),
        };
        Some(Said { what: (state, reporter), first: first(event) })
    });
    let said: Vec<Said> = said.filter(|_| stage == "unschedulable").collect();
    let capacity = said.last().map(|last| {
        let since = rules.capacity(&said).map(|since| rules.within(since, entered, list));
        // Without a time, when it was heard.
        (last.what.0, since.unwrap_or(list))
    });
    Told { stage, cause, began: began.unwrap_or(entered), capacity }
}

/// Whether an Event gives a pod its cause: a warning of it, or the `Pulling` of a container "without a start" that "has a
/// `Pulling` Event and no `Pulled`".
fn gives(startup: &Startup<'_>, event: &KubeEvent, (stage, cause): (&str, &str)) -> bool {
    let (causes, evidence) = (startup.rules.causes(), startup.rules.evidence());
    if stage == "network" && causes.warning(event) == Some(cause) {
        return true;
    }
    let pod = &startup.life.folded[startup.last_place()].pod;
    let Some(container) = evidence.container_of(event, pod) else {
        return false;
    };
    let heard = startup.life.folded.iter().filter_map(|one| one.event.as_ref());
    let is_pulled = heard
        .filter(|event| event.reason == "Pulled")
        .filter_map(|event| evidence.container_of(event, pod))
        .any(|pulled| pulled.name == container.name && pulled.kind == container.kind);
    let has_start = evidence.start_of(container).is_some();
    cause == "pull" && event.reason == "Pulling" && !is_pulled && !has_start
}
