//! Random sides: podinit's rows are those of the reference.

use std::collections::BTreeSet;

use super::reference::{self, Expected};
use super::sides::{Pod, random, side};
use crate::oracle::seeds;
use podinit_core::lifecycle::{Interval, TimestampMode};
use podinit_reports::comparison::statistics::Resampled;
use podinit_reports::comparison::{
    Comparison, ComparisonConfig, Difference, Part, Row, Verdict, compare,
};

pub fn compared(before: &[Pod], after: &[Pod], timestamps: TimestampMode) -> Comparison {
    let config = ComparisonConfig { timestamps, margin_percent: 5.0 };
    compare(&side(before), &side(after), config)
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn assert_rows(rows: &[Row], expected: &[Expected], least: f64) {
    let names = |row: &Row| row.interval.clone();
    let mut found: Vec<_> = rows.iter().map(names).collect();
    let mut wanted: Vec<_> = expected.iter().map(|row| row.interval).collect();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let p_values: Vec<f64> = expected.iter().map(|row| row.p_value).collect();
    for (row, corrected) in expected.iter().zip(reference::holm(&p_values)) {
        let found = rows.iter().find(|one| one.interval == row.interval).unwrap();
        assert_eq!([found.before.count, found.after.count], row.counts);
        assert_eq!([found.before.p50, found.after.p50], row.p50.map(seconds));
        assert_eq!([found.before.p90, found.after.p90], row.p90.map(seconds));
        assert_eq!([found.before.p99, found.after.p99], row.p99.map(|p99| p99.map(seconds)));
        assert_eq!(found.resampled == Resampled::Minutes, row.by_minutes);
        assert!((found.probability_slower - row.probability).abs() < 1e-9, "{found:?}");
        assert!((found.p_value - row.p_value).abs() < 1e-6, "{found:?} {row:?}");
        assert!((found.corrected_p_value - corrected).abs() < 1e-5, "{found:?}");
        assert_eq!(found.verdict, verdict(found, least), "{found:?}");
    }
}

/// The breakdown is that of the reference, where there is one.
pub fn assert_breakdown(found: &Comparison, before: &[Pod], after: &[Pod]) {
    let Some(breakdown) = &found.breakdown else {
        return;
    };
    let interval =
        Interval::ALL.into_iter().find(|interval| interval.as_str() == breakdown.interval).unwrap();
    let expected = reference::parts(before, after, interval);
    assert_eq!(breakdown.parts.len(), expected.len());
    let p_values: Vec<f64> = expected.iter().map(|part| part.row.p_value).collect();
    let corrected = reference::holm(&p_values);
    let mut moved = Vec::new();
    for (part, corrected) in expected.iter().zip(corrected) {
        let same = |one: &&Part| {
            let dimension = serde_json::to_value(one.dimension).unwrap();
            dimension == part.dimension && one.value == part.value
        };
        let one = breakdown.parts.iter().find(same).unwrap();
        assert!((one.share - part.share).abs() < 1e-6, "{one:?} {part:?}");
        assert!((one.pods_after - part.pods_after).abs() < 1e-9);
        assert_eq!(one.is_new, part.is_new);
        assert_eq!([one.row.before.count, one.row.after.count], part.row.counts);
        assert_eq!([one.row.before.p50, one.row.after.p50], part.row.p50.map(seconds));
        assert!((one.row.corrected_p_value - corrected).abs() < 1e-5, "{one:?}");
        moved.push(one.row.verdict == found.answer.verdict);
    }
    let only = reference::only(before, after, interval, &expected, &moved);
    let place = breakdown.only.as_ref().map(|only| {
        let dimension = serde_json::to_value(only.place.dimension).unwrap();
        let values: BTreeSet<String> = only.place.values.iter().cloned().collect();
        (dimension, values)
    });
    let wanted = only.map(|(name, values)| (name.into(), values.into_iter().collect()));
    assert_eq!(place, wanted);
}

/// The verdict of rule 15.3, from the intervals of the row.
fn verdict(row: &Row, least: f64) -> Verdict {
    let sides =
        [(&row.p50, row.before.p50, row.after.p50), (&row.p90, row.before.p90, row.after.p90)];
    let (mut slower, mut faster, mut within) = (false, false, true);
    for (Difference { difference, interval: [low, high], margin, .. }, before, after) in sides {
        assert!((margin - (before * 0.05).max(least)).abs() < 1e-9);
        assert!((difference - (after - before)).abs() < 1e-9);
        let has_moved = (*low > 0.0 || *high < 0.0) && difference.abs() >= *margin;
        slower |= has_moved && *difference > 0.0;
        faster |= has_moved && *difference < 0.0;
        within &= *low >= -margin && high <= margin;
    }
    match (row.corrected_p_value < 0.05, slower, faster) {
        (true, true, false) => Verdict::Slower,
        (true, false, true) => Verdict::Faster,
        _ if within => Verdict::Same,
        _ => Verdict::Unclear,
    }
}

#[test]
fn rows_and_matched_rows_are_those_of_the_reference() {
    let (mut verdicts, mut broken_down) = (BTreeSet::new(), 0);
    // `.ci/run full` asks for more, as it does of histories.
    let pairs = seeds::asked().map_or(30, |_| 60);
    for seed in 0..pairs {
        let mut rng = fastrand::Rng::with_seed(seed);
        let whole_seconds = seed % 2 == 0;
        let most = if seed % 10 == 0 { 300 } else { 80 };
        let before = random(&mut rng, most, whole_seconds, 1.0);
        let slower = [1.0, 1.0, 3.0, 0.4][seed as usize % 4];
        let after = random(&mut rng, most, whole_seconds, slower);
        let timestamps = if whole_seconds { TimestampMode::Api } else { TimestampMode::Fused };
        let least = if whole_seconds { 2.0 } else { 0.1 };
        let found = compared(&before, &after, timestamps);
        let all = |row: fn(&[Pod], &[Pod], Interval) -> Option<Expected>| -> Vec<Expected> {
            let rows =
                Interval::ALL.into_iter().filter_map(|interval| row(&before, &after, interval));
            rows.collect()
        };
        assert_rows(&found.rows, &all(reference::row), least);
        assert_rows(&found.matched_rows, &all(reference::matched_row), least);
        assert_breakdown(&found, &before, &after);
        broken_down += usize::from(found.breakdown.is_some());
        let [one, other] = reference::shares(&before, &after);
        assert!((found.mix.before - one).abs() < 1e-12 && (found.mix.after - other).abs() < 1e-12);
        verdicts.extend(found.rows.iter().map(|row| row.verdict.as_str()));
    }
    assert_eq!(verdicts.len(), 4, "{verdicts:?}");
    assert!(broken_down > pairs as usize / 10, "{broken_down}");
}

#[test]
fn the_same_recordings_give_the_same_figures() {
    let mut rng = fastrand::Rng::with_seed(1);
    let (before, after) = (random(&mut rng, 100, false, 1.0), random(&mut rng, 100, false, 1.5));
    let figures = || compared(&before, &after, TimestampMode::Fused);
    assert_eq!(figures(), figures());
}
