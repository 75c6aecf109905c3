//! Since when a pod's network was ready ([§9.2](crate::specification#s9-2)).
//!
//! Kubelets up to 1.35 set the condition late, often only when the first container has started. So the
//! earliest of the condition and the starts of containers counts.

use std::cmp::Ordering;

use super::estimate::TimestampMode;
use crate::label_values;
use crate::pod::{ContainerKind, ContainerSpec};
use crate::timestamp::Timestamp;

label_values! {
    /// What gave the time of NetworkReady. On a tie the first of these did.
    #[derive(Default)]
    pub enum NetworkEvidence {
        /// The condition
        #[default]
        Condition => "condition",
        /// The start of a container
        Container => "container",
        /// An Event of the kubelet
        Event => "event",
    }
}

label_values! {
    /// How far the time of NetworkReady can be from the truth. On kubelets up to 1.35 image pulls delay
    /// the condition; what a container's start shows is by how much at least.
    pub enum NetworkTime {
        /// The condition came before the first container started, or an Event of the kubelet gave the
        /// time: nothing had delayed it
        Exact => "exact",
        /// A container had started before the second of the condition, so that the network was ready
        /// by then at the latest
        Bounded => "bounded",
        /// The first container started in the second of the condition: nothing but a condition that
        /// may be late says when the network was ready
        Late => "late",
    }
}

impl NetworkTime {
    /// The class of the time that a snapshot gives whose condition is True since `condition`, as it is
    /// stated; `None` if neither that nor a container's start has a time.
    pub fn from_condition(
        condition: Option<Timestamp>,
        containers: &[ContainerSpec],
    ) -> Option<Self> {
        let starts = containers.iter().filter_map(|container| container.started);
        let started = starts.min().map(Timestamp::truncate_to_second);
        match (condition.map(Timestamp::truncate_to_second), started) {
            (None, None) => None,
            (Some(_), None) => Some(Self::Exact),
            (None, Some(_)) => Some(Self::Bounded),
            (Some(condition), Some(started)) => Some(match started.cmp(&condition) {
                Ordering::Greater => Self::Exact,
                Ordering::Less => Self::Bounded,
                Ordering::Equal => Self::Late,
            }),
        }
    }

    /// Whether the time from Scheduled to NetworkReady may include image pulls.
    pub const fn may_include_pulls(self) -> bool {
        matches!(self, Self::Bounded | Self::Late)
    }
}

/// The time of NetworkReady in a snapshot that latches it, and what gave it: `condition` is the time
/// of the condition, where that is usable.
pub(super) fn earliest(
    condition: Option<Timestamp>,
    containers: &[ContainerSpec],
    mode: TimestampMode,
) -> (Option<Timestamp>, NetworkEvidence) {
    let starts = containers.iter().filter_map(|container| container.started);
    let started = starts.min().map(|start| mode.estimate_start(start));
    match (condition, started) {
        (Some(condition), Some(started)) if started < condition => {
            (Some(started), NetworkEvidence::Container)
        }
        (None, Some(started)) => (Some(started), NetworkEvidence::Container),
        (condition, _) => (condition, NetworkEvidence::Condition),
    }
}

/// The time of ContainersStarted ([§9.1](crate::specification#s9-1)): the latest start of the regular
/// containers; `None` unless there are any and each has started.
pub(super) fn all_started(containers: &[ContainerSpec]) -> Option<Timestamp> {
    let mut regular =
        containers.iter().filter(|container| container.kind == ContainerKind::Regular);
    let first = regular.next()?.started?;
    regular.try_fold(first, |latest, container| Some(latest.max(container.started?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_000 + second)
    }

    fn container(kind: ContainerKind, started: Option<i64>) -> ContainerSpec {
        ContainerSpec { started: started.map(at), ..ContainerSpec::new("c".into(), kind) }
    }

    #[test]
    fn the_earliest_counts_and_on_a_tie_the_condition() {
        let containers = [
            container(ContainerKind::Init, Some(5)),
            container(ContainerKind::Regular, Some(7)),
            container(ContainerKind::Regular, None),
        ];
        let earliest =
            |condition: Option<i64>| earliest(condition.map(at), &containers, TimestampMode::Api);
        use NetworkEvidence::{Condition, Container};
        assert_eq!(earliest(Some(4)), (Some(at(4)), Condition));
        assert_eq!(earliest(Some(5)), (Some(at(5)), Condition));
        assert_eq!(earliest(Some(6)), (Some(at(5)), Container));
        assert_eq!(earliest(None), (Some(at(5)), Container));
        let none = super::earliest(None, &containers[2..], TimestampMode::Api);
        assert_eq!(none, (None, Condition));
        let half = at(5).plus_nanos(500_000_000);
        let fused = super::earliest(Some(at(6)), &containers, TimestampMode::Fused);
        assert_eq!(fused, (Some(half), Container));
    }

    #[test]
    fn the_first_start_shows_how_late_the_condition_may_be() {
        let of = |condition: Option<i64>, starts: &[i64]| {
            let starts = starts.iter();
            let containers: Vec<ContainerSpec> =
                starts.map(|start| container(ContainerKind::Regular, Some(*start))).collect();
            NetworkTime::from_condition(condition.map(at), &containers)
        };
        assert_eq!(of(Some(4), &[]), Some(NetworkTime::Exact));
        assert_eq!(of(Some(4), &[7, 5]), Some(NetworkTime::Exact));
        assert_eq!(of(Some(5), &[7, 5]), Some(NetworkTime::Late));
        assert_eq!(of(Some(6), &[7, 5]), Some(NetworkTime::Bounded));
        assert_eq!(of(None, &[5]), Some(NetworkTime::Bounded));
        assert_eq!(of(None, &[]), None);
    }

    #[test]
    fn containers_have_started_when_each_regular_one_has() {
        let regular = |started| container(ContainerKind::Regular, started);
        let init = container(ContainerKind::Init, None);
        assert_eq!(all_started(&[]), None);
        assert_eq!(all_started(&[container(ContainerKind::Init, Some(1))]), None);
        assert_eq!(all_started(&[regular(Some(1)), regular(None)]), None);
        let all = [init, regular(Some(3)), regular(Some(9)), regular(Some(4))];
        assert_eq!(all_started(&all), Some(at(9)));
    }
}
