//! Which pods of a list can no longer say when they started up.
//!
//! A condition has only the time of its last transition, and a container that of its newest starts. A pod
//! that was restarted, or was Ready more than once, shows those of later events: the first ones, which
//! alone are its startup ([§1.6](crate::specification#s1-6)), are lost.

use super::milestone::Milestone;
use crate::label_values;
use crate::pod::{ContainerKind, Phase, PodSnapshot};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

label_values! {
    /// Why the status of a pod has lost when the pod started up.
    pub enum LostStartup {
        /// A container was restarted
        Restarted => "restarted",
        /// It is not Ready and has not ended, but has been Ready before
        ReadyBefore => "ready_before",
        /// A condition turned True long after the containers had started
        TrueAgain => "true_again",
    }
}

/// How long after the start of its containers a condition of a pod may turn True for the first time. A
/// readiness probe that fails for longer cannot be told from one that failed later.
const LONG_AFTER_START_NANOS: i64 = 5 * 60 * NANOS_PER_SECOND;

impl LostStartup {
    /// What a pod's status has lost; `None` if it still shows when the pod started up. A pod that has
    /// ended is not Ready any more, so that the loss of Ready says nothing wrong of it, and restarts only
    /// where the network condition still stands: the step `start` would end with a later run.
    pub fn of(snapshot: &PodSnapshot) -> Option<Self> {
        let is_active = snapshot.phase == Phase::Active;
        let needs_starts = is_active || has_network(snapshot);
        if needs_starts && snapshot.containers.iter().any(|one| one.has_restarted) {
            Some(Self::Restarted)
        } else if is_active && is_unready_again(snapshot) {
            Some(Self::ReadyBefore)
        } else if has_turned_true_again(snapshot) {
            Some(Self::TrueAgain)
        } else {
            None
        }
    }
}

fn has_network(snapshot: &PodSnapshot) -> bool {
    let network = Milestone::NetworkReady.condition(&snapshot.conditions);
    network.is_some_and(|network| network.is_true())
}

fn is_unready_again(snapshot: &PodSnapshot) -> bool {
    let ready = Milestone::Ready.condition(&snapshot.conditions);
    let is_ready = ready.is_some_and(|ready| ready.is_true());
    !is_ready && snapshot.has_started_up()
}

/// The network condition is none of these: where it is later than the first start of a container, that
/// start gives the time of NetworkReady ([§9.2](crate::specification#s9-2)).
fn has_turned_true_again(snapshot: &PodSnapshot) -> bool {
    let Some(started) = containers_started(snapshot) else {
        return false;
    };
    let is_late = |milestone: Milestone| {
        let condition = milestone.condition(&snapshot.conditions);
        let since = condition.filter(|condition| condition.is_true());
        since
            .and_then(|condition| condition.last_transition)
            .is_some_and(|since| since.nanos_since(started) > LONG_AFTER_START_NANOS)
    };
    [
        Milestone::Initialized,
        Milestone::ContainersReady,
        Milestone::Ready,
    ]
    .into_iter()
    .any(is_late)
}

/// The latest start of a regular container. Where no start is known, the time at which the kubelet
/// accepted the pod stands for it, unless init containers ran in between.
fn containers_started(snapshot: &PodSnapshot) -> Option<Timestamp> {
    let regular = snapshot.containers.iter();
    let regular = regular.filter(|container| container.kind == ContainerKind::Regular);
    let latest = regular.filter_map(|container| container.started).max();
    latest.or(snapshot.started.filter(|_| !snapshot.has_init_containers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::{
        Condition, ConditionStatus, ConditionType, Container, ContainerState, PodUid,
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000 + second)
    }

    /// A pod whose container started at second 10, with one condition.
    fn pod(kind: ConditionType, status: ConditionStatus, since: i64) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod");
        pod.started = Some(at(0));
        pod.containers = [Container {
            state: ContainerState::Running,
            started: Some(at(10)),
            ..Container::new("app".into(), ContainerKind::Regular)
        }]
        .into();
        let last_transition = Some(at(since));
        let condition = Condition {
            status,
            last_transition,
        };
        pod.conditions.insert(kind, condition);
        pod
    }

    fn is_lost(kind: ConditionType, status: ConditionStatus, since: i64) -> Option<LostStartup> {
        LostStartup::of(&pod(kind, status, since))
    }

    use ConditionStatus::{False, True};
    use ConditionType::{ContainersReady, Initialized, PodReadyToStartContainers, Ready};

    #[test]
    fn a_condition_may_turn_true_for_five_minutes_after_the_start() {
        for kind in [Initialized, ContainersReady, Ready] {
            assert_eq!(is_lost(kind, True, 310), None);
            assert_eq!(is_lost(kind, True, 311), Some(LostStartup::TrueAgain));
        }
        let late = is_lost(PodReadyToStartContainers, True, 400_000);
        assert_eq!(late, None, "the container's start stands for it");
    }

    #[test]
    fn without_a_start_of_a_container_the_kubelets_word_counts() {
        let mut flapped = pod(Ready, True, 400_000);
        flapped.containers = Box::default();
        assert_eq!(LostStartup::of(&flapped), Some(LostStartup::TrueAgain));
        flapped.has_init_containers = true;
        assert_eq!(LostStartup::of(&flapped), None);
    }

    #[test]
    fn a_pod_that_is_not_ready_any_more_is_no_pod_that_starts_up() {
        assert_eq!(is_lost(Ready, False, 5), None);
        assert_eq!(is_lost(Ready, False, 6), Some(LostStartup::ReadyBefore));
        let mut ended = pod(Ready, False, 60);
        ended.phase = Phase::Succeeded;
        assert_eq!(LostStartup::of(&ended), None);
    }

    #[test]
    fn a_restart_makes_all_starts_doubtful() {
        let mut restarted = pod(Ready, True, 12);
        restarted.containers[0].has_restarted = true;
        assert_eq!(LostStartup::of(&restarted), Some(LostStartup::Restarted));
        restarted.phase = Phase::Failed;
        assert_eq!(LostStartup::of(&restarted), None);
    }

    /// With its network condition the step `start` would be observed, to a run that was not its first.
    #[test]
    fn a_restart_makes_the_starts_of_a_pod_that_has_ended_doubtful_while_it_has_its_network() {
        for (network, lost) in [(True, Some(LostStartup::Restarted)), (False, None)] {
            let mut ended = pod(PodReadyToStartContainers, network, 2);
            ended.phase = Phase::Succeeded;
            assert_eq!(LostStartup::of(&ended), None);
            ended.containers[0].has_restarted = true;
            assert_eq!(LostStartup::of(&ended), lost);
        }
    }
}
