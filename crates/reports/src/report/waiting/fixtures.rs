//! Startups made by hand. All times are seconds after the creation.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use podinit_core::lifecycle::{
    Cause, Interval, IntervalKind, IntervalResult, Latency, Milestone, Outcome, Progress, Record,
    RecordedCause, RecordedContainer, RecordedImage, RecordedInterval, RecordedMilestone,
    RecordedPull, Stage, UnobservedReason, WaitReason,
};
use podinit_core::pod::{ContainerProbe, ContainerProbes};
use podinit_core::timestamp::Timestamp;
use podinit_testing::records::{self, at};

pub(super) struct Pod(pub(super) Record);

/// A pod that became ready after so many seconds.
pub(super) fn ready(seconds: i64) -> Pod {
    let mut pod = ended(Outcome::Ready, seconds).milestone(Milestone::Ready, seconds);
    pod.0.causes.clear();
    pod.interval(Interval::CreatedToReady, 0, seconds)
}

/// A pod whose startup ended so after so many seconds, and which was seen before.
pub(super) fn ended(outcome: Outcome, seconds: i64) -> Pod {
    let progress = Progress::Ended { outcome, at: at(seconds), ending: None };
    let record = records::record("shop", "web");
    let (milestones, intervals, causes) = Default::default();
    let pod = Pod(Record { progress, milestones, intervals, causes, ..record });
    let pod = pod.milestone(Milestone::Created, 0).milestone(Milestone::Scheduled, 1);
    pod.cause(Stage::Scheduling, Cause::Queue, 0)
}

impl Pod {
    pub(super) fn milestone(mut self, milestone: Milestone, second: i64) -> Self {
        self.0.milestones.push(RecordedMilestone {
            milestone,
            time: Some(at(second)),
            source: None,
        });
        self
    }

    pub(super) fn interval(mut self, interval: Interval, from: i64, to: i64) -> Self {
        let seconds = Latency::from_nanos((to - from).unsigned_abs() * 1_000_000_000);
        self.0.intervals.push(RecordedInterval {
            interval,
            kind: IntervalKind::from_interval(interval),
            began: Some(at(from)),
            ended: Some(at(to)),
            result: IntervalResult::Measured { seconds },
        });
        self
    }

    pub(super) fn stage(self, stage: Stage, from: i64, to: i64) -> Self {
        self.interval(Interval::Stage(stage), from, to)
    }

    /// A stage that has begun and did not end.
    pub(super) fn open(mut self, stage: Stage, from: i64) -> Self {
        let interval = Interval::Stage(stage);
        self.0.intervals.push(RecordedInterval {
            interval,
            kind: IntervalKind::from_interval(interval),
            began: Some(at(from)),
            ended: None,
            result: IntervalResult::Open,
        });
        self
    }

    /// A stage that has begun, and whose end was not observed.
    pub(super) fn endless(mut self, stage: Stage, from: i64) -> Self {
        self = self.open(stage, from);
        let reason = UnobservedReason::NotSeen;
        self.0.intervals.last_mut().unwrap().result = IntervalResult::Unobserved { reason };
        self
    }

    pub(super) fn cause(mut self, stage: Stage, cause: Cause, second: i64) -> Self {
        let waiting = WaitReason::new(stage, cause).unwrap();
        self.0.causes.push(RecordedCause { waiting, began: at(second), container: None });
        self
    }

    /// A container, whose image has its name.
    pub(super) fn container(mut self, name: &str, init: bool, is_sidecar: bool) -> Self {
        let (name, image) = (Arc::from(name), Some(Arc::from(format!("registry/{name}"))));
        let (registry, volume_image, problem) = Default::default();
        let more =
            RecordedContainer { name, init, is_sidecar, image, registry, volume_image, problem };
        self.0.containers.push(more);
        self
    }

    fn image(mut self, name: &str, image: RecordedImage) -> Self {
        let init = self.0.containers.iter().any(|one| *one.name == *name && one.init);
        let (container, registry) = (Arc::from(name), Arc::from("registry"));
        self.0.pulls.push(RecordedPull { container, init, registry, has_failed: false, image });
        self
    }

    pub(super) fn present(self, name: &str) -> Self {
        self.image(name, RecordedImage::Present)
    }

    pub(super) fn unknown(self, name: &str) -> Self {
        self.image(name, RecordedImage::Unknown)
    }

    pub(super) fn pulled(self, name: &str, from: i64, to: i64) -> Self {
        let with_wait = Latency::from_nanos((to - from).unsigned_abs() * 1_000_000_000);
        self.image(name, RecordedImage::Pulled { ended: Some(at(to)), with_wait })
    }

    pub(super) fn discovered(mut self, second: i64) -> Self {
        self.0.discovered = at(second);
        self
    }

    /// A readiness probe with this delay and period.
    pub(super) fn probed(mut self, initial_delay: u32, period: u32) -> Self {
        let readiness = Some(ContainerProbe { initial_delay, period, ..ContainerProbe::default() });
        let (startup, liveness) = (None, None);
        let probes = ContainerProbes { container: "app".into(), startup, readiness, liveness };
        self.0.pod.probes = Some(Arc::new(vec![probes]));
        self
    }
}

/// So many seconds after the creation.
pub(super) fn now(second: i64) -> Option<Timestamp> {
    Some(at(second))
}
