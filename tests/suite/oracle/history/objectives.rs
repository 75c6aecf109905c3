//! Random SLOs ([§6](crate::specification#s6)): every interval, thresholds that are met, missed or
//! out of reach, and selections of pods.

use super::named;
use super::rng::Rng;
use crate::oracle::reading::{Namespaces, Own, Slo, SloInterval};

/// Some of the SLOs select startups by what the sources tell of, Events and nodes.
pub(crate) fn selecting(mut slos: Vec<Slo>, rng: &mut Rng, events: bool, nodes: bool) -> Vec<Slo> {
    for slo in &mut slos {
        slo.existing_capacity = rng.percent(35) && nodes;
        slo.present_images = rng.percent(35) && events;
    }
    slos
}

/// None, a few, or one for every interval.
pub(crate) fn objectives(rng: &mut Rng) -> Vec<Slo> {
    let mut intervals = SloInterval::ALL.to_vec();
    rng.shuffle(&mut intervals);
    intervals.truncate(rng.pick(&[0, 1, 3, 13, 13]));
    intervals.into_iter().map(|interval| objective(rng, interval)).collect()
}

/// None, some, or one for each duration of the milestones.
pub(crate) fn of_milestones(rng: &mut Rng, milestones: &'static [Own]) -> Vec<Slo> {
    let mut intervals: Vec<SloInterval> = named::intervals(milestones).collect();
    rng.shuffle(&mut intervals);
    intervals.truncate(rng.pick(&[0, 1, 2, 10, 10]));
    intervals.into_iter().map(|interval| objective(rng, interval)).collect()
}

fn objective(rng: &mut Rng, interval: SloInterval) -> Slo {
    const MINUTE: u64 = 60_000;
    const DAY: u64 = 24 * 60 * MINUTE;
    let namespaces = match rng.below(12) {
        0 => Namespaces::Include(vec!["ns"]),
        1 => Namespaces::Include(vec!["other", "third"]),
        2 => Namespaces::Exclude(vec!["other"]),
        3 => Namespaces::Exclude(vec!["kube-system", "ns"]),
        _ => Namespaces::All,
    };
    let owner_kinds = match rng.percent(8) {
        true => vec!["DaemonSet", "StatefulSet"],
        false => Vec::new(),
    };
    Slo {
        name: interval.name().replace('_', "-"),
        interval,
        threshold_millis: rng.pick(&[
            1,
            500,
            1_000,
            1_500,
            2_000,
            3_000,
            5_000,
            7_000,
            12_000,
            MINUTE,
            10 * MINUTE,
            30 * DAY,
        ]),
        objective: rng.pick(&[50.0, 99.0, 99.9, 99.99]),
        window: rng.pick(&["30d", "31d", "5w"]),
        namespaces,
        owner_kinds,
        existing_capacity: false,
        present_images: false,
    }
}
