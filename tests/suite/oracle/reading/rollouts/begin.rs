//! [§17.2](crate::specification#s17-2), [§17.4](crate::specification#s17-4): when a rollout began, and how many it wants.

use super::workload::Workload;
use crate::oracle::instant::Nanos;

/// Where a rollout begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) created: Nanos,
    /// The creation, or what moves it
    pub(crate) at: Nanos,
    pub(crate) is_known: bool,
}

/// Two revisions that a first list shows.
pub(crate) struct Found {
    pub(crate) own: String,
    pub(crate) new: String,
    pub(crate) begin: Nanos,
}

impl Workload<'_> {
    /// The begin with a pod, as it is known with a step.
    pub(crate) fn begin(&self, member: usize, step: usize) -> Begin {
        let rules = self.rules.rollouts();
        let revision = self.revision(member, step);
        let created = self.created(member);
        let is_known = self.members[member].created.is_some();
        let others_stay = self
            .live(step)
            .any(|(_, state)| state.revision != revision && rules.tells_revision(state));
        if !rules.moves_begin(&self.key[1], others_stay) {
            return Begin { created, at: created, is_known };
        }
        let of_others = self.members.iter().filter(|other| other.revision != revision);
        let stops = of_others.filter_map(|other| other.stop);
        let just_went = stops
            .filter(|stop| stop.step <= step && rules.just_went(created - self.now(stop.step)));
        let (vanished, went): (Vec<_>, Vec<_>) = just_went.partition(|stop| stop.vanished);
        let asked: Vec<Nanos> =
            went.iter().map(|stop| stop.asked.unwrap_or(self.now(stop.step))).collect();
        let moved = rules.last_asked(&asked).map_or(created, |asked| asked.min(created));
        Begin { created, at: moved, is_known: is_known && vanished.is_empty() }
    }

    /// [§17.2](crate::specification#s17-2): "*Wanted* is the greatest number"
    pub(crate) fn wanted(&self, member: usize, created: Nanos) -> usize {
        let rules = self.rules.rollouts();
        let shown = self.members[member].entered;
        let before =
            (0..shown).filter(|step| rules.in_window(self.now(*step), self.now(step + 1), created));
        let numbers: Vec<usize> = before.map(|step| self.wanted_now(step)).collect();
        rules.wanted(&numbers)
    }

    /// The revisions that lived before a pod was shown, and those of the others that were settled with it.
    pub(crate) fn lived_at(&self, member: usize, step: usize, settled: &[usize]) -> Vec<String> {
        let shown = self.members[member].entered;
        let before = shown.checked_sub(1).map_or(Vec::new(), |before| {
            self.live(before).map(|(_, state)| state.revision.clone()).collect()
        });
        let now = self.live(step).filter(|(other, _)| *other != member && settled.contains(other));
        before.into_iter().chain(now.map(|(_, state)| state.revision.clone())).collect()
    }

    /// "if the workload has pods that live or went less than 10 minutes ago", of those that are settled.
    pub(crate) fn is_remembered(&self, member: usize, step: usize, settled: &[usize]) -> bool {
        let created = self.created(member);
        settled.iter().any(|other| {
            self.states[step][*other].is_some()
                || self.members[*other].stop.is_some_and(|stop| {
                    stop.step <= step
                        && self.rules.rollouts().remembers(created - self.now(stop.step))
                })
        })
    }

    /// The revision of a pod with a step; of one that lives no longer, its last.
    pub(crate) fn revision(&self, member: usize, step: usize) -> String {
        let states = self.states[..=step].iter().rev();
        let newest = states.filter_map(|states| states[member].as_ref()).next();
        newest.map_or(self.members[member].revision.clone(), |state| state.revision.clone())
    }

    /// [§17.4](crate::specification#s17-4)
    pub(crate) fn found(&self, step: usize) -> Option<Found> {
        let rules = self.rules.rollouts();
        let revisions = self.revisions(step);
        let oldest: Vec<Nanos> = revisions
            .iter()
            .map(|revision| {
                let of_it = self.live(step).filter(|(_, state)| {
                    state.revision == *revision && rules.tells_revision(state)
                });
                of_it
                    .map(|(member, _)| self.members[member].created.unwrap_or(0))
                    .min()
                    .unwrap_or(0)
            })
            .collect();
        let new = rules.found_new(&oldest)?;
        let own = rules.found_own(&oldest)?;
        let is_found = revisions.len() > 1 && rules.finds();
        is_found.then(|| Found {
            own: revisions[own].clone(),
            new: revisions[new].clone(),
            begin: oldest[new],
        })
    }

    /// The revision of the oldest live pod.
    pub(crate) fn oldest(&self, step: usize) -> Option<String> {
        let all = self.live(step).map(|(member, state)| {
            let is_ending = !self.rules.rollouts().tells_revision(state);
            (is_ending, self.created(member), self.members[member].place, &state.revision)
        });
        all.min().map(|(.., revision)| revision.clone())
    }
}
