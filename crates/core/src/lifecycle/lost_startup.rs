//! Which pods of a list can no longer say when they started up.
//!
//! A condition has only the time of its last transition, and a container that of its newest starts. A pod
//! that was restarted, or was Ready more than once, shows those of later events: the first ones, which
//! alone are its startup ([§1.6](crate::specification#s1-6)), are lost.

use super::milestone::Milestone;
use crate::label_values;
use crate::pod::{ContainerKind, ContainerState, PodPhase, PodSnapshot};
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
        /// It failed long after the containers had started, and may have been Ready until then
        EndedLater => "ended_later",
    }
}

/// How long after the start of its containers a condition of a pod may turn True for the first time, beside what its
/// probes allow. A readiness probe that fails for longer looks like one that failed later.
const LONG_AFTER_START_SECONDS: u64 = 5 * 60;

impl LostStartup {
    /// What a pod's status has lost; `None` if it still shows when the pod started up. A pod that has
    /// ended is not Ready any more, so that the loss of Ready says nothing wrong of it, and restarts only
    /// where the network condition still stands: the step `start` would end with a later run.
    pub fn from_snapshot(snapshot: &PodSnapshot) -> Option<Self> {
        let is_active = snapshot.phase == PodPhase::Active;
        let needs_starts = is_active || has_network(snapshot);
        if needs_starts && snapshot.containers.iter().any(|one| one.has_restarted) {
            Some(Self::Restarted)
        } else if is_active && is_unready_again(snapshot) {
            Some(Self::ReadyBefore)
        } else if has_turned_true_again(snapshot) {
            Some(Self::TrueAgain)
        } else if has_failed_later(snapshot) {
            Some(Self::EndedLater)
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
            .is_some_and(|since| is_long_after(snapshot, started, since))
    };
    [Milestone::Initialized, Milestone::ContainersReady, Milestone::Ready].into_iter().any(is_late)
}

/// Whether a pod that started at `started` has had more time to be Ready by `then` than a startup takes.
fn is_long_after(snapshot: &PodSnapshot, started: Timestamp, then: Timestamp) -> bool {
    let allowed = LONG_AFTER_START_SECONDS.saturating_add(allowed_by_probes(snapshot));
    let nanos = i64::try_from(allowed).unwrap_or(i64::MAX);
    then.nanos_since(started) > nanos.saturating_mul(NANOS_PER_SECOND)
}

/// How many seconds a container may take to be ready by its probes: until the startup probe fails for good
/// (`initialDelaySeconds + failureThreshold × periodSeconds`), or until the readiness probe runs at all, whichever is
/// longer. Regular containers start up side by side, and after the restartable init containers.
fn allowed_by_probes(snapshot: &PodSnapshot) -> u64 {
    let containers = snapshot.info.probes.iter().flat_map(|all| all.iter());
    let allowed = containers.map(|probes| {
        let startup = probes.startup.map_or(0, |probe| {
            let failures = u64::from(probe.failure_threshold) * u64::from(probe.period);
            failures.saturating_add(probe.initial_delay.into())
        });
        let readiness = probes.readiness.map_or(0, |probe| probe.initial_delay.into());
        startup.max(readiness)
    });
    allowed.max().unwrap_or_default()
}

/// A pod that ran for longer than a startup takes, and then failed, as one that is evicted does. It may have been
/// Ready all the time: its status says only that it is not any more. Ready=False since the start has never been True.
fn has_failed_later(snapshot: &PodSnapshot) -> bool {
    let was_never_ready = Milestone::Ready
        .condition(&snapshot.conditions)
        .and_then(|ready| ready.last_transition.zip(snapshot.started))
        .is_some_and(|_| !snapshot.was_ready_before());
    if snapshot.phase != PodPhase::Failed || was_never_ready {
        return false;
    }
    let ending = snapshot.ending.as_deref().and_then(|ending| ending.at);
    let ended = ending.max(snapshot.latest_api_time);
    let times = all_ran_since(snapshot).zip(ended);
    times.is_some_and(|(started, ended)| is_long_after(snapshot, started, ended))
}

/// Since when all regular containers have run: the latest of their starts. Where one was restarted, or no status is
/// left of any, as older kubelets leave none of a pod that they evict, the time at which the kubelet accepted the pod
/// stands for it, unless init containers may never have ended.
fn all_ran_since(snapshot: &PodSnapshot) -> Option<Timestamp> {
    let regular = || {
        let all = snapshot.containers.iter();
        all.filter(|container| container.kind == ContainerKind::Regular)
    };
    if regular().all(|container| container.state == ContainerState::NoStatus) {
        let initialized = Milestone::Initialized.condition(&snapshot.conditions);
        let is_initialized = !snapshot.has_init_containers
            || initialized.is_some_and(|initialized| initialized.is_true());
        return snapshot.started.filter(|_| is_initialized);
    }
    let starts: Option<Vec<Timestamp>> = regular().map(|container| container.started).collect();
    let latest = starts?.into_iter().max();
    match regular().any(|container| container.has_restarted) {
        true => snapshot.started.or(latest),
        false => latest,
    }
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
        ConditionStatus, ConditionType, ContainerProbe, ContainerProbes, ContainerSpec,
        ContainerState, Ending, PodUid, StatusCondition,
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000 + second)
    }

    /// A pod whose container started at second 10, with one condition.
    fn pod(kind: ConditionType, status: ConditionStatus, since: i64) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod");
        pod.started = Some(at(0));
        pod.containers = [ContainerSpec {
            state: ContainerState::Running,
            started: Some(at(10)),
            ..ContainerSpec::new("app".into(), ContainerKind::Regular)
        }]
        .into();
        let last_transition = Some(at(since));
        let condition = StatusCondition { status, last_transition };
        pod.conditions.insert(kind, condition);
        pod
    }

    fn is_lost(kind: ConditionType, status: ConditionStatus, since: i64) -> Option<LostStartup> {
        LostStartup::from_snapshot(&pod(kind, status, since))
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

    /// A probe that runs first after so many seconds, and may fail so often each 10 seconds.
    fn probe(initial_delay: u32, failure_threshold: u32) -> ContainerProbe {
        ContainerProbe { initial_delay, failure_threshold, ..ContainerProbe::default() }
    }

    #[test]
    fn what_the_probes_allow_comes_on_top_of_the_five_minutes() {
        let with = |startup: Option<ContainerProbe>, readiness: Option<ContainerProbe>| {
            let slow = ContainerProbes {
                container: "app".into(),
                startup,
                readiness,
                liveness: Some(probe(90_000, 90_000)),
            };
            let quick = ContainerProbes {
                container: "proxy".into(),
                startup: Some(probe(0, 3)),
                readiness: None,
                liveness: None,
            };
            let is_lost = |second: i64| {
                let mut pod = pod(Ready, True, 10 + second);
                pod.info.probes = Some(vec![quick.clone(), slow.clone()].into());
                LostStartup::from_snapshot(&pod).is_some()
            };
            (0..90_000).find(|second| is_lost(*second)).map(|first| first - 1)
        };
        assert_eq!(with(Some(probe(0, 180)), None), Some(300 + 1_800));
        assert_eq!(with(Some(probe(20, 180)), Some(probe(60, 3))), Some(300 + 1_820));
        assert_eq!(with(None, Some(probe(600, 9_000))), Some(300 + 600));
        assert_eq!(with(None, None), Some(300 + 30));
        let endless = ContainerProbe { period: u32::MAX, ..probe(u32::MAX, u32::MAX) };
        assert_eq!(with(Some(endless), None), None);
    }

    /// A pod whose container started at second 10, and which was Ready until it failed.
    fn failed(second: i64) -> PodSnapshot {
        let mut pod = pod(Ready, False, second);
        pod.phase = PodPhase::Failed;
        pod.containers[0].state = ContainerState::Failed;
        pod.latest_api_time = Some(at(second));
        pod
    }

    #[test]
    fn a_pod_that_failed_long_after_its_start_is_no_failed_startup() {
        let lost = |pod: &PodSnapshot| LostStartup::from_snapshot(pod);
        assert_eq!(lost(&failed(310)), None);
        assert_eq!(lost(&failed(311)), Some(LostStartup::EndedLater));
        // Only its container says when it ended.
        let mut late = failed(60);
        late.conditions = Default::default();
        assert_eq!(lost(&late), None);
        late.ending = Some(Box::new(Ending {
            at: Some(at(400_000)),
            reason: None,
            message: None,
            containers: Vec::new(),
        }));
        assert_eq!(lost(&late), Some(LostStartup::EndedLater));
        late.phase = PodPhase::Succeeded;
        assert_eq!(lost(&late), None, "it has completed");
    }

    #[test]
    fn a_pod_that_was_never_ready_has_failed_to_start_whenever_it_ended() {
        let evicted = |change: &dyn Fn(&mut PodSnapshot)| {
            let mut pod = failed(400_000);
            change(&mut pod);
            LostStartup::from_snapshot(&pod)
        };
        assert_eq!(evicted(&|_| {}), Some(LostStartup::EndedLater));
        let never_ready = |pod: &mut PodSnapshot| {
            pod.conditions = Default::default();
            let last_transition = Some(at(0));
            let status = False;
            let condition = StatusCondition { status, last_transition };
            pod.conditions.insert(Ready, condition);
        };
        assert_eq!(evicted(&never_ready), None);
        let waiting = |pod: &mut PodSnapshot| {
            pod.containers[0].started = None;
            pod.containers[0].state =
                ContainerState::Waiting(crate::pod::WaitingReason::ImagePullBackOff);
        };
        assert_eq!(evicted(&waiting), None, "it waited for its image all the time");
        // Older kubelets leave no status of a container.
        let bare = |pod: &mut PodSnapshot| {
            pod.containers[0] = ContainerSpec::new("app".into(), ContainerKind::Regular)
        };
        assert_eq!(evicted(&bare), Some(LostStartup::EndedLater));
        let in_init = |pod: &mut PodSnapshot| {
            bare(pod);
            pod.has_init_containers = true;
        };
        assert_eq!(evicted(&in_init), None);
        let never_started = |pod: &mut PodSnapshot| {
            bare(pod);
            pod.started = None;
        };
        assert_eq!(evicted(&never_started), None);
    }

    #[test]
    fn a_pod_that_was_restarted_has_run_since_the_kubelet_accepted_it() {
        let mut restarted = failed(400);
        restarted.containers[0].started = Some(at(390));
        assert_eq!(LostStartup::from_snapshot(&restarted), None);
        restarted.containers[0].has_restarted = true;
        assert_eq!(LostStartup::from_snapshot(&restarted), Some(LostStartup::EndedLater));
    }

    #[test]
    fn without_a_start_of_a_container_the_kubelets_word_counts() {
        let mut flapped = pod(Ready, True, 400_000);
        flapped.containers = Box::default();
        assert_eq!(LostStartup::from_snapshot(&flapped), Some(LostStartup::TrueAgain));
        flapped.has_init_containers = true;
        assert_eq!(LostStartup::from_snapshot(&flapped), None);
    }

    #[test]
    fn a_pod_that_is_not_ready_any_more_is_no_pod_that_starts_up() {
        assert_eq!(is_lost(Ready, False, 5), None);
        assert_eq!(is_lost(Ready, False, 6), Some(LostStartup::ReadyBefore));
        let mut ended = pod(Ready, False, 60);
        ended.phase = PodPhase::Succeeded;
        assert_eq!(LostStartup::from_snapshot(&ended), None);
    }

    #[test]
    fn a_restart_makes_all_starts_doubtful() {
        let mut restarted = pod(Ready, True, 12);
        restarted.containers[0].has_restarted = true;
        assert_eq!(LostStartup::from_snapshot(&restarted), Some(LostStartup::Restarted));
        restarted.phase = PodPhase::Failed;
        assert_eq!(LostStartup::from_snapshot(&restarted), None);
    }

    /// With its network condition the step `start` would be observed, to a run that was not its first.
    #[test]
    fn a_restart_makes_the_starts_of_a_pod_that_has_ended_doubtful_while_it_has_its_network() {
        for (network, lost) in [(True, Some(LostStartup::Restarted)), (False, None)] {
            let mut ended = pod(PodReadyToStartContainers, network, 2);
            ended.phase = PodPhase::Succeeded;
            assert_eq!(LostStartup::from_snapshot(&ended), None);
            ended.containers[0].has_restarted = true;
            assert_eq!(LostStartup::from_snapshot(&ended), lost);
        }
    }
}
