//! What is waited for.

use std::fmt;
use std::str::FromStr;

use podinit_core::pod::{PodInfo, Workload};
use podinit_kube::watch::requests::{PodSelectors, RequestBuilder};
use podinit_oncall::explain::TargetName;

/// The kinds of objects that pods are waited for of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKind {
    Deployment,
    StatefulSet,
    DaemonSet,
    ReplicaSet,
    Job,
}

impl WorkloadKind {
    const ALL: [Self; 5] =
        [Self::Deployment, Self::StatefulSet, Self::DaemonSet, Self::ReplicaSet, Self::Job];

    /// As Kubernetes spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::ReplicaSet => "ReplicaSet",
            Self::Job => "Job",
        }
    }

    /// The resource, as rights name it.
    pub const fn resource(self) -> &'static str {
        match self {
            Self::Deployment => "deployments",
            Self::StatefulSet => "statefulsets",
            Self::DaemonSet => "daemonsets",
            Self::ReplicaSet => "replicasets",
            Self::Job => "jobs",
        }
    }

    /// The path of its API.
    pub const fn group(self) -> &'static str {
        if matches!(self, Self::Job) { "/apis/batch/v1" } else { "/apis/apps/v1" }
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
                let mut kinds = WorkloadKind::ALL.into_iter();
                let kind = kinds.find(|known| known.as_str().eq_ignore_ascii_case(&kind));
                Ok(Self::Workload(kind.ok_or(EXPECTED)?, name))
            }
            TargetName::Any => Err(EXPECTED),
        }
    }
}

impl fmt::Display for WaitTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(kind, name) => {
                write!(f, "{}/{name}", Workload::type_of(kind.as_str()))
            }
            Self::Pod(name) => write!(f, "pod/{name}"),
            Self::Selected { selector, pods } => write!(f, "{pods} pods with {selector}"),
        }
    }
}

impl WaitTarget {
    /// The requests for the object itself; `None` of pods.
    pub(crate) fn requests(&self, namespace: &str) -> Option<(WorkloadKind, RequestBuilder)> {
        let Self::Workload(kind, name) = self else {
            return None;
        };
        let selectors = PodSelectors {
            field: Some(format!("metadata.name={name}")),
            ..PodSelectors::default()
        };
        let (group, resource) = (kind.group(), kind.resource());
        Some((*kind, RequestBuilder::of_objects(group, resource, namespace, selectors)))
    }

    /// What selects its pods, where that is known without the object.
    pub(crate) fn selectors(&self) -> Option<PodSelectors> {
        let (label, field) = match self {
            Self::Workload(..) => return None,
            Self::Pod(name) => (None, Some(format!("metadata.name={name}"))),
            Self::Selected { selector, .. } => (Some(selector.clone()), None),
        };
        Some(PodSelectors { label, field, shard: None })
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
