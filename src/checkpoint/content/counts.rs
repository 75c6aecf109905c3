//! Counters by the values of their labels.

use super::ContentError;
use crate::access::{Refusal, SavedAccess};
use crate::checkpoint::codec::{Decoder, Encoder};
use crate::metrics::{CheckpointLoad, SavedCheckpoint};
use crate::watch::saved::SavedStats;
use crate::watch::stats::{EventType, RelistReason, WatchErrorReason};

/// The counts of one label, each with its value.
pub(super) fn put<const N: usize>(out: &mut Encoder, names: [&str; N], counts: &[u64; N]) {
    out.list(
        names.into_iter().zip(counts).collect::<Vec<_>>(),
        |out, (name, count)| {
            out.text(name);
            out.number(*count);
        },
    );
}

/// The counts of one label; 0 for a value that was not written.
pub(super) fn take<const N: usize>(
    from: &mut Decoder<'_>,
    what: &'static str,
    names: [&str; N],
) -> Result<[u64; N], ContentError> {
    let mut counts = [0; N];
    from.list(|from| {
        let position = position(from, what, &names)?;
        counts[position] = from.number()?;
        Ok::<_, ContentError>(())
    })?;
    Ok(counts)
}

/// The position of the name that follows.
pub(super) fn position(
    from: &mut Decoder<'_>,
    what: &'static str,
    names: &[&str],
) -> Result<usize, ContentError> {
    let name = from.text()?;
    let position = names.iter().position(|known| *known == name);
    position.ok_or_else(|| ContentError::Unknown {
        what,
        name: name.to_owned(),
    })
}

pub(super) fn put_watch(out: &mut Encoder, saved: &SavedStats) {
    put(out, EventType::ALL.map(EventType::as_str), &saved.events);
    put(
        out,
        WatchErrorReason::ALL.map(WatchErrorReason::as_str),
        &saved.errors,
    );
    put(
        out,
        RelistReason::ALL.map(RelistReason::as_str),
        &saved.relists,
    );
}

pub(super) fn take_watch(from: &mut Decoder<'_>) -> Result<SavedStats, ContentError> {
    Ok(SavedStats {
        events: take(from, "watch events", EventType::ALL.map(EventType::as_str))?,
        errors: take(
            from,
            "watch errors",
            WatchErrorReason::ALL.map(WatchErrorReason::as_str),
        )?,
        relists: take(from, "lists", RelistReason::ALL.map(RelistReason::as_str))?,
    })
}

pub(super) fn put_checkpoint(out: &mut Encoder, saved: &SavedCheckpoint) {
    put(
        out,
        CheckpointLoad::ALL.map(CheckpointLoad::as_str),
        &saved.loads,
    );
    put(out, SavedCheckpoint::WRITES, &saved.writes);
}

pub(super) fn take_checkpoint(from: &mut Decoder<'_>) -> Result<SavedCheckpoint, ContentError> {
    Ok(SavedCheckpoint {
        loads: take(
            from,
            "loads",
            CheckpointLoad::ALL.map(CheckpointLoad::as_str),
        )?,
        writes: take(from, "writes", SavedCheckpoint::WRITES)?,
    })
}

pub(super) fn put_access(out: &mut Encoder, saved: &SavedAccess) {
    put(out, Refusal::ALL.map(Refusal::as_str), &saved.refused);
    out.number(saved.handshake_failures);
    out.number(saved.reloads);
    out.number(saved.failed_reloads);
}

pub(super) fn take_access(from: &mut Decoder<'_>) -> Result<SavedAccess, ContentError> {
    let refusals = Refusal::ALL.map(Refusal::as_str);
    Ok(SavedAccess {
        refused: take(from, "requests refused for", refusals)?,
        handshake_failures: from.number()?,
        reloads: from.number()?,
        failed_reloads: from.number()?,
    })
}
