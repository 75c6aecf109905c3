//! For how many pods the time of the network is exact, bounded or late
//! ([§9.2](crate::specification#s9-2)): kubelets up to 1.35 set the condition late, and the starts of
//! containers show by how much at least.

use super::kubelets::PromptNodes;
use super::report::{Check, Finding};
use podinit_core::lifecycle::{Milestone, NetworkTime};
use podinit_core::pod::PodSnapshot;
use podinit_text::words::count;

/// Pods that have their network, by what they say about the time since when. A pod that was restarted
/// twice has forgotten its first start and may count as exact.
#[derive(Debug)]
pub(super) struct NetworkTimes {
    /// The nodes whose condition is never late
    prompt: PromptNodes,
    exact: u64,
    bounded: u64,
    late: u64,
}

impl NetworkTimes {
    pub(super) const fn new(prompt: PromptNodes) -> Self {
        Self { prompt, exact: 0, bounded: 0, late: 0 }
    }

    /// Counts a pod whose network condition is True.
    pub(super) fn add(&mut self, pod: &PodSnapshot) {
        let condition = Milestone::NetworkReady.condition(&pod.conditions);
        let Some(condition) = condition.filter(|condition| condition.is_true()) else {
            return;
        };
        let is_prompt = pod.info.node.as_ref().is_some_and(|node| self.prompt.contains(&**node));
        match NetworkTime::from_condition(condition.last_transition, &pod.containers) {
            None => {}
            Some(NetworkTime::Exact) => self.exact += 1,
            Some(NetworkTime::Bounded) => self.bounded += 1,
            Some(NetworkTime::Late) if is_prompt => self.exact += 1,
            Some(NetworkTime::Late) => self.late += 1,
        }
    }

    /// What was counted; nothing where no pod has its network. `events` says whether Events are a source
    /// of evidence.
    pub(super) fn finding(&self, events: bool) -> Option<Finding> {
        const CHECK: Check = Check::NetworkCondition;
        let Self { exact, bounded, late, .. } = *self;
        let inexact = bounded + late;
        let pods = match exact + inexact {
            0 => return None,
            pods => count(pods, "pod", "pods"),
        };
        let finding = match inexact {
            0 => Finding::ok(CHECK, format!("the network time of {pods} is exact")),
            _ => {
                let found = format!(
                    "of the network times of {pods} {exact} are exact, {bounded} bounded by the start \
                     of a container, and {late} late by an unknown time"
                );
                Finding::note(CHECK, found)
            }
        };
        let finding =
            finding.detail("exact", exact).detail("bounded", bounded).detail("late", late);
        Some(match inexact > 0 && !events {
            true => finding.fix(
                "set --evidence events, which reads from Events since when the network was ready: \
                 image pulls can be in a time that is bounded or late",
            ),
            false => finding,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::report::Severity;
    use podinit_core::pod::{
        ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState, PodUid,
        StatusCondition,
    };
    use podinit_core::timestamp::Timestamp;

    const AT: i64 = 1_767_225_600;

    /// A pod with a container for each of these starts, relative to the condition's.
    fn pod(condition: ConditionStatus, starts: &[i64]) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "p");
        let condition = StatusCondition {
            status: condition,
            last_transition: Some(Timestamp::from_seconds(AT)),
        };
        pod.conditions.insert(ConditionType::PodReadyToStartContainers, condition);
        let containers = starts.iter().map(|seconds| ContainerSpec {
            state: ContainerState::Running,
            started: Some(Timestamp::from_seconds(AT + seconds)),
            ..ContainerSpec::new("c".into(), ContainerKind::Regular)
        });
        pod.containers = containers.collect();
        pod
    }

    fn running(starts: &[i64]) -> PodSnapshot {
        pod(ConditionStatus::True, starts)
    }

    fn finding(pods: &[PodSnapshot], events: bool) -> Option<Finding> {
        let mut times = NetworkTimes::new(["prompt".to_owned()].into());
        pods.iter().for_each(|pod| times.add(pod));
        times.finding(events)
    }

    #[test]
    fn the_first_start_says_how_late_the_condition_can_be() {
        let pods =
            [running(&[]), running(&[5, 2]), running(&[9, -3]), running(&[-1]), running(&[0, 7])];
        let found = finding(&pods, false).unwrap();
        assert_eq!(
            found.found,
            "of the network times of 5 pods 2 are exact, 2 bounded by the start of a container, and 1 \
             late by an unknown time"
        );
        assert_eq!(found.severity, Severity::Note);
        assert!(found.fix.unwrap().contains("--evidence events"));
        assert_eq!(finding(&pods, true).unwrap().fix, None);
    }

    #[test]
    fn kubelets_since_1_36_are_not_late() {
        let mut pod = running(&[0]);
        assert_eq!(finding(&[pod.clone()], false).unwrap().details["late"], 1);
        pod.info.node = Some("prompt".into());
        let found = finding(&[pod], false).unwrap();
        assert_eq!(found.found, "the network time of 1 pod is exact");
        assert_eq!((found.severity, found.fix), (Severity::Ok, None));
    }

    #[test]
    fn pods_without_their_network_are_not_counted() {
        assert_eq!(finding(&[pod(ConditionStatus::False, &[1])], false), None);
    }
}
