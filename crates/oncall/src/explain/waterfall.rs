//! The waterfall: a bar for each stage, step and image pull.

use serde::Serialize;

use super::ended::ExplainedEnd;
use super::fleet::FleetDurations;
use super::named;
use super::parts::{StartupPart, is_before_binding};
use super::uncertainty;
use podinit_core::lifecycle::{
    IntervalKind, IntervalResult, Record, RecordedImage, Stage, StageSpans, Step, TimelineSpan,
};
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::since;

/// A bar of the waterfall: a stage, a step inside it, or an image pull.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaterfallRow {
    pub label: String,
    /// The stage; of a step or pull, that which it is inside of
    pub stage: &'static str,
    /// Inside a stage
    pub(crate) is_inside: bool,
    /// From the begin of the startup
    pub from_seconds: Option<f64>,
    pub(crate) to_seconds: Option<f64>,
    /// The duration, where it was observed
    pub seconds: Option<f64>,
    /// It is an image pull
    #[serde(skip)]
    pub(super) is_pull: bool,
    /// It has not ended
    pub is_open: bool,
    /// The median of all pods
    pub(crate) p50_seconds: Option<f64>,
    pub(crate) uncertain: Option<&'static str>,
}

/// The waterfall of a startup from `began` to `end`.
pub(super) fn waterfall(
    record: &Record,
    ended: &ExplainedEnd,
    fleet: &FleetDurations,
    began: Timestamp,
    end: Timestamp,
) -> Vec<WaterfallRow> {
    // When what has no end ended, a pod no longer says that had ended when it was first seen.
    let is_known =
        |span: &TimelineSpan<'_>| span.recorded.ended.is_some() || !ended.is_over_at_first_sight;
    let mut rows = Vec::new();
    for StageSpans { stage, whole, steps } in record.timeline(Some(end)) {
        if !is_known(&whole) {
            continue;
        }
        let row = |span: &TimelineSpan<'_>| {
            let mut row = row(stage, span, fleet, began);
            if is_before_binding(span.recorded, ended) {
                row.label = StartupPart::BeforeBinding.as_str().to_owned();
                // Of less than a second there is nothing to tell.
                let takes_time = row.seconds.is_some_and(|took| took >= 1.0);
                row.uncertain = row.uncertain.or(takes_time.then_some(uncertainty::BEFORE_BINDING));
            }
            row
        };
        let known = |is_late| {
            let steps = steps.iter().filter(move |(step, _)| (*step > Step::Start) == is_late);
            let steps = steps.filter(|(_, span)| is_known(span));
            steps.map(|(_, span)| row(span))
        };
        let pulls = pull_rows(record, stage, began);
        let named = named::rows(record, stage, (began, end));
        let inside = known(false).chain(pulls).chain(known(true)).chain(named);
        let mut inside: Vec<WaterfallRow> = inside.collect();
        let whole = row(&whole);
        inside.iter_mut().for_each(|row| row.keep_within(&whole));
        rows.push(whole);
        rows.extend(inside);
    }
    rows.extend(run_rows(record, ended, began));
    rows
}

impl WaterfallRow {
    /// Moves the bar into that of its stage, and cuts its duration: each time is an estimate, and by several clocks.
    /// The measured duration of an image pull stays.
    fn keep_within(&mut self, stage: &Self) {
        let (Some(from), Some(to)) = (stage.from_seconds, stage.to_seconds) else {
            return;
        };
        let into = |at: f64| at.clamp(from, to.max(from));
        self.from_seconds = self.from_seconds.map(into);
        self.to_seconds = self.to_seconds.map(into);
        let most = stage.seconds.unwrap_or_else(|| (to - from).max(0.0));
        if self.seconds.is_some_and(|took| took > most) {
            if !self.is_pull {
                self.seconds = Some(most);
            }
            self.uncertain = self.uncertain.or(Some(uncertainty::beyond_stage(self.is_pull)));
        }
    }
}

fn row(
    stage: Stage,
    span: &TimelineSpan<'_>,
    fleet: &FleetDurations,
    began: Timestamp,
) -> WaterfallRow {
    let recorded = span.recorded;
    WaterfallRow {
        label: recorded.interval.as_str().to_owned(),
        stage: stage.as_str(),
        is_inside: recorded.kind != IntervalKind::Stage,
        from_seconds: span.from.map(|at| since(began, at)),
        to_seconds: span.to.map(|at| since(began, at)),
        seconds: match recorded.result {
            IntervalResult::Measured { seconds } => Some(seconds.as_seconds_f64()),
            IntervalResult::Open | IntervalResult::Unobserved { .. } => None,
        },
        is_pull: false,
        is_open: recorded.result == IntervalResult::Open,
        p50_seconds: fleet.median(recorded.interval),
        uncertain: uncertainty::of_interval(recorded.result),
    }
}

/// The pulls of images of the containers of `stage`.
fn pull_rows(
    record: &Record,
    stage: Stage,
    began: Timestamp,
) -> impl Iterator<Item = WaterfallRow> {
    let pulls = record.pulls.iter().filter(move |pull| pull.stage() == stage);
    pulls.filter_map(move |pull| {
        let RecordedImage::Pulled { ended, with_wait } = pull.image else {
            return None;
        };
        let from = ended.map(|ended| with_wait.before(ended));
        Some(WaterfallRow {
            label: format!("pull {}", pull.container),
            stage: stage.as_str(),
            is_inside: true,
            from_seconds: from.map(|at| since(began, at)),
            to_seconds: ended.map(|at| since(began, at)),
            seconds: Some(with_wait.as_seconds_f64()),
            is_pull: true,
            is_open: false,
            p50_seconds: None,
            uncertain: None,
        })
    })
}

/// The runs of the containers of a pod that has ended.
fn run_rows(
    record: &Record,
    ended: &ExplainedEnd,
    began: Timestamp,
) -> impl Iterator<Item = WaterfallRow> {
    ended.ending.containers.iter().filter_map(move |one| {
        let container = record.containers.get(one.container)?;
        let (from, to) = one.started.zip(one.finished)?;
        Some(WaterfallRow {
            label: format!("run {}", container.name),
            stage: container.stage().as_str(),
            is_inside: true,
            from_seconds: Some(since(began, from)),
            to_seconds: Some(since(began, to)),
            seconds: Some(since(from, to)),
            is_pull: false,
            is_open: false,
            p50_seconds: None,
            uncertain: None,
        })
    })
}
