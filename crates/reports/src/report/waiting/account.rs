//! Where the time of one startup went ([§8.11](crate::specification#s8-11)).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::spans::{TimeSpan, length, union};
use podinit_core::label_values;
use podinit_core::lifecycle::{
    Cause, Interval, MOST_CAUSES, Milestone, Outcome, Progress, Record, RecordedCause, Stage,
    StageSpans, WaitReason,
};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A cause that is seen so long after the stage began may have been there from its beginning: times of the API are
/// whole seconds, and deliveries take time.
const FIRST_SIGHT: i64 = 2 * NANOS_PER_SECOND;

label_values! {
    /// What became of a startup whose time is counted.
    pub(in crate::report) enum AccountState {
        /// It became ready
        Ready => "ready",
        /// It is under way
        InFlight => "in_flight",
        /// It ended in another way
        Ended => "ended_otherwise",
    }
}

/// The stage that a pod was in, and the cause for which it waited there, where each is known.
pub(super) type WaitingPlace = (Option<Stage>, Option<Cause>);

/// When a startup was counted from and to, and where it was meanwhile.
pub(in crate::report) struct WaitingAccount {
    pub(super) state: AccountState,
    pub(super) whole: TimeSpan,
    /// One after the other, without the time in no stage
    parts: Vec<(WaitingPlace, TimeSpan)>,
}

/// That the beginning or the end of a startup is not known.
#[derive(Debug)]
pub(in crate::report) struct UnknownTimes;

impl WaitingAccount {
    /// That of a startup; `None` of one that this recording does not show: it was over at first sight, or is followed
    /// elsewhere.
    pub(super) fn from_record(
        record: &Record,
        now: Option<Timestamp>,
    ) -> Result<Option<Self>, UnknownTimes> {
        let state = match record.outcome() {
            Some(Outcome::Preexisting | Outcome::Static | Outcome::Moved) => return Ok(None),
            Some(Outcome::Ready) => AccountState::Ready,
            Some(_) => AccountState::Ended,
            None => AccountState::InFlight,
        };
        let is_judged = record.duration(Interval::CreatedToReady).is_some();
        if state == AccountState::Ready && !is_judged {
            return Err(UnknownTimes);
        }
        let began = record.reached(Milestone::Created).ok_or(UnknownTimes)?;
        let ended = end(record, now).ok_or(UnknownTimes)?.max(began);
        Ok(Some(Self { state, whole: (began, ended), parts: parts(record, (began, ended)) }))
    }

    /// How long it took.
    pub(super) fn nanos(&self) -> u64 {
        length(self.whole)
    }

    /// How long the pod was where: all of its time.
    pub(super) fn places(&self) -> impl Iterator<Item = (WaitingPlace, u64)> {
        let known = self.parts.iter().map(|(place, span)| (*place, length(*span)));
        let rest = self.nanos() - known.clone().map(|(_, nanos)| nanos).sum::<u64>();
        known.chain([((None, None), rest)]).filter(|(_, nanos)| *nanos > 0)
    }

    /// When the pod waited for one of these causes.
    pub(super) fn spans_of(&self, causes: &[Cause]) -> impl Iterator<Item = TimeSpan> {
        let is_one = |(_, cause): &WaitingPlace| cause.is_some_and(|cause| causes.contains(&cause));
        self.parts.iter().filter(move |(place, _)| is_one(place)).map(|(_, span)| *span)
    }

    /// How long the pod waited for each of its images: until it was pulled, or while it could not be.
    pub(super) fn images(&self, record: &Record) -> impl Iterator<Item = (Arc<str>, u64)> {
        let mut spans: BTreeMap<Arc<str>, Vec<TimeSpan>> = BTreeMap::new();
        for pull in &record.pulls {
            let mut containers = record.containers.iter();
            let container =
                containers.find(|one| one.name == pull.container && one.init == pull.init);
            if let (Some(image), Some(span)) =
                (container.and_then(|one| one.image.as_ref()), pull.span())
            {
                spans.entry(Arc::clone(image)).or_default().push(span);
            }
        }
        if let Some(image) = &record.image {
            spans.entry(Arc::clone(image)).or_default().extend(self.spans_of(&[Cause::Image]));
        }
        let whole = self.whole;
        let nanos = spans.into_iter().map(move |(image, spans)| (image, union(spans, whole)));
        nanos.filter(|(_, nanos)| *nanos > 0)
    }
}

/// Until when the pod waited; `None` where nothing says that. One that has done its work, or a part of it, without being
/// ready waited until its containers ran.
fn end(record: &Record, now: Option<Timestamp>) -> Option<Timestamp> {
    let ended = match &record.progress {
        Progress::Ended { outcome: Outcome::Ready, .. } => record.reached(Milestone::Ready),
        // When podinit first saw it, it may have been over for days.
        Progress::Ended { at, ending, .. } if record.is_over_at_first_sight() => {
            let ending = ending.as_deref()?;
            let finished = ending.containers.iter().filter_map(|one| one.finished).max();
            finished.map(|finished| finished.min(*at))
        }
        Progress::Ended { at, .. } => Some(*at),
        Progress::InFlight { .. } => now,
    };
    let has_worked =
        record.outcome() == Some(Outcome::Completed) || record.progress.is_never_ready();
    let started = record.reached(Milestone::ContainersStarted).filter(|_| has_worked);
    [ended, started].into_iter().flatten().min()
}

/// The stages one after the other, each divided among its causes. Each time is an estimate, so that a stage may begin
/// before the last one ends.
fn parts(record: &Record, (began, ended): TimeSpan) -> Vec<(WaitingPlace, TimeSpan)> {
    let causes = record.causes_since_entry();
    let mut parts = Vec::new();
    let mut last = began;
    for spans in record.timeline(Some(ended)) {
        let to = match has_no_network_time(&spans) {
            true => Some(record.reached(Milestone::ContainersReady).unwrap_or(ended)),
            false => spans.whole.to.or_else(|| unknown_end(record, spans.stage, ended)),
        };
        let Some((from, to)) = spans.whole.from.zip(to) else {
            continue;
        };
        let (from, to) = (from.max(last), to.min(ended));
        if from >= to {
            continue;
        }
        last = to;
        let first = parts.len();
        divide(record, &causes, spans.stage, (from, to), &mut parts);
        if has_no_network_time(&spans)
            && let Some(known) = known_later(record)
        {
            let whole = parts.split_off(first);
            parts.extend(whole.into_iter().flat_map(|part| cut(part, known)));
        }
    }
    parts
}

/// A startup that ended without being ready was in the stage of which it had not reached the end.
fn unknown_end(record: &Record, stage: Stage, ended: Timestamp) -> Option<Timestamp> {
    let end = match stage {
        Stage::Gated | Stage::Scheduling | Stage::Unschedulable | Stage::Network => return None,
        Stage::Init => Milestone::Initialized,
        Stage::Containers => Milestone::ContainersReady,
        Stage::Readiness => Milestone::Ready,
    };
    let is_reached = record.milestones.iter().any(|one| one.milestone == end);
    (record.outcome() != Some(Outcome::Ready) && !is_reached).then_some(ended)
}

/// Whether this is the stage `network`, and nothing says when it ended: some kubelets have no network condition. Then it
/// holds all until ContainersReady.
fn has_no_network_time(spans: &StageSpans<'_>) -> bool {
    spans.stage == Stage::Network && spans.whole.recorded.ended.is_none()
}

/// When the network was ready at the latest.
fn known_later(record: &Record) -> Option<Timestamp> {
    let has_init = record.containers.iter().any(|container| container.init);
    let latest = if has_init { Milestone::Initialized } else { Milestone::ContainersStarted };
    record.reached(latest)
}

/// What lies behind this instant is of the stage `containers`, with the causes that this stage has.
fn cut(
    ((stage, cause), (from, to)): (WaitingPlace, TimeSpan),
    at: Timestamp,
) -> [(WaitingPlace, TimeSpan); 2] {
    let at = at.clamp(from, to);
    let later = cause.filter(|cause| WaitReason::new(Stage::Containers, *cause).is_some());
    [((stage, cause), (from, at)), ((Some(Stage::Containers), later), (at, to))]
}

/// Divides the time in a stage among its causes. Those before podinit saw the pod are not known, nor are those that the
/// newest [`MOST_CAUSES`] have displaced.
fn divide(
    record: &Record,
    causes: &[RecordedCause],
    stage: Stage,
    (from, to): TimeSpan,
    parts: &mut Vec<(WaitingPlace, TimeSpan)>,
) {
    let first = causes.first().map_or(record.discovered, |first| first.began);
    let known = match causes.len() < MOST_CAUSES {
        true => record.discovered.min(first).plus_nanos(-FIRST_SIGHT),
        false => first,
    };
    let known = known.clamp(from, to);
    let (mut cause, mut since) = (None, from);
    for one in causes.iter().filter(|one| one.waiting.stage() == stage) {
        // The first one that is known of the stage has been its cause since then.
        let began = if cause.is_none() { known } else { one.began.clamp(since, to) };
        parts.push(((Some(stage), cause), (since, began)));
        (cause, since) = (Some(one.waiting.cause()), began);
    }
    parts.push(((Some(stage), cause), (since, to)));
}
