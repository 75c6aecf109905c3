//! What is waited for.

use std::fmt;
use std::str::FromStr;

use podinit_core::label_value::LabelValue;
use podinit_core::label_values;
use podinit_core::pod::{PodInfo, Workload};
use podinit_kube::watch::requests::PodSelectors;
use podinit_oncall::explain::TargetName;

label_values! {
    /// The kinds of objects whose pods are waited for, as Kubernetes spells them.
    pub enum WorkloadKind {
        Deployment => "Deployment",
        StatefulSet => "StatefulSet",
        DaemonSet => "DaemonSet",
        ReplicaSet => "ReplicaSet",
        Job => "Job",
    }
}

impl WorkloadKind {
    /// The path of its API, and its resource as rights name it.
    pub(crate) const fn resource(self) -> (&'static str, &'static str) {
        match self {
            Self::Deployment => ("/apis/apps/v1", "deployments"),
            Self::StatefulSet => ("/apis/apps/v1", "statefulsets"),
            Self::DaemonSet => ("/apis/apps/v1", "daemonsets"),
            Self::ReplicaSet => ("/apis/apps/v1", "replicasets"),
            Self::Job => ("/apis/batch/v1", "jobs"),
        }
    }

    /// What says which revision is the new one: as sentences call it, and the resource. `None` where there is only one, or
    /// where the object says it.
    pub(crate) const fn revisions(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Deployment => Some(("ReplicaSets", "replicasets")),
            Self::DaemonSet => Some(("ControllerRevisions", "controllerrevisions")),
            Self::StatefulSet | Self::ReplicaSet | Self::Job => None,
        }
    }
}

/// What is waited for ([§17.6](crate::specification#s17-6)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitTarget {
    /// The pods that an object controls
    Workload(WorkloadKind, String),
    /// A pod of this name, and those that take its place
    Pod(String),
    /// So many pods with these labels
    Selected { selector: String, pods: usize },
}

impl FromStr for WaitTarget {
    type Err = &'static str;

    /// `KIND/NAME`, with the names of kinds that kubectl knows, and with the group (`deployment.apps`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected KIND/NAME such as deployment/web; the kinds are deployment, statefulset, \
                                daemonset, replicaset, job and pod";
        let (kind, name) = text.split_once('/').ok_or(EXPECTED)?;
        let kind = match kind.split_once('.') {
            Some((kind, "apps" | "v1.apps" | "batch" | "v1.batch")) => kind,
            _ => kind,
        };
        match format!("{kind}/{name}").parse().map_err(|_| EXPECTED)? {
            TargetName::Pod(name) => Ok(Self::Pod(name)),
            TargetName::Workload { kind, name } => {
                Ok(Self::Workload(WorkloadKind::from_text(&kind).ok_or(EXPECTED)?, name))
            }
            TargetName::Any => Err(EXPECTED),
        }
    }
}

impl fmt::Display for WaitTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(kind, name) => write!(f, "{}/{name}", Workload::type_of(kind.as_str())),
            Self::Pod(name) => write!(f, "pod/{name}"),
            Self::Selected { selector, pods } => write!(f, "{pods} pods with {selector}"),
        }
    }
}

impl WaitTarget {
    /// What selects the object; of a selector, the pods.
    pub(crate) fn selectors(&self) -> PodSelectors {
        match self {
            Self::Workload(_, name) | Self::Pod(name) => PodSelectors {
                field: Some(format!("metadata.name={name}")),
                ..PodSelectors::default()
            },
            Self::Selected { selector, .. } => {
                PodSelectors { label: Some(selector.clone()), ..PodSelectors::default() }
            }
        }
    }

    /// Whether the target controls this pod, which its selector matches: directly, or by a ReplicaSet.
    pub(crate) fn controls(&self, pod: &PodInfo) -> bool {
        let Self::Workload(kind, name) = self else {
            return true;
        };
        let Some(owner) = pod.workload.as_deref() else {
            return false;
        };
        // A ReplicaSet may be one of a Deployment or a Rollout, which have the pods under their own names. The hash in its
        // selector leaves only pods of its own.
        let is_made = *kind == WorkloadKind::ReplicaSet && name.starts_with(&*owner.name);
        is_made || owner.is_called(Some(kind.as_str()), name, pod)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn kinds_have_the_names_that_kubectl_knows() {
        for (text, shown) in [
            ("deploy/web", "deployment/web"),
            ("deployments/web", "deployment/web"),
            ("Deployment.apps/web", "deployment/web"),
            ("sts/db", "statefulset/db"),
            ("ds/log", "daemonset/log"),
            ("rs/web-5f6c9", "replicaset/web-5f6c9"),
            ("job.batch/migrate", "job/migrate"),
            ("po/db-0", "pod/db-0"),
        ] {
            assert_eq!(text.parse::<WaitTarget>().unwrap().to_string(), shown, "{text}");
        }
        for text in ["web", "", "/", "deploy/", "cj/backup", "rollout/web", "deploy/a/b"] {
            assert!(text.parse::<WaitTarget>().is_err(), "{text}");
        }
    }
}
