//! An SLO as `--slo FILE` states it ([§6](crate::specification#s6)), and which pods it is about.

use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::named::OwnInterval;
use crate::oracle::reading::snapshot::Snapshot;
use crate::oracle::reading::vocabulary::Interval;

/// "An SLO names a stage or end-to-end duration, a threshold and an objective."
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slo {
    pub(crate) name: String,
    pub(crate) interval: SloInterval,
    pub(crate) threshold_millis: u64,
    /// Percent
    pub(crate) objective: f64,
    pub(crate) window: &'static str,
    pub(crate) namespaces: Namespaces,
    /// The kinds of the workloads whose pods it is about; all where there are none
    pub(crate) owner_kinds: Vec<&'static str>,
    /// `capacity: existing`
    pub(crate) existing_capacity: bool,
    /// `images: present`
    pub(crate) present_images: bool,
}

/// "optional; or include, not both"
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Namespaces {
    All,
    Include(Vec<&'static str>),
    Exclude(Vec<&'static str>),
}

/// "a stage, scheduled_to_ready or created_to_ready", or a step
/// ([§9.1](crate::specification#s9-1)). `scheduling` and `unschedulable` are the same
/// interval, of different pods ([§3](crate::specification#s3)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SloInterval {
    Scheduling,
    Unschedulable,
    Other(Interval),
    /// Of a milestone of your own ([§16.7](crate::specification#s16-7))
    Own(OwnInterval),
}

impl SloInterval {
    pub(crate) const ALL: [Self; 13] = [
        Self::Other(Interval::Gated),
        Self::Scheduling,
        Self::Unschedulable,
        Self::Other(Interval::Network),
        Self::Other(Interval::Init),
        Self::Other(Interval::Containers),
        Self::Other(Interval::Readiness),
        Self::Other(Interval::ScheduledToReady),
        Self::Other(Interval::CreatedToReady),
        Self::Other(Interval::Acknowledge),
        Self::Other(Interval::Sandbox),
        Self::Other(Interval::Start),
        Self::Other(Interval::Probe),
    ];

    /// As the file spells it.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Self::Scheduling => "scheduling",
            Self::Unschedulable => "unschedulable",
            Self::Other(Interval::Gated) => "gated",
            Self::Other(Interval::UntilScheduled) => unreachable!("it has two names"),
            Self::Other(Interval::Network) => "network",
            Self::Other(Interval::Init) => "init",
            Self::Other(Interval::Containers) => "containers",
            Self::Other(Interval::Readiness) => "readiness",
            Self::Other(Interval::ScheduledToReady) => "scheduled_to_ready",
            Self::Other(Interval::CreatedToReady) => "created_to_ready",
            Self::Other(step) => step.step().unwrap_or_default(),
            Self::Own(interval) => return interval.name(),
        };
        name.to_owned()
    }

    /// One that is no duration of a milestone of your own.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Slo {
    pub(crate) fn threshold(&self) -> Nanos {
        Nanos::from(self.threshold_millis) * SECOND / 1_000
    }

    /// Whether the SLO is about the pod, as it was when it was discovered.
    pub(crate) fn matches(&self, pod: &Snapshot) -> bool {
        let namespace = pod.namespace.as_str();
        let of_namespace = match &self.namespaces {
            Namespaces::All => true,
            Namespaces::Include(included) => included.contains(&namespace),
            Namespaces::Exclude(excluded) => !excluded.contains(&namespace),
        };
        let of_owner =
            self.owner_kinds.is_empty() || self.owner_kinds.contains(&pod.controller_kind.as_str());
        of_namespace && of_owner
    }

    /// The SLOs as a file states them.
    pub(crate) fn file(slos: &[Self]) -> String {
        let section = |slo: &Self| {
            let mut lines = format!(
                "  - name: {}\n    interval: {}\n    threshold: {}ms\n    objective: {}\n    window: {}\n",
                slo.name,
                slo.interval.name(),
                slo.threshold_millis,
                slo.objective,
                slo.window
            );
            match &slo.namespaces {
                Namespaces::All => {}
                Namespaces::Include(names) => {
                    lines += &format!("    namespaces: {{include: [{}]}}\n", names.join(", "));
                }
                Namespaces::Exclude(names) => {
                    lines += &format!("    namespaces: {{exclude: [{}]}}\n", names.join(", "));
                }
            }
            if !slo.owner_kinds.is_empty() {
                lines += &format!("    owner_kinds: [{}]\n", slo.owner_kinds.join(", "));
            }
            if slo.existing_capacity {
                lines += "    capacity: existing\n";
            }
            if slo.present_images {
                lines += "    images: present\n";
            }
            lines
        };
        let sections: String = slos.iter().map(section).collect();
        format!("slos:\n{sections}")
    }
}
