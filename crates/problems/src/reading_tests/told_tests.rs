//! Several faults at once, worked by hand: each problem as "CAUSE DIMENSION VALUE PODS: WHAT IS QUOTED".
#![allow(clippy::unwrap_used)]

use super::given::{Given, Lack};
use super::{crashes, implemented, ordered, read, well};

/// So many pods of a workload, if any, of which such a text is told, if any.
fn told(
    lack: Lack,
    workload: impl Into<Option<u8>>,
    kind: impl Into<Option<u8>>,
    pods: u8,
) -> Vec<Given> {
    let (workload, kind) = (workload.into(), kind.into());
    let pod = |number| Given {
        image: workload.unwrap_or(number) + 6,
        workload,
        affected: Some((9_900, lack)),
        said: kind.map(|kind| (kind, 2)),
        ..crashes(0, 0, None)
    };
    (0..pods).map(pod).collect()
}

/// Pods that crash, each set of a workload, a kind of text and a number.
fn crash(sets: &[(u8, u8, u8)]) -> Vec<Given> {
    let pods = sets.iter().map(|(workload, kind, pods)| told(Lack::Crash, *workload, *kind, *pods));
    pods.flatten().collect()
}

/// Pods of registries that lack their images: each with so many of a kind of text, of three images.
fn without_images(registries: &[(u8, u8, u8)]) -> Vec<Given> {
    let of_registry = |(registry, kind, pods): &(u8, u8, u8)| {
        let pod = |number| (24 + 8 * (number % 3) + *registry, number);
        let one = |(image, number): (u8, u8)| Given {
            image,
            workload: Some(20 * *registry + number),
            ..told(Lack::Image, 0, *kind, 1).remove(0)
        };
        (0..*pods).map(pod).map(one).collect::<Vec<_>>()
    };
    registries.iter().flat_map(of_registry).collect()
}

const SECRET: &str = "secret \"tokens\" not found";
const LOOKUP: &str = "lookup kafka-0.kafka.batch.svc: server misbehaving";
const OPEN: &str = "open /etc/tokens/database.conf: permission denied";
const UNAVAILABLE: &str = "HTTP probe failed with statuscode: 503";

type Example = (&'static str, Vec<Given>, Vec<String>);

fn examples() -> Vec<Example> {
    let w = |number: u8, pods: u8, told: &str| {
        format!("crash workload ns0/Deployment/w{number} {pods}: {told}")
    };
    let none = |pods: u8, told: &str| format!("crash   {pods}: {told}");
    let mut all: Vec<Example> = vec![
        (
            "two faults of two workloads",
            crash(&[(1, 3, 10), (2, 5, 6)]),
            vec![w(1, 10, SECRET), w(2, 6, LOOKUP)],
        ),
        (
            "a fault of two workloads has no value",
            crash(&[(1, 3, 4), (2, 3, 4), (3, 5, 6)]),
            vec![none(8, SECRET), w(3, 6, LOOKUP)],
        ),
        (
            "one pod of another fault is left in",
            crash(&[(1, 3, 5), (2, 3, 5), (3, 5, 1)]),
            vec![none(11, SECRET)],
        ),
        (
            "two are not",
            crash(&[(1, 3, 10), (2, 3, 10), (3, 5, 2)]),
            vec![none(20, SECRET), w(3, 2, LOOKUP)],
        ),
        (
            "nor is one where the others are fewer than nine tenths",
            crash(&[(1, 3, 4), (2, 3, 4), (3, 5, 1)]),
            vec![none(8, SECRET), w(3, 1, LOOKUP)],
        ),
        (
            "a workload links two kinds, of which another has one",
            crash(&[(1, 3, 3), (1, 5, 5), (2, 5, 4), (3, 4, 4)]),
            vec![none(12, &format!("{LOOKUP} (9 of 12), {SECRET} (3)")), w(3, 4, OPEN)],
        ),
        (
            "linked by others",
            crash(&[(1, 3, 3), (1, 5, 3), (2, 5, 3), (2, 4, 3), (3, 6, 4), (4, 6, 4)]),
            vec![none(12, &format!("{LOOKUP} (6 of 12), {SECRET} (3)")), none(8, UNAVAILABLE)],
        ),
        (
            "one pod links nothing",
            crash(&[(1, 3, 3), (1, 5, 1), (2, 5, 5)]),
            vec![none(6, LOOKUP), w(1, 3, SECRET)],
        ),
        (
            "two pods of nine link nothing",
            crash(&[(1, 3, 7), (1, 5, 2), (2, 5, 3)]),
            vec![w(1, 7, SECRET), none(5, LOOKUP)],
        ),
        (
            "how a container ended is a fault of each workload",
            crash(&[(1, 10, 4), (2, 10, 3), (3, 11, 2)]),
            vec![
                w(1, 4, "exit code 1, 2 restarts"),
                w(2, 3, "exit code 1, 2 restarts"),
                w(3, 2, "OOMKilled, exit code 137, 2 restarts"),
            ],
        ),
        (
            "more than three of these are one",
            crash(&[(1, 10, 4), (2, 10, 3), (3, 11, 3), (4, 12, 2), (5, 3, 2)]),
            vec![
                none(
                    12,
                    "exit code 1, 2 restarts (7 of 12), OOMKilled, exit code 137, 2 restarts (3)",
                ),
                w(5, 2, SECRET),
            ],
        ),
        (
            "the exit code is a word",
            crash(&[(1, 8, 3), (2, 9, 4)]),
            vec![
                w(2, 4, "exit code 2, 2 restarts: cannot reach tokens/database"),
                w(1, 3, "exit code 1, 2 restarts: cannot reach tokens/database"),
            ],
        ),
        (
            "the status code is a word",
            crash(&[(1, 6, 3), (2, 7, 4)]),
            vec![w(2, 4, "HTTP probe failed with statuscode: 404"), w(1, 3, UNAVAILABLE)],
        ),
        (
            "single pods are problems where there are five faults",
            crash(&[(1, 3, 3), (2, 5, 2), (3, 4, 1), (4, 6, 1), (5, 7, 1)]),
            vec![
                w(1, 3, SECRET),
                w(2, 2, LOOKUP),
                w(3, 1, OPEN),
                w(4, 1, UNAVAILABLE),
                w(5, 1, "HTTP probe failed with statuscode: 404"),
            ],
        ),
        (
            "of six faults those are left",
            crash(&[(1, 3, 3), (2, 5, 2), (3, 4, 1), (4, 6, 1), (5, 7, 1), (6, 14, 1)]),
            vec![none(4, "for 4 different reasons"), w(1, 3, SECRET), w(2, 2, LOOKUP)],
        ),
        (
            "the sixth fault is left",
            crash(&[(1, 3, 7), (2, 5, 6), (3, 4, 5), (4, 6, 4), (5, 8, 3), (6, 14, 2)]),
            vec![
                w(1, 7, SECRET),
                w(2, 6, LOOKUP),
                w(3, 5, OPEN),
                w(4, 4, UNAVAILABLE),
                w(5, 3, "exit code 1, 2 restarts: cannot reach tokens/database"),
                none(2, "no reason"),
            ],
        ),
        (
            "what a value is found for is not divided",
            crash(&[(1, 3, 6), (1, 5, 4)]),
            vec![w(1, 10, &format!("{SECRET} (6 of 10), {LOOKUP} (4)"))],
        ),
        (
            "the next text needs a quarter",
            crash(&[(1, 3, 8), (1, 5, 2), (1, 4, 1)]),
            vec![w(1, 11, &format!("{SECRET} (8 of 11)"))],
        ),
        (
            "two faults of one workload are one problem",
            crash(&[(1, 3, 7), (1, 5, 2), (2, 4, 5)]),
            vec![w(1, 9, &format!("{SECRET} (7 of 9)")), w(2, 5, OPEN)],
        ),
    ];
    let silent = told(Lack::Crash, 3, None, 4);
    all.push((
        "pods without a text are left",
        [crash(&[(1, 3, 6), (2, 5, 5)]), silent.clone()].concat(),
        vec![w(1, 6, SECRET), w(2, 5, LOOKUP), none(4, "no reason")],
    ));
    all.push((
        "pods without a text stay in a problem of one fault",
        [crash(&[(1, 3, 6), (2, 3, 5)]), silent].concat(),
        vec![none(15, SECRET)],
    ));
    all.push((
        "that it is tried again is no text",
        [crash(&[(1, 3, 6), (2, 5, 5)]), told(Lack::Crash, 3, 15, 4)].concat(),
        vec![w(1, 6, SECRET), w(2, 5, LOOKUP), none(4, "no reason")],
    ));
    let of_lack = |lack| [told(lack, 1, 3, 5), told(lack, 2, 5, 5), told(lack, 2, 5, 1)].concat();
    all.push((
        "a full cluster is one problem",
        of_lack(Lack::Resources),
        vec![format!("resources   11: {LOOKUP} (6 of 11), {SECRET} (5)")],
    ));
    for lack in [Lack::Volume, Lack::Claim] {
        let name = lack.name();
        all.push((
            "volumes and claims divide",
            of_lack(lack),
            vec![
                format!("{name} workload ns0/Deployment/w2 6: {LOOKUP}"),
                format!("{name} workload ns0/Deployment/w1 5: {SECRET}"),
            ],
        ));
    }
    let registry =
        |number: u8, pods: u8, told: &str| format!("image registry r{number}.io {pods}: {told}");
    all.push((
        "two registries with words of their own, of three tenths and a quarter",
        without_images(&[(1, 3, 6), (2, 5, 5), (3, 6, 3), (4, 6, 3), (5, 6, 3)]),
        vec![format!("image   9: {UNAVAILABLE}"), registry(1, 6, SECRET), registry(2, 5, LOOKUP)],
    ));
    all.push((
        "a resolver that is down is no fault of each registry",
        without_images(&[(1, 5, 5), (2, 5, 5), (3, 5, 5)]),
        vec![format!("image   15: {LOOKUP}")],
    ));
    all
}

/// Without since when, and without the pods that are named.
fn shortened(lines: Vec<String>) -> Vec<String> {
    let short = |line: String| {
        let (shared, told) = line.split_once(": ").unwrap();
        let told = told.split(", such as").next().unwrap();
        format!("{}: {told}", shared.split(" since ").next().unwrap())
    };
    lines.into_iter().map(short).collect()
}

#[test]
fn the_rules_say_what_was_worked_by_hand() {
    for (says, given, expected) in examples() {
        assert_eq!(shortened(read(&given)), expected, "{says}");
    }
}

#[test]
fn what_is_found_is_what_was_worked_by_hand() {
    for (says, given, expected) in examples() {
        let found = implemented(&given);
        assert_eq!(shortened(found.clone()), expected, "{says}");
        assert_eq!(found, read(&given), "{says}");
    }
}

#[test]
fn the_pods_that_are_named_have_the_text_that_is_quoted() {
    let mut given = crash(&[(1, 5, 4), (1, 3, 6)]);
    for (number, pod) in given.iter_mut().enumerate() {
        pod.affected = Some((9_000 + 10 * number as i64, Lack::Crash));
    }
    let named = |lines: Vec<String>| lines[0].split("such as ").nth(1).unwrap().to_owned();
    assert_eq!(named(read(&given)), "p4 p5 p6");
    assert_eq!(named(implemented(&given)), "p4 p5 p6");
}

#[test]
fn a_registry_that_fails_in_its_own_words_needs_no_half_of_the_group() {
    let given: Vec<Given> = without_images(&[(1, 3, 5), (2, 5, 5), (3, 6, 5)]);
    let all = ordered(shortened(read(&[given, well(8).collect()].concat())));
    let of = |number: u8, told: &str| format!("image registry r{number}.io 5: {told}");
    assert_eq!(all, [of(1, SECRET), of(2, LOOKUP), of(3, UNAVAILABLE)]);
}
