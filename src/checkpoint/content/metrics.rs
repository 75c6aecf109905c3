//! Counters and histograms.

use std::sync::Arc;

use super::ContentError;
use super::counts::{position, put as put_counts, take as take_counts};
use crate::checkpoint::codec::{Decoder, Encoder};
use crate::lifecycle::{
    AnomalyKind, EvictedState, ExclusionReason, Interval, Milestone, Outcome, RefusalReason, Stage,
    UnobservedReason,
};
use crate::metrics::saved::{SavedHistogram, SavedMetrics, SavedSlo};
use crate::metrics::{SavedLabel, SavedLabels};

const NANOS_PER_SECOND: u128 = 1_000_000_000;

fn exclusions() -> [&'static str; ExclusionReason::ALL.len()] {
    ExclusionReason::ALL
        .each_ref()
        .map(|reason| reason.as_str())
}

pub(super) fn put(out: &mut Encoder, saved: &SavedMetrics) {
    out.list(&saved.bounds, |out, bound| out.number(*bound));
    put_counts(out, Outcome::ALL.map(Outcome::as_str), &saved.finished);
    let stages = Stage::ALL.into_iter().zip(&saved.unobserved);
    out.list(stages.collect::<Vec<_>>(), |out, (stage, reasons)| {
        out.text(stage.as_str());
        put_counts(
            out,
            UnobservedReason::ALL.map(UnobservedReason::as_str),
            reasons,
        );
    });
    put_counts(
        out,
        Milestone::REENTERABLE.map(Milestone::as_str),
        &saved.reentries,
    );
    put_counts(
        out,
        AnomalyKind::ALL.map(AnomalyKind::as_str),
        &saved.anomalies,
    );
    put_counts(
        out,
        EvictedState::ALL.map(EvictedState::as_str),
        &saved.evicted,
    );
    put_counts(
        out,
        RefusalReason::ALL.map(RefusalReason::as_str),
        &saved.refused,
    );
    put_histogram(out, &saved.delivery);
    out.number(saved.gaps);
    out.list(&saved.dropped, |out, (label, count)| {
        out.text(label);
        out.number(*count);
    });
    put_durations(out, saved);
    out.list(&saved.slos, |out, slo| {
        out.text(&slo.name);
        out.number(slo.good);
        out.number(slo.bad);
        put_counts(out, exclusions(), &slo.excluded);
    });
}

pub(super) fn take(from: &mut Decoder<'_>) -> Result<SavedMetrics, ContentError> {
    let bounds = from.list(Decoder::number)?;
    if bounds.is_empty() || !bounds.is_sorted_by(|one, next| one < next) {
        return Err(from.fail("the bounds of cells do not ascend").into());
    }
    let cells = bounds.len();
    let mut saved = SavedMetrics {
        bounds,
        finished: take_counts(
            from,
            "pods that ended as",
            Outcome::ALL.map(Outcome::as_str),
        )?,
        ..SavedMetrics::default()
    };
    let stages = Stage::ALL.map(Stage::as_str);
    from.list(|from| {
        let stage = position(from, "the stage", &stages)?;
        let reasons = UnobservedReason::ALL.map(UnobservedReason::as_str);
        saved.unobserved[stage] = take_counts(from, "stages unobserved for", reasons)?;
        Ok::<_, ContentError>(())
    })?;
    let milestones = Milestone::REENTERABLE.map(Milestone::as_str);
    saved.reentries = take_counts(from, "re-entries of", milestones)?;
    saved.anomalies = take_counts(
        from,
        "times that were",
        AnomalyKind::ALL.map(AnomalyKind::as_str),
    )?;
    let states = EvictedState::ALL.map(EvictedState::as_str);
    saved.evicted = take_counts(from, "evictions of pods that were", states)?;
    let reasons = RefusalReason::ALL.map(RefusalReason::as_str);
    saved.refused = take_counts(from, "refusals for", reasons)?;
    saved.delivery = take_histogram(from, cells)?;
    saved.gaps = from.number()?;
    saved.dropped =
        from.list(|from| Ok::<_, ContentError>((from.text()?.to_owned(), from.number()?)))?;
    take_durations(from, &mut saved)?;
    saved.slos = from.list(|from| {
        Ok::<_, ContentError>(SavedSlo {
            name: Arc::from(from.text()?),
            good: from.number()?,
            bad: from.number()?,
            excluded: take_counts(from, "pods excluded for", exclusions())?,
        })
    })?;
    Ok(saved)
}

/// The labels, and behind them each set with its durations.
fn put_durations(out: &mut Encoder, saved: &SavedMetrics) {
    out.list(&saved.labels.labels, |out, label| {
        out.text(&label.name);
        out.list(&label.values, |out, value| out.text(value));
    });
    out.list(Interval::ALL, |out, interval| out.text(interval.as_str()));
    let sets = saved.labels.sets.iter().zip(&saved.durations);
    out.list(sets.collect::<Vec<_>>(), |out, (values, durations)| {
        // The number of intervals, so that a set without labels takes a byte as well.
        out.count(durations.len());
        for value in values {
            out.number((*value).into());
        }
        for histogram in durations {
            put_histogram(out, histogram);
        }
    });
}

fn take_durations(from: &mut Decoder<'_>, saved: &mut SavedMetrics) -> Result<(), ContentError> {
    let labels = from.list(|from| {
        Ok::<_, ContentError>(SavedLabel {
            name: from.text()?.to_owned(),
            values: from.list(|from| Ok::<_, ContentError>(Arc::from(from.text()?)))?,
        })
    })?;
    let names = Interval::ALL.map(Interval::as_str);
    let intervals = from.list(|from| position(from, "durations of", &names))?;
    let cells = saved.bounds.len();
    let mut sets = Vec::new();
    for _ in 0..from.count()? {
        if from.count()? != intervals.len() {
            return Err(from.fail("a label set with other intervals").into());
        }
        let mut values = Vec::new();
        for label in &labels {
            // Two values, none and the rest, are not written out.
            let value = u32::try_from(from.number()?).ok();
            let value = value.filter(|value| *value < label.values.len() as u32 + 2);
            values.push(value.ok_or_else(|| from.fail("no such value of a label"))?);
        }
        sets.push(values);
        let mut durations: [SavedHistogram; Interval::ALL.len()] = Default::default();
        for interval in &intervals {
            durations[*interval] = take_histogram(from, cells)?;
        }
        saved.durations.push(durations);
    }
    saved.labels = SavedLabels { labels, sets };
    Ok(())
}

/// Cells by their distance from the one before.
fn put_histogram(out: &mut Encoder, saved: &SavedHistogram) {
    let mut next = 0;
    out.list(&saved.cells, |out, (cell, count)| {
        out.number(u64::from(*cell).saturating_sub(next));
        out.number(*count);
        next = u64::from(*cell) + 1;
    });
    if !saved.cells.is_empty() {
        out.number((saved.sum / NANOS_PER_SECOND) as u64);
        out.number((saved.sum % NANOS_PER_SECOND) as u64);
    }
}

fn take_histogram(from: &mut Decoder<'_>, cells: usize) -> Result<SavedHistogram, ContentError> {
    let mut next: u64 = 0;
    let cells = from.list(|from| {
        let cell = next.checked_add(from.number()?);
        let cell = cell.filter(|cell| *cell < cells as u64);
        let cell = cell.and_then(|cell| u16::try_from(cell).ok());
        let cell = cell.ok_or_else(|| from.fail("no such cell"))?;
        next = u64::from(cell) + 1;
        Ok::<_, ContentError>((cell, from.number()?))
    })?;
    let mut sum = 0;
    if !cells.is_empty() {
        let seconds = u128::from(from.number()?);
        sum = seconds * NANOS_PER_SECOND + u128::from(from.number()?);
    }
    Ok(SavedHistogram { cells, sum })
}
