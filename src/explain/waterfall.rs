//! The waterfall: a bar for each stage, step and image pull.

use serde::Serialize;

use super::fleet::Fleet;
use super::uncertainty;
use super::verdict::since;
use crate::lifecycle::{
    Interval, IntervalResult, Record, RecordedImage, RecordedInterval, Stage, Step,
};
use crate::pod::ContainerKind;
use crate::timestamp::Timestamp;

/// A bar of the waterfall: a stage, a step inside it, or an image pull.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub label: String,
    /// The stage; of a step or pull, that which it is inside of
    pub stage: &'static str,
    /// Inside a stage
    pub is_inside: bool,
    /// From the begin of the startup
    pub from_seconds: Option<f64>,
    pub to_seconds: Option<f64>,
    /// The duration, where it was observed
    pub seconds: Option<f64>,
    /// It has not ended
    pub is_open: bool,
    /// The median of all pods
    pub p50_seconds: Option<f64>,
    pub uncertain: Option<&'static str>,
}

/// The waterfall of a startup from `began` to `end`.
pub(super) fn waterfall(
    record: &Record,
    fleet: &Fleet,
    began: Timestamp,
    end: Timestamp,
) -> Vec<Row> {
    let of = |interval: Interval| {
        let mut intervals = record.intervals.iter();
        intervals.find(|recorded| recorded.interval == interval)
    };
    let mut rows = Vec::new();
    for stage in Stage::ALL {
        let Some(recorded) = of(Interval::Stage(stage)) else {
            continue;
        };
        rows.push(row(stage, recorded, fleet, began, end));
        for step in Step::ALL.into_iter().filter(|step| step.stage() == stage) {
            rows.extend(of(Interval::Step(step)).map(|step| row(stage, step, fleet, began, end)));
            if step == Step::Start {
                rows.extend(pull_rows(record, stage, began));
            }
        }
        if stage == Stage::Init {
            rows.extend(pull_rows(record, stage, began));
        }
    }
    rows
}

fn row(
    stage: Stage,
    recorded: &RecordedInterval,
    fleet: &Fleet,
    began: Timestamp,
    end: Timestamp,
) -> Row {
    let is_open = recorded.result == IntervalResult::Open;
    let to = recorded.ended.or(is_open.then_some(end));
    Row {
        label: recorded.interval.as_str().to_owned(),
        stage: stage.as_str(),
        is_inside: recorded.interval != Interval::Stage(stage),
        from_seconds: recorded.began.map(|at| since(began, at)),
        to_seconds: to.map(|at| since(began, at)),
        seconds: match recorded.result {
            IntervalResult::Measured(latency) => Some(latency.as_seconds_f64()),
            IntervalResult::Open | IntervalResult::Unobserved(_) => None,
        },
        is_open,
        p50_seconds: fleet.median(recorded.interval),
        uncertain: uncertainty::of_interval(recorded.result),
    }
}

/// The pulls of images of the containers of `stage`.
fn pull_rows(record: &Record, stage: Stage, began: Timestamp) -> impl Iterator<Item = Row> {
    let of_stage = move |kind| (kind == ContainerKind::Regular) == (stage == Stage::Containers);
    let pulls = record.pulls.iter().filter(move |pull| of_stage(pull.kind));
    pulls.filter_map(move |pull| {
        let RecordedImage::Pulled { ended, with_wait } = pull.image else {
            return None;
        };
        let nanos = i64::try_from(with_wait.as_nanos()).unwrap_or(i64::MAX);
        let from = ended.map(|ended| ended.plus_nanos(nanos.saturating_neg()));
        Some(Row {
            label: format!("pull {}", pull.container),
            stage: stage.as_str(),
            is_inside: true,
            from_seconds: from.map(|at| since(began, at)),
            to_seconds: ended.map(|at| since(began, at)),
            seconds: Some(with_wait.as_secs_f64()),
            is_open: false,
            p50_seconds: None,
            uncertain: None,
        })
    })
}
