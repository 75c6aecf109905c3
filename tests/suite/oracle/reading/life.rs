//! [§5.1](crate::specification#s5-1), [§5.4](crate::specification#s5-4) and
//! [§5.5](crate::specification#s5-5): under which lives a UID was known, and what was folded in
//! each.
//!
//! A UID is forgotten when it is absent from a completed list, or ten minutes after it was
//! deleted. What is delivered of it then is the start of another life.

use super::kube_event::KubeEvent;
use super::rules::{Classification, Entry, Rules};
use super::snapshot::Snapshot;
use super::stream::{Dropped, Happened, What};
use crate::oracle::instant::Nanos;

/// A snapshot that was folded, with what was known of its delivery.
#[derive(Clone, Debug)]
pub(crate) struct Folded {
    pub(crate) pod: Snapshot,
    /// The instant at which a watch event delivered it ([§4](crate::specification#s4)); none for a
    /// LIST
    pub(crate) o: Option<Nanos>,
    /// The step of the replay with which it was folded
    pub(crate) step: usize,
    /// Replay time then
    pub(crate) now: Nanos,
    /// Set where an Event was delivered and no snapshot: then `pod` is the newest snapshot once
    /// more, which changes nothing ([§5.1](crate::specification#s5-1))
    pub(crate) event: Option<KubeEvent>,
}

/// Everything that was folded from when a UID became known until it was forgotten.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) folded: Vec<Folded>,
    /// Replay time at first sight
    pub(crate) discovered: Nanos,
    pub(crate) in_first_list: bool,
    /// With the step of the replay
    pub(crate) closing: Option<(Closing, usize)>,
    /// The places before which an Event came that has the UID of this pod and the names of another one
    pub(crate) strangers: Vec<usize>,
}

/// How the UID ceased to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    Deleted,
    Absent,
}

impl Closing {
    pub(crate) fn outcome(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Absent => "vanished",
        }
    }
}

impl Life {
    fn starting(now: Nanos, in_first_list: bool) -> Self {
        Self {
            folded: Vec::new(),
            discovered: now,
            in_first_list,
            closing: None,
            strangers: Vec::new(),
        }
    }

    fn newest_version(&self) -> Option<u64> {
        self.folded.iter().filter_map(|folded| folded.pod.version).max()
    }

    fn is_older(&self, rules: &dyn Rules, pod: &Snapshot) -> bool {
        rules.is_older(pod.version, self.newest_version())
    }

    fn hear(&mut self, rules: &dyn Rules, event: &KubeEvent, (step, now): (usize, Nanos)) {
        if let Some(newest) = self.folded.last() {
            if !rules.evidence().is_about(event, &newest.pod) {
                self.strangers.push(self.folded.len());
                return;
            }
            let pod = newest.pod.clone();
            self.folded.push(Folded { pod, o: None, step, now, event: Some(event.clone()) });
        }
    }

    /// Whether a snapshot that ends a startup has been folded.
    fn has_ended(&self, rules: &dyn Rules) -> bool {
        self.folded.iter().any(|folded| rules.outcome(&folded.pod).is_some())
    }
}

/// Whether anything is remembered of a UID at `now`.
pub(crate) fn is_known(rules: &dyn Rules, history: &[Happened], now: Nanos) -> bool {
    let (lives, _) = lives(rules, history);
    let Some(last) = lives.last() else {
        return false;
    };
    match last.closing {
        None => true,
        Some((Closing::Absent, _)) => false,
        Some((Closing::Deleted, step)) => {
            let mut deletions = history.iter().filter(|happened| happened.step == step);
            deletions.any(|deletion| rules.remembers_deleted(deletion.now, now))
        }
    }
}

/// The life that the UID has now, if its startup is in flight.
pub(crate) fn in_flight(
    rules: &dyn Rules,
    history: &[Happened],
    (backfill, first_list_began): (bool, Option<Nanos>),
) -> Option<Life> {
    let (mut lives, _) = lives(rules, history);
    let life = lives.pop()?;
    let entry = rules.entry(Classification {
        pod: &life.folded.first()?.pod,
        in_first_list: life.in_first_list,
        backfill,
        first_list_began,
    });
    let is_observed = matches!(entry, Entry::Full | Entry::Adopted);
    (is_observed && life.closing.is_none() && !life.has_ended(rules)).then_some(life)
}

/// The lives of a UID, and how many Events no life took.
pub(crate) fn lives(rules: &dyn Rules, history: &[Happened]) -> (Vec<Life>, Dropped) {
    let mut dropped = Dropped::default();
    let mut lives: Vec<Life> = Vec::new();
    let mut current: Option<Life> = None;
    let mut deleted_at: Option<Nanos> = None;
    for Happened { step, now, what } in history {
        let is_remembered =
            deleted_at.is_some_and(|deleted| rules.remembers_deleted(deleted, *now));
        match (what, current.as_mut()) {
            (What::Deleted { pod, o }, Some(life)) => {
                if rules.folds_deleted(life.is_older(rules, pod)) {
                    life.folded.push(Folded {
                        pod: pod.clone(),
                        o: *o,
                        step: *step,
                        now: *now,
                        event: None,
                    });
                }
                life.closing = Some((Closing::Deleted, *step));
                deleted_at = Some(*now);
                lives.extend(current.take());
            }
            (What::Absent, Some(life)) => {
                if rules.forgets_absent(life.has_ended(rules)) {
                    life.closing = Some((Closing::Absent, *step));
                    lives.extend(current.take());
                }
            }
            (What::Heard(event), Some(life)) => life.hear(rules, event, (*step, *now)),
            (What::Heard(_), None) if is_remembered => dropped.finished += 1,
            (What::Heard(_), None) => dropped.unknown += 1,
            // "a DELETED for an unknown UID is ignored"
            (What::Deleted { .. } | What::Absent, None) => {}
            (What::InFirstList(_) | What::InList(_) | What::Event { .. }, None)
                if is_remembered => {}
            (What::InFirstList(pod), life) => {
                let life = life.is_none().then(|| Life::starting(*now, true));
                fold(rules, &mut current, life, pod, (*step, *now, None));
            }
            (What::InList(pod), life) => {
                let life = life.is_none().then(|| Life::starting(*now, false));
                fold(rules, &mut current, life, pod, (*step, *now, None));
            }
            (What::Event { pod, o, is_added }, life) => {
                let is_new = life.is_none() || !rules.is_same_life(pod, *is_added);
                let life = is_new.then(|| Life::starting(*now, false));
                if life.is_some() {
                    lives.extend(current.take());
                }
                fold(rules, &mut current, life, pod, (*step, *now, *o));
            }
        }
    }
    lives.extend(current);
    (lives, dropped)
}

fn fold(
    rules: &dyn Rules,
    current: &mut Option<Life>,
    new: Option<Life>,
    pod: &Snapshot,
    (step, now, o): (usize, Nanos, Option<Nanos>),
) {
    if new.is_some() {
        *current = new;
    }
    if let Some(life) = current
        && !life.is_older(rules, pod)
    {
        life.folded.push(Folded { pod: pod.clone(), o, step, now, event: None });
    }
}
