//! [§8](crate::specification#s8): the documents, in their order, as what happened to every UID.

mod bare;
mod document;
mod steps;

use std::collections::BTreeMap;

use serde_json::Value;

use super::Options;
use super::kube_event::KubeEvent;
use super::life::{in_flight, is_known};
use super::node::{self, NodeStep, Nodes};
use super::rollouts::Delivery;
use super::rules::Rules;
use super::slo::{Passing, passings, syncs};
use super::snapshot::Snapshot;
use crate::oracle::instant::Nanos;
use document::{count_types, date};
pub(crate) use steps::Step;
use steps::{join_pages, replace_first_streamed_list};

/// One thing that happened to one UID.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    /// The step of the replay, from 0
    pub(crate) step: usize,
    /// Replay time
    pub(crate) now: Nanos,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// It stood in the first list
    InFirstList(Snapshot),
    /// It stood in a later list
    InList(Snapshot),
    /// ADDED or MODIFIED, with `o` ([§4](crate::specification#s4))
    Event { pod: Snapshot, o: Option<Nanos>, is_added: bool },
    /// DELETED, with `o`
    Deleted { pod: Snapshot, o: Option<Nanos> },
    /// It was absent from a completed list
    Absent,
    /// A `v1` Event about it came ([§9](crate::specification#s9))
    Heard(KubeEvent),
}

/// [§9.5](crate::specification#s9-5): how many Events were dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) finished: usize,
    pub(crate) other: usize,
    pub(crate) unknown: usize,
}

impl Dropped {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            finished: self.finished + other.finished,
            other: self.other + other.other,
            unknown: self.unknown + other.unknown,
        }
    }
}

/// Whether the watch is in sync.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncState {
    /// Since when it is
    pub(crate) since: Option<Nanos>,
    /// With which step it was lost last
    pub(crate) lost: Option<usize>,
}

/// All that the documents say.
pub(crate) struct Recording {
    pub(crate) first_list_began: Option<Nanos>,
    pub(crate) watch_events: BTreeMap<String, usize>,
    /// What happened to each identity, in its order
    pub(crate) pods: Vec<Vec<Happened>>,
    /// When deadlines pass ([§6](crate::specification#s6))
    pub(crate) passings: Vec<Passing>,
    /// With each step of the replay, whether the watch is in sync
    pub(crate) syncs: Vec<SyncState>,
    /// The steps of the replay, as rollouts see them
    pub(crate) deliveries: Vec<Delivery>,
    /// The Events that are about no pod
    pub(crate) dropped: Dropped,
    pub(crate) nodes: Nodes,
    /// The revisions of pods with a node, each with the step that showed it
    pub(crate) bound: Vec<(String, usize)>,
    /// Replay time at the end
    pub(crate) now: Nanos,
}

pub(crate) fn read(rules: &dyn Rules, documents: &[Value], options: &Options) -> Recording {
    let dated = date(rules, documents, options.until);
    let watch_events = count_types(&dated);
    let mut steps = join_pages(rules, &dated);
    steps.retain(|step| match step {
        Step::Heard { .. } => options.events,
        Step::OfNodes { .. } => options.nodes,
        _ => true,
    });
    let of_pods = |steps: &[Step]| steps.iter().position(|step| !step.is_evidence());
    let is_list = |place: usize| matches!(steps[place], Step::List { .. });
    let starts_with_list =
        of_pods(&steps).is_some_and(is_list) || replace_first_streamed_list(rules, &mut steps);
    let first = of_pods(&steps).filter(|_| starts_with_list);
    let first_list_began = match first.and_then(|first| steps.get(first)) {
        Some(Step::List { began, .. }) => Some(*began),
        _ => steps::begin_with_first_pods(rules, &mut steps),
    };
    let sight = (options.backfill, first_list_began);
    let (pods, dropped) = hand_out(rules, &steps, first, sight);
    let passings = passings(rules.slo(), &steps, options.until);
    let syncs = syncs(rules.slo(), &steps);
    let now = dated.last().map_or(0, |dated| dated.now);
    Recording {
        bound: bound(&pods, options),
        deliveries: deliveries(&steps, first),
        first_list_began,
        watch_events,
        pods,
        passings,
        syncs,
        dropped,
        nodes: Nodes { lives: node::life::lives(rules.nodes(), &of_nodes(&steps)) },
        now: options.until.unwrap_or(now),
    }
}

/// "another pod of its workload and revision is or was bound"
fn bound(pods: &[Vec<Happened>], options: &Options) -> Vec<(String, usize)> {
    let shown = pods.iter().flatten().filter_map(|happened| match &happened.what {
        What::InFirstList(pod) | What::InList(pod) | What::Event { pod, .. } => {
            Some((pod, happened.step))
        }
        What::Deleted { .. } | What::Absent | What::Heard(_) => None,
    });
    let bound = shown.filter(|(pod, _)| {
        !pod.node_name.is_empty() && !pod.revision.is_empty() && options.accounts_for(&pod.uid)
    });
    bound.map(|(pod, step)| (pod.revision.clone(), step)).collect()
}

fn deliveries(steps: &[Step], first: Option<usize>) -> Vec<Delivery> {
    let mut in_sync = true;
    let delivery = |(number, step): (usize, &Step)| {
        let (Step::List { now, .. }
        | Step::Event { now, .. }
        | Step::EndOfStreamedList { now, .. }
        | Step::Heard { now, .. }
        | Step::OfNodes { now, .. }) = step;
        let is_list = matches!(step, Step::List { .. } | Step::EndOfStreamedList { .. });
        let is_error = matches!(step, Step::Event { kind, .. } if kind == "ERROR");
        in_sync = is_list || in_sync && !is_error;
        Delivery { now: *now, is_first_list: first == Some(number), is_list, in_sync }
    };
    steps.iter().enumerate().map(delivery).collect()
}

/// What the steps say of nodes.
fn of_nodes(steps: &[Step]) -> Vec<NodeStep> {
    let numbered = steps.iter().enumerate();
    let of_nodes = numbered.filter_map(|(number, step)| match step {
        Step::OfNodes { said, now } => {
            Some(NodeStep { step: number, now: *now, said: said.clone() })
        }
        _ => None,
    });
    of_nodes.collect()
}

/// Gives every identity its own history.
fn hand_out(
    rules: &dyn Rules,
    steps: &[Step],
    first_list: Option<usize>,
    sight: (bool, Option<Nanos>),
) -> (Vec<Vec<Happened>>, Dropped) {
    let mut dropped = Dropped::default();
    let mut histories: BTreeMap<String, Vec<Happened>> = BTreeMap::new();
    let mut in_this_stream: Vec<String> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::List { pods, now, .. } => {
                let is_first = first_list == Some(number);
                for pod in pods {
                    let what = match is_first {
                        true => What::InFirstList(pod.clone()),
                        false => What::InList(pod.clone()),
                    };
                    histories.entry(rules.identity(pod)).or_default().push(Happened {
                        step: number,
                        now: *now,
                        what,
                    });
                }
                let listed: Vec<String> = pods.iter().map(|pod| rules.identity(pod)).collect();
                mark_absent(&mut histories, &listed, (number, *now));
                in_this_stream.clear();
            }
            Step::Event { kind, object, o, now } => {
                if kind == "ERROR" {
                    in_this_stream.clear();
                }
                let Some(pod) = object else { continue };
                let identity = rules.identity(pod);
                let (pod, o) = (Snapshot::clone(pod), *o);
                let what = match kind.as_str() {
                    "DELETED" => What::Deleted { pod, o },
                    kind => {
                        in_this_stream.push(identity.clone());
                        take_name(rules, &mut histories, &pod, (number, *now), sight);
                        What::Event { pod, o, is_added: kind == "ADDED" }
                    }
                };
                histories.entry(identity).or_default().push(Happened {
                    step: number,
                    now: *now,
                    what,
                });
            }
            Step::Heard { event, now } => match &event.uid {
                None => dropped.other += 1,
                Some(uid) => histories.entry(uid.clone()).or_default().push(Happened {
                    step: number,
                    now: *now,
                    what: What::Heard(KubeEvent::clone(event)),
                }),
            },
            // What pods know of them is asked of the nodes.
            Step::OfNodes { .. } => {}
            Step::EndOfStreamedList { now, .. } => {
                mark_absent(&mut histories, &in_this_stream, (number, *now));
                in_this_stream.clear();
            }
        }
    }
    (histories.into_values().collect(), dropped)
}

/// [§5.4](crate::specification#s5-4): "An event of an unknown pod that has the namespace and name of one in flight".
fn take_name(
    rules: &dyn Rules,
    histories: &mut BTreeMap<String, Vec<Happened>>,
    pod: &Snapshot,
    (step, now): (usize, Nanos),
    sight: (bool, Option<Nanos>),
) {
    let history = histories.get(&rules.identity(pod));
    if history.is_some_and(|history| is_known(rules, history, now)) {
        return;
    }
    for history in histories.values_mut() {
        let Some(life) = in_flight(rules, history, sight) else {
            continue;
        };
        let other = &life.folded[0].pod;
        let before = other.created.unwrap_or(life.discovered);
        if (&other.namespace, &other.name) == (&pod.namespace, &pod.name)
            && rules.vanishes_for_namesake(before, pod.created)
        {
            history.push(Happened { step, now, what: What::Absent });
        }
    }
}

/// [§5.4](crate::specification#s5-4): "the list is compared with what is known".
fn mark_absent(
    histories: &mut BTreeMap<String, Vec<Happened>>,
    listed: &[String],
    (step, now): (usize, Nanos),
) {
    for (identity, history) in histories {
        if !listed.contains(identity) {
            history.push(Happened { step, now, what: What::Absent });
        }
    }
}
