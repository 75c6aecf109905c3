//! Twenty pairs, of which `tests/fixtures/comparison/generate.py` has asked SciPy and statsmodels.

use serde::Deserialize;

use podinit_reports::comparison::statistics::{Proportion, fisher, holm, mann_whitney, newcombe};

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
