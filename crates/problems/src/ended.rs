//! Which pods with an ended startup are affected: rejected and failed ones ([§13.10](crate::specification#s13-10)), and
//! those that crash right after they were ready ([§13.11](crate::specification#s13-11)).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::affected::{AffectedPod, PodCause};
use super::found_pods::FoundPods;
use podinit_core::lifecycle::{Cause, Milestone, Outcome, Progress, Record};
use podinit_core::timestamp::Timestamp;

/// For how long a rejected or failed pod counts.
pub const FAILED_LASTS: Duration = Duration::from_secs(600);

/// For how long after its Ready a pod counts if it crashes again.
const RELAPSE_LASTS: Duration = Duration::from_secs(600);

/// Fewer failures of a workload affect nobody.
const LEAST_FAILURES: usize = 3;

/// What affects the pod of `record`; `None` unless it was rejected or failed lately.
pub(super) fn failed(record: &Record, now: Timestamp) -> Option<PodCause> {
    let Progress::Ended { outcome, at, ref ending } = record.progress else {
        return None;
    };
    if !outcome.is_failure() || at.plus(FAILED_LASTS) <= now {
        return None;
    }
    // A kubelet ends a pod that is deleted while it starts up as Failed ([§1.15](crate::specification#s1-15)).
    let was_deleted =
        record.causes.last().is_some_and(|last| last.waiting.cause() == Cause::Terminating);
    if outcome == Outcome::Failed && was_deleted {
        return None;
    }
    let (cause, container) = match outcome {
        Outcome::Rejected => (Cause::Rejected, None),
        _ => {
            let position = record.failed_container();
            (Cause::Crash, position.and_then(|position| u8::try_from(position).ok()))
        }
    };
    let words = ending.as_deref().and_then(|ending| ending.in_words());
    // The last message about a crash, where the end is unknown.
    let before = || {
        let last = record.causes.last()?.waiting.cause();
        record.message.clone().filter(|_| last == cause)
    };
    Some(PodCause {
        cause,
        since: at,
        last: at,
        container,
        message: words.map(Arc::from).or_else(before),
    })
}

/// What affects the pod of `record`; `None` unless it became ready lately and crashes again.
pub(super) fn relapsed(record: &Record, now: Timestamp) -> Option<PodCause> {
    let relapse = record.relapse.as_deref()?;
    let Progress::Ended { outcome: Outcome::Ready, at, .. } = record.progress else {
        return None;
    };
    // A Ready without a time counts from the end.
    let ready = record.reached(Milestone::Ready).unwrap_or(at);
    let container = u8::try_from(relapse.container).ok();
    (ready.plus(RELAPSE_LASTS) > now).then(|| PodCause {
        cause: Cause::Crash,
        since: relapse.since,
        last: relapse.since,
        container,
        message: relapse.message.clone(),
    })
}

/// The affected pods among `failed`: at least three of a workload, or of the pods without one in a namespace, failed in
/// the same way. `found` has all pods.
pub(super) fn repeated(failed: Vec<AffectedPod>, found: &FoundPods) -> Vec<AffectedPod> {
    let kind = |pod: &AffectedPod| {
        let workload = found.workload_number(pod.place);
        (pod.cause.as_str(), found.namespace_number(pod.place), workload)
    };
    let mut counts: HashMap<_, usize> = HashMap::new();
    for pod in &failed {
        *counts.entry(kind(pod)).or_default() += 1;
    }
    let is_repeated = |pod: &AffectedPod| counts.get(&kind(pod)).copied() >= Some(LEAST_FAILURES);
    failed.into_iter().filter(is_repeated).collect()
}

#[cfg(test)]
#[path = "ended_tests.rs"]
mod tests;
