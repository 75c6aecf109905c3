//! What is old and stands still hides nothing that is new ([§13.5](crate::specification#s13-5),
//! [§13.6](crate::specification#s13-6), [§13.8](crate::specification#s13-8)).
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use super::tests::{at, cause, on, pod, pulled, waits};
use super::*;
use podinit_core::lifecycle::{
    Cause, Milestone, MilestoneSource, Outcome, Progress, RecordedMilestone, Stage,
};
use podinit_core::pod::Workload;

/// When something new breaks: 17 hours after a CronJob lost its image.
const BREAKS: i64 = 17 * 3_600;
/// So many pods of the CronJob have failed until then.
const OLD: i64 = 1_100;

/// The pod with an owner in a namespace.
pub(super) fn owned(mut record: Record, namespace: &str, kind: &str, name: &str) -> Record {
    record.pod.namespace = namespace.into();
    record.pod.workload = Some(Arc::new(Workload { kind: kind.into(), name: name.into() }));
    record
}

/// A pod that has failed by `had` since a second, and is told `said`.
pub(super) fn fails(name: &str, image: &str, had: Cause, since: i64, said: &str) -> Record {
    let causes = [cause(Stage::Containers, had, since)];
    let record = on(waits(pod(name, image), since, &causes), name);
    Record { message: Some(said.into()), ..record }
}

/// The pods that have failed for long: one a minute, of one CronJob, or each with an owner and an image of its own.
fn old(apart: bool) -> Vec<Record> {
    let pod = |number: i64| {
        let own = match apart {
            true => number,
            false => 0,
        };
        let (name, image) = (format!("o{number}"), format!("r.example.com/old:{own}"));
        let since = BREAKS - 60 * (OLD - number);
        let record = fails(&name, &image, Cause::Image, since, "manifest unknown");
        match apart {
            true => owned(record, "batch", "Job", &format!("sync-{own}")),
            false => owned(record, "batch", "CronJob", "sync"),
        }
    };
    (0..OLD).map(pod).collect()
}

/// A release of 20 pods that crash, one after the other within ten seconds.
fn release() -> Vec<Record> {
    let pod = |number: i64| {
        let (name, since) = (format!("c{number}"), BREAKS + number / 2);
        let image = "r.example.com/checkout:2";
        let record = fails(&name, image, Cause::Crash, since, "exit code 1");
        owned(record, "shop", "Deployment", "checkout")
    };
    (0..20).map(pod).collect()
}

/// 48 pods of 12 workloads whose registry has gone, within twelve seconds.
fn outage() -> Vec<Record> {
    let pod = |number: i64| {
        let (name, since) = (format!("n{number}"), BREAKS + number / 4);
        let image = format!("r.example.com/app{}:1", number % 12);
        let record = fails(&name, &image, Cause::Image, since, "connection refused");
        owned(record, "shop", "Deployment", &format!("app{}", number % 12))
    };
    (0..48).map(pod).collect()
}

/// What has started well lately, with an image of the same registry.
fn well() -> Vec<Record> {
    let record = |number: i64| {
        let record = pulled(pod(&format!("w{number}"), "r.example.com/web:1"));
        let namespace = ["shop", "web"][usize::from(number % 2 == 0)];
        let mut record = owned(record, namespace, "Deployment", "web");
        record.progress =
            Progress::Ended { outcome: Outcome::Ready, at: at(BREAKS - 60), ending: None };
        record.milestones = vec![RecordedMilestone {
            milestone: Milestone::Ready,
            time: Some(at(BREAKS - 60)),
            source: Some(MilestoneSource::Condition),
        }];
        record
    };
    (0..200).map(record).collect()
}

/// What is stated 30 seconds after `new` began to fail beside what is `old`, of an exporter that looks every 5 seconds.
fn stated(old: &[Record], new: &[Record]) -> Vec<FoundProblem> {
    let well = well();
    let mut over_time = OverTime::default();
    let mut find = |second: i64| {
        let mut finding = ProblemFinding::new(&well, at(second));
        let began = |record: &&Record| record.causes[0].began <= at(second);
        old.iter().chain(new).filter(began).for_each(|record| finding.add(record));
        let problems = finding.finish(&mut over_time).problems.into_iter();
        problems.map(|(problem, _)| problem).collect()
    };
    (BREAKS - 60..BREAKS + 30).step_by(5).for_each(|second| {
        let _: Vec<FoundProblem> = find(second);
    });
    find(BREAKS + 30)
}

/// A problem as "CAUSE DIMENSION VALUE PODS WORKLOADS: MESSAGE".
fn line(problem: &FoundProblem) -> String {
    let (dimension, value) = problem.shared_texts();
    let (cause, said) = (problem.cause.as_str(), problem.message.as_deref());
    let FoundProblem { pods, workloads, .. } = problem;
    format!("{cause} {dimension} {value} {pods} {workloads}: {}", said.unwrap_or_default())
}

#[test]
fn a_release_that_crashes_is_the_first_beside_a_thousand_old_failures() {
    for apart in [false, true] {
        let found = stated(&old(apart), &release());
        assert_eq!(line(&found[0]), "crash workload shop/Deployment/checkout 20 1: exit code 1");
        assert_eq!((found.len(), found[0].since), (2, at(BREAKS)));
    }
}

#[test]
fn a_registry_that_has_gone_is_the_first_beside_a_thousand_old_failures_of_the_same_cause() {
    let of_old = [
        "image image r.example.com/old:0 1100 1: manifest unknown",
        "image namespace batch 1100 1100: manifest unknown",
    ];
    for (apart, of_old) in [false, true].into_iter().zip(of_old) {
        let found = stated(&old(apart), &outage());
        let lines: Vec<String> = found.iter().map(line).collect();
        let of_new = "image registry r.example.com 48 12: connection refused";
        assert_eq!(lines, [of_new, of_old]);
        let since = [found[0].since, found[1].since];
        assert_eq!(since, [at(BREAKS), at(BREAKS - 60 * OLD)]);
    }
}

#[test]
fn what_goes_on_is_one_problem_however_long_it_lasts() {
    // 30 pods a minute for an hour.
    let pod = |number: i64| {
        let image = format!("r.example.com/app{}:1", number % 12);
        let since = BREAKS + 2 * number;
        let name = format!("n{number}");
        let record = fails(&name, &image, Cause::Image, since, "connection refused");
        owned(record, "shop", "Deployment", &format!("app{}", number % 12))
    };
    let pods: Vec<Record> = (0..1_800).map(pod).collect();
    for minutes in [1, 9, 11, 20, 59] {
        let now = BREAKS + 60 * minutes;
        let mut finding = ProblemFinding::new(&well(), at(now));
        let began = |record: &&Record| record.causes[0].began <= at(now - 15);
        pods.iter().filter(began).for_each(|record| finding.add(record));
        let found = finding.finish(&mut OverTime::default()).problems;
        assert_eq!(found.len(), 1, "after {minutes} minutes: {found:#?}");
        let (shared, since) = (found[0].0.shared_texts(), found[0].0.since);
        assert_eq!((shared, since), (("registry", "r.example.com"), at(BREAKS)));
    }
}

#[test]
fn what_is_new_comes_before_what_has_more_pods_and_stands_still() {
    let crashes = |node: &str, number: i64, since: i64| {
        let name = format!("{node}{number}");
        on(fails(&name, "x", Cause::Crash, since, ""), node)
    };
    let config =
        |number: i64, since: i64| fails(&format!("s{number}"), "y", Cause::Config, since, "");
    let now = 4_000;
    let found = |old: i64, new: i64| {
        let crashing = (0..30).map(|number| crashes("a", number, now - 1_801));
        let before = (0..old).map(|number| config(number, now - 1_800));
        let lately = (old..old + new).map(|number| config(number, now - 1_799));
        let pods = crashing.chain(before).chain(lately);
        let found = problems(pods.collect(), &[], at(now));
        found.iter().map(|one| one.cause).collect::<Vec<_>>()
    };
    let (crash, config) = (Cause::Crash, Cause::Config);
    assert_eq!(found(0, 3), [config, crash]);
    // A single pod is no reason to put what has more behind it.
    assert_eq!(found(0, 1), [crash, config]);
    assert_eq!(found(0, 2), [config, crash]);
    assert_eq!(found(8, 1), [config, crash]);
    // One in ten is too few.
    assert_eq!(found(9, 1), [crash, config]);
    assert_eq!(found(9, 0), [crash, config]);
}

/// The problems of these pods at a second, beside 300 that start well, and what was left out.
fn found_at(pods: impl Iterator<Item = Record>, second: i64) -> (Vec<String>, usize) {
    let well: Vec<Record> = (0..300).map(|n| pod(&format!("w{n}"), "other")).collect();
    let mut finding = ProblemFinding::new(&well, at(second));
    pods.for_each(|record| finding.add(&record));
    let found = finding.finish(&mut OverTime::default());
    let name = |(problem, _): &(FoundProblem, _)| problem.shared_texts().1.to_owned();
    (found.problems.iter().map(name).collect(), found.incomplete)
}

#[test]
fn values_that_are_left_out_are_counted() {
    let of = |had: Cause, letter: char, pods: i64| {
        (0..pods).map(move |number| {
            let name = format!("{letter}{number}");
            fails(&name, &format!("r.io/{name}"), had, 100, "")
        })
    };
    let left_out = |pods: i64, second: i64| {
        let all = of(Cause::Image, 'i', pods).chain(of(Cause::Crash, 'c', pods));
        found_at(all, second).1
    };
    // Each has an image and a node of its own.
    assert_eq!([300, 5_000].map(|second| left_out(500, second)), [0, 0]);
    assert!([300, 5_000].map(|second| left_out(501, second) > 0) == [true, true]);
}

#[test]
fn what_many_pods_have_is_looked_at_wherever_they_are_among_the_others() {
    // A third have a workload: the oldest, the newest, or those in the middle.
    for begin in [0, 1_300, 2_600] {
        let pods = (0..4_000).map(|number| {
            let name = match (begin..begin + 1_400).contains(&number) {
                true => "same".to_owned(),
                false => format!("w{number}"),
            };
            let (pod, image) = (format!("p{number}"), format!("i{number}"));
            let record = fails(&pod, &image, Cause::Config, number, "");
            owned(record, "shop", "Job", &name)
        });
        let (names, incomplete) = found_at(pods, 9_000);
        assert!(incomplete > 0);
        assert_eq!(names, ["", "shop/Job/same"], "from {begin}");
    }
}
