//! Which pods are affected whose startup is over: those that were rejected or failed lately
//! ([§13.10](crate::specification#s13-10)), and those that crash right after they were ready
//! ([§13.11](crate::specification#s13-11)).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::affected::Affected;
use super::found_pod::FoundPod;
use super::values::{self, Dimension, Names};
use crate::lifecycle::{Cause, Milestone, Outcome, Progress, Record};
use crate::timestamp::Timestamp;

/// For so long a pod counts that was rejected or failed.
pub const FAILED_LASTS: Duration = Duration::from_secs(600);

/// For so long a pod that became ready counts where it crashes again.
const RELAPSE_LASTS: Duration = Duration::from_secs(600);

/// Fewer failures of a workload affect nobody.
const LEAST_FAILURES: usize = 3;

/// The pod of `record`, if it was rejected or failed lately.
pub(super) fn failed(record: &Record, now: Timestamp, names: &mut Names) -> Option<Affected> {
    let Progress::Ended {
        outcome,
        at,
        ref ending,
    } = record.progress
    else {
        return None;
    };
    if !outcome.is_failure() || at.plus(FAILED_LASTS) <= now {
        return None;
    }
    let (cause, container) = match outcome {
        Outcome::Rejected => (Cause::Rejected, None),
        _ => (Cause::Crash, failed_container(record)),
    };
    let words = ending.as_deref().and_then(|ending| ending.in_words());
    // What the status said of a crash before, where nothing is known of the end.
    let before = || {
        let last = record.causes.last()?.waiting.cause();
        record.message.clone().filter(|_| last == cause)
    };
    Some(Affected {
        pod: FoundPod::of(record),
        cause,
        since: at,
        last: at,
        values: values::of(record, cause, container, names),
        message: words.map(Arc::from).or_else(before),
    })
}

/// The position of the first container whose state is an exit code other than 0.
fn failed_container(record: &Record) -> Option<u8> {
    let position = match record.ending() {
        Some(ending) => {
            let mut ended = ending.containers.iter();
            ended.find(|one| one.has_failed())?.container
        }
        // A checkpoint has only so many endings.
        None => {
            let mut all = record.containers.iter();
            all.position(|one| one.problem == Some(Cause::Crash))?
        }
    };
    u8::try_from(position).ok()
}

/// The pod of `record`, if it became ready lately and crashes again.
pub(super) fn relapsed(record: &Record, now: Timestamp, names: &mut Names) -> Option<Affected> {
    let relapse = record.relapse.as_deref()?;
    let Progress::Ended {
        outcome: Outcome::Ready,
        at,
        ..
    } = record.progress
    else {
        return None;
    };
    // A Ready without a time counts from the end.
    let ready = record.reached(Milestone::Ready).unwrap_or(at);
    let container = u8::try_from(relapse.container).ok();
    (ready.plus(RELAPSE_LASTS) > now).then(|| Affected {
        pod: FoundPod::of(record),
        cause: Cause::Crash,
        since: relapse.since,
        last: relapse.since,
        values: values::of(record, Cause::Crash, container, names),
        message: relapse.message.clone(),
    })
}

/// Those of `failed` that affect: of a workload, or of the pods of a namespace that have none, at least three have
/// failed in the same way.
pub(super) fn repeated(failed: Vec<Affected>) -> impl Iterator<Item = Affected> {
    let mut counts: HashMap<_, usize> = HashMap::new();
    for pod in &failed {
        *counts.entry(kind(pod)).or_default() += 1;
    }
    let is_repeated = move |pod: &Affected| counts.get(&kind(pod)).copied() >= Some(LEAST_FAILURES);
    failed.into_iter().filter(is_repeated)
}

/// What pods that fail in the same way have in common.
fn kind(pod: &Affected) -> (&'static str, bool, Arc<str>) {
    let workload = pod.values.get(Dimension::Workload);
    let whose = workload.unwrap_or(&pod.pod.namespace);
    (pod.cause.as_str(), workload.is_some(), Arc::clone(whose))
}

#[cfg(test)]
#[path = "ended_tests.rs"]
mod tests;
