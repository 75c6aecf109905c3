//! [§17.1](crate::specification#s17-1): of which workload and revision a pod is, and how the pods of a workload stand.

use super::Delivery;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::Timestamps;
use crate::oracle::reading::life::{Closing, Folded, Life};
use crate::oracle::reading::rules::{Classification, Entry, Rules};
use crate::oracle::reading::snapshot::Snapshot;
use crate::oracle::reading::view::View;
use crate::oracle::reading::vocabulary::Milestone;

/// Namespace, kind and name ([§13.3](crate::specification#s13-3)).
pub(crate) type Key = [String; 3];

/// The workload and the revision that a snapshot states; none without a part in this section.
pub(crate) fn part(rules: &dyn Rules, pod: &Snapshot) -> Option<(Key, String)> {
    let kind = pod.controller_kind.as_str();
    if kind.is_empty() || !rules.rollouts().has_part(kind, pod.is_static) {
        return None;
    }
    let labels = rules.rollouts().labels();
    let revision = labels.iter().find_map(|label| pod.labels.get(*label))?;
    if revision.is_empty() {
        return None;
    }
    let (kind, name) = lasting(pod);
    Some(([pod.namespace.clone(), kind, name], revision.clone()))
}

/// "The name that lasts"
pub(crate) fn lasting(pod: &Snapshot) -> (String, String) {
    let (kind, name) = (&pod.controller_kind, &pod.controller_name);
    if kind == "ReplicaSet" {
        let of_template = pod.labels.iter().filter_map(|(label, hash)| {
            let label = label.rsplit('/').next()?;
            let name = name.strip_suffix(&format!("-{hash}"))?;
            label.ends_with("pod-template-hash").then_some((label, name))
        });
        let of_template: Vec<(&str, &str)> = of_template.collect();
        let found = of_template.first();
        return match found {
            Some(("pod-template-hash", name)) => ("Deployment".to_owned(), (*name).to_owned()),
            Some(("rollouts-pod-template-hash", name)) => {
                ("Rollout".to_owned(), (*name).to_owned())
            }
            Some((_, name)) => (kind.clone(), (*name).to_owned()),
            None => (kind.clone(), name.clone()),
        };
    }
    const LASTING: [&str; 5] =
        ["DaemonSet", "Deployment", "Node", "ReplicationController", "StatefulSet"];
    if LASTING.contains(&kind.as_str()) {
        return (kind.clone(), name.clone());
    }
    let is_generated = |word: &&str| {
        word.len() == 5 && word.chars().all(|letter| "bcdfghjklmnpqrstvwxz2456789".contains(letter))
    };
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    let rest = words.filter(|word| !is_generated(word));
    (kind.clone(), rest.fold(first, |name, word| format!("{name}-{word}")))
}

/// How a live pod stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) revision: String,
    pub(crate) ending: bool,
    pub(crate) up: bool,
    pub(crate) been_up: bool,
}

/// A pod that has ceased to live.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub(crate) step: usize,
    /// When its deletion was asked for, as far as it says so
    pub(crate) asked: Option<Nanos>,
    pub(crate) vanished: bool,
}

/// A pod of the workload.
pub(crate) struct Member {
    /// With which step it was first shown as one
    pub(crate) entered: usize,
    /// It was so with its first snapshot
    pub(crate) is_created: bool,
    /// By 5.3 it is an old pod
    pub(crate) is_old: bool,
    /// [§4](crate::specification#s4); none where that is unusable
    pub(crate) created: Option<Nanos>,
    /// Its place in the list that shows it
    pub(crate) place: usize,
    pub(crate) stop: Option<Stop>,
    /// Its revision in the end
    pub(crate) revision: String,
}

/// The pods of one workload.
pub(crate) struct Workload<'a> {
    pub(crate) rules: &'a dyn Rules,
    pub(crate) deliveries: &'a [Delivery],
    pub(crate) key: &'a Key,
    pub(crate) members: Vec<Member>,
    /// With each step, how each member that lives stands
    pub(crate) states: Vec<Vec<Option<State>>>,
}

/// What the members are read from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) rules: &'a dyn Rules,
    pub(crate) deliveries: &'a [Delivery],
    pub(crate) timestamps: Timestamps,
    pub(crate) began: Option<Nanos>,
}

impl<'a> Workload<'a> {
    pub(crate) fn new(source: Source<'a>, key: &'a Key, lives: &[Life]) -> Self {
        let Source { rules, deliveries, .. } = source;
        let mut members = Vec::new();
        let mut states = vec![Vec::new(); deliveries.len()];
        for life in lives {
            let snapshots = snapshots(life);
            let revisions: Vec<Option<String>> = (0..snapshots.len())
                .map(|place| revision(rules, key, &snapshots[..=place]))
                .collect();
            let Some(entry) = revisions.iter().position(Option::is_some) else {
                continue;
            };
            if !rules.rollouts().is_live(&snapshots[0].pod) {
                continue;
            }
            let stop = stop(rules, life, &snapshots, &revisions[..], entry);
            let entered = snapshots[entry].step;
            let mut revision_now = String::new();
            for (step, standing) in states.iter_mut().enumerate() {
                let seen = snapshots.iter().take_while(|folded| folded.step <= step).count();
                let lives = step >= entered && stop.is_none_or(|stop| step < stop.step);
                let state = lives.then(|| state(rules, &snapshots[..seen], &revisions));
                if let Some(state) = &state {
                    revision_now.clone_from(&state.revision);
                }
                standing.push(state);
            }
            members.push(Member {
                entered,
                is_created: entry == 0,
                is_old: is_old(source, life),
                created: created(source, life),
                place: snapshots[entry].pod.item,
                stop,
                revision: revision_now,
            });
        }
        Self { rules, deliveries, key, members, states }
    }

    pub(crate) fn now(&self, step: usize) -> Nanos {
        self.deliveries[step].now
    }

    /// The members that live with a step.
    pub(crate) fn live(&self, step: usize) -> impl Iterator<Item = (usize, &State)> {
        let states = self.states[step].iter().enumerate();
        states.filter_map(|(member, state)| Some((member, state.as_ref()?)))
    }

    /// When it was created, or first shown where that is not usable.
    pub(crate) fn created(&self, member: usize) -> Nanos {
        let member = &self.members[member];
        member.created.unwrap_or(self.now(member.entered))
    }
}

/// The snapshots of a life, without the object of its deletion.
fn snapshots(life: &Life) -> Vec<&Folded> {
    let is_deletion = |folded: &Folded| life.closing == Some((Closing::Deleted, folded.step));
    let of_pod = life.folded.iter().filter(|folded| folded.event.is_none());
    of_pod.filter(|folded| !is_deletion(folded)).collect()
}

/// The revision by which a pod is of the workload, after some snapshots.
fn revision(rules: &dyn Rules, key: &Key, seen: &[&Folded]) -> Option<String> {
    let stating = rules.rollouts().states_revision(seen.len());
    let (of, revision) = part(rules, &seen[stating].pod)?;
    (of == *key).then_some(revision)
}

fn state(rules: &dyn Rules, seen: &[&Folded], revisions: &[Option<String>]) -> State {
    let rollouts = rules.rollouts();
    let newest = &seen[seen.len() - 1].pod;
    let first_says_so = rules.was_ready_before(&seen[0].pod);
    State {
        revision: revisions[seen.len() - 1].clone().unwrap_or_default(),
        ending: rollouts.is_ending(newest),
        up: rollouts.is_up(newest),
        been_up: rollouts.was_up_before(first_says_so)
            || seen.iter().any(|folded| rollouts.is_up(&folded.pod)),
    }
}

/// "not terminal and not gone"; a pod that is of the workload no longer has left it.
fn stop(
    rules: &dyn Rules,
    life: &Life,
    snapshots: &[&Folded],
    revisions: &[Option<String>],
    entry: usize,
) -> Option<Stop> {
    let of_snapshot = (entry..snapshots.len()).find(|place| {
        !rules.rollouts().is_live(&snapshots[*place].pod) || revisions[*place].is_none()
    });
    let of_snapshot = of_snapshot.map(|place| Stop {
        step: snapshots[place].step,
        asked: revisions[place].as_ref().and_then(|_| asked(rules, &snapshots[place].pod)),
        vanished: false,
    });
    let closing = life.closing.map(|(closing, step)| Stop {
        step,
        asked: life.folded.last().and_then(|folded| asked(rules, &folded.pod)),
        vanished: closing == Closing::Absent,
    });
    match (of_snapshot, closing) {
        (Some(stop), Some(closing)) if stop.step <= closing.step => Some(stop),
        (of_snapshot, closing) => closing.or(of_snapshot),
    }
}

fn asked(rules: &dyn Rules, pod: &Snapshot) -> Option<Nanos> {
    let grace = Nanos::from(pod.grace) * SECOND;
    pod.deletion.map(|deletion| rules.rollouts().asked(deletion, grace))
}

fn created(source: Source<'_>, life: &Life) -> Option<Nanos> {
    let view = View { rules: source.rules, timestamps: source.timestamps, seen: &life.folded };
    view.time(Milestone::Created).flatten()
}

/// [§5.3](crate::specification#s5-3): "a pod that was created more than 30 s before the first list began"
fn is_old(source: Source<'_>, life: &Life) -> bool {
    let entry = source.rules.entry(Classification {
        pod: &life.folded[0].pod,
        in_first_list: false,
        backfill: false,
        first_list_began: source.began,
    });
    !life.in_first_list && entry != Entry::Full
}
