//! What an object says of its rollout, read as `kubectl rollout status` reads it
//! ([§17.6](crate::specification#s17-6)).

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, Time};
use k8s_openapi::{Metadata, jiff};
use kube::core::Selector;
use podinit_core::timestamp::Timestamp;
use podinit_text::words::count;
use serde::de::DeserializeOwned;

use super::target::WorkloadKind;

/// An object that controls pods, as far as a wait needs it.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadObject {
    pub metadata: ObjectMeta,
    /// What selects its pods, in the syntax of requests; `None` where nothing does yet
    pub selector: Option<String>,
    pub standing: Standing,
}

/// How far a rollout is, as its controller says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// How many pods are wanted
    pub wanted: usize,
    pub progress: RolloutProgress,
    /// What is to be known besides, as a predicate of the object
    pub note: Option<String>,
    /// The new revision, where the status of the object names it
    pub revision: Option<String>,
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
        match kind {
            WorkloadKind::Deployment => {
                Self::read(json, |one: &Deployment| (Some(&one.spec.selector), of_deployment(one)))
            }
            WorkloadKind::StatefulSet => Self::read(json, |one: &StatefulSet| {
                (Some(&one.spec.selector), of_stateful_set(one))
            }),
            WorkloadKind::DaemonSet => {
                Self::read(json, |one: &DaemonSet| (Some(&one.spec.selector), of_daemon_set(one)))
            }
            WorkloadKind::ReplicaSet => {
                Self::read(json, |one: &ReplicaSet| (Some(&one.spec.selector), of_replica_set(one)))
            }
            WorkloadKind::Job => Self::read(json, |one: &Job| {
                (one.spec.as_ref().and_then(|spec| spec.selector.as_ref()), of_job(one))
            }),
        }
    }

    fn read<K: DeserializeOwned + Metadata<Ty = ObjectMeta>>(
        json: &str,
        says: impl Fn(&K) -> (Option<&LabelSelector>, Standing),
    ) -> serde_json::Result<Self> {
        let object: K = serde_json::from_str(json)?;
        let (selector, standing) = says(&object);
        let selector = selector.and_then(|selector| Selector::try_from(selector.clone()).ok());
        let selector = selector.map(|selector| selector.to_string());
        Ok(Self { selector, standing, metadata: object.metadata().clone() })
    }
}

/// The instant that an object states.
pub(crate) fn instant(at: jiff::Timestamp) -> Timestamp {
    Timestamp::from_nanos(i64::try_from(at.as_nanosecond()).unwrap_or_default())
}

/// A count of replicas; none is below zero.
fn number(replicas: impl Into<Option<i32>>) -> usize {
    usize::try_from(replicas.into().unwrap_or(0)).unwrap_or_default()
}

/// Whether the controller has seen the newest spec.
fn is_observed(object: &ObjectMeta, observed: Option<i64>) -> bool {
    object.generation <= observed.or(Some(0))
}

/// How many of the pods are so.
fn some_of(some: usize, all: usize, are: &str) -> String {
    format!("{some} of {} {are}", count(all, "pod", "pods"))
}

/// How many of the pods are so, where not all are.
pub(crate) fn lacks(some: usize, all: usize, are: &str) -> Option<String> {
    (some < all).then(|| some_of(some, all, are))
}

/// How far a rollout is that lacks the first of these.
fn lacking<const N: usize>(is_observed: bool, missing: [Option<String>; N]) -> RolloutProgress {
    match missing.into_iter().flatten().next() {
        _ if !is_observed => RolloutProgress::Unobserved,
        Some(missing) => RolloutProgress::Going(missing),
        None => RolloutProgress::Done,
    }
}

/// What remains of older revisions once it is done, where nothing replaces it.
fn older(progress: &RolloutProgress, pods: usize, why: &str) -> Option<String> {
    let are = count(pods, "pod is", "pods are");
    let remain = *progress == RolloutProgress::Done && pods > 0;
    remain.then(|| format!("{are} of an older revision{why}"))
}

const ON_DELETE: &str = ", until somebody deletes them (OnDelete)";

/// Since when pods cannot be created, and why, where a condition says so.
fn failure(
    (kind, status): (Option<String>, Option<String>),
    since: Option<Time>,
    message: Option<String>,
) -> Option<(Timestamp, String)> {
    let said = (kind.as_deref(), status.as_deref()) == (Some("ReplicaFailure"), Some("True"));
    let since = since.map(|since| instant(since.0)).unwrap_or_default();
    said.then(|| (since, message.unwrap_or_default()))
}

fn of_deployment(object: &Deployment) -> Standing {
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(object.spec.replicas.unwrap_or(1));
    let (all, updated) = (number(status.replicas), number(status.updated_replicas));
    let missing = [
        lacks(updated, wanted, "of the new revision are there"),
        (all > updated).then(|| {
            format!("{} of an older revision are left", count(all - updated, "pod", "pods"))
        }),
        lacks(number(status.available_replicas), updated, "of the new revision are available"),
    ];
    let is_observed = is_observed(&object.metadata, status.observed_generation);
    let conditions = status.conditions.unwrap_or_default();
    let late = conditions.iter().find(|one| {
        let reason = one.reason.as_deref();
        one.type_.as_deref() == Some("Progressing") && reason == Some("ProgressDeadlineExceeded")
    });
    let is_paused = object.spec.paused == Some(true);
    Standing {
        wanted,
        progress: match late {
            Some(late) if is_observed => {
                RolloutProgress::Failed(late.message.clone().unwrap_or_default())
            }
            _ => lacking(is_observed, missing),
        },
        note: is_paused.then(|| "is paused, and goes on with `kubectl rollout resume`".to_owned()),
        deadline_passed: late.map(|late| {
            late.last_update_time.as_ref().map_or(Timestamp::EPOCH, |at| instant(at.0))
        }),
        cannot_create: conditions.into_iter().find_map(|one| {
            failure((one.type_, one.status), one.last_transition_time, one.message)
        }),
        revision: None,
    }
}

fn of_stateful_set(object: &StatefulSet) -> Standing {
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(object.spec.replicas.unwrap_or(1));
    let updated = number(status.updated_replicas);
    let strategy = object.spec.update_strategy.clone().unwrap_or_default();
    let partition = strategy.rolling_update.map(|rolling| number(rolling.partition));
    let is_on_delete = strategy.type_.as_deref() == Some("OnDelete");
    let are = "of the new revision are there";
    let missing = [
        lacks(number(status.ready_replicas), wanted, "are ready"),
        match partition {
            _ if is_on_delete => None,
            Some(partition) => lacks(updated, wanted.saturating_sub(partition), are),
            None => (status.update_revision != status.current_revision)
                .then(|| some_of(updated, wanted, are)),
        },
    ];
    let progress = lacking(is_observed(&object.metadata, status.observed_generation), missing);
    let why = match partition {
        _ if is_on_delete => Some(ON_DELETE.to_owned()),
        Some(partition) if partition > 0 => Some(format!(" (partition {partition})")),
        _ => None,
    };
    let note = why.and_then(|why| older(&progress, wanted.saturating_sub(updated), &why));
    Standing { wanted, progress, note, revision: status.update_revision, ..Standing::default() }
}

fn of_daemon_set(object: &DaemonSet) -> Standing {
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(status.desired_number_scheduled);
    let updated = number(status.updated_number_scheduled);
    let strategy = object.spec.update_strategy.clone().unwrap_or_default();
    let is_on_delete = strategy.type_.as_deref() == Some("OnDelete");
    let missing = [
        lacks(updated, wanted, "of the new revision are there").filter(|_| !is_on_delete),
        lacks(number(status.number_available), wanted, "of the new revision are available"),
    ];
    let is_observed = is_observed(&object.metadata, status.observed_generation);
    let progress = lacking(is_observed, missing);
    let left = wanted.saturating_sub(updated);
    let note = older(&progress, left, ON_DELETE).filter(|_| is_on_delete);
    Standing { wanted, progress, note, ..Standing::default() }
}

fn of_replica_set(object: &ReplicaSet) -> Standing {
    let status = object.status.clone().unwrap_or_default();
    let wanted = number(object.spec.replicas.unwrap_or(1));
    let all = number(status.replicas);
    let missing = [
        lacks(number(status.available_replicas), wanted, "are available"),
        (all > wanted)
            .then(|| format!("{} there, and {wanted} wanted", count(all, "pod is", "pods are"))),
    ];
    let is_observed = is_observed(&object.metadata, status.observed_generation);
    let conditions = status.conditions.unwrap_or_default().into_iter();
    let cannot_create = conditions
        .map(|one| failure((one.type_, one.status), one.last_transition_time, one.message));
    Standing {
        wanted,
        progress: lacking(is_observed, missing),
        cannot_create: cannot_create.flatten().next(),
        ..Standing::default()
    }
}

fn of_job(object: &Job) -> Standing {
    let (spec, status) = (object.spec.as_ref(), object.status.clone().unwrap_or_default());
    let parallelism = spec.and_then(|spec| spec.parallelism);
    let wanted = number(spec.and_then(|spec| spec.completions).or(parallelism).unwrap_or(1));
    let conditions = status.conditions.unwrap_or_default();
    let holding =
        |kind: &str| conditions.iter().find(|one| one.type_ == kind && one.status == "True");
    let progress = if holding("Complete").is_some() {
        RolloutProgress::Done
    } else if let Some(failed) = holding("Failed") {
        RolloutProgress::Failed(failed.message.clone().unwrap_or_default())
    } else {
        RolloutProgress::Going(some_of(number(status.succeeded), wanted, "have succeeded"))
    };
    let is_suspended = spec.and_then(|spec| spec.suspend) == Some(true);
    let note = is_suspended.then(|| "is suspended, and waits for `spec.suspend: false`".to_owned());
    Standing { wanted, progress, note, ..Standing::default() }
}
