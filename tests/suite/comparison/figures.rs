//! Random sides: podinit's rows are those of the reference.

use std::collections::BTreeSet;

use super::reference::{self, Expected};
use super::sides::{Pod, random, side};
use super::stage_reference;
use super::starts_reference;
use crate::oracle::seeds;
use podinit_core::lifecycle::{Interval, TimestampMode};
use podinit_reports::comparison::statistics::Resampled;
use podinit_reports::comparison::{
    Breakdown, Comparison, ComparisonConfig, Difference, Part, Row, Starts, Verdict, compare,
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
        assert_eq!(found.verdict, verdict(found, least, expected.len()), "{found:?}");
    }
}

/// The breakdown of the answer and the first other one are those of the reference, where there are any.
pub fn assert_breakdown(found: &Comparison, before: &[Pod], after: &[Pod]) {
    for breakdown in found.breakdown.iter().chain(found.other_breakdowns.first()) {
        assert_parts(found, breakdown, before, after);
    }
    let differs = |row: &&Row| {
        let interval = Interval::ALL.into_iter().find(|interval| row.interval == interval.as_str());
        let Some(interval) = interval else { return false };
        let is_step = matches!(interval, Interval::Step(_));
        row.verdict != Verdict::Same
            || (!is_step
                && (reference::means_differ(before, after, interval)
                    || reference::has_slow_value(before, after, interval)))
    };
    let differing = found.rows.iter().filter(differs);
    let broken_down = found.breakdown.iter().chain(&found.other_breakdowns);
    assert_eq!(broken_down.count(), differing.count());
}

fn assert_parts(found: &Comparison, breakdown: &Breakdown, before: &[Pod], after: &[Pod]) {
    let of_row = found.rows.iter().find(|row| row.interval == breakdown.interval).unwrap();
    let wanted = match of_row.verdict {
        Verdict::Slower | Verdict::Faster => of_row.verdict,
        _ if of_row.after.mean > of_row.before.mean => Verdict::Slower,
        _ => Verdict::Faster,
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
        moved.push(one.row.verdict == wanted);
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

/// The verdict of rule 15.3, from the intervals of the row, in a table of so many rows.
fn verdict(row: &Row, least: f64, rows: usize) -> Verdict {
    let sides =
        [(&row.p50, row.before.p50, row.after.p50), (&row.p90, row.before.p90, row.after.p90)];
    let times = reference::deviations(0.04 / (2 * rows) as f64) / reference::deviations(0.05);
    let (mut slower, mut faster, mut within) = (false, false, true);
    for (Difference { difference, interval: narrow, margin, .. }, before, after) in sides {
        let [low, high] = narrow;
        assert!((margin - (before * 0.05).max(least)).abs() < 1e-9);
        assert!((difference - (after - before)).abs() < 1e-9);
        let wide =
            [difference - (difference - low) * times, difference + (high - difference) * times];
        let has_moved = (wide[0] > 0.0 || wide[1] < 0.0) && difference.abs() >= *margin;
        let of_ranks = has_moved && row.corrected_p_value < 0.05;
        let (is_above, is_below) = (wide[0] > *margin, wide[1] < -margin);
        slower |= is_above || (of_ranks && *difference > 0.0 && row.probability_slower > 0.5);
        faster |= is_below || (of_ranks && *difference < 0.0 && row.probability_slower <= 0.5);
        within &= *low >= -margin && *high <= *margin;
    }
    match (slower, faster) {
        (true, false) => Verdict::Slower,
        (false, true) => Verdict::Faster,
        (true, true) => Verdict::Mixed,
        _ if within => Verdict::Same,
        _ => Verdict::Unclear,
    }
}

/// The pods that did not start are those of the reference.
fn assert_starts(found: &Comparison, before: &[Pod], after: &[Pod]) -> &'static str {
    let expected = starts_reference::not_started(before, after);
    let Some(row) = &found.not_started else {
        assert!(expected.is_none(), "{expected:?}");
        return "none";
    };
    let expected = expected.unwrap();
    let counts = |starts: &Starts| {
        [starts.pods.count, starts.pods.of, starts.too_new, starts.earlier]
            .map(|pods| pods as usize)
    };
    assert_eq!([counts(&row.before), counts(&row.after)], expected.counts);
    assert_eq!(row.limit, expected.limit.map(seconds));
    assert!((row.p_value - expected.p_value).abs() < 1e-7, "{row:?} {expected:?}");
    assert_eq!(serde_json::to_value(row.together).unwrap(), expected.together);
    let [low, high] = row.interval;
    let is_proven = match (expected.clustered, row.wide_interval) {
        (Some([narrow, wide]), Some(found)) => {
            let [least, most] = expected.interval;
            let hull = [narrow[0].min(least), narrow[1].max(most)];
            // The draws are others.
            for (found, expected) in
                [low, high, found[0], found[1]].iter().zip([hull, wide].concat())
            {
                assert!((found - expected).abs() < 0.06, "{row:?} {expected:?}");
            }
            assert!(low <= least + 1e-9 && high >= most - 1e-9, "{row:?} {expected:?}");
            let is_of_ranks = row.p_value < 0.01 && expected.is_higher == (row.difference > 0.0);
            found[0] > 0.0 || found[1] < 0.0 || is_of_ranks || expected.is_outage
        }
        (None, None) => {
            for (found, expected) in row.interval.iter().zip(expected.interval) {
                assert!((found - expected).abs() < 1e-9, "{row:?}");
            }
            assert_eq!(row.worse_from.map(|from| from as usize), expected.worse_from);
            row.p_value < 0.01
        }
        found => panic!("{found:?}"),
    };
    let verdict = match (is_proven, row.difference) {
        (true, difference) if difference >= 0.01 => "worse",
        (true, difference) if difference <= -0.01 => "better",
        _ if low >= -0.01 && high <= 0.01 => "same",
        _ => "unclear",
    };
    assert_eq!(row.verdict.as_str(), verdict);
    assert!(
        row.worse_from.map(|from| from as usize) >= expected.worse_from || row.worse_from.is_none()
    );
    row.verdict.as_str()
}

#[test]
fn rows_and_matched_rows_are_those_of_the_reference() {
    let (mut verdicts, mut starts, mut broken_down) = (BTreeSet::new(), BTreeSet::new(), 0);
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
        let [one, other] = reference::filled(&before, &after);
        let all = |row: fn(&[Pod], &[Pod], Interval) -> Option<Expected>| -> Vec<Expected> {
            let rows = Interval::ALL.into_iter().filter_map(|interval| row(&one, &other, interval));
            rows.collect()
        };
        assert_rows(&found.rows, &all(reference::row), least);
        assert_rows(&found.matched_rows, &all(reference::matched_row), least);
        assert_breakdown(&found, &one, &other);
        stage_reference::assert_stages(&found, &before, &after);
        starts.insert(assert_starts(&found, &before, &after));
        broken_down += usize::from(found.breakdown.is_some());
        let [one, other] = reference::shares(&before, &after);
        assert!((found.mix.before - one).abs() < 1e-12 && (found.mix.after - other).abs() < 1e-12);
        verdicts.extend(found.rows.iter().map(|row| row.verdict.as_str()));
    }
    for verdict in ["slower", "faster", "same", "unclear"] {
        assert!(verdicts.contains(verdict), "{verdicts:?}");
    }
    assert!(starts.len() > 1, "{starts:?}");
    assert!(broken_down > pairs as usize / 10, "{broken_down} of {pairs}");
}

#[test]
fn the_same_recordings_give_the_same_figures() {
    let mut rng = fastrand::Rng::with_seed(1);
    let (before, after) = (random(&mut rng, 100, false, 1.0), random(&mut rng, 100, false, 1.5));
    let figures = || compared(&before, &after, TimestampMode::Fused);
    assert_eq!(figures(), figures());
}
