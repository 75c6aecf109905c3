//! Twenty pairs, of which `tests/fixtures/comparison/generate.py` has asked SciPy and statsmodels.

use serde::Deserialize;

use podinit_reports::comparison::statistics::{
    DividedDuration, DividedSample, Proportion, Resampled, fisher, holm, mann_whitney, newcombe,
};

#[derive(Deserialize)]
struct Pair {
    before: Vec<u64>,
    after: Vec<u64>,
    probability: f64,
    p_value: f64,
    corrected_p_value: f64,
}

/// Whether two p-values are equal to a millionth, of the smaller ones relatively.
fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * one.max(other).max(f64::MIN_POSITIVE)
}

#[test]
fn p_values_are_those_of_scipy_and_statsmodels() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/comparison/scipy.json");
    let pairs: Vec<Pair> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(pairs.len(), 20);
    let mut p_values = Vec::new();
    for (number, mut pair) in
        pairs.iter().map(|pair| (pair.before.clone(), pair.after.clone())).enumerate()
    {
        pair.0.sort_unstable();
        pair.1.sort_unstable();
        let test = mann_whitney(&pair.0, &pair.1);
        let expected = &pairs[number];
        assert!((test.probability - expected.probability).abs() < 1e-12, "pair {number}");
        assert!(is_near(test.p_value, expected.p_value), "pair {number}: {test:?}");
        p_values.push(test.p_value);
    }
    for (corrected, pair) in holm(&p_values).into_iter().zip(&pairs) {
        assert!(is_near(corrected, pair.corrected_p_value), "{corrected}");
    }
}

#[derive(Deserialize)]
struct Table {
    before: [u64; 2],
    after: [u64; 2],
    p_value: f64,
    interval: [f64; 2],
}

#[test]
fn proportions_are_those_of_scipy_and_statsmodels() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/comparison/proportions.json");
    let tables: Vec<Table> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(tables.len(), 25);
    for Table { before, after, p_value, interval } in tables {
        let [one, other] = [before, after].map(|[count, of]| Proportion { count, of });
        assert!(is_near(fisher(one, other), p_value), "{before:?} {after:?}");
        for (found, expected) in newcombe(one, other).into_iter().zip(interval) {
            assert!((found - expected).abs() < 1e-9, "{before:?} {after:?}: {found} {expected}");
        }
    }
}

/// The durations of a side, and of one of their parts, in milliseconds.
type Divided = [Vec<f64>; 2];

#[derive(Deserialize)]
struct Means {
    sides: [Divided; 2],
    whole_means: [f64; 2],
    part_means: [f64; 2],
    interval: [f64; 2],
}

#[test]
fn means_without_the_slowest_are_those_of_scipy_and_so_are_their_intervals() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/comparison/means.json");
    let all: Vec<Means> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(all.len(), 6);
    for Means { sides, whole_means, part_means, interval } in all {
        let samples = sides.map(|[whole, part]| {
            let pods = whole.iter().zip(&part).map(|(whole, part)| DividedDuration {
                nanos: (whole * 1e6) as u64,
                minute: None,
                weight: 1.0,
                parts: [*whole, *part],
            });
            DividedSample::new(pods)
        });
        let drawn = [0, 1].map(|side| {
            let [whole, part] = samples[side].means(0.9);
            assert!((whole - whole_means[side]).abs() < 1e-6, "{whole} {whole_means:?}");
            assert!((part - part_means[side]).abs() < 1e-6, "{part} {part_means:?}");
            samples[side].resampled_means(0.9, Resampled::Pods, side as u64)
        });
        let pairs = drawn[0].iter().zip(&drawn[1]);
        let mut differences: Vec<f64> = pairs.map(|(one, other)| other[1] - one[1]).collect();
        differences.sort_by(f64::total_cmp);
        // Other draws: the ends lie within a tenth of the width of those of SciPy.
        let width = interval[1] - interval[0];
        for (found, expected) in [differences[49], differences[1_949]].into_iter().zip(interval) {
            assert!((found - expected).abs() < width / 10.0, "{found} {interval:?}");
        }
    }
}
