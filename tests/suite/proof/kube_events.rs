//! The Events that the kubelets of a trial report, and what becomes of them on their way: they are lost,
//! late, doubled, reordered or combined with similar ones.

use std::collections::{BTreeMap, HashMap};

use podinit_core::kube_event::KubeEvent;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_sim::EventFaults;
use podinit_sim::container::ContainerRef;
use podinit_sim::event_correlator::{EventDraft, Reporter};
use podinit_sim::life::Change;
use podinit_sim::pod::Pod;
use podinit_sim::rng::Rng;
use serde_json::json;

const SECOND: i64 = NANOS_PER_SECOND;

/// What an Event says, by its parts and without code of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Says {
    /// The second since when it shows the pod's network as ready
    pub network: Option<i64>,
    /// The container whose image it shows to be there
    pub pulled: Option<ContainerRef>,
    /// The container whose image could not be pulled
    pub failed: Option<ContainerRef>,
}

/// An Event on its way to the program.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The pod that it is about
    pub pod: u32,
    pub event: KubeEvent,
    pub says: Says,
}

/// An Event that the program was given.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    pub pod: u32,
    /// The list-watch that covers the pod
    pub source: usize,
    /// How many things that list-watch had delivered before
    pub after: usize,
    pub says: Says,
}

/// What a kubelet has reported of a step of a pod.
#[derive(Clone, Debug)]
pub struct Draft {
    pod: u32,
    uid: String,
    /// The containers, as `fieldPath` names them
    paths: HashMap<ContainerRef, String>,
    draft: EventDraft,
    at: Timestamp,
}

/// What has been reported of `change`, which has just happened to the pod.
pub fn drafts(number: u32, change: &Change, pod: &Pod, at: Timestamp) -> Vec<Draft> {
    let drafts = podinit_sim::component_events::drafts(change, pod, at).into_iter();
    let manifest = &pod.manifest;
    let init = manifest.init_containers.iter().enumerate();
    let init = init.map(|(index, container)| {
        let path = format!("spec.initContainers{{{}}}", container.name);
        (ContainerRef::Init(index), path)
    });
    let regular = manifest.containers.iter().enumerate();
    let regular = regular.map(|(index, container)| {
        let path = format!("spec.containers{{{}}}", container.name);
        (ContainerRef::Regular(index), path)
    });
    let paths: HashMap<_, _> = init.chain(regular).collect();
    let drafts = drafts.map(|draft| Draft {
        pod: number,
        uid: manifest.uid.clone(),
        paths: paths.clone(),
        draft,
        at,
    });
    drafts.collect()
}

/// Equal Events are one that is counted; of combined ones only the reason is equal.
type Key = (u32, &'static str, Option<(Option<ContainerRef>, String)>);

/// All Events that are on their way.
#[derive(Debug)]
pub struct KubeEvents {
    faults: EventFaults,
    rng: Rng,
    decoder: EventDecoder,
    /// When equal ones happened first
    first: HashMap<Key, Timestamp>,
    made: u64,
    due: BTreeMap<(Timestamp, u64), Sent>,
}

impl KubeEvents {
    pub fn new(seed: u64, faults: EventFaults) -> Self {
        Self {
            faults,
            rng: Rng::fork(seed, 6),
            decoder: EventDecoder::default(),
            first: HashMap::new(),
            made: 0,
            due: BTreeMap::new(),
        }
    }

    /// Sends an Event, with whatever happens to it.
    pub fn send(&mut self, draft: Draft) {
        let faults = self.faults;
        let combined = self.rng.chance(faults.combined);
        let lost = self.rng.chance(faults.lost);
        let mut arrives = draft.at.plus_nanos(self.rng.between(0, SECOND / 4));
        if self.rng.chance(faults.late) {
            arrives = arrives.plus_nanos(self.rng.between(SECOND, 60 * SECOND));
        }
        if self.rng.chance(faults.reordered) {
            arrives = arrives.plus_nanos(self.rng.between(0, 2 * SECOND));
        }
        let times = 1 + u64::from(self.rng.chance(faults.doubled));
        let sent = self.decoded(&draft, combined);
        if lost {
            return;
        }
        for _ in 0..times {
            self.made += 1;
            self.due.insert((arrives, self.made), sent.clone());
        }
    }

    /// Those that have arrived by `now`.
    pub fn arrived(&mut self, now: Timestamp) -> Vec<Sent> {
        let later = self.due.split_off(&(now.plus_nanos(1), 0));
        let arrived = std::mem::replace(&mut self.due, later);
        arrived.into_values().collect()
    }

    /// The Event as an API server would send it, read by the program's decoder.
    fn decoded(&mut self, draft: &Draft, combined: bool) -> Sent {
        let EventDraft { reporter, reason, message, container, at, .. } = &draft.draft;
        let equal = (!combined).then(|| (*container, message.clone()));
        let key = (draft.pod, *reason, equal);
        let first = *self.first.entry(key).or_insert(*at);
        let second = first.as_nanos().div_euclid(SECOND);
        let text = match combined {
            true => format!("(combined from similar events): {message}"),
            false => message.clone(),
        };
        let line = json!({"type": "ADDED", "object": {
            "kind": "Event",
            "metadata": {"name": format!("pod.{:x}", first.as_nanos())},
            "involvedObject": {
                "kind": "Pod", "uid": draft.uid,
                "fieldPath": container.and_then(|container| draft.paths.get(&container)),
            },
            "reason": reason, "message": text, "reportingComponent": reporter.component(),
            "firstTimestamp": jiff::Timestamp::from_second(second).unwrap().to_string(),
        }});
        let line = self.decoder.line(line.to_string().as_bytes()).unwrap();
        let EventLineKind::Applied(event) = line.kind else {
            panic!("{line:?} is no Event");
        };
        let of_kubelet = matches!(reporter, Reporter::Kubelet(..));
        let container = container.filter(|_| of_kubelet);
        let readable = container.filter(|_| !combined);
        let shows_network = ["Pulling", "Pulled", "Created", "Started"].contains(reason);
        let says = Says {
            network: (container.is_some() && shows_network).then_some(second),
            pulled: readable.filter(|_| *reason == "Pulled"),
            failed: readable.filter(|_| message.starts_with("Failed to pull image")),
        };
        Sent { pod: draft.pod, event, says }
    }
}
