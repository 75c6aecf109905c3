//! A workload from the first delivery to the last.

use std::collections::BTreeMap;

use super::Delivery;
use super::begin::Begin;
use super::end::End;
use super::workload::{Member, Workload};
use crate::oracle::instant::Nanos;

/// What the rollouts of a workload came to.
#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) outcomes: Vec<&'static str>,
    pub(crate) durations: Vec<Nanos>,
    pub(crate) held: BTreeMap<&'static str, Nanos>,
    pub(crate) in_progress: Option<&'static str>,
}

struct Rollout {
    new: String,
    /// The step that began it
    began: usize,
    begin: Begin,
    wanted: usize,
    /// The revisions that lived at its begin
    lived: Vec<String>,
    /// [§17.4](crate::specification#s17-4)
    found: bool,
    /// From, to, and by what
    held: Vec<(Nanos, Nanos, &'static str)>,
    /// The end that stands
    standing: Option<Standing>,
}

#[derive(Clone)]
struct Standing {
    end: End,
    revision: String,
    since: Nanos,
    is_known: bool,
}

pub(crate) struct Walk<'a> {
    workload: &'a Workload<'a>,
    sum: Sum,
    own: Option<String>,
    rollout: Option<Rollout>,
    in_sync: bool,
    /// The pods that have had their turn
    settled: Vec<usize>,
    /// Up to when time has counted
    counted_to: Nanos,
    /// When the last rollout ended that was not superseded by a pod
    ended: Nanos,
    /// The last step in sync before this one
    judged: Option<usize>,
    /// The pods that had their turn with this step
    batch: Vec<usize>,
}

impl<'a> Walk<'a> {
    pub(crate) fn sum(workload: &'a Workload<'a>, end: Nanos, until: Option<Nanos>) -> Sum {
        let mut walk = Self {
            workload,
            sum: Sum::default(),
            own: None,
            rollout: None,
            in_sync: true,
            settled: Vec::new(),
            counted_to: Nanos::MIN,
            ended: Nanos::MIN,
            judged: None,
            batch: Vec::new(),
        };
        for (step, delivery) in workload.deliveries.iter().enumerate() {
            walk.deliver(step, *delivery);
        }
        let last = workload.deliveries.len().checked_sub(1);
        if let Some(last) = last {
            walk.hold(workload.now(last), end);
            if let Some(until) = until {
                walk.judge(until);
            }
            walk.in_progress(end);
        }
        walk.sum
    }

    fn deliver(&mut self, step: usize, delivery: Delivery) {
        let now = delivery.now;
        let rules = self.workload.rules.rollouts();
        if let Some(before) = step.checked_sub(1) {
            self.hold(self.workload.now(before), now);
        }
        self.judge(now);
        self.in_sync = delivery.in_sync;
        if delivery.is_first_list {
            self.first_list(step);
        } else if rules.begins(self.in_sync) {
            self.newcomers(step);
        }
        if self.in_sync {
            self.follow_moves(step);
        }
        if rules.ends(self.in_sync) {
            self.stand(step, delivery);
        }
        self.judge(now);
        if self.in_sync {
            self.follow_moves(step);
            self.judged = Some(step);
        }
    }

    /// Time passes, as it stands with the last step in sync.
    fn hold(&mut self, from: Nanos, to: Nanos) {
        let workload = self.workload;
        if let (Some(rollout), Some(step)) = (&mut self.rollout, self.judged) {
            let from = self.counted_to.max(from);
            if from < to {
                let by = held_by(workload, rollout, step);
                rollout.held.push((from, to, by));
            }
        }
    }

    /// Ends what has stood for long enough.
    fn judge(&mut self, now: Nanos) {
        let rules = self.workload.rules.rollouts();
        let standing = self.rollout.as_ref().and_then(|rollout| rollout.standing.clone());
        if let Some(standing) = standing
            && rules.ends(self.in_sync)
            && now - standing.since >= rules.lasts(standing.end)
        {
            self.end(&standing, now);
        }
    }

    fn end(&mut self, standing: &Standing, now: Nanos) {
        let rules = self.workload.rules.rollouts();
        let Some(rollout) = self.rollout.take() else {
            return;
        };
        let outcome = match standing.end {
            End::Removed => "removed",
            End::Enough | End::Fewer => {
                let own = self.own.as_deref().unwrap_or_default();
                let of = (rollout.new.as_str(), own);
                let is_third = rules.supersedes(&standing.revision, of, &rollout.lived);
                rules.outcome(&standing.revision, &rollout.new, is_third)
            }
        };
        self.ended = standing.since;
        if rules.counts(outcome, rollout.found) {
            self.sum.outcomes.push(outcome);
        }
        let is_known = standing.is_known && rollout.begin.is_known || rules.observes_unknown();
        if rules.observes(outcome, rollout.found) && is_known {
            let took = rules.ended(standing.since, now) - rollout.begin.at;
            self.sum.durations.push(took.max(0));
        }
        if standing.end != End::Removed {
            self.own = Some(standing.revision.clone());
        }
        self.settle_time(&rollout, rules.held_until(standing.since, now));
    }

    /// Adds the time up to an instant.
    fn settle_time(&mut self, rollout: &Rollout, until: Nanos) {
        for (from, to, by) in &rollout.held {
            let time = (until.min(*to) - from).max(0);
            *self.sum.held.entry(by).or_insert(0) += time;
        }
        self.counted_to = self.counted_to.max(until);
    }

    /// [§17.4](crate::specification#s17-4)
    fn first_list(&mut self, step: usize) {
        self.own = self.workload.oldest(step);
        let shown = self.workload.members.iter().enumerate();
        let shown = shown.filter(|(_, member)| member.entered <= step);
        self.settled.extend(shown.map(|(place, _)| place));
        self.find(step);
    }

    /// A rollout that is found in progress, in place of one that was found before.
    fn find(&mut self, step: usize) {
        let workload = self.workload;
        let Some(found) = workload.found(step) else {
            return;
        };
        if let Some(before) = self.rollout.take() {
            self.settle_time(&before, workload.now(step));
        }
        self.own = Some(found.own);
        self.rollout = Some(Rollout {
            new: found.new,
            began: step,
            begin: Begin { created: found.begin, at: found.begin, is_known: false },
            wanted: workload.wanted_now(step).max(1),
            lived: workload.live(step).map(|(_, state)| state.revision.clone()).collect(),
            found: true,
            held: Vec::new(),
            standing: None,
        });
    }

    /// The pods that are new, in the order of their creation.
    fn newcomers(&mut self, step: usize) {
        let workload = self.workload;
        let rules = workload.rules.rollouts();
        let shown = (0..workload.members.len()).filter(|member| {
            workload.members[*member].entered <= step && !self.settled.contains(member)
        });
        let mut shown: Vec<usize> = shown.collect();
        shown.sort_by_key(|member| {
            let place = workload.members[*member].place;
            let order = rules.order(workload.created(*member), place);
            (order, workload.members[*member].entered, place)
        });
        let mut found_old = false;
        self.batch.clear();
        for member in shown {
            let lives = workload.states[step][member].is_some();
            let Member { is_created, is_old, .. } = &workload.members[member];
            if *is_created && (!is_old || rules.old_pods_begin()) {
                self.created(member, step);
            } else if lives {
                found_old |= *is_old;
                let revision = workload.revision(member, step);
                self.own.get_or_insert(revision);
            }
            self.settled.push(member);
            self.batch.push(member);
        }
        if rules.moved_label_begins() && step > 0 {
            for (member, state) in workload.live(step) {
                let before = workload.states[step - 1][member].as_ref();
                if before.is_some_and(|before| before.revision != state.revision) {
                    self.created(member, step);
                }
            }
        }
        if found_old && self.rollout.as_ref().is_none_or(|rollout| rollout.found) {
            self.find(step);
        }
    }

    /// A pod is created.
    fn created(&mut self, member: usize, step: usize) {
        let workload = self.workload;
        let rules = workload.rules.rollouts();
        let revision = workload.revision(member, step);
        if !workload.is_remembered(member, step, &self.settled) {
            // A rollout that lasts goes on.
            if self.rollout.is_none() {
                self.own = Some(revision);
            }
            return;
        }
        let own = self.own.get_or_insert_with(|| revision.clone()).clone();
        let mut inherited = None;
        if let Some(rollout) = &self.rollout {
            if !rules.supersedes(&revision, (&rollout.new, &own), &rollout.lived) {
                return;
            }
            let standing = rollout.standing.clone();
            let standing = standing.filter(|standing| rules.third_finds_end(standing.end));
            if let Some(standing) = standing {
                let now = workload.now(step);
                self.end(&standing, now);
            } else if let Some(rollout) = self.rollout.take() {
                if rules.counts("superseded", rollout.found) {
                    self.sum.outcomes.push("superseded");
                }
                inherited = Some(rollout.wanted);
                self.settle_time(&rollout, workload.now(step));
            }
        }
        if self.own.as_ref() == Some(&revision) {
            return;
        }
        let begin = workload.begin(member, step);
        let window = workload.wanted(member, begin.created, self.ended);
        let wanted = inherited.map_or(window, |before| rules.wanted_of_next(before, window));
        let mut rollout = Rollout {
            new: revision,
            began: step,
            begin,
            wanted,
            lived: workload.lived_at(self.judged, (&self.batch, step)),
            found: false,
            held: Vec::new(),
            standing: None,
        };
        let by = held_by(workload, &rollout, step);
        let now = workload.now(step);
        let created = begin.created.min(now);
        for (from, to, by) in [(begin.at, created, "ending"), (created, now, by)] {
            let from = rules.held_since(from, self.counted_to);
            if from < to {
                rollout.held.push((from, to, by));
            }
        }
        self.rollout = Some(rollout);
    }

    /// "While no rollout lasts, it is the one revision of all pods that live and are not ending"
    fn follow_moves(&mut self, step: usize) {
        if self.rollout.is_none()
            && self.workload.rules.rollouts().own_by_moving()
            && let [revision] = &self.workload.revisions(step)[..]
        {
            self.own = Some(revision.clone());
        }
    }

    /// Whether an end stands, and since when.
    fn stand(&mut self, step: usize, delivery: Delivery) {
        let workload = self.workload;
        let Some(rollout) = &mut self.rollout else {
            return;
        };
        let is_same = |held: &Standing, end: End, revision: &str| {
            held.end == end && held.revision == revision
        };
        let before = rollout.standing.take();
        let Some((end, revision)) = workload.end(step, (rollout.began, rollout.wanted)) else {
            return;
        };
        rollout.standing = before.filter(|held| is_same(held, end, &revision)).or_else(|| {
            let mut stops = workload.members.iter().filter_map(|member| member.stop);
            let vanished = stops.any(|stop| stop.vanished && stop.step == step);
            let is_known = !delivery.is_list && !vanished;
            Some(Standing { end, revision, since: delivery.now, is_known })
        });
    }

    /// What is in progress in the end.
    fn in_progress(&mut self, end: Nanos) {
        let Some(rollout) = self.rollout.take() else {
            return;
        };
        self.sum.in_progress = self.judged.map(|step| held_by(self.workload, &rollout, step));
        let rules = self.workload.rules.rollouts();
        let since = rollout.standing.as_ref().map(|standing| standing.since);
        let until = since.map_or(end, |since| rules.held_until(since, end));
        self.settle_time(&rollout, until);
    }
}

/// [§17.3](crate::specification#s17-3)
fn held_by(workload: &Workload<'_>, rollout: &Rollout, step: usize) -> &'static str {
    let rules = workload.rules.rollouts();
    let is_new = |revision: &str| revision == rollout.new;
    let new_ones_live =
        workload.live(step).any(|(_, state)| is_new(&state.revision) && !state.ending);
    let holding = || {
        let of_all = workload.live(step).map(|(_, state)| state);
        of_all.filter(|state| !state.ending && rules.holds(is_new(&state.revision), new_ones_live))
    };
    let starting = holding().any(|state| !state.been_up);
    let down = holding().any(|state| state.been_up && !state.up);
    let ending = workload.live(step).any(|(_, state)| !is_new(&state.revision) && state.ending);
    let few = rules.ending_holds(workload.wanted_now(step), rollout.wanted);
    rules.held_by([starting, down, ending && few])
}
