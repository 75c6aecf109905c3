//! What is to be explained: a pod, or one of the pods of a workload.

use std::fmt;
use std::str::FromStr;

use podinit_core::pod::PodInfo;

/// What is to be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainTarget {
    /// `None` means any
    pub namespace: Option<String>,
    pub name: TargetName,
}

/// A pod or a workload by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetName {
    /// `NAME` or `pod/NAME`
    Pod(String),
    /// `KIND/NAME`, the kind as Kubernetes spells it
    Workload { kind: String, name: String },
    /// Every pod
    Any,
}

/// Why there is no startup to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStartup {
    /// The source has no such pod
    Unknown,
    /// It is a static pod, which is not measured ([§1.14](crate::specification#s1-14))
    Static,
    /// Its startup was over when it was first seen, long after it was created
    Preexisting,
}

impl NoStartup {
    /// The reason as a sentence about `target`; `unknown` gives it for [`NoStartup::Unknown`].
    pub fn sentence(self, target: &ExplainTarget, unknown: impl FnOnce() -> String) -> String {
        match self {
            Self::Unknown => unknown(),
            Self::Static => format!(
                "{target} is a static pod, not measured: a kubelet runs it without the API server, which \
                 knows its times only by a mirror pod"
            ),
            Self::Preexisting => format!(
                "{target} was first seen long after it was created, and its startup was over: nothing is \
                 known of it"
            ),
        }
    }
}

/// The short and plural names of kinds that kubectl knows.
const KINDS: [(&str, &[&str]); 7] = [
    ("Pod", &["po", "pods"]),
    ("Deployment", &["deploy", "deployments"]),
    ("StatefulSet", &["sts", "statefulsets"]),
    ("DaemonSet", &["ds", "daemonsets"]),
    ("ReplicaSet", &["rs", "replicasets"]),
    ("Job", &["jobs"]),
    ("CronJob", &["cj", "cronjobs"]),
];

impl FromStr for TargetName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, name) = match text.split_once('/') {
            Some((kind, name)) => (kind, name),
            None => ("Pod", text),
        };
        if kind.is_empty() || name.is_empty() || name.contains('/') {
            return Err("expected the name of a pod, or a kind and a name such as deployment/web");
        }
        let known = KINDS.iter().find(|(known, others)| {
            known.eq_ignore_ascii_case(kind)
                || others.iter().any(|other| other.eq_ignore_ascii_case(kind))
        });
        let kind = known.map_or(kind, |(known, _)| known);
        let name = name.to_owned();
        Ok(match kind {
            "Pod" => Self::Pod(name),
            kind => Self::Workload { kind: kind.to_owned(), name },
        })
    }
}

impl ExplainTarget {
    /// Whether the target is this pod, or a workload that owns it.
    pub fn fits(&self, pod: &PodInfo) -> bool {
        let in_namespace = (self.namespace.as_deref()).is_none_or(|name| *pod.namespace == *name);
        in_namespace
            && match &self.name {
                TargetName::Any => true,
                TargetName::Pod(name) => *pod.name == **name,
                TargetName::Workload { kind, name } => {
                    let owner = pod.workload.as_deref();
                    owner.is_some_and(|owner| owner.is_called(Some(kind), name, pod))
                }
            }
    }

    /// Whether the target is a workload, so that several pods may fit.
    pub(crate) const fn is_workload(&self) -> bool {
        matches!(self.name, TargetName::Workload { .. })
    }
}

impl fmt::Display for ExplainTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            TargetName::Any => f.write_str("any pod")?,
            TargetName::Pod(name) => write!(f, "pod {name}")?,
            TargetName::Workload { kind, name } => write!(f, "{kind} {name}")?,
        }
        match &self.namespace {
            Some(namespace) => write!(f, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_are_read_as_kubectl_reads_them() {
        let workload =
            |kind: &str| TargetName::Workload { kind: kind.to_owned(), name: "web".to_owned() };
        let cases = [
            ("web", TargetName::Pod("web".to_owned())),
            ("po/web", TargetName::Pod("web".to_owned())),
            ("deploy/web", workload("Deployment")),
            ("Deployment/web", workload("Deployment")),
            ("sts/web", workload("StatefulSet")),
            ("Rollout/web", workload("Rollout")),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<TargetName>().unwrap(), expected, "{text}");
        }
        for text in ["", "/", "pod/", "/web", "a/b/c"] {
            assert!(text.parse::<TargetName>().is_err(), "{text}");
        }
    }
}
