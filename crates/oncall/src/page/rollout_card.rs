//! The rollouts in progress, and those that ended lately.

use std::time::Duration;

use super::link::query;
use crate::explain::addressed;
use crate::problems::{PodFilter, ProblemSnapshot};
use crate::rollouts::{Rollout, RolloutFilter, Rollouts};
use podinit_core::timestamp::Timestamp;

/// How many are shown.
const MOST: usize = 8;
/// One that ended longer ago is not shown.
const LATELY: Duration = Duration::from_secs(3_600);

/// The rollouts as the page shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RolloutCards {
    pub in_progress: Vec<RolloutCard>,
    /// What is said of those that ended lately
    pub ended: Vec<String>,
    /// How many more are in progress
    pub more: usize,
}

/// A rollout in progress.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RolloutCard {
    /// The workload, and the page of it
    pub name: String,
    pub page: String,
    /// What the sentence says behind the name
    pub says: String,
    /// How many hundredths of its pods are of the new revision and up
    pub ready: u32,
    pub is_stuck: bool,
    pub command: String,
}

impl RolloutCards {
    /// Those of the pods that are wanted, the worst first. A part of the pods by node or cause is not one of rollouts.
    pub(super) fn new(
        seen: &ProblemSnapshot,
        wanted: &PodFilter,
        kubeconfig: Option<&str>,
        now: Timestamp,
    ) -> Self {
        if wanted.node.is_some() || wanted.cause.is_some() {
            return Self::default();
        }
        let filter = RolloutFilter {
            namespace: wanted.namespace.clone(),
            workload: wanted.workload.clone(),
        };
        let told = Rollouts::told(&seen.rollouts, &filter, MOST);
        let in_progress = told.rollouts.iter().filter_map(|one| card(one, kubeconfig));
        let in_progress: Vec<RolloutCard> = in_progress.collect();
        let is_late =
            |one: &&Rollout| one.end.as_ref().is_some_and(|end| end.at.plus(LATELY) >= now);
        let ended = told.rollouts.iter().filter(is_late);
        let more = seen
            .rollouts
            .in_progress
            .iter()
            .filter(|one| filter.fits(&one.namespace, &one.workload));
        Self {
            ended: ended.map(|one| one.sentence.clone()).collect(),
            more: more.count() - in_progress.len(),
            in_progress,
        }
    }

    /// Whether there is nothing to show.
    pub(super) const fn is_empty(&self) -> bool {
        self.in_progress.is_empty() && self.ended.is_empty()
    }
}

/// The card of a rollout in progress.
fn card(rollout: &Rollout, kubeconfig: Option<&str>) -> Option<RolloutCard> {
    let standing = rollout.in_progress.as_ref()?;
    let name = format!("{}/{}", rollout.namespace, rollout.workload.name);
    let says = rollout.sentence.strip_prefix(&name).and_then(|rest| rest.strip_prefix(": "));
    let workload = rollout.workload.to_string();
    Some(RolloutCard {
        page: query(&[("namespace", &rollout.namespace), ("workload", &workload)]),
        says: says.unwrap_or(&rollout.sentence).to_owned(),
        ready: 100 * standing.new.up / standing.new.of_wanted(rollout.wanted).max(1),
        is_stuck: standing.stuck,
        command: addressed(&standing.next_command, kubeconfig),
        name,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use super::*;
    use crate::page::Overview;
    use crate::rollouts::{FoundRollouts, RolloutParts};
    use podinit_core::lifecycle::{
        EndedRollout, HeldNanos, RolloutHolder, RolloutOutcome, RolloutProgress, RolloutWorkload,
        StandingPods,
    };
    use podinit_core::pod::Workload;
    use podinit_problems::FoundParts;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_772_360_000 + second)
    }

    fn workload(name: &str) -> RolloutWorkload {
        let workload = Workload { kind: "Deployment".into(), name: name.into() };
        RolloutWorkload { namespace: "shop".into(), workload: Arc::new(workload) }
    }

    /// At second 900 so many rollouts, of which the last is stuck since pods are down, and one that ended at each of these
    /// seconds.
    fn seen(in_progress: usize, ended: &[i64]) -> ProblemSnapshot {
        let progress = |number: usize| RolloutProgress {
            workload: workload(&format!("web<{number}>")),
            new: StandingPods { up: 1, down: 1, ..StandingPods::default() },
            others: StandingPods::default(),
            wanted: 4,
            began: at(0),
            found: false,
            held_by: RolloutHolder::NotReady,
            held_since: at(60),
            held: HeldNanos::default(),
            last_ready: at(if number + 1 == in_progress { 60 } else { 890 }),
            changed: at(60),
            said_of_down: Some("back-off 5m0s restarting failed container=<b>".into()),
            ending: Vec::new(),
        };
        let end = |second: &i64| EndedRollout {
            workload: workload("api"),
            outcome: RolloutOutcome::Completed,
            began: at(second - 60),
            ended: at(*second),
            is_exact: true,
            found: false,
            wanted: 4,
            held: HeldNanos::default(),
        };
        let progress = (0..in_progress).map(progress).collect();
        let ended = ended.iter().map(|second| Arc::new(end(second))).collect();
        let nothing = (&RolloutParts::default(), &FoundParts::default());
        let mut seen = ProblemSnapshot::default();
        seen.rollouts = FoundRollouts::new(progress, nothing, ended, at(900));
        seen
    }

    fn cards(seen: &ProblemSnapshot, wanted: &PodFilter) -> RolloutCards {
        RolloutCards::new(seen, wanted, None, at(900))
    }

    #[test]
    fn the_worst_come_first_and_eight_are_shown() {
        let all = PodFilter::default();
        let found = cards(&seen(10, &[880]), &all);
        assert_eq!((found.in_progress.len(), found.more, found.ended.len()), (MOST, 2, 0));
        let worst = &found.in_progress[0];
        assert!(worst.is_stuck && !found.in_progress[1].is_stuck);
        assert_eq!((&*worst.name, worst.ready), ("shop/web<9>", 25));
        assert_eq!(worst.page, "?namespace=shop&workload=Deployment%2Fweb%3C9%3E");
        assert_eq!(
            worst.says,
            "1 of 4 of the new revision is ready, no more for 14m; 1 was ready and is not: CrashLoopBackOff"
        );
        let found = cards(&seen(1, &[880, -2_700, -2_701]), &all);
        assert_eq!((found.in_progress.len(), found.more, found.ended.len()), (1, 0, 2));
        assert!(cards(&seen(0, &[-2_701]), &all).is_empty());
    }

    #[test]
    fn only_those_of_the_wanted_pods_are_shown() {
        let seen = seen(2, &[880]);
        let of = |wanted: PodFilter| {
            let found = cards(&seen, &wanted);
            (found.in_progress.len(), found.ended.len())
        };
        let workload = Some("Deployment/api".to_owned());
        assert_eq!(of(PodFilter { workload, ..PodFilter::default() }), (0, 1));
        let namespace = Some("pay".to_owned());
        assert_eq!(of(PodFilter { namespace, ..PodFilter::default() }), (0, 0));
        let node = Some("node-a0".to_owned());
        assert_eq!(of(PodFilter { node, ..PodFilter::default() }), (0, 0));
    }

    #[test]
    fn the_page_has_them_without_the_markup_of_strangers() {
        let page = |seen| {
            let page = Overview { seen: Arc::new(seen), ..Overview::default() };
            page.render(at(900)).unwrap()
        };
        let shown = page(seen(1, &[880]));
        assert!(shown.contains("<h2 id=\"rollouts\">Rollouts</h2>"), "{shown}");
        assert!(shown.contains("shop/web&#60;0&#62;</a>"), "{shown}");
        assert!(shown.contains("<summary>1 ended lately</summary>"), "{shown}");
        assert!(!shown.contains("web<0>") && !shown.contains("<b>"), "{shown}");
        assert!(!page(ProblemSnapshot::default()).contains("rollouts"));
    }
}
