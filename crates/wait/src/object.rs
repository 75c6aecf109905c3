//! What an object says of its rollout, read as `kubectl rollout status` reads it
//! ([§17.6](crate::specification#s17-6)).

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, Time};
use kube::core::Selector;
use podinit_core::timestamp::Timestamp;
use podinit_text::words::count;

use super::target::WorkloadKind;

/// An object that controls pods.
#[derive(Clone, Debug)]
pub(crate) enum WorkloadObject {
    Deployment(Box<Deployment>),
    StatefulSet(Box<StatefulSet>),
    DaemonSet(Box<DaemonSet>),
    ReplicaSet(Box<ReplicaSet>),
    Job(Box<Job>),
}

/// How far a rollout is, as its controller says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// How many pods are wanted
    pub wanted: usize,
    pub progress: RolloutProgress,
    /// What is to be known besides, as predicates of the object
    pub notes: Vec<String>,
    /// Since when the controller says that it cannot create pods, and why
    pub cannot_create: Option<(Timestamp, String)>,
    /// When the progress deadline passed, as the Deployment says
    pub deadline_passed: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum RolloutProgress {
    /// The controller has not seen the newest spec
    #[default]
    Unobserved,
    /// Under way, and what is missing
    Going(String),
    Done,
    /// It has failed, in the words of the controller
    Failed(String),
}

impl WorkloadObject {
    /// Reads the object of this kind.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn parse(kind: WorkloadKind, json: &str) -> serde_json::Result<Self> {
        Ok(match kind {
            WorkloadKind::Deployment => Self::Deployment(serde_json::from_str(json)?),
            WorkloadKind::StatefulSet => Self::StatefulSet(serde_json::from_str(json)?),
            WorkloadKind::DaemonSet => Self::DaemonSet(serde_json::from_str(json)?),
            WorkloadKind::ReplicaSet => Self::ReplicaSet(serde_json::from_str(json)?),
            WorkloadKind::Job => Self::Job(serde_json::from_str(json)?),
        })
    }

    pub(crate) fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Deployment(object) => &object.metadata,
            Self::StatefulSet(object) => &object.metadata,
            Self::DaemonSet(object) => &object.metadata,
            Self::ReplicaSet(object) => &object.metadata,
            Self::Job(object) => &object.metadata,
        }
    }

    /// What selects its pods, in the syntax of requests; `None` where nothing does yet.
    pub(crate) fn selector(&self) -> Option<String> {
        let selector: Option<LabelSelector> = match self {
            Self::Deployment(object) => Some(object.spec.selector.clone()),
            Self::StatefulSet(object) => Some(object.spec.selector.clone()),
            Self::DaemonSet(object) => Some(object.spec.selector.clone()),
            Self::ReplicaSet(object) => Some(object.spec.selector.clone()),
            Self::Job(object) => object.spec.as_ref().and_then(|spec| spec.selector.clone()),
        };
        Some(Selector::try_from(selector?).ok()?.to_string())
    }

    /// How far its rollout is.
    pub(crate) fn standing(&self) -> Standing {
        match self {
            Self::Deployment(object) => of_deployment(object),
            Self::StatefulSet(object) => of_stateful_set(object),
            Self::DaemonSet(object) => of_daemon_set(object),
            Self::ReplicaSet(object) => of_replica_set(object),
            Self::Job(object) => of_job(object),
        }
    }
}

/// The instant that an object states.
pub(crate) fn instant(time: &Time) -> Timestamp {
    Timestamp::from_nanos(i64::try_from(time.0.as_nanosecond()).unwrap_or_default())
}

/// A count of replicas; none is below zero.
fn number(replicas: i32) -> usize {
    usize::try_from(replicas).unwrap_or_default()
}

/// That only some of `all` pods of the new revision are as they should.
fn only(some: usize, all: usize, are: &str) -> RolloutProgress {
    RolloutProgress::Going(format!(
        "{some} of {} of the new revision {are}",
        count(all, "pod", "pods")
    ))
}

/// What remains of older revisions where nothing replaces it.
fn older(pods: usize, why: &str) -> Option<String> {
    let are = count(pods, "pod is", "pods are");
    (pods > 0).then(|| format!("{are} of an older revision{why}"))
}

/// Whether a condition of a Deployment or a ReplicaSet says that pods cannot be created.
fn is_failure(kind: Option<&str>, status: Option<&str>) -> bool {
    (kind, status) == (Some("ReplicaFailure"), Some("True"))
}

/// What such a condition says, and since when.
fn said(since: Option<&Time>, message: &Option<String>) -> (Timestamp, String) {
    (since.map(instant).unwrap_or_default(), message.clone().unwrap_or_default())
}

fn of_deployment(object: &Deployment) -> Standing {
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(object.spec.replicas.unwrap_or(1));
    let updated = number(status.updated_replicas.unwrap_or(0));
    let all = number(status.replicas.unwrap_or(0));
    let available = number(status.available_replicas.unwrap_or(0));
    let conditions = status.conditions.unwrap_or_default();
    let mut conditions = conditions.iter();
    let late = conditions.clone().find(|one| {
        let reason = one.reason.as_deref();
        one.type_.as_deref() == Some("Progressing") && reason == Some("ProgressDeadlineExceeded")
    });
    let failure = conditions.find(|one| is_failure(one.type_.as_deref(), one.status.as_deref()));
    let is_observed = object.metadata.generation <= status.observed_generation;
    let progress = if !is_observed {
        RolloutProgress::Unobserved
    } else if let Some(late) = late {
        RolloutProgress::Failed(late.message.clone().unwrap_or_default())
    } else if updated < wanted {
        only(updated, wanted, "are there")
    } else if all > updated {
        let left = count(all - updated, "pod", "pods");
        RolloutProgress::Going(format!("{left} of an older revision are left"))
    } else if available < updated {
        only(available, updated, "are available")
    } else {
        RolloutProgress::Done
    };
    let is_paused = object.spec.paused == Some(true);
    Standing {
        wanted,
        progress,
        notes: is_paused
            .then(|| "is paused, and goes on with `kubectl rollout resume`".into())
            .into_iter()
            .collect(),
        cannot_create: failure.map(|one| said(one.last_transition_time.as_ref(), &one.message)),
        deadline_passed: late
            .map(|late| late.last_update_time.as_ref().map_or(Timestamp::EPOCH, instant)),
    }
}

fn of_stateful_set(object: &StatefulSet) -> Standing {
    let spec = object.spec.clone();
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(spec.replicas.unwrap_or(1));
    let ready = number(status.ready_replicas.unwrap_or(0));
    let updated = number(status.updated_replicas.unwrap_or(0));
    let strategy = spec.update_strategy.unwrap_or_default();
    let is_on_delete = strategy.type_.as_deref() == Some("OnDelete");
    let partition = strategy.rolling_update.map(|rolling| number(rolling.partition.unwrap_or(0)));
    let behind = wanted.saturating_sub(partition.unwrap_or(0));
    let observed = status.observed_generation.unwrap_or(0);
    let progress = if observed == 0 || object.metadata.generation > Some(observed) {
        RolloutProgress::Unobserved
    } else if ready < wanted {
        RolloutProgress::Going(format!("{ready} of {} are ready", count(wanted, "pod", "pods")))
    } else if is_on_delete {
        RolloutProgress::Done
    } else if partition.is_some() && updated < behind {
        only(updated, behind, "are there")
    } else if partition.is_none() && status.update_revision != status.current_revision {
        only(updated, wanted, "are there")
    } else {
        RolloutProgress::Done
    };
    let left = wanted.saturating_sub(updated);
    let note = match partition {
        _ if is_on_delete => older(left, ", until somebody deletes them (OnDelete)"),
        Some(partition) if partition > 0 => older(left, &format!(" (partition {partition})")),
        _ => None,
    };
    let notes = note.into_iter().filter(|_| progress == RolloutProgress::Done).collect();
    Standing { wanted, progress, notes, ..Standing::default() }
}

fn of_daemon_set(object: &DaemonSet) -> Standing {
    let spec = object.spec.clone();
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(status.desired_number_scheduled);
    let updated = number(status.updated_number_scheduled.unwrap_or(0));
    let available = number(status.number_available.unwrap_or(0));
    let strategy = spec.update_strategy.unwrap_or_default();
    let is_on_delete = strategy.type_.as_deref() == Some("OnDelete");
    let progress = if object.metadata.generation > Some(status.observed_generation.unwrap_or(0)) {
        RolloutProgress::Unobserved
    } else if updated < wanted && !is_on_delete {
        only(updated, wanted, "are there")
    } else if available < wanted {
        only(available, wanted, "are available")
    } else {
        RolloutProgress::Done
    };
    let left = wanted.saturating_sub(updated);
    let note = older(left, ", until somebody deletes them (OnDelete)").filter(|_| is_on_delete);
    let notes = note.into_iter().filter(|_| progress == RolloutProgress::Done).collect();
    Standing { wanted, progress, notes, ..Standing::default() }
}

fn of_replica_set(object: &ReplicaSet) -> Standing {
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(object.spec.replicas.unwrap_or(1));
    let available = number(status.available_replicas.unwrap_or(0));
    let conditions = status.conditions.unwrap_or_default();
    let mut conditions = conditions.iter();
    let failure = conditions.find(|one| is_failure(one.type_.as_deref(), one.status.as_deref()));
    let progress = if object.metadata.generation > Some(status.observed_generation.unwrap_or(0)) {
        RolloutProgress::Unobserved
    } else if available < wanted {
        let all = count(wanted, "pod", "pods");
        RolloutProgress::Going(format!("{available} of {all} are available"))
    } else if number(status.replicas) > wanted {
        let all = count(number(status.replicas), "pod is", "pods are");
        RolloutProgress::Going(format!("{all} there, and {wanted} wanted"))
    } else {
        RolloutProgress::Done
    };
    let cannot_create = failure.map(|one| said(one.last_transition_time.as_ref(), &one.message));
    Standing { wanted, progress, cannot_create, ..Standing::default() }
}

fn of_job(object: &Job) -> Standing {
    let (spec, status) = (object.spec.as_ref(), object.status.clone().unwrap_or_default());
    let parallelism = spec.and_then(|spec| spec.parallelism);
    let wanted = spec.and_then(|spec| spec.completions).or(parallelism).unwrap_or(1);
    let conditions = status.conditions.unwrap_or_default();
    let holding =
        |kind: &str| conditions.iter().find(|one| one.type_ == kind && one.status == "True");
    let progress = if holding("Complete").is_some() {
        RolloutProgress::Done
    } else if let Some(failed) = holding("Failed") {
        RolloutProgress::Failed(failed.message.clone().unwrap_or_default())
    } else {
        let succeeded = status.succeeded.unwrap_or(0);
        let all = count(number(wanted), "pod", "pods");
        RolloutProgress::Going(format!("{succeeded} of {all} have succeeded"))
    };
    let is_suspended = spec.and_then(|spec| spec.suspend) == Some(true);
    let note = is_suspended.then(|| "is suspended, and waits for `spec.suspend: false`".to_owned());
    Standing {
        wanted: number(wanted),
        progress,
        notes: note.into_iter().collect(),
        ..Standing::default()
    }
}
