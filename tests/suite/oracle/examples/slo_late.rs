//! [§4.10](crate::specification#s4-10) and [§6.7](crate::specification#s6-7): deadlines while deliveries are late.

use serde_json::Value;

use super::slo_deadlines::{clock, network};
use super::{API, Example, example, slos};
use crate::oracle::build::*;

/// The creation of a pod, and its binding a second later, both shown so many seconds late.
fn bound(name: &str, created: f64, late: f64) -> Vec<(f64, Value)> {
    let pod = pod(name).created(created);
    let bound = pod.clone().yes(SCHEDULED, created + 1.0);
    vec![(created + late, added(&pod)), (created + 1.0 + late, modified(&bound))]
}

/// So many, each a second after the one before, whose network is ready in time.
fn good(name: &str, pods: usize, created: f64, late: f64) -> Vec<(f64, Value)> {
    let one = |number: usize| {
        let created = created + number as f64;
        let pod = pod(&format!("{name}{number}")).created(created);
        let ready = pod.clone().yes(SCHEDULED, created + 1.0).yes(NETWORK, created + 2.0);
        [(created + late, added(&pod)), (created + 1.0 + late, modified(&ready))]
    };
    (0..pods).flat_map(one).collect()
}

/// All of it as it is shown after a list in second 0, up to that time.
fn shown(parts: Vec<Vec<(f64, Value)>>, until: f64) -> Vec<Value> {
    let mut all: Vec<(f64, Value)> = parts.into_iter().flatten().collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let shown = all.into_iter().map(|(shown, event)| at(shown, event));
    [at(0.0, list(&[]))].into_iter().chain(shown).chain([clock(until)]).collect()
}

/// A pod without a network, whose deadline is in second 56, beside four that are shown 20 s late. The greatest difference
/// is 19.5 s.
fn late(until: f64) -> Vec<Value> {
    shown(vec![good("b", 4, 10.0, 20.0), bound("x", 40.0, 20.0)], until)
}

pub(super) fn examples() -> Vec<Example> {
    vec![
        example(
            "§6.7: \"pass later, by twice the greatest of the differences\": not yet",
            network(API),
            late(95.0),
            "slo network good 4",
        ),
        example(
            "§6.7: \"pass later, by twice the greatest of the differences\"",
            network(API),
            late(95.001),
            "slo network good 4
             slo network bad 1",
        ),
        example(
            "§4.10: \"until that of the last 4 that tell is below 2.5 s\"; then \"all that is overdue passes at once\"",
            network(API),
            shown(
                vec![good("b", 4, 10.0, 20.0), bound("x", 40.0, 20.0), good("y", 2, 70.0, 0.0)],
                73.0,
            ),
            "slo network good 6
             slo network bad 1",
        ),
        example(
            "§4.10: a source that was late stays late though its lag is 3.5 s",
            network(API),
            shown(
                vec![good("b", 4, 10.0, 20.0), good("z", 6, 40.0, 4.0), bound("x", 50.0, 4.0)],
                80.0,
            ),
            "slo network good 10",
        ),
        example(
            "§4.10: \"A source whose lag is above 5 s is late\", one of 3.5 s is not",
            network(API),
            shown(vec![good("z", 4, 10.0, 4.0), bound("x", 30.0, 4.0)], 47.0),
            "slo network good 4
             slo network bad 1",
        ),
        example(
            "§4.10: \"of an even number the lesser of the middle two\"",
            network(API),
            shown(vec![good("b", 1, 10.0, 0.0), bound("x", 30.0, 20.0)], 51.5),
            "slo network good 1
             slo network bad 1",
        ),
        example(
            "§4.10: \"nor anything that states a time before the source last came into sync\"",
            network(API),
            {
                let gap = vec![(10.0, expired()), (50.0, list(&[]))];
                shown(vec![gap, good("b", 2, 20.0, 31.0), bound("x", 40.0, 13.5)], 57.0)
            },
            "slo network good 2
             slo network bad 1",
        ),
        example(
            "§4.10: \"While bindings are too few, the last 16 creations of the last minute tell\"",
            slos(API, [("scheduling", 10.0)]),
            {
                let created = |number: u32| {
                    let created = 10.0 + f64::from(number);
                    let pod = pod(&format!("c{number}")).created(created);
                    (created + 20.0, added(&pod))
                };
                let fifth = (60.0, added(&pod("x").created(40.0)));
                shown(vec![(0..4).map(created).collect(), vec![fifth]], 66.0)
            },
            "slo scheduling bad 3",
        ),
        example(
            "§6.7: \"and at most 10 minutes\"",
            network(API),
            shown(vec![good("b", 2, 10.0, 400.0), bound("x", 20.0, 400.0)], 637.0),
            "slo network good 2
             slo network bad 1",
        ),
    ]
}
