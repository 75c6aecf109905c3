//! What owns a pod, by the name that lasts ([§13.3](crate::specification#s13-3)): controllers make objects of
//! their own for each version and each run, whose names are new every time.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PodInfo;

/// The controller that owns a pod, from its owner reference with `controller: true`, by the name that lasts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "workload")]
pub struct Workload {
    /// The owner's kind; that of what made it, such as `Deployment` for its ReplicaSet.
    pub kind: Box<str>,
    /// The owner's name; that of what made it.
    pub name: Box<str>,
}

/// `KIND/NAME`.
impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

impl Workload {
    /// `NAMESPACE/KIND/NAME`.
    pub fn in_namespace(&self, namespace: &str) -> String {
        format!("{namespace}/{self}")
    }

    /// A kind in small letters, as the Kubernetes mixin has it in its label `workload_type`.
    pub fn type_of(kind: &str) -> String {
        kind.to_ascii_lowercase()
    }

    /// Whether the controller is of a kind: its workload's, or that of the object that was made for one run or
    /// version of a CronJob, CronWorkflow or Rollout.
    pub fn is_of_kind(&self, kind: &str) -> bool {
        Self::of_kind_is(&self.kind, kind)
    }

    /// Whether a workload of the kind `lasting` is of `kind`.
    pub(crate) fn of_kind_is(lasting: &str, kind: &str) -> bool {
        let made = match lasting {
            "CronJob" => Some("Job"),
            "CronWorkflow" => Some("Workflow"),
            "Rollout" => Some("ReplicaSet"),
            _ => None,
        };
        lasting == kind || made == Some(kind)
    }

    /// Whether this is the workload of `pod` under a name that people know: its own, or that of the object that
    /// it made and that the pod's name begins with, such as a Job of a CronJob. The kind may be in any case.
    pub fn is_called(&self, kind: Option<&str>, name: &str, pod: &PodInfo) -> bool {
        if *self.name == *name {
            return kind.is_none_or(|kind| self.kind.eq_ignore_ascii_case(kind));
        }
        let is_made = |kind: &str| {
            let lasting = LastingName::new(kind, name, &[]);
            self.is_of_kind(kind) && lasting.kind == &*self.kind && lasting.name == *self.name
        };
        let of_pod = pod.name.strip_prefix(name);
        of_pod.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            && match kind {
                Some(kind) => {
                    let made = ["Job", "Workflow"].into_iter();
                    let known = made.chain([&*self.kind]);
                    let mut known = known.filter(|known| known.eq_ignore_ascii_case(kind));
                    known.any(is_made)
                }
                None => ["Job", "Workflow", &*self.kind].into_iter().any(is_made),
            }
    }
}

/// A label by whose value the name of a ReplicaSet ends, and its value.
pub type TemplateHash<'a> = (HashedBy, &'a str);

/// What puts a hash of its template into the names of its ReplicaSets, and into a label of their pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashedBy {
    /// `pod-template-hash`, with any prefix
    Deployment,
    /// `rollouts-pod-template-hash` of Argo Rollouts, with any prefix
    Rollout,
    /// Any other name that ends with `pod-template-hash`
    Other,
}

impl HashedBy {
    /// Which controller sets a label; `None` for any other label.
    pub fn of_label(key: &str) -> Option<Self> {
        const SUFFIX: &str = "pod-template-hash";
        if !key.ends_with(SUFFIX) {
            return None;
        }
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        Some(match name {
            SUFFIX => Self::Deployment,
            "rollouts-pod-template-hash" => Self::Rollout,
            _ => Self::Other,
        })
    }

    /// The kind of the workload; `ReplicaSet` where its own controller is unknown.
    const fn kind(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::Rollout => "Rollout",
            Self::Other => "ReplicaSet",
        }
    }
}

/// The kind and the name of a [`Workload`], before either is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastingName<'a> {
    /// The kind of what lasts
    pub kind: &'a str,
    /// The name of what lasts
    pub name: Cow<'a, str>,
}

impl<'a> LastingName<'a> {
    /// The kind and name that last, of the controller `kind`/`name` of a pod with the labels `hashes`.
    pub fn new(kind: &'a str, name: &'a str, hashes: &[TemplateHash<'_>]) -> Self {
        if kind == "ReplicaSet" {
            let mut made = hashes.iter().filter_map(|(by, hash)| {
                let name = name.strip_suffix(hash)?.strip_suffix('-')?;
                let is_known = !hash.is_empty() && !name.is_empty();
                is_known.then_some((by.kind(), name))
            });
            let (kind, name) = made.next().unwrap_or((kind, name));
            return Self { kind, name: name.into() };
        }
        if let Some((kind, name)) = of_schedule(kind, name) {
            return Self { kind, name: name.into() };
        }
        let name = match NAMED_BY_PEOPLE.contains(&kind) {
            true => name.into(),
            false => without_generated(name),
        };
        Self { kind, name }
    }
}

/// Kinds that live on under the name that somebody gave them.
const NAMED_BY_PEOPLE: [&str; 6] =
    ["DaemonSet", "Deployment", "Node", "ReplicaSet", "ReplicationController", "StatefulSet"];

/// What made an object for a time of its schedule, which its name ends with: a CronJob in minutes, a CronWorkflow of
/// Argo in seconds.
fn of_schedule<'a>(kind: &str, name: &'a str) -> Option<(&'static str, &'a str)> {
    let (maker, digits, first) = match kind {
        "Job" => ("CronJob", 8, FIRST_MINUTE),
        "Workflow" => ("CronWorkflow", 10, FIRST_MINUTE * 60),
        _ => return None,
    };
    let (name, time) = name.rsplit_once('-')?;
    let is_number = time.len() == digits && time.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = is_number && time.parse::<u64>().is_ok_and(|time| time >= first);
    (is_time && !name.is_empty()).then_some((maker, name))
}

/// In minutes since 1970, a time in 2019: earlier than any that Kubernetes writes so, which it does since 1.21. A date
/// in digits, such as 20261120, is a smaller number.
const FIRST_MINUTE: u64 = 26_000_000;

/// What Kubernetes appends to `generateName`: so many of these characters
/// (`k8s.io/apimachinery/pkg/util/rand`).
const GENERATED: usize = 5;
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A name without what was generated: every word behind a hyphen that has the form of it, since names are made of
/// names (`build-x7k2p-test`).
fn without_generated(name: &str) -> Cow<'_, str> {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default();
    if first.is_empty() || !words.clone().any(is_generated) {
        return name.into();
    }
    let kept = words.filter(|word| !is_generated(word));
    kept.fold(first.to_owned(), |name, word| name + "-" + word).into()
}

/// Whether a word has the form of those that Kubernetes generates.
pub fn is_generated(word: &str) -> bool {
    word.len() == GENERATED && word.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// A word of the form that Kubernetes generates, of a hash.
pub fn generated_word(hash: [u8; 32]) -> String {
    let letters = hash.iter().take(GENERATED);
    let letters = letters.map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]));
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lasting(kind: &str, name: &str) -> String {
        let LastingName { kind, name } = LastingName::new(kind, name, &[]);
        format!("{kind}/{name}")
    }

    #[test]
    fn a_hash_of_the_template_shows_what_made_a_replica_set() {
        let made = |label: &str, name: &str| {
            let by = HashedBy::of_label(label);
            let hashes: Vec<TemplateHash<'_>> = by.into_iter().map(|by| (by, "5f6c9")).collect();
            let LastingName { kind, name } = LastingName::new("ReplicaSet", name, &hashes);
            format!("{kind}/{name}")
        };
        for (label, workload) in [
            ("pod-template-hash", "Deployment/web"),
            ("x.io/pod-template-hash", "Deployment/web"),
            ("rollouts-pod-template-hash", "Rollout/web"),
            ("x.io/rollouts-pod-template-hash", "Rollout/web"),
            ("waves-pod-template-hash", "ReplicaSet/web"),
            ("pod-template-hash-of", "ReplicaSet/web-5f6c9"),
            ("controller-revision-hash", "ReplicaSet/web-5f6c9"),
        ] {
            assert_eq!(made(label, "web-5f6c9"), workload, "{label}");
        }
        for kept in ["web-5f6c8", "-5f6c9", "web5f6c9"] {
            assert_eq!(made("pod-template-hash", kept), format!("ReplicaSet/{kept}"));
        }
        // The one by which the name ends counts.
        let hashes = [(HashedBy::Deployment, "7f"), (HashedBy::Rollout, "5f")];
        assert_eq!(LastingName::new("ReplicaSet", "web-5f", &hashes).kind, "Rollout");
        assert_eq!(LastingName::new("ReplicaSet", "web-", &[(HashedBy::Rollout, "")]).name, "web-");
    }

    #[test]
    fn what_runs_on_a_schedule_is_the_schedule() {
        for (kind, name, workload) in [
            ("Job", "sync-29919480", "CronJob/sync"),
            ("Job", "sync-https-29919480", "CronJob/sync-https"),
            ("Workflow", "nightly-1795168800", "CronWorkflow/nightly"),
            // Made by hand, or by a JobSet
            ("Job", "train-1", "Job/train-1"),
            ("Job", "backup-20261120", "Job/backup-20261120"),
            ("Job", "e2e-1795168800", "Job/e2e-1795168800"),
            ("Job", "train-workers-0", "Job/train-workers-0"),
            ("Job", "-29919480", "Job/-29919480"),
            ("Job", "29919480", "Job/29919480"),
            ("Workflow", "nightly-29919480", "Workflow/nightly-29919480"),
            ("TaskRun", "sync-29919480", "TaskRun/sync-29919480"),
        ] {
            assert_eq!(lasting(kind, name), workload);
        }
    }

    #[test]
    fn what_was_generated_is_lost_where_names_are_generated() {
        for (kind, name, workload) in [
            ("Workflow", "hello-xr5lw", "Workflow/hello"),
            ("TaskRun", "build-run-x7k2p-unit-test", "TaskRun/build-run-unit-test"),
            ("Job", "train-x7k2p-workers-0", "Job/train-workers-0"),
            ("Job", "report-29xk2", "Job/report"),
            ("GameServer", "arena-x7k2p-b9vrs", "GameServer/arena"),
            ("EphemeralRunner", "ci-x7k2p-runner-b9vrs", "EphemeralRunner/ci-runner"),
            // No such characters, or not so many
            ("Job", "import-kafka", "Job/import-kafka"),
            ("Job", "import-x7k2", "Job/import-x7k2"),
            ("Job", "import-x7k2pb", "Job/import-x7k2pb"),
            ("Job", "import-X7k2p", "Job/import-X7k2p"),
            ("Workflow", "x7k2p", "Workflow/x7k2p"),
            ("Workflow", "-x7k2p", "Workflow/-x7k2p"),
            // Names that people give
            ("StatefulSet", "app-mssql", "StatefulSet/app-mssql"),
            ("DaemonSet", "agent-https", "DaemonSet/agent-https"),
            ("ReplicaSet", "web-x7k2p", "ReplicaSet/web-x7k2p"),
            ("ReplicationController", "web-24578", "ReplicationController/web-24578"),
            ("Node", "gpu-24578", "Node/gpu-24578"),
        ] {
            assert_eq!(lasting(kind, name), workload);
        }
    }

    #[test]
    fn a_workload_is_also_called_by_what_it_made_for_the_pod() {
        let workload = |kind: &str, name: &str| Workload { kind: kind.into(), name: name.into() };
        let pod = |name: &str| PodInfo { name: name.into(), ..PodInfo::default() };
        let sync = workload("CronJob", "sync");
        let ran = pod("sync-29919480-x7k2p");
        for (kind, name, is_called) in [
            (Some("cronjob"), "sync", true),
            (None, "sync", true),
            (Some("Job"), "sync-29919480", true),
            (Some("job"), "sync-29919480", true),
            (None, "sync-29919480", true),
            (Some("Job"), "sync-29919481", false),
            (Some("Job"), "sync-2991948", false),
            (Some("Job"), "sync", false),
            (Some("Workflow"), "sync-29919480", false),
        ] {
            assert_eq!(sync.is_called(kind, name, &ran), is_called, "{kind:?} {name}");
        }
        let hello = workload("Workflow", "hello");
        assert!(hello.is_called(Some("workflow"), "hello-xr5lw", &pod("hello-xr5lw")));
        assert!(!hello.is_called(Some("Workflow"), "hello-xr5lx", &pod("hello-xr5lw")));
        assert!(sync.is_of_kind("Job") && sync.is_of_kind("CronJob"));
        assert!(!sync.is_of_kind("ReplicaSet") && !hello.is_of_kind(""));
        assert!(workload("Rollout", "web").is_of_kind("ReplicaSet"));
        assert!(!workload("Deployment", "web").is_of_kind("ReplicaSet"));
    }
}
