//! [§7.5](crate::specification#s7-5) for the values of `gate`, read a second time: plain, slow, and held against random
//! pods that come and go for days. Wrong readings have to show.

use std::collections::{BTreeMap, BTreeSet};

use crate::metrics::label_places::{gated, held, of_gates, replayed_with};
use podinit_testing::random::same_in_every_run;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const HOUR: i64 = 3600;

/// A pod with scheduling gates that comes at an hour and goes at another, still in flight.
#[derive(Clone, Debug)]
struct Pod {
    namespace: u8,
    gates: Vec<u8>,
    from: i64,
    to: i64,
}

fn pods() -> impl Strategy<Value = Vec<Pod>> {
    let gates = prop::collection::btree_set(0..6_u8, 1..4);
    let pod = (0..3_u8, gates, 1..30_i64, 1..60_i64);
    prop::collection::vec(pod, 1..16).prop_map(|pods| {
        let mut hour = 0;
        let pods = pods.into_iter().map(|(namespace, gates, later, life)| {
            hour += later;
            Pod { namespace, gates: gates.into_iter().collect(), from: hour, to: hour + life }
        });
        pods.collect()
    })
}

/// The clauses that can be got wrong.
#[derive(Clone, Copy)]
struct Rules {
    kept_hours: i64,
    share: fn(usize) -> usize,
    /// Whether a pod in flight keeps the place of its gates, and moves to one
    keeps: bool,
    moves: bool,
    oldest_first: bool,
    counts_pods: bool,
}

const RULES: Rules = Rules {
    kept_hours: 24,
    share: |cap| (cap / 2).max(1),
    keeps: true,
    moves: true,
    oldest_first: true,
    counts_pods: true,
};

/// What a scrape shows: the pods that each gate holds, those of the rest among them; overflows; values that have ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    held: BTreeMap<String, usize>,
    overflow: usize,
    expired: usize,
}

struct Place {
    gate: u8,
    namespace: u8,
    /// When a pod with it has gone last
    left: i64,
}

fn read(pods: &[Pod], cap: usize, rules: Rules) -> Figures {
    let mut figures = Figures::default();
    let mut places: Vec<Place> = Vec::new();
    let mut in_flight: Vec<usize> = Vec::new();
    // Pods and gates that count under the rest.
    let mut rest: BTreeSet<(usize, u8)> = BTreeSet::new();
    for (at, comes, number) in events(pods) {
        let Pod { namespace, gates, .. } = &pods[number];
        if !comes {
            in_flight.retain(|other| *other != number);
            rest.retain(|(other, _)| *other != number);
            let own = places.iter_mut().filter(|place| gates.contains(&place.gate));
            own.for_each(|place| place.left = at);
            continue;
        }
        in_flight.push(number);
        let mut past_the_cap = 0;
        for gate in gates {
            if places.iter().all(|place| place.gate != *gate) {
                let taken = places.iter().filter(|place| place.namespace == *namespace).count();
                let is_spent = taken >= (rules.share)(cap);
                let new = Place { gate: *gate, namespace: *namespace, left: at };
                let has_pods = |place: &Place| {
                    in_flight.iter().any(|other| pods[*other].gates.contains(&place.gate))
                };
                if !is_spent && places.len() < cap {
                    places.push(new);
                } else {
                    let free = places.iter().enumerate().filter(|(_, place)| {
                        (!is_spent || place.namespace == *namespace)
                            && !(rules.keeps && has_pods(place))
                            && at - place.left >= rules.kept_hours * HOUR
                    });
                    let sign = if rules.oldest_first { 1 } else { -1 };
                    let free = free.min_by_key(|(_, place)| sign * place.left);
                    if let Some(free) = free.map(|(index, _)| index) {
                        places[free] = new;
                        figures.expired += 1;
                    }
                }
            }
            if places.iter().all(|place| place.gate != *gate) {
                past_the_cap += 1;
                rest.insert((number, *gate));
            } else if rules.moves {
                rest.retain(|(_, other)| other != gate);
            }
        }
        figures.overflow += if rules.counts_pods { past_the_cap.min(1) } else { past_the_cap };
    }
    for number in in_flight {
        for gate in &pods[number].gates {
            let shown =
                if rest.contains(&(number, *gate)) { OTHER.to_owned() } else { name(*gate) };
            *figures.held.entry(shown).or_default() += 1;
        }
    }
    figures
}

const OTHER: &str = "_other";

fn name(gate: u8) -> String {
    format!("example.com/{gate}")
}

/// When each pod comes and goes, until the last has come; no two at once.
fn events(pods: &[Pod]) -> Vec<(i64, bool, usize)> {
    let both = |(number, pod): (usize, &Pod)| {
        let later = 1 + number as i64;
        [(pod.from * HOUR + later, true, number), (pod.to * HOUR + 1_800 + later, false, number)]
    };
    let mut events: Vec<_> = pods.iter().enumerate().flat_map(both).collect();
    events.sort_unstable();
    let last = events.iter().rposition(|(_, comes, _)| *comes);
    events.truncate(last.map_or(0, |last| last + 1));
    events
}

/// What `podinit replay` makes of them.
fn replayed(pods: &[Pod], cap: usize) -> Figures {
    let lines = events(pods).into_iter().map(|(at, comes, number)| {
        let Pod { namespace, gates, .. } = &pods[number];
        let gates: Vec<String> = gates.iter().copied().map(name).collect();
        let gates: Vec<&str> = gates.iter().map(String::as_str).collect();
        let names = (&*format!("ns-{namespace}"), &*format!("pod-{number}"));
        gated(if comes { "ADDED" } else { "DELETED" }, at, names, &gates)
    });
    let scrape = replayed_with(cap, lines.collect());
    scrape.assert_conserved();
    let held = held(&scrape).into_iter().map(|(gate, pods)| (gate, pods as usize));
    let of_gates = |family| of_gates(&scrape, family).unwrap_or_default() as usize;
    Figures {
        held: held.collect(),
        overflow: of_gates("overflow_pods"),
        expired: of_gates("values_expired"),
    }
}

#[test]
fn places_go_from_gate_to_gate_as_the_specification_says_and_wrong_readings_show() {
    let mutants = [
        ("KeepsThemFor23Hours", Rules { kept_hours: 23, ..RULES }),
        ("KeepsThemFor25Hours", Rules { kept_hours: 25, ..RULES }),
        ("KeepsThemForEver", Rules { kept_hours: i64::MAX / HOUR, ..RULES }),
        ("GivesANamespaceAllPlaces", Rules { share: |cap| cap, ..RULES }),
        ("GivesANamespaceTheLargerHalf", Rules { share: |cap| cap.div_ceil(2), ..RULES }),
        ("GivesNoneOfASinglePlace", Rules { share: |cap| cap / 2, ..RULES }),
        ("EndsWhatPodsInFlightHave", Rules { keeps: false, ..RULES }),
        ("LeavesPodsInFlightWithTheRest", Rules { moves: false, ..RULES }),
        ("EndsTheNewestFirst", Rules { oldest_first: false, ..RULES }),
        ("CountsGatesForPods", Rules { counts_pods: false, ..RULES }),
    ];
    let mut alive: BTreeSet<&str> = mutants.iter().map(|(name, _)| *name).collect();
    let mut runner = TestRunner::new(same_in_every_run(1));
    for _ in 0..400 {
        let drawn = (pods(), 1..6_usize).new_tree(&mut runner).unwrap();
        let (pods, cap) = drawn.current();
        let found = replayed(&pods, cap);
        assert_eq!(found, read(&pods, cap, RULES), "{cap} places, {pods:?}");
        for (name, rules) in mutants {
            if found != read(&pods, cap, rules) {
                alive.remove(name);
            }
        }
    }
    assert!(alive.is_empty(), "{alive:?}");
}
