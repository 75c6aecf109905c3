//! A second reading of how pods are weighed, grouped and ordered ([§13.4](crate::specification#s13-4) to
//! [§13.6](crate::specification#s13-6)), from the specification alone: each rule as it stands there, of texts, without
//! any index.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::tests::{at, cause, on, pod, pulled, waits};
use super::*;
use crate::lifecycle::{Cause, Milestone, MilestoneSource, Progress, RecordedMilestone, Stage};

const NOW: i64 = 10_000;
/// The dimensions in the order of 13.3 that these pods have.
const DIMENSIONS: [&str; 4] = ["image", "registry", "node", "namespace"];

/// A pod, affected or not, as the generator makes it.
#[derive(Clone, Debug)]
struct Given {
    image: u8,
    node: u8,
    namespace: u8,
    /// Since when it is affected, and whether by a crash
    affected: Option<(i64, bool)>,
    /// When it became ready, and whether it pulled its image
    ready: i64,
    is_pulled: bool,
}

impl Given {
    fn image(&self) -> String {
        format!("r{}.io/app{}", self.image % 2, self.image)
    }

    /// Its value in a dimension.
    fn value(&self, dimension: &str) -> Option<String> {
        let is_crash = self.affected.is_some_and(|(_, is_crash)| is_crash);
        match dimension {
            "image" => Some(self.image()),
            "registry" => (!is_crash).then(|| format!("r{}.io", self.image % 2)),
            "node" => Some(format!("n{}", self.node)),
            _ => Some(format!("ns{}", self.namespace)),
        }
    }

    fn record(&self, number: usize) -> Record {
        let mut record = on(
            pod(&format!("p{number}"), &self.image()),
            &format!("n{}", self.node),
        );
        record.pod.namespace = format!("ns{}", self.namespace).into();
        match self.affected {
            Some((since, is_crash)) => {
                let had = if is_crash { Cause::Crash } else { Cause::Image };
                waits(record, since, &[cause(Stage::Containers, had, since)])
            }
            None => {
                record.milestones = vec![RecordedMilestone {
                    milestone: Milestone::Ready,
                    time: Some(at(self.ready)),
                    source: Some(MilestoneSource::Condition),
                }];
                match self.is_pulled {
                    true => pulled(record),
                    false => record,
                }
            }
        }
    }
}

/// What speaks for a value.
struct Weight {
    dimension: usize,
    value: String,
    a: u64,
    k: u64,
    h: u64,
    explains: bool,
    stands_out: bool,
}

/// 13.4.
fn weigh(set: &[&Given], well: &[&Given], is_crash: bool) -> Vec<Weight> {
    let mut all = Vec::new();
    for (place, dimension) in DIMENSIONS.into_iter().enumerate() {
        let values: BTreeSet<String> = set.iter().filter_map(|one| one.value(dimension)).collect();
        for value in values {
            let has = |one: &&&Given| one.value(dimension).as_ref() == Some(&value);
            let with: Vec<&&Given> = set.iter().filter(has).collect();
            let mut since: Vec<i64> = with.iter().map(|one| one.affected.unwrap().0).collect();
            since.sort_unstable();
            let median = since[since.len() / 2];
            let of_images = !is_crash && place < 2;
            let healthy = |one: &&&Given| one.ready > median && (!of_images || one.is_pulled);
            let h = well.iter().filter(has).filter(healthy).count() as u64;
            let (a, s) = (with.len() as u64, set.len() as u64);
            let (n, k) = (well.len() as u64, well.iter().filter(has).count() as u64);
            let images: BTreeSet<String> = with.iter().map(|one| one.image()).collect();
            let may = 2 * h <= a && (dimension != "registry" || images.len() >= 3);
            let times = |halves: u64| 2 * a * (n + 2) >= halves * s * (k + 1);
            all.push(Weight {
                dimension: place,
                explains: may && 10 * a >= 9 * s && (of_images || times(3)),
                stands_out: may && a >= 3 && 5 * a >= s && (of_images && 2 * a >= s || times(8)),
                value,
                a,
                k,
                h,
            });
        }
    }
    all
}

/// A problem: its dimension and value, and its pods.
type Group<'a> = (Option<(usize, String)>, Vec<&'a Given>);

/// 13.5, from 1 on.
fn grouped<'a>(set: &[&'a Given], well: &[&Given], is_crash: bool, is_old: bool) -> Vec<Group<'a>> {
    let (mut rest, mut found, mut standing_out) = (set.to_vec(), Vec::new(), 0);
    while !rest.is_empty() {
        let mut weights = weigh(&rest, well, is_crash);
        let at_fault = |dimension: usize| {
            let fits = move |one: &Weight| {
                one.dimension == dimension && one.explains && !(is_old && one.h > 0)
            };
            weights.iter().position(fits).filter(|_| !is_crash)
        };
        let taken = match at_fault(0).or_else(|| at_fault(1)) {
            Some(place) => weights.swap_remove(place),
            None => {
                weights.retain(|one| one.explains || one.stands_out && standing_out < 5);
                // For other causes an image stands last.
                let last = |one: &Weight| match is_crash && one.dimension == 0 {
                    true => DIMENSIONS.len(),
                    false => one.dimension,
                };
                let s = rest.len() as u64;
                weights.sort_by(|one, other| {
                    let covers = (other.a * (s + 4 * one.h)).cmp(&(one.a * (s + 4 * other.h)));
                    let tie = |one: &Weight| (one.k, last(one), one.value.clone());
                    covers.then_with(|| tie(one).cmp(&tie(other)))
                });
                match weights.into_iter().next() {
                    Some(first) => first,
                    None => break,
                }
            }
        };
        let shared = Some((taken.dimension, taken.value.clone()));
        if taken.explains {
            found.push((shared, std::mem::take(&mut rest)));
        } else {
            standing_out += 1;
            let has = |one: &&Given| {
                one.value(DIMENSIONS[taken.dimension]).as_ref() == Some(&taken.value)
            };
            let (with, without) = rest.into_iter().partition(has);
            found.push((shared, with));
            rest = without;
        }
    }
    if !rest.is_empty() {
        found.push((None, rest));
    }
    found
}

fn is_old(one: &Given) -> bool {
    one.affected.unwrap().0 <= NOW - 1_800
}

fn stands_still(pods: &[&Given]) -> bool {
    let old = pods.iter().filter(|one| is_old(one)).count();
    old * 10 >= pods.len() * 9
}

/// 13.5 and 13.6: each problem as "CAUSE DIMENSION VALUE PODS".
fn read(given: &[Given]) -> Vec<String> {
    let well: Vec<&Given> = given.iter().filter(|one| one.affected.is_none()).collect();
    let mut stated: Vec<(bool, usize, i64, String, String, String)> = Vec::new();
    for is_crash in [true, false] {
        let of_cause = |one: &&Given| one.affected.is_some_and(|(_, other)| other == is_crash);
        let set: Vec<&Given> = given.iter().filter(of_cause).collect();
        let (old, mut new): (Vec<&Given>, Vec<&Given>) =
            set.into_iter().partition(|one| is_old(one));
        let (mut problems, mut rest): (Vec<Group<'_>>, Vec<&Given>) = (Vec::new(), Vec::new());
        for (shared, mut pods) in grouped(&old, &well, is_crash, true) {
            if let Some((dimension, value)) = &shared {
                let has = |one: &&Given| one.value(DIMENSIONS[*dimension]).as_ref() == Some(value);
                let (joined, others): (Vec<&Given>, Vec<&Given>) = new.into_iter().partition(has);
                pods.extend(joined);
                new = others;
            }
            match shared.is_some() && stands_still(&pods) {
                true => problems.push((shared, pods)),
                false => rest.extend(pods),
            }
        }
        rest.extend(new);
        problems.extend(grouped(&rest, &well, is_crash, false));
        // A problem is its cause, dimension and value.
        let mut merged: Vec<Group<'_>> = Vec::new();
        for (shared, pods) in problems {
            match merged.iter_mut().find(|(other, _)| *other == shared) {
                Some((_, others)) => others.extend(pods),
                None => merged.push((shared, pods)),
            }
        }
        for (shared, pods) in merged {
            let since = pods
                .iter()
                .map(|one| one.affected.unwrap().0)
                .min()
                .unwrap();
            let (dimension, value) = shared.map_or_else(Default::default, |(dimension, value)| {
                (DIMENSIONS[dimension].to_owned(), value)
            });
            let cause = if is_crash { "crash" } else { "image" };
            stated.push((
                pods.len() > 1 && !stands_still(&pods),
                pods.len(),
                since,
                cause.to_owned(),
                value,
                dimension,
            ));
        }
    }
    stated.sort_by(|one, other| {
        let what_is_new = other.0.cmp(&one.0);
        let pods = what_is_new.then_with(|| other.1.cmp(&one.1));
        pods.then_with(|| (one.2, &one.3, &one.4).cmp(&(other.2, &other.3, &other.4)))
    });
    let line =
        |(_, pods, _, cause, value, dimension): (bool, usize, i64, String, String, String)| {
            format!("{cause} {dimension} {value} {pods}")
        };
    stated.into_iter().map(line).collect()
}

fn implemented(given: &[Given]) -> Vec<String> {
    let records = given.iter().enumerate();
    let records = records.map(|(number, one)| one.record(number));
    let (in_flight, newest): (Vec<Record>, Vec<Record>) =
        records.partition(|record| matches!(record.progress, Progress::InFlight { .. }));
    let line = |problem: Problem| {
        let (dimension, value) = problem.shared_texts();
        format!(
            "{} {dimension} {value} {}",
            problem.cause.as_str(),
            problem.pods
        )
    };
    let found = problems(in_flight, &newest, at(NOW)).into_iter();
    found.map(line).collect()
}

/// Pods of few values, most of a set alike, so that all rules come to bear.
fn given() -> impl Strategy<Value = Vec<Given>> {
    let since = prop_oneof![1_000..5_000_i64, 8_195..8_205_i64, 9_800..9_980_i64];
    let affected = prop::option::weighted(0.8, (since, any::<bool>()));
    let one = (
        prop_oneof![4 => Just(0_u8), 3 => 0..6_u8],
        prop_oneof![3 => Just(0_u8), 3 => 0..9_u8],
        prop_oneof![2 => Just(0_u8), 3 => 0..4_u8],
        affected,
        1_000..10_000_i64,
        any::<bool>(),
    );
    let one = one.prop_map(
        |(image, node, namespace, affected, ready, is_pulled)| Given {
            image,
            node,
            namespace,
            affected,
            ready,
            is_pulled,
        },
    );
    prop::collection::vec(one, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_the_rules_say(given in given()) {
        prop_assert_eq!(implemented(&given), read(&given));
    }
}

#[test]
fn an_old_set_takes_in_new_pods_that_have_its_value_and_no_others() {
    let one = |number: u8, since: i64, node: u8| Given {
        image: 0,
        node,
        namespace: number,
        affected: Some((since, true)),
        ready: 0,
        is_pulled: false,
    };
    let well = (0..40).map(|number| Given {
        affected: None,
        ..one(number % 4, 0, 20 + number)
    });
    let old = (0..18).map(|number| one(number, 1_000, 1));
    let new = [one(1, 9_900, 1), one(2, 9_900, 1), one(3, 9_950, 2)];
    let given: Vec<Given> = well.chain(old).chain(new).collect();
    let expected = ["crash node n1 20", "crash node n2 1"];
    assert_eq!(implemented(&given), expected);
    assert_eq!(read(&given), expected);
}
