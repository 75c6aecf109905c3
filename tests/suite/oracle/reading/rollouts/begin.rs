//! [§17.2](crate::specification#s17-2), [§17.4](crate::specification#s17-4): when a rollout began, and how many it wants.

use super::workload::{Stop, Workload};
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
        let last = self.stops(step, |_| true).map(|stop| self.now(stop.step)).max();
        let just_went = of_others.filter_map(|other| other.stop).filter(|stop| {
            let went = self.now(stop.step);
            stop.step <= step
                && rules.just_went(created - went)
                && last.is_none_or(|last| rules.keeps_gone(last - went))
        });
        let (vanished, went): (Vec<_>, Vec<_>) = just_went.partition(|stop| stop.vanished);
        let asked: Vec<Nanos> =
            went.iter().map(|stop| stop.asked.unwrap_or(self.now(stop.step))).collect();
        let moved = rules.last_asked(&asked).map_or(created, |asked| asked.min(created));
        Begin { created, at: moved, is_known: is_known && vanished.is_empty() }
    }

    /// [§17.2](crate::specification#s17-2): "*Wanted* is the greatest number", since the last rollout `ended`
    pub(crate) fn wanted(&self, member: usize, created: Nanos, ended: Nanos) -> usize {
        let rules = self.rules.rollouts();
        let shown = self.members[member].entered;
        let before = (0..shown)
            .filter(|step| rules.in_window((self.now(*step), self.now(step + 1)), created, ended));
        let numbers: Vec<usize> = before.map(|step| self.wanted_now(step)).collect();
        rules.wanted(&numbers)
    }

    /// The revisions that lived with the step that was judged last, and those of the pods that were judged since.
    pub(crate) fn lived_at(
        &self,
        judged: Option<usize>,
        (since, step): (&[usize], usize),
    ) -> Vec<String> {
        let before = judged.into_iter().flat_map(|step| self.live(step));
        let before = before.map(|(_, state)| state.revision.clone());
        let since = since.iter().map(|member| self.revision(*member, step));
        before.chain(since).collect()
    }

    /// "if the workload has pods that live or went less than 10 minutes ago", of those that are settled.
    pub(crate) fn is_remembered(&self, member: usize, step: usize, settled: &[usize]) -> bool {
        let rules = self.rules.rollouts();
        let created = self.created(member);
        if settled.iter().any(|other| self.states[step][*other].is_some()) {
            return true;
        }
        let stops = || self.stops(step, |other| settled.contains(&other));
        let last = stops().max_by_key(|stop| stop.step);
        let is_forgotten = last.is_some_and(|last| {
            let empty = last.step..self.members[member].entered;
            let mut judged = empty.filter(|step| self.deliveries[*step].in_sync);
            judged.any(|step| rules.forgets(self.now(step + 1) - self.now(last.step)))
        });
        !is_forgotten && stops().any(|stop| rules.remembers(created - self.now(stop.step)))
    }

    /// The pods that have ceased to live up to a step.
    fn stops(&self, step: usize, of: impl Fn(usize) -> bool) -> impl Iterator<Item = Stop> {
        let stops = self.members.iter().enumerate();
        let stops = stops.filter_map(move |(member, other)| other.stop.filter(|_| of(member)));
        stops.filter(move |stop| stop.step <= step)
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
        let oldest: Vec<Nanos> =
            revisions.iter().map(|revision| self.oldest_of(revision, step)).collect();
        let new = rules.found_new(&oldest)?;
        let own = rules.found_own(&oldest)?;
        let is_found = revisions.len() > 1 && rules.tells_apart(oldest[own], oldest[new]);
        let is_found = is_found && rules.finds();
        is_found.then(|| Found {
            own: revisions[own].clone(),
            new: revisions[new].clone(),
            begin: oldest[new],
        })
    }

    /// When the oldest pod was created that podinit has seen of a revision since this has pods, but for those that it
    /// has seen ending only.
    fn oldest_of(&self, revision: &str, step: usize) -> Nanos {
        let has_pods =
            |step: &usize| self.live(*step).any(|(_, state)| state.revision == *revision);
        let since = (0..=step).rev().take_while(has_pods);
        let seen = since.flat_map(|step| self.live(step)).filter(|(_, state)| {
            state.revision == *revision && self.rules.rollouts().tells_revision(state)
        });
        seen.map(|(member, _)| self.members[member].created.unwrap_or(0)).min().unwrap_or(0)
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
