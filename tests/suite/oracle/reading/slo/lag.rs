//! [§4.10](crate::specification#s4-10): how late deliveries are, and how much later deadlines pass for it.

use super::passing::{Moment, Passing};
use super::rules::SloRules;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::rules::Entry;
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::stream::SyncState;
use crate::oracle::reading::vocabulary::Milestone;

/// What the API server has stamped of a pod, and a watch event showed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// The step of the replay with which it was shown
    step: usize,
    o: Nanos,
    /// The time that it states
    t: Nanos,
    is_binding: bool,
}

impl Stamp {
    /// "o − t − 0.5 s"
    fn difference(&self) -> Nanos {
        self.o - self.t - SECOND / 2
    }
}

/// The binding of a pod, and its creation, where the watch has shown them.
pub(crate) fn stamps(startup: &Startup<'_>) -> Vec<Stamp> {
    let folded = &startup.life.folded;
    let entry = startup.entry();
    let mut stamps = Vec::new();
    let pod = &folded[0].pod;
    if entry == Entry::Full
        && pod.node_name.is_empty()
        && pod.started.is_none()
        && let Some((o, t)) = folded[0].o.zip(pod.created)
    {
        stamps.push(Stamp { step: folded[0].step, o, t, is_binding: false });
    }
    stamps.extend(binding(startup).map(|(step, o, t)| Stamp { step, o, t, is_binding: true }));
    stamps
}

/// "a PodScheduled=True that a watch event latches, of a pod that earlier snapshots showed without a node": with which
/// step, when, and what it states.
pub(crate) fn binding(startup: &Startup<'_>) -> Option<(usize, Nanos, Nanos)> {
    if !matches!(startup.entry(), Entry::Full | Entry::Adopted) {
        return None;
    }
    let folded = &startup.life.folded;
    let latched = startup.view(startup.last_of_startup()).milestone(Milestone::Scheduled)?;
    let before = &folded[..latched.place];
    let was_without_node =
        !before.is_empty() && before.iter().all(|folded| folded.pod.node_name.is_empty());
    let (o, t) = latched.o.zip(latched.api)?;
    startup.rules.slo().is_binding(was_without_node).then_some((folded[latched.place].step, o, t))
}

/// What is known at one point of the replay.
struct Known<'a> {
    rules: &'a dyn SloRules,
    stamps: Vec<&'a Stamp>,
    now: Nanos,
}

impl Known<'_> {
    /// The differences of the last so many bindings or creations that are no older than `age`, newest first.
    fn last(&self, is_binding: bool, most: usize, age: Nanos) -> Vec<Nanos> {
        let of_kind = self.stamps.iter().rev().filter(|stamp| stamp.is_binding == is_binding);
        let young = of_kind.take(16).filter(|stamp| self.now - stamp.o <= age);
        young.take(most).map(|stamp| stamp.difference()).collect()
    }

    /// The differences that tell the lag.
    fn telling(&self) -> Vec<Nanos> {
        let bindings = self.last(true, 16, 60 * SECOND);
        if bindings.len() >= 4 {
            return bindings;
        }
        let few = self.last(true, 4, 300 * SECOND);
        if few.len() >= 2 {
            return few;
        }
        let creations = self.last(false, 16, 60 * SECOND);
        match self.rules.creations_tell(creations.len()) {
            true => creations,
            false => Vec::new(),
        }
    }

    fn lag(&self, differences: &[Nanos]) -> Option<Nanos> {
        let mut sorted = differences.to_vec();
        sorted.sort_unstable();
        self.rules.median(&sorted)
    }
}

/// Lets the deadlines pass later while the source is late.
pub(crate) fn hold_back(
    rules: &dyn SloRules,
    mut stamps: Vec<Stamp>,
    syncs: &[SyncState],
    passings: &mut [Passing],
) {
    stamps.sort_by_key(|stamp| stamp.step);
    let mut was_late = false;
    let mut now = Nanos::MIN;
    for passing in passings {
        now = now.max(passing.now);
        let step = passing.place.step;
        let is_shown = |stamp: &&Stamp| match passing.place.moment {
            Moment::After => stamp.step <= step,
            Moment::Before | Moment::Fold => stamp.step < step,
        };
        let last = syncs.len().min(step + usize::from(passing.place.moment == Moment::After));
        let counts = |stamp: &&Stamp| {
            let Some(SyncState { since, lost }) = last.checked_sub(1).map(|last| syncs[last])
            else {
                return false;
            };
            lost.is_none_or(|lost| stamp.step > lost)
                && since.is_some_and(|since| rules.states_since_sync(stamp.t, since))
        };
        let known =
            Known { rules, stamps: stamps.iter().filter(is_shown).filter(counts).collect(), now };
        let telling = known.telling();
        let newest = known.lag(&telling[..telling.len().min(4)]);
        was_late = match known.lag(&telling).zip(newest) {
            Some((lag, newest)) => rules.is_late(was_late, lag, newest),
            None => false,
        };
        let greatest = telling.into_iter().max().unwrap_or(0);
        let hold = if was_late { rules.hold(greatest) } else { 0 };
        passing.now -= hold;
    }
}
