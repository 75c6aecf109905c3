//! [§6](crate::specification#s6) and [§8](crate::specification#s8): when deadlines pass.

use super::rules::SloRules;
use crate::oracle::instant::Nanos;
use crate::oracle::reading::life::Folded;
use crate::oracle::reading::stream::{Step, SyncState};

/// When, within one step of the replay, something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    Before,
    Fold,
    After,
}

/// A place in the order of the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) step: usize,
    pub(crate) moment: Moment,
}

/// A point at which the deadlines before `now` pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    pub(crate) place: Place,
    pub(crate) now: Nanos,
}

/// When a step delivers.
pub(crate) fn fold_of(step: usize) -> Place {
    Place { step, moment: Moment::Fold }
}

impl Folded {
    /// When it was delivered.
    pub(crate) fn step_of_fold(&self) -> Place {
        fold_of(self.step)
    }
}

/// With each step, whether the watch is in sync with it.
pub(crate) fn syncs(rules: &dyn SloRules, steps: &[Step]) -> Vec<SyncState> {
    let (mut since, mut lost) = (None::<Nanos>, None);
    let mut in_sync = true;
    let syncs = steps.iter().enumerate().map(|(number, step)| {
        match step {
            Step::Event { kind, .. } if kind == "ERROR" => {
                (since, lost, in_sync) = (None, Some(number), false);
            }
            Step::List { now, .. } | Step::EndOfStreamedList { now, .. } => {
                in_sync = true;
                since.get_or_insert(*now);
            }
            Step::Event { now, .. } => {
                in_sync |= rules.event_regains_sync();
                if in_sync {
                    since.get_or_insert(*now);
                }
            }
            Step::Heard { .. } | Step::OfNodes { .. } => {}
        }
        SyncState { since, lost }
    });
    syncs.collect()
}

/// Every point at which deadlines pass. The watch is in sync from the first document on; an ERROR
/// loses the sync, and a list that completed regains it.
pub(crate) fn passings(rules: &dyn SloRules, steps: &[Step], until: Option<Nanos>) -> Vec<Passing> {
    let mut passings = Vec::new();
    let mut in_sync = true;
    for (number, step) in steps.iter().enumerate() {
        let (moments, o, now) = match step {
            Step::List { now, .. } | Step::EndOfStreamedList { now, .. } => {
                (rules.moments_of_list(), None, *now)
            }
            Step::Event { o, now, .. } => (rules.moments_of_event(o.is_some()), *o, *now),
            // What an Event latches is judged at once ([§9.2](crate::specification#s9-2)).
            // Nodes do not move time, but a page of a list that never completes has.
            Step::Heard { now, .. } | Step::OfNodes { now, .. } => {
                (&[Moment::After][..], None, *now)
            }
        };
        for moment in [Moment::Before, Moment::Fold, Moment::After] {
            if moment == Moment::Fold {
                in_sync = match step {
                    Step::List { .. } | Step::EndOfStreamedList { .. } => true,
                    Step::Event { kind, .. } if kind == "ERROR" => false,
                    Step::Event { .. } => in_sync || rules.event_regains_sync(),
                    Step::Heard { .. } | Step::OfNodes { .. } => in_sync,
                };
            } else if moments.contains(&moment) && rules.fires(in_sync) {
                let place = Place { step: number, moment };
                // "with it, deadlines that passed before the event fire first": the event's time is
                // `observedAt`, where that lies before the time which a page of a list that never
                // completed has set.
                let now = match moment {
                    Moment::Before => o.unwrap_or(now),
                    _ => now,
                };
                passings.push(Passing { place, now });
            }
        }
    }
    if let Some(until) = until
        && rules.fires(in_sync)
        && rules.fires_at_until()
    {
        let place = Place { step: steps.len(), moment: Moment::After };
        passings.push(Passing { place, now: until });
    }
    passings
}
