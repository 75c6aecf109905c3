//! Holds figures against each other, and makes the history that tells them apart small.

use serde_json::Value;

use super::figures::{Exposition, is_known};

/// One line for each series of the oracle's families that differs; empty when all agree.
///
/// Both directions: a series that should not be there differs, and one that is missing does too.
pub(crate) fn differences(expected: &Exposition, actual: &Exposition) -> Vec<String> {
    let mut all: Vec<&String> = expected.keys().chain(actual.keys()).collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .filter(|series| is_known(series))
        .filter_map(|series| match (expected.get(series), actual.get(series)) {
            (Some(expected), Some(actual)) if close(*expected, *actual) => None,
            // Which series of a registry, a pool, a gate or a node's labels come with the first of it is not said.
            (None, Some(nothing)) | (Some(nothing), None)
                if *nothing == 0.0
                    && (series.starts_with("podinit_image")
                        || series.starts_with("podinit_gate")
                        || series.contains("nodepool=\"")) =>
            {
                None
            }
            (expected, actual) => {
                Some(format!("{series}: expected {}, got {}", spell(expected), spell(actual)))
            }
        })
        .collect()
}

/// Counts are exact in a float; sums and times may differ by how they were added up.
fn close(expected: f64, actual: f64) -> bool {
    (expected - actual).abs() <= 1e-6
}

fn spell(value: Option<&f64>) -> String {
    value.map_or_else(|| "nothing".to_owned(), f64::to_string)
}

/// Leaves out documents, first many at once and then one by one, for as long as what is left
/// still fails.
pub(crate) fn shrink(documents: &[Value], fails: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let mut left = documents.to_vec();
    let mut step = left.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        let mut smaller = false;
        while start < left.len() {
            let mut candidate = left.clone();
            candidate.drain(start..(start + step).min(left.len()));
            if fails(&candidate) {
                left = candidate;
                smaller = true;
            } else {
                start += step;
            }
        }
        if step > 1 {
            step = step.div_ceil(2);
        } else if !smaller {
            return left;
        }
    }
}

#[test]
fn only_the_documents_that_matter_are_left() {
    let documents: Vec<Value> = (0..40).map(Value::from).collect();
    let fails = |left: &[Value]| left.contains(&Value::from(3)) && left.contains(&Value::from(31));
    assert_eq!(shrink(&documents, fails), [Value::from(3), Value::from(31)]);
}
