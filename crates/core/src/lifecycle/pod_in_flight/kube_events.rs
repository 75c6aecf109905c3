//! What Events say of a pod in flight: when it was bound ([§4.8](crate::specification#s4-8)), since when its network is
//! ready ([§9.2](crate::specification#s9-2)), and how its images came to the node
//! ([§9.3](crate::specification#s9-3)).

use std::sync::Arc;

use super::{PodInFlight, SharedState, judge};
use crate::kube_event::{EventReason, KubeEvent, PulledMessage};
use crate::lifecycle::cause::{Cause, WaitReason, cause_of_warning};
use crate::lifecycle::estimate::TimestampMode;
use crate::lifecycle::image_pulls::{Image, ImagePull};
use crate::lifecycle::interval::Stage;
use crate::lifecycle::judgement::Latency;
use crate::lifecycle::observation::{
    ImageSource, ObservePod, PodObservation, PodState, PullObservation, TimedObserver,
};
use crate::lifecycle::slo::{SloInput, StartupKind};
use crate::timestamp::Timestamp;

impl PodInFlight {
    /// Folds an Event about the pod and reports what follows from it. An Event ends no startup.
    pub(in crate::lifecycle) fn fold_event(
        &mut self,
        event: &KubeEvent,
        mode: TimestampMode,
        now: Timestamp,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let before = self.waiting;
        self.evidence.take_event(event);
        if let EventReason::Scheduled(at) = event.reason
            && self.startup.take_scheduler_event(at, mode)
        {
            let SharedState { rules, timers, .. } = &mut *shared;
            self.slos.follow_scheduled(&self.startup, self.uid, rules, timers);
        }
        let position = self.position(event);
        if let Some(position) = position {
            self.take_kubelet_event(position, event, (mode, now), before, shared, reporter);
        }
        self.update_wait(shared, reporter);
        self.take_text(event, position, shared);
        self.take_capacity_event(event, now, shared, reporter);
    }

    /// Takes in what an autoscaler says of the pod, and reports it where it counts.
    fn take_capacity_event(
        &mut self,
        event: &KubeEvent,
        now: Timestamp,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let from = self.capacity.state();
        self.capacity.take_event(event, now, &mut shared.messages);
        let to = self.capacity.state();
        if from != to && self.waiting.stage() == Stage::Unschedulable {
            let [from, to] = [from, to].map(|state| PodState::InFlight(self.waiting, state));
            reporter.pod(&self.info, PodObservation::Moved { from, to });
        }
    }

    /// Whether an Event about the pod gives it its present cause: a warning of this cause, also one that a success has
    /// cleared since, or what is said of a pull that goes on ([§10.1](crate::specification#s10-1)).
    pub(in crate::lifecycle) fn owes_cause_to(&self, event: &KubeEvent) -> bool {
        let (stage, cause) = (self.waiting.stage(), self.waiting.cause());
        match event.reason {
            EventReason::Warning(warning) => {
                stage == Stage::Network && cause == cause_of_warning(warning)
            }
            EventReason::FailedScheduling => {
                self.is_told_by(event) && self.evidence.cause_said(event) == Some(cause)
            }
            EventReason::Pulling if cause == Cause::Pull => {
                let container = self.position(event);
                let container = container.and_then(|at| self.evidence.containers.get(at));
                container.is_some_and(|container| container.has(cause))
            }
            _ => false,
        }
    }

    /// Whether a FailedScheduling Event gives the pod its present cause, or an earlier one did.
    pub(super) fn is_told_by(&self, event: &KubeEvent) -> bool {
        event.reason == EventReason::FailedScheduling
            && matches!(self.waiting.stage(), Stage::Scheduling | Stage::Unschedulable)
            && self.evidence.said_by_scheduler == Some(self.waiting.cause())
    }

    /// The position in the spec of the container that a kubelet's Event is about.
    fn position(&self, event: &KubeEvent) -> Option<usize> {
        let named = event.container.as_ref().filter(|_| event.from_kubelet)?;
        let mut containers = self.evidence.containers.iter();
        containers.position(|container| container.is(named))
    }

    fn take_kubelet_event(
        &mut self,
        position: usize,
        event: &KubeEvent,
        (mode, now): (TimestampMode, Timestamp),
        before: WaitReason,
        shared: &mut SharedState,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) {
        let at = event.first.map(|first| mode.estimate_event(first, event.named));
        let pulled = self.count_pull(position, &event.reason, at, reporter);
        let is_evidence = matches!(
            event.reason,
            EventReason::Pulling
                | EventReason::Pulled(_)
                | EventReason::Created
                | EventReason::Started
        );
        let evidence = at.filter(|_| is_evidence);
        let Self { uid, info, startup, slos, evidence: wait_evidence, images, sli, .. } = self;
        let mut emit = |observation| reporter.pod(info, observation);
        // An Event without a usable time is no evidence: it would make the network's time unknown.
        let latched = evidence.is_some_and(|at| startup.latch_event(at, &mut emit));
        if latched {
            judge(startup, &mut emit);
        }
        if latched || pulled {
            let input = SloInput {
                uid: *uid,
                snapshot: None,
                now,
                adopted: false,
                outcome: None,
                events: true,
                kind: StartupKind::from_startup(startup, shared.images_of(images, wait_evidence)),
                before: Some(before),
            };
            slos.update(startup, input, &shared.rules, &mut shared.timers, &mut emit);
        }
        sli.judge(startup, wait_evidence, images, &mut emit);
    }

    /// Counts a pull, once for each container, and a failed one once besides. Returns whether one was counted.
    fn count_pull(
        &mut self,
        position: usize,
        reason: &EventReason,
        at: Option<Timestamp>,
        reporter: &mut TimedObserver<'_, impl ObservePod>,
    ) -> bool {
        if !matches!(reason, EventReason::Pulled(Some(_)) | EventReason::PullFailed { .. }) {
            return false;
        }
        let earlier = self.images.registries();
        let containers = self.evidence.containers.len();
        let Some(image) = self.images.get_mut(position, containers) else {
            return false;
        };
        let Some(mut pull) = take_pull(image, reason, at) else {
            return false;
        };
        pull.earlier = &earlier;
        reporter.pull(&self.info, pull);
        true
    }
}

/// The pull that an Event shows for the first time, noted at its container.
fn take_pull<'a>(
    image: &mut ImagePull,
    reason: &'a EventReason,
    at: Option<Timestamp>,
) -> Option<PullObservation<'a>> {
    let counted = |source, registry: &'a Arc<str>| PullObservation {
        source,
        registry,
        duration: None,
        wait: None,
        bytes: None,
        earlier: &[],
    };
    let pull = match reason {
        EventReason::Pulled(Some(pulled)) if image.image() == Image::Unknown => match pulled {
            PulledMessage::Present { registry } => {
                image.set_image(Image::Present);
                counted(Some(ImageSource::Present), registry)
            }
            PulledMessage::Pulled(pull) => {
                image.set_image(Image::Pulled {
                    end: at,
                    with_wait: pull.with_wait.unwrap_or(pull.duration),
                });
                let wait = pull.with_wait;
                let wait = wait.map(|with_wait| with_wait.saturating_sub(pull.duration));
                PullObservation {
                    duration: Some(Latency::from(pull.duration)),
                    wait: wait.map(Latency::from),
                    bytes: pull.bytes,
                    ..counted(Some(ImageSource::Pulled), &pull.registry)
                }
            }
        },
        EventReason::PullFailed { registry } if !image.has_failed() => {
            image.set_failed();
            counted(None, registry)
        }
        _ => return None,
    };
    image.registry.get_or_insert_with(|| Arc::clone(pull.registry));
    Some(pull)
}
