//! What is found, against a second reading of the rules, in random cases and in some that were made by hand.
#![allow(clippy::unwrap_used)]

mod faults;
mod given;
mod lives;
mod reading;
mod told_tests;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::tests::at;
use crate::*;
use faults::Told;
use given::{Given, Lack};
use lives::any_given;
use podinit_core::lifecycle::Progress;
use reading::{Fault, NOW, Reading};

fn implemented(given: &[Given]) -> Vec<String> {
    let records = given.iter().enumerate();
    let records = records.map(|(number, one)| one.record(number));
    let (in_flight, newest): (Vec<Record>, Vec<Record>) =
        records.partition(|record| matches!(record.progress, Progress::InFlight { .. }));
    let second = |time: Timestamp| time.nanos_since(at(0)) / 1_000_000_000;
    let line = |problem: FoundProblem| {
        let told = told(&problem);
        let (dimension, value) = problem.shared_texts();
        let earlier = problem.earlier.map(|one| (one.pods, second(one.since)));
        let causes = problem.causes().into_iter().map(|(cause, pods)| (cause.as_str(), pods));
        let causes = match problem.kind {
            ProblemKind::SeveralCauses(_) => reading::causes_line(causes),
            _ => problem.cause.as_str().to_owned(),
        };
        reading::line(
            (&causes, dimension, value),
            problem.pods,
            second(problem.since),
            earlier,
            told,
        )
    };
    let found = problems(in_flight, &newest, at(NOW)).into_iter();
    ordered(found.map(line).collect())
}

/// What is told of the pods of a problem.
fn told(problem: &FoundProblem) -> Told {
    let quoted = problem.message.as_deref().map(|text| (text.to_owned(), problem.message_pods));
    let next = problem.next_message.as_ref().map(|(text, pods)| (text.to_string(), *pods));
    let named = problem.oldest.iter().map(|pod| pod.name.to_string()).collect();
    Told { quoted, texts: problem.told, next, reasons: problem.untold_faults, named }
}

/// The lines, where those that come in no certain order (of as many pods, since the same time) are in that of texts.
fn ordered(mut lines: Vec<String>) -> Vec<String> {
    let known = |line: &str| line.split([':', '(']).next().unwrap().trim().to_owned();
    for run in lines.chunk_by_mut(|one, other| known(one) == known(other)) {
        run.sort();
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_is_what_the_rules_say(given in any_given()) {
        prop_assert_eq!(implemented(&given), read(&given));
    }
}

fn read(given: &[Given]) -> Vec<String> {
    ordered(Reading(None).read(given))
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
        EndsAreOfOneKind,
        NothingLinks,
        OneLinks,
        ThreeLink,
        AThirdLinks,
        AnyPartLinks,
        TwoEndsStay,
        FourEndsStay,
        TwoCausesAreSeveral,
        NothingIsDivided,
        SchedulerDivides,
        VolumesDivideNothing,
        NoPodIsLeftOver,
        TwoPodsMayBeLeftOver,
        AnyTenthMayBeLeftOver,
        AnyMajorityStays,
        FourFaults,
        SixFaults,
        SinglesAreTold,
        SinglesAreLeft,
        FaultsHaveNoValue,
        AllPodsCount,
        AThirdIsNext,
        AnyIsNext,
        NamedByAgeAlone,
        RegistriesNeedAHalf,
        RegistriesOfSomeKinds,
        RegistriesMayShareAKind,
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
        said: Some((1, 7)),
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
    assert_eq!(found, read(given));
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
