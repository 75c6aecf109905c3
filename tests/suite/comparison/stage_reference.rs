//! Whose the seconds are ([§15.4](crate::specification#s15-4)), read once more: what is kept of each pod is computed for it
//! alone.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reference::matched_by;
use super::sides::Pod;
use podinit_core::lifecycle::Interval;
use podinit_reports::comparison::Comparison;

/// The stages between the milestones of the duration that answers.
fn stages(whole: &str) -> &'static [&'static str] {
    match whole {
        "created_to_ready" => {
            &["gated", "scheduling", "unschedulable", "network", "init", "containers", "readiness"]
        }
        _ => &["network", "init", "containers", "readiness"],
    }
}

fn interval(name: &str) -> Interval {
    Interval::ALL.into_iter().find(|one| one.as_str() == name).unwrap()
}

fn seconds(pod: &Pod, name: &str) -> Option<f64> {
    let found = pod.durations.iter().find(|(own, _)| *own == interval(name));
    found.map(|(_, nanos)| *nanos as f64 / 1e9)
}

fn counts(pod: &Pod, whole: &str) -> bool {
    let is_known = |name: &&str| !pod.unobserved.contains(&interval(name));
    seconds(pod, whole).is_some() && stages(whole).iter().all(is_known)
}

/// The mean of `value` without the slowest `left_out`, which pods that are equally slow share.
fn trimmed(pods: &[(&Pod, f64)], whole: &str, left_out: f64, value: impl Fn(&Pod) -> f64) -> f64 {
    let took = |pod: &Pod| seconds(pod, whole).unwrap();
    let all: f64 = pods.iter().map(|(_, weight)| weight).sum();
    let kept = |pod: &Pod, weight: f64| {
        let sum = |is: &dyn Fn(f64) -> bool| -> f64 {
            pods.iter().filter(|(other, _)| is(took(other))).map(|(_, weight)| weight).sum()
        };
        let (faster, alike) = (sum(&|other| other < took(pod)), sum(&|other| other == took(pod)));
        weight * ((all * (1.0 - left_out) - faster) / alike).clamp(0.0, 1.0)
    };
    let sums = pods.iter().fold((0.0, 0.0), |(sum, weights), (pod, weight)| {
        let kept = kept(pod, *weight);
        (sum + kept * value(pod), weights + kept)
    });
    if sums.1 > 0.0 { sums.0 / sums.1 } else { 0.0 }
}

/// What the comparison says of stages is what this reading says.
pub fn assert_stages(found: &Comparison, before: &[Pod], after: &[Pod]) {
    let said = serde_json::to_value(found).unwrap();
    let moved =
        ["slower", "faster", "mixed"].contains(&said["answer"]["verdict"].as_str().unwrap());
    assert_eq!(said["stages"].is_null(), !moved);
    if !moved {
        return;
    }
    let said = &said["stages"];
    let whole = said["interval"].as_str().unwrap();
    let left_out = said["left_out"].as_f64().unwrap();
    let is_of_matched = found.answer.matched;
    let matched_by = matched_by(before, after);
    let mut matches: BTreeMap<String, [[usize; 2]; 2]> = BTreeMap::new();
    for (side, pods) in [before, after].into_iter().enumerate() {
        for pod in pods.iter().filter(|pod| !pod.durations.is_empty()) {
            let own = matches.entry(matched_by(pod)).or_default();
            own[0][side] += 1;
            own[1][side] += usize::from(counts(pod, whole));
        }
    }
    let mut means = Vec::new();
    for (side, pods) in [before, after].into_iter().enumerate() {
        let has = |pod: &&Pod, which: usize| {
            !is_of_matched || matches[&matched_by(pod)][which].iter().all(|pods| *pods > 0)
        };
        let answering = pods.iter().filter(|pod| seconds(pod, whole).is_some() && has(pod, 0));
        let counted = pods.iter().filter(|pod| counts(pod, whole) && has(pod, 1)).map(|pod| {
            let [before, after] = matches[&matched_by(pod)][1];
            let weight =
                if is_of_matched && side == 1 { before as f64 / after as f64 } else { 1.0 };
            (pod, weight)
        });
        let counted: Vec<(&Pod, f64)> = counted.collect();
        let known = counted.len() as f64 / answering.count() as f64;
        assert_near(&said["known"][side], known);
        let mean = |name: &str| {
            trimmed(&counted, whole, left_out, |pod| seconds(pod, name).unwrap_or(0.0))
        };
        means.push((mean(whole), stages(whole).iter().map(|name| mean(name)).collect::<Vec<_>>()));
    }
    assert_near(&said["difference"], means[1].0 - means[0].0);
    let said = said["stages"].as_array().unwrap();
    for (number, name) in stages(whole).iter().enumerate() {
        let (one, other) = (means[0].1[number], means[1].1[number]);
        match said.iter().find(|stage| stage["stage"] == **name) {
            Some(stage) => assert_near(&stage["difference"], other - one),
            None => assert!(one + other == 0.0, "{name}"),
        }
    }
}

fn assert_near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-6, "{found} and not {expected}");
}
