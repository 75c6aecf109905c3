//! Where the time of a startup went: its stages one after the other, and the steps inside them.

use super::{Progress, Record, RecordedCause, RecordedInterval};
use crate::lifecycle::cause::Cause;
use crate::lifecycle::interval::{Interval, Stage, Step};
use crate::lifecycle::record::IntervalResult;
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

/// From when to when a pod was in a stage or a step, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub struct TimelineSpan<'a> {
    pub recorded: &'a RecordedInterval,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// A stage on the timeline, and its steps.
#[derive(Clone, Debug)]
pub struct StageSpans<'a> {
    pub stage: Stage,
    pub whole: TimelineSpan<'a>,
    pub steps: Vec<(Step, TimelineSpan<'a>)>,
}

impl Record {
    /// The stages that apply to the pod and have begun or ended. What is open lasts until `end`.
    pub fn timeline(&self, end: Option<Timestamp>) -> impl Iterator<Item = StageSpans<'_>> {
        let span = move |interval| {
            let mut all = self.intervals.iter();
            let recorded = all.find(|one| one.interval == interval)?;
            let open_end = end.filter(|_| recorded.result == IntervalResult::Open);
            Some(TimelineSpan { recorded, from: recorded.began, to: recorded.ended.or(open_end) })
        };
        Stage::ALL.into_iter().filter_map(move |stage| {
            let whole = span(Interval::Stage(stage))?;
            let steps = Step::ALL.into_iter().filter(|step| step.stage() == stage);
            let steps =
                steps.filter_map(|step| Some((step, span(Interval::Step(step))?.within(whole))));
            Some(StageSpans { stage, whole, steps: steps.collect() })
        })
    }
}

impl TimelineSpan<'_> {
    /// Both times, where they are known.
    pub fn times(&self) -> Option<(Timestamp, Timestamp)> {
        self.from.zip(self.to)
    }

    /// The step moved into its stage: each time is an estimate by itself, and they are of several clocks.
    fn within(self, stage: TimelineSpan<'_>) -> Self {
        let Some((first, last)) = stage.times() else {
            return self;
        };
        let inside = |at: Timestamp| at.clamp(first, last.max(first));
        Self { from: self.from.map(inside), to: self.to.map(inside), ..self }
    }
}

impl Record {
    /// The causes, the oldest first. The one with which a pod in flight was first seen, in the stage in which it still is,
    /// began when the pod entered that
    /// ([§13.2](crate::specification#s13-2)).
    pub fn causes_since_entry(&self) -> Vec<RecordedCause> {
        let mut causes = self.causes.clone();
        // Causes are logged to the millisecond.
        let millis = |at: Timestamp| at.as_nanos().div_euclid(NANOS_PER_MILLI);
        if let Progress::InFlight { waiting, entered, .. } = self.progress
            && (causes.iter()).all(|one| one.waiting.stage() == waiting.stage())
            && let Some(first) = causes.first_mut()
            && millis(first.began) == millis(self.discovered)
        {
            first.began = entered;
        }
        causes
    }

    /// The causes that the pod has had since it entered `stage`, the one that it was in last, the oldest first.
    pub fn causes_in_stage(&self, stage: Stage) -> Vec<RecordedCause> {
        let mut history = self.causes_since_entry();
        let before = (history.iter()).rposition(|one| one.waiting.stage() != stage);
        history.drain(..before.map_or(0, |position| position + 1));
        history
    }

    /// Its last cause; of a startup that is over the last one before the pod was deleted.
    pub fn last_cause(&self) -> Option<&RecordedCause> {
        let is_over = self.outcome().is_some();
        let mut newest_first = self.causes.iter().rev();
        newest_first.find(|one| !is_over || one.waiting.cause() != Cause::Terminating)
    }
}
