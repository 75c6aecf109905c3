//! How a status completes the fixed part of a pod to a snapshot.

use super::DecodeOptions;
use super::container::{ContainerRuns, StatusTexts, said, with_statuses};
use super::deletion::StatedDeletion;
use super::eviction::KubeletEviction;
use super::fixed::FixedPart;
use super::status::PodStatus;
use podinit_core::pod::{
    ConditionType, DisruptionReason, Ending, InPlaceChanges, PodPhase, PodSnapshot, Termination,
    WaitingMessage,
};

/// What of the metadata differs from version to version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotEdition {
    pub resource_version: Option<u64>,
    pub deletion: StatedDeletion,
}

impl FixedPart {
    /// The pod with a status.
    pub(crate) fn with_status(
        self,
        edition: SnapshotEdition,
        status: PodStatus<'_>,
        options: &DecodeOptions,
    ) -> PodSnapshot {
        let has_ended = status.phase != PodPhase::Active;
        let mut words = StatusWords {
            messages: options.messages.then(Vec::new),
            endings: (has_ended && options.endings).then(Vec::new),
        };
        let mut containers = self.containers;
        let (init, regular) = containers.split_at_mut(self.init_containers);
        let ContainerRuns { of_init: init_runs, any: has_init_run } =
            with_statuses(init, status.init_containers, 0, &mut words);
        let regular = with_statuses(regular, status.containers, self.init_containers, &mut words);
        let StatusWords { messages, endings } = words;
        let read = status.conditions;
        let is_ready = read.conditions.holding(ConditionType::Ready).is_some();
        let named = read.named(self.gates, &options.milestones);
        let said_of_ready = read.said_of_ready(self.readiness_gates.any, named.as_deref());
        let in_place = InPlaceChanges {
            update_ready: (read.in_place.update_ready)
                .filter(|_| self.readiness_gates.in_place_update),
            ..read.in_place
        };
        let latest_api_time = self.created.max(status.started).max(read.latest_transition);
        let reason = status.reason.as_deref().filter(|reason| !reason.is_empty());
        let eviction = reason.filter(|_| has_ended).and_then(|reason| {
            KubeletEviction::from_reason(reason, status.message.as_deref().unwrap_or_default())
        });
        let evicted = (eviction == Some(KubeletEviction::ForNode))
            .then_some(DisruptionReason::TerminationByKubelet);
        let ends_with_deletion = match status.phase {
            PodPhase::Active => false,
            PodPhase::Succeeded => self.restarts_always,
            PodPhase::Failed => true,
        };
        let ending = endings.map(|containers| {
            let finished = containers.iter().filter_map(|one: &Termination| one.finished);
            Box::new(Ending {
                at: finished.max().or(latest_api_time),
                reason: said(status.reason.as_deref()),
                message: said(status.message.as_deref()),
                containers,
            })
        });
        PodSnapshot {
            uid: self.uid,
            resource_version: edition.resource_version,
            info: self.info,
            revision: self.revision,
            created: self.created,
            started: status.started,
            latest_api_time,
            phase: status.phase,
            conditions: read.conditions,
            unschedulable: read.unschedulable,
            not_scheduled: read.not_scheduled,
            is_bound: self.is_bound,
            has_nominated_node: status.has_nominated_node,
            sandbox_not_ready: read.sandbox_not_ready,
            said_of_ready,
            named,
            disruption: read.disruption.or(evicted),
            in_place: (in_place != InPlaceChanges::default()).then(|| Box::new(in_place)),
            terminating: edition.deletion.is_stated,
            deletion_asked: edition.deletion.asked(),
            deletion_due: edition.deletion.at,
            ended_by_deletion: edition.deletion.is_stated && reason.is_none() && ends_with_deletion,
            gated: self.gated,
            has_init_containers: self.init_containers > 0,
            init_runs,
            containers,
            has_run: has_init_run || regular.any || eviction == Some(KubeletEviction::ForOwnLimits),
            waiting_messages: messages.filter(|all| !all.is_empty()).map(Box::new),
            ending,
            is_stateful: self.is_stateful,
            volume_images: self.volume_images,
            claims: self.claims,
            // A pod that is ready waits for none.
            claim_names: self.claim_names.filter(|_| !is_ready),
            has_readiness_gates: self.readiness_gates.any,
            is_static: self.is_static,
        }
    }
}

/// What the statuses of containers say in words, as far as it is wanted.
struct StatusWords {
    messages: Option<Vec<WaitingMessage>>,
    endings: Option<Vec<Termination>>,
}

impl StatusTexts for StatusWords {
    fn waits(&mut self, container: usize, message: &str) {
        if let Some(messages) = &mut self.messages {
            let text = message.into();
            messages.push(WaitingMessage { container, text });
        }
    }

    fn wants_endings(&self) -> bool {
        self.endings.is_some()
    }

    fn ended(&mut self, termination: Termination) {
        if let Some(endings) = &mut self.endings {
            endings.push(termination);
        }
    }
}
