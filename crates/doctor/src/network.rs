//! Whether the cluster reports the network condition, and under which of its names
//! ([§1.1](crate::specification#s1-1)).

use super::names::FirstNames;
use super::report::{Check, Finding};
use podinit_core::pod::{ConditionType, PodPhase, PodSnapshot};
use podinit_text::words::count;

/// How many pods have the condition, by name.
#[derive(Debug, Default)]
pub(super) struct NetworkConditions {
    current: u64,
    former: u64,
    absent: u64,
    /// Nodes of pods without it
    nodes: FirstNames,
}

impl NetworkConditions {
    /// Counts a pod whose status a kubelet has written and which has not ended
    /// ([§6.4](crate::specification#s6-4)).
    pub(super) fn add(&mut self, pod: &PodSnapshot) {
        let has = |kind| pod.conditions.get(kind).is_some();
        let by_kubelet = ConditionType::ALL
            .into_iter()
            .filter(|kind| *kind != ConditionType::PodScheduled)
            .any(has);
        if !by_kubelet || pod.started.is_none() || pod.phase != PodPhase::Active {
            return;
        }
        if has(ConditionType::PodReadyToStartContainers) {
            self.current += 1;
        } else if has(ConditionType::PodHasNetwork) {
            self.former += 1;
        } else {
            self.absent += 1;
            if let Some(node) = &pod.info.node {
                self.nodes.add(node);
            }
        }
    }

    pub(super) fn finding(&self) -> Finding {
        const CHECK: Check = Check::NetworkCondition;
        let seen = self.current + self.former + self.absent;
        let current = ConditionType::PodReadyToStartContainers.as_str();
        let former = ConditionType::PodHasNetwork.as_str();
        let pods = |number| count(number, "pod", "pods");
        let finding = if seen == 0 {
            Finding::skipped(CHECK, "no kubelet has reported on any of these pods yet")
        } else if self.absent == seen {
            let found = format!("none of {} has {current} or {former}", pods(seen));
            Finding::error(CHECK, found).fix(
                "upgrade the kubelets to 1.29 or later, or enable their feature gate \
                 PodReadyToStartContainersCondition (1.28) or PodHasNetworkCondition (1.25 to \
                 1.27); without it the stages network, init and containers are not observed",
            )
        } else if self.absent > 0 {
            let on = match self.nodes.is_empty() {
                true => String::new(),
                false => format!(" (on {})", self.nodes),
            };
            let found = format!(
                "{} of {} have neither {current} nor {former}{on}",
                self.absent,
                pods(seen)
            );
            Finding::warning(CHECK, found).fix(
                "upgrade those kubelets to 1.29 or later; virtual nodes may never report it; \
                 leave their pods out with --field-selector spec.nodeName!=NAME",
            )
        } else if self.former == 0 {
            Finding::ok(CHECK, format!("{current}, on {}", pods(seen)))
        } else if self.current == 0 {
            let found = format!("{former} (its name up to 1.27), on {}", pods(seen));
            Finding::ok(CHECK, found)
        } else {
            let found = format!(
                "{current} on {}, {former} (its name up to 1.27) on {}",
                pods(self.current),
                self.former
            );
            Finding::ok(CHECK, found)
        };
        finding
            .detail(current, self.current)
            .detail(former, self.former)
            .detail("neither", self.absent)
            .detail("nodes_with_neither", self.nodes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Severity;
    use podinit_core::pod::{PodUid, StatusCondition};
    use podinit_core::timestamp::Timestamp;

    const CURRENT: ConditionType = ConditionType::PodReadyToStartContainers;
    const FORMER: ConditionType = ConditionType::PodHasNetwork;

    fn pod(conditions: &[ConditionType]) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "p");
        pod.started = Some(Timestamp::from_seconds(1_767_225_600));
        pod.info.node = Some("node-1".into());
        for kind in conditions {
            pod.conditions.insert(*kind, StatusCondition::default());
        }
        pod
    }

    fn found(pods: &[PodSnapshot]) -> (Severity, String) {
        let mut network = NetworkConditions::default();
        pods.iter().for_each(|pod| network.add(pod));
        let finding = network.finding();
        (finding.severity, finding.found)
    }

    #[test]
    fn either_name_will_do() {
        let (new, old) = (pod(&[CURRENT]), pod(&[FORMER]));
        let (severity, text) = found(std::slice::from_ref(&new));
        assert_eq!(severity, Severity::Ok);
        assert_eq!(text, "PodReadyToStartContainers, on 1 pod");
        let (severity, text) = found(std::slice::from_ref(&old));
        assert_eq!(severity, Severity::Ok);
        assert!(text.starts_with("PodHasNetwork"), "{text}");
        assert_eq!(found(&[new, old]).0, Severity::Ok);
    }

    #[test]
    fn pods_without_it_are_reported_with_their_nodes() {
        let without = pod(&[ConditionType::Ready]);
        assert_eq!(found(std::slice::from_ref(&without)).0, Severity::Error);
        let (severity, text) = found(&[pod(&[CURRENT]), without]);
        assert_eq!(severity, Severity::Warning);
        assert!(text.contains("1 of 2 pods") && text.contains("node-1"), "{text}");
    }

    #[test]
    fn pods_that_cannot_show_it_say_nothing() {
        let mut unstarted = pod(&[ConditionType::Ready]);
        unstarted.started = None;
        let mut over = pod(&[ConditionType::Ready]);
        over.phase = PodPhase::Succeeded;
        let bound = pod(&[ConditionType::PodScheduled]);
        assert_eq!(found(&[unstarted, over, bound]).0, Severity::Skipped);
    }
}
