//! [§17.2](crate::specification#s17-2): what would end a rollout, if it lasts.

use std::collections::BTreeSet;

use super::workload::{State, Workload};

/// What ends a rollout once it has stood for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As many as wanted have been up
    Enough,
    /// Fewer than wanted live
    Fewer,
    /// No pod is left
    Removed,
}

impl Workload<'_> {
    /// The end that stands with a step of a rollout that began with an earlier one, and of which revision the pods are.
    pub(crate) fn end(
        &self,
        step: usize,
        (began, wanted): (usize, usize),
    ) -> Option<(End, String)> {
        let rules = self.rules.rollouts();
        if self.live(step).next().is_none() {
            return Some((End::Removed, String::new()));
        }
        let revisions = self.revisions(step);
        let [revision] = &revisions[..] else {
            return None;
        };
        let became = self.became(step, revision).max(began);
        let members = 0..self.members.len();
        let awaited = members.clone().filter(|member| {
            let then = self.states[became][*member].as_ref();
            let of_it = then.is_some_and(|then| self.is_of(then, revision) && !then.been_up);
            rules.is_awaited(of_it)
        });
        let mut awaited = awaited.map(|member| self.states[step][member].as_ref());
        if !awaited.all(|state| rules.is_settled(state)) {
            return None;
        }
        let of_those = members.filter(|member| {
            let then = self.states[became][*member].as_ref();
            self.members[*member].entered > became
                || then.is_some_and(|then| self.is_of(then, revision))
        });
        let been_up = of_those.filter(|member| self.has_been_up(*member, step, revision)).count();
        let up = self.live(step).filter(|(_, state)| state.up).count();
        if rules.are_enough(been_up, up, wanted) {
            return Some((End::Enough, revision.clone()));
        }
        let live = self.wanted_now(step);
        let mut others = self.live(step).filter(|(_, state)| state.revision != *revision);
        let others_ending = others.any(|(_, state)| state.ending);
        let fewer = rules.ends_with_fewer(live, wanted, others_ending);
        fewer.then(|| (End::Fewer, revision.clone()))
    }

    /// The revisions of live pods, ending ones aside.
    pub(crate) fn revisions(&self, step: usize) -> Vec<String> {
        let telling =
            self.live(step).filter(|(_, state)| self.rules.rollouts().tells_revision(state));
        let revisions: BTreeSet<String> =
            telling.map(|(_, state)| state.revision.clone()).collect();
        revisions.into_iter().collect()
    }

    /// How many live, ending ones aside.
    pub(crate) fn wanted_now(&self, step: usize) -> usize {
        self.live(step).filter(|(_, state)| self.rules.rollouts().is_wanted(state)).count()
    }

    fn is_of(&self, state: &State, revision: &str) -> bool {
        state.revision == revision && self.rules.rollouts().tells_revision(state)
    }

    /// The last step with which the live pods, ending ones aside, became of this revision.
    fn became(&self, step: usize, revision: &str) -> usize {
        let are_of_it = |step: &usize| self.revisions(*step) == [revision];
        let mut judged = (0..=step).rev().filter(|step| self.deliveries[*step].in_sync);
        let of_it = judged.by_ref().take_while(are_of_it);
        of_it.last().unwrap_or(step)
    }

    fn has_been_up(&self, member: usize, step: usize, revision: &str) -> bool {
        let mut states = self.states[..=step].iter().filter_map(|states| states[member].as_ref());
        states.any(|state| state.been_up && self.is_of(state, revision))
    }
}
