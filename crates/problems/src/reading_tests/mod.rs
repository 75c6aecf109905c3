//! What is found, against a second reading of the rules, in random cases and in some that were made by hand.
#![allow(clippy::unwrap_used)]

mod reading;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::tests::at;
use crate::*;
use podinit_core::lifecycle::Progress;
use reading::{Fault, Given, Lack, NOW, Reading, told};

fn implemented(given: &[Given]) -> Vec<String> {
    let records = given.iter().enumerate();
    let records = records.map(|(number, one)| one.record(number));
    let (in_flight, newest): (Vec<Record>, Vec<Record>) =
        records.partition(|record| matches!(record.progress, Progress::InFlight { .. }));
    let second = |time: Timestamp| time.nanos_since(at(0)) / 1_000_000_000;
    let line = |problem: FoundProblem| {
        let (dimension, value) = problem.shared_texts();
        let earlier = problem.earlier.map(|one| (one.pods, second(one.since)));
        let (cause, pods, since) = (problem.cause.as_str(), problem.pods, second(problem.since));
        let (earlier, text) = (told(earlier), problem.message.as_deref().unwrap());
        format!("{cause} {dimension} {value} {pods} since {since}{earlier}: {text}")
    };
    let found = problems(in_flight, &newest, at(NOW)).into_iter();
    found.map(line).collect()
}

prop_compose! {
    /// A pod of few values, most of a set alike, so that all rules come to bear.
    fn one(affected: f64, lacks: Vec<Lack>)(
        image in prop_oneof![4 => Just(0_u8), 3 => 0..6_u8],
        node in prop::option::weighted(0.8, prop_oneof![3 => Just(0_u8), 3 => 0..9_u8]),
        workload in prop::option::weighted(0.8, prop_oneof![4 => Just(0_u8), 2 => 0..9_u8]),
        namespace in prop_oneof![2 => Just(0_u8), 3 => 0..4_u8],
        affected in prop::option::weighted(affected, (
            prop_oneof![
                1 => 1_000..5_000_i64,
                2 => 8_195..8_205_i64,
                // Fifteen minutes before and after it.
                2 => prop::sample::select(vec![7_299_i64, 7_300, 8_200, 9_100, 9_101]),
                4 => 9_800..9_940_i64,
            ],
            prop::sample::select(lacks),
        )),
        ready in 1_000..10_000_i64,
        is_pulled in any::<bool>(),
        claims in (prop::bool::weighted(0.2), prop::bool::weighted(0.2)),
        said in (0..3_u8, prop_oneof![2 => 0..400_u64, 1 => 0..1_u64 << 40]),
    ) -> Given {
        Given { image, node, workload, namespace, affected, ready, is_pulled, claims, said }
    }
}

/// Some have one cause, some have few to compare with.
fn given() -> impl Strategy<Value = Vec<Given>> {
    let lacks = prop_oneof![
        2 => Just(Lack::ALL.to_vec()),
        1 => Just(vec![Lack::Crash]),
        1 => Just(vec![Lack::Image]),
        1 => Just(vec![Lack::Volume]),
        1 => Just(vec![Lack::Claim]),
    ];
    let most = prop_oneof![Just(0.8), Just(0.5), Just(0.9)];
    (most, lacks)
        .prop_flat_map(|(affected, lacks)| prop::collection::vec(one(affected, lacks), 1..60))
}

/// Many nodes that each stand out, beside as many that start well.
fn many_nodes() -> impl Strategy<Value = Vec<Given>> {
    let crowd = prop::collection::vec(one(0.99, vec![Lack::Crash]), 12..80);
    let nodes = 4..16_usize;
    (crowd, nodes, prop::collection::vec(one(0.01, vec![Lack::Crash]), 0..80)).prop_map(
        |(mut crowd, nodes, mut well)| {
            for (number, pod) in crowd.iter_mut().enumerate() {
                // The first nodes have most of the pods.
                let node = (number * number / 7) % nodes;
                pod.node = (number % 11 > 0).then_some(node as u8);
                pod.workload = None;
            }
            for pod in &mut well {
                pod.node = Some(100);
            }
            crowd.extend(well);
            crowd
        },
    )
}

fn any_given() -> impl Strategy<Value = Vec<Given>> {
    prop_oneof![4 => given(), 1 => many_nodes()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_the_rules_say(given in any_given()) {
        prop_assert_eq!(implemented(&given), Reading(None).read(&given));
    }
}

/// Every fault is one that the cases above would show.
#[test]
fn each_fault_in_the_reading_is_noticed() {
    use Fault::*;
    let mut unnoticed = vec![
        TakesStrangers,
        LeavesUnknown,
        ExplainsCounts,
        SixStandOut,
        NineAreEnough,
        TenAreTooFew,
        WorkloadNeedsOthers,
        NamespaceNeedsNone,
        AllRefuteVolumes,
        AllRefuteClaims,
        ClaimsAreMixedUp,
        RoundsUp,
        LeavesOutNone,
        LeavesOutFewest,
        MoreThanFifteen,
        EachTextForItself,
        OldestText,
        OldTakeRefuted,
        NoneStandsStill,
    ];
    let (mut runner, cases) = (TestRunner::deterministic(), any_given());
    let random = (0..2_000).map(|_| cases.new_tree(&mut runner).unwrap().current());
    for given in [explained_before_many_stand_out(), old_and_refuted()].into_iter().chain(random) {
        let right = Reading(None).read(&given);
        unnoticed.retain(|fault| Reading(Some(*fault)).read(&given) == right);
        if unnoticed.is_empty() {
            return;
        }
    }
    assert_eq!(unnoticed, []);
}

/// A pod that crashes, on a node or none.
fn crashes(number: u8, since: i64, node: Option<u8>) -> Given {
    Given {
        image: 0,
        node,
        workload: None,
        namespace: number,
        affected: Some((since, Lack::Crash)),
        ready: 0,
        is_pulled: false,
        claims: (false, false),
        said: (1, 7),
    }
}

fn well(pods: u8) -> impl Iterator<Item = Given> {
    (0..pods).map(|number| Given { affected: None, ..crashes(number % 4, 0, Some(20 + number)) })
}

/// Most pods crash on one node, and the others on six more, two of them alone.
fn explained_before_many_stand_out() -> Vec<Given> {
    let groups = [(1, 250), (2, 7), (3, 5), (4, 4), (5, 3), (6, 3), (7, 3), (8, 1), (9, 1)];
    let pods = groups.into_iter().flat_map(|(node, pods)| {
        let pod = move |number: u16| crashes((number % 4) as u8, 9_900, Some(node));
        (0..pods).map(pod)
    });
    // What they have besides starts well elsewhere.
    well(200).chain(pods).collect()
}

/// Pods on a node that have lacked an image for long, which others have pulled since.
fn old_and_refuted() -> Vec<Given> {
    let of_image = |number, node, affected| Given {
        affected,
        ready: 5_000,
        is_pulled: true,
        ..crashes(number, 0, Some(node))
    };
    let lacking = (0..10).map(|number| of_image(number, 1, Some((1_000, Lack::Image))));
    let pulled = (0..3).map(|number| of_image(number, 2 + number, None));
    well(40).chain(lacking).chain(pulled).collect()
}

#[test]
fn what_explains_is_none_of_the_five_that_stand_out() {
    let found = both(&explained_before_many_stand_out());
    let nodes = [(1, 250), (2, 7), (3, 5), (4, 4), (5, 3), (6, 3)];
    let mut expected = nodes.map(|(node, pods)| format!("crash node node-{node} {pods}")).to_vec();
    expected.insert(2, "crash   5".to_owned());
    assert_eq!(found, expected);
}

#[test]
fn an_image_that_others_have_pulled_since_is_not_at_fault_for_what_is_old() {
    assert_eq!(both(&old_and_refuted()), ["image node node-1 10"]);
}

/// The problems of these pods, in both readings, each without what is said of it.
fn both(given: &[Given]) -> Vec<String> {
    let found = implemented(given);
    assert_eq!(found, Reading(None).read(given));
    let line = |line: &String| line.split(" since ").next().unwrap().to_owned();
    found.iter().map(line).collect()
}

#[test]
fn an_old_set_takes_in_new_pods_that_have_its_value_and_no_others() {
    let old = (0..18).map(|number| crashes(number, 1_000, Some(1)));
    let new = [(9_900, 1), (9_900, 1), (9_950, 2)];
    let new = new.map(|(since, node)| crashes(1, since, Some(node)));
    let given: Vec<Given> = well(40).chain(old).chain(new).collect();
    assert_eq!(both(&given), ["crash node node-1 20", "crash node node-2 1"]);
}

#[test]
fn what_explains_all_takes_those_without_a_value_and_leaves_strangers() {
    let share = |strangers: u8, unbound: u8| {
        let of_node = (0..20 - strangers - unbound).map(|number| crashes(number, 9_900, Some(1)));
        let strangers = (0..strangers).map(|number| crashes(number, 9_900, Some(50 + number)));
        let unbound = (0..unbound).map(|number| crashes(number, 9_900, None));
        let all = well(40).chain(of_node).chain(strangers).chain(unbound);
        both(&all.collect::<Vec<_>>())
    };
    assert_eq!(share(0, 2), ["crash node node-1 20"]);
    let one = "crash node node-50 1";
    assert_eq!(share(1, 0), ["crash node node-1 19", one]);
    assert_eq!(share(1, 1), ["crash node node-1 19", one]);
    // The strangers have nothing in common, and are weighed by themselves.
    assert_eq!(share(2, 0)[0], "crash node node-1 18");
    assert_eq!(share(2, 0).len(), 2);
}

#[test]
fn places_need_ten_to_compare_with() {
    let crashing = |workload: Option<u8>| {
        let pod = move |number| Given { workload, namespace: 9, ..crashes(number, 9_900, Some(1)) };
        (0..4).map(pod)
    };
    let found = |others: u8, workload| {
        let all = well(others).chain(crashing(workload));
        both(&all.collect::<Vec<_>>()).remove(0)
    };
    assert_eq!(found(10, None), "crash node node-1 4");
    assert_eq!(found(9, None), "crash   4");
    // Other dimensions do as before.
    assert_eq!(found(0, None), "crash image r0.io/app0 4");
    assert_eq!(found(9, Some(3)), "crash workload ns9/Deployment/w3 4");
}

#[test]
fn who_claims_nothing_does_not_refute_that_claims_fail() {
    for lack in [Lack::Volume, Lack::Claim] {
        let found = |claims: (bool, bool)| {
            let waiting = (0..4).map(|number| Given {
                affected: Some((9_000, lack)),
                ..crashes(number, 0, Some(1))
            });
            // They became ready on the node meanwhile.
            let later = (0..4).map(|number| Given {
                affected: None,
                ready: 9_500,
                claims,
                ..crashes(number, 0, Some(1))
            });
            let all = well(80).chain(waiting).chain(later);
            both(&all.collect::<Vec<_>>()).remove(0)
        };
        let name = lack.name();
        let (node, nothing) = (format!("{name} node node-1 4"), format!("{name}   4"));
        let is_volume = lack == Lack::Volume;
        assert_eq!(found((false, false)), node);
        assert_eq!(found((!is_volume, is_volume)), node);
        assert_eq!(found((is_volume, !is_volume)), nothing);
    }
}
