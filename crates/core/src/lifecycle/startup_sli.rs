//! Kubernetes' own service level indicator of pod startup ([§9.4](crate::specification#s9-4)).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cause::WaitEvidence;
use super::image_pulls::{Image, ImagePulls};
use super::judgement::DurationJudgement;
use super::milestone::Milestone;
use super::observation::PodObservation;
use super::outcome::Outcome;
use super::startup::Startup;
use super::startup_sli_verdict::{StartupSli, StartupSliExclusion};
use crate::timestamp::Timestamp;

/// What a pod in flight needs for its startup SLI, besides its milestones and images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SliProgress {
    /// It has a volume that makes it stateful
    pub(super) is_stateful: bool,
    /// It has had its event, or can have none
    pub(super) decided: bool,
}

impl SliProgress {
    /// Reports the event of a pod that was adopted. Without Events nobody counts it, but it stays adopted
    /// if they are turned on.
    pub(super) fn adopt(&mut self, events: bool, emit: &mut impl FnMut(PodObservation)) {
        if !events {
            self.decided = true;
            return;
        }
        let reason = StartupSliExclusion::Ended(Outcome::Preexisting);
        self.decide(StartupSli::Excluded(reason), emit);
    }

    /// Reports the event of the pod, once everything is known that it needs.
    pub(super) fn judge(
        &mut self,
        startup: &Startup,
        evidence: &WaitEvidence,
        images: &ImagePulls,
        emit: &mut impl FnMut(PodObservation),
    ) {
        let is_followed = !evidence.has_more_containers;
        if self.decided || !is_followed || !is_complete(startup, evidence, images) {
            return;
        }
        let sli = match self.exclusion(startup) {
            Some(reason) => StartupSli::Excluded(reason),
            None => match length(startup, evidence, images).map(DurationJudgement::of_nanos) {
                Some(DurationJudgement::Usable { latency, .. }) => StartupSli::Observed(latency),
                Some(DurationJudgement::Unusable(_)) | None => {
                    StartupSli::Excluded(StartupSliExclusion::Time)
                }
            },
        };
        self.decide(sli, emit);
    }

    /// Reports the event of a pod that has ended without one.
    pub(super) fn end(
        &mut self,
        outcome: Outcome,
        startup: &Startup,
        emit: &mut impl FnMut(PodObservation),
    ) {
        let reason = self.exclusion(startup).unwrap_or(match outcome {
            Outcome::Ready | Outcome::Completed => StartupSliExclusion::NoEvidence,
            other => StartupSliExclusion::Ended(other),
        });
        self.decide(StartupSli::Excluded(reason), emit);
    }

    /// The first reason that holds for the pod whatever its times.
    fn exclusion(&self, startup: &Startup) -> Option<StartupSliExclusion> {
        if startup.seen_gated {
            Some(StartupSliExclusion::Gated)
        } else if startup.seen_unschedulable {
            Some(StartupSliExclusion::Unschedulable)
        } else {
            self.is_stateful.then_some(StartupSliExclusion::Stateful)
        }
    }

    fn decide(&mut self, sli: StartupSli, emit: &mut impl FnMut(PodObservation)) {
        if !self.decided {
            self.decided = true;
            emit(PodObservation::StartupSli(sli));
        }
    }
}

fn is_complete(startup: &Startup, evidence: &WaitEvidence, images: &ImagePulls) -> bool {
    let reached = |milestone| startup.reached(milestone).is_reached();
    let mut images = images.images(evidence.containers.len());
    reached(Milestone::ContainersStarted)
        && reached(Milestone::NetworkReady)
        && images.all(|image| image != Image::Unknown)
}

/// The SLI in nanoseconds; `None` where a time that it needs is unusable.
fn length(startup: &Startup, evidence: &WaitEvidence, images: &ImagePulls) -> Option<i64> {
    let at = |milestone| startup.reached(milestone).usable();
    let nanos = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    let started = at(Milestone::ContainersStarted)?;
    let network = at(Milestone::NetworkReady)?;
    let mut pulls = Vec::new();
    for image in images.images(evidence.containers.len()) {
        if let Image::Pulled { end, with_wait } = image {
            let end = end?;
            let begin = end.plus_nanos(-nanos(with_wait));
            pulls.push((begin.max(network), end.min(started)));
        }
    }
    let length = started.nanos_since(at(Milestone::Created)?);
    let length = length.saturating_sub(i64::try_from(evidence.init_runs).unwrap_or(i64::MAX));
    Some(length.saturating_sub(union_nanos(pulls)))
}

/// The length of the union of the intervals, in nanoseconds. An interval that ends before it begins is empty.
fn union_nanos(mut intervals: Vec<(Timestamp, Timestamp)>) -> i64 {
    intervals.sort_unstable();
    let (mut total, mut covered) = (0_i64, None);
    for (from, to) in intervals {
        let from = covered.map_or(from, |covered| from.max(covered));
        if to > from {
            total = total.saturating_add(to.nanos_since(from));
            covered = Some(to);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_union_is_the_seconds_that_any_interval_covers(
            intervals in prop::collection::vec((0_i64..40, 0_i64..40), 0..8),
        ) {
            let at = Timestamp::from_seconds;
            let covers = |second: &i64| {
                let mut all = intervals.iter();
                all.any(|(from, to)| from <= second && second < to)
            };
            let seconds = (0..40).filter(covers).count() as i64;
            let union = union_nanos(intervals.iter().map(|(from, to)| (at(1 + *from), at(1 + *to))).collect());
            prop_assert_eq!(union, seconds * 1_000_000_000);
        }
    }
}
