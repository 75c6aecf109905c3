//! Problems over time, against a reading of the rules that keeps every finding and looks back through all of
//! them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use super::*;
use crate::tests::{at, cause, on, pod, waits};
use crate::{FindingResult, ProblemFinding, find};
use podinit_core::lifecycle::{NodeFaults, Record, Stage};

/// A pod that has had `cause` since `since`.
fn affected(name: &str, image: &str, node: &str, had: Cause, since: i64) -> Record {
    let record = waits(pod(name, image), since, &[cause(Stage::Containers, had, since)]);
    on(record, node)
}

fn finding(over_time: &mut OverTime, pods: &[Record], second: i64) -> FindingResult {
    let mut finding = ProblemFinding::new(&[], at(second));
    pods.iter().for_each(|record| finding.add(record));
    finding.finish(over_time)
}

/// What makes a problem the same as an earlier one.
type ProblemKey = (Cause, Option<(Dimension, Arc<str>)>, Option<u64>);

fn key(problem: &FoundProblem) -> ProblemKey {
    (problem.cause, problem.shared.clone(), problem.fault)
}

/// What is stated, as "CAUSE DIMENSION VALUE PODS", and what has ended.
fn lines(found: &FindingResult) -> (Vec<String>, Vec<String>) {
    let line = |problem: &FoundProblem| {
        let (dimension, value) = problem.shared_texts();
        format!("{} {dimension} {value} {}", problem.cause.as_str(), problem.pods)
    };
    let ended = found.ended.iter().map(|ended| line(&ended.problem));
    let problems = found.problems.iter().map(|(problem, _)| line(problem));
    (problems.collect(), ended.collect())
}

fn of_image(images: &[&str]) -> Vec<Record> {
    let all = images.iter().enumerate();
    let pod = |(n, image): (usize, &&str)| {
        affected(&format!("a{n}"), image, &format!("n{n}"), Cause::Image, 0)
    };
    all.map(pod).collect()
}

const REGISTRY: [&str; 4] = ["r.io/a", "r.io/b", "r.io/c", "r.io/d"];

#[test]
fn another_result_is_stated_once_it_stands_and_a_new_name_is_no_end() {
    let (mut over_time, none) = (OverTime::default(), Vec::<String>::new());
    let mut at_second =
        |images: &[&str], second| lines(&finding(&mut over_time, &of_image(images), second));
    let one = "image image r.io/a 1";
    assert_eq!(at_second(&REGISTRY[..1], 100).0, [one]);
    // The others have another image: they are no part of the set that was stated with the first one.
    let both = ["image registry r.io 3", one];
    assert_eq!(at_second(&REGISTRY, 105), (both.map(str::to_owned).to_vec(), none.clone()));
    assert_eq!(at_second(&REGISTRY, 134).0, both);
    assert_eq!(at_second(&REGISTRY, 135), (vec!["image registry r.io 4".to_owned()], none));
}

#[test]
fn a_result_of_a_moment_changes_nothing() {
    let mut over_time = OverTime::default();
    let mut at_second = |pods: &[Record], second| lines(&finding(&mut over_time, pods, second)).0;
    let pods = of_image(&REGISTRY);
    assert_eq!(at_second(&pods, 100), ["image registry r.io 4"]);
    let mut mixed = pods.clone();
    mixed.extend((5..9).map(|n| {
        let (name, image) = (format!("a{n}"), format!("q{n}.io/x"));
        affected(&name, &image, &format!("n{n}"), Cause::Image, 50)
    }));
    let stated = at_second(&mixed, 105);
    assert!(stated.contains(&"image registry r.io 4".to_owned()), "{stated:?}");
    // The other result is found again and again, but never for 30 s without a break.
    for second in (110..400).step_by(5) {
        let pods = if second % 25 == 0 { &pods } else { &mixed };
        let stated = at_second(pods, second);
        assert!(stated.contains(&"image registry r.io 4".to_owned()), "{second}: {stated:?}");
    }
}

#[test]
fn a_problem_keeps_its_earliest_time_and_is_kept_for_ten_minutes_as_ended() {
    let mut over_time = OverTime::default();
    let old = affected("a0", "x", "n0", Cause::Crash, 10);
    let new = affected("a1", "x", "n0", Cause::Crash, 90);
    let both = finding(&mut over_time, &[old, new.clone()], 200);
    assert_eq!(both.problems[0].0.since, at(10));
    let left = finding(&mut over_time, std::slice::from_ref(&new), 205);
    assert_eq!(left.problems[0].0.since, at(10));
    let left_key = key(&left.problems[0].0);
    let ended = finding(&mut over_time, &[], 210);
    assert_eq!((ended.problems.len(), ended.ended[0].at), (0, at(210)));
    assert_eq!(key(&ended.ended[0].problem), left_key);
    assert_eq!(finding(&mut over_time.clone(), &[], 809).ended.len(), 1);
    assert_eq!(finding(&mut over_time.clone(), &[], 810).ended.len(), 0);
    // It comes back as a new one.
    let again = finding(&mut over_time, &[new], 300);
    assert_eq!((again.problems[0].0.since, again.ended.len()), (at(90), 0));
}

#[test]
fn while_few_pods_are_earlier_no_earlier_time_is_kept() {
    let mut over_time = OverTime::default();
    let of =
        |number: i64, since: i64| affected(&format!("a{number}"), "x", "n0", Cause::Crash, since);
    let mut stated = |pods: &[Record], second: i64| {
        let problem = finding(&mut over_time, pods, second).problems.remove(0).0;
        (problem.since, problem.earlier.map(|earlier| (earlier.pods, earlier.since)))
    };
    let few: Vec<Record> = (0..9).map(|number| of(number, 50 + number)).collect();
    assert_eq!(stated(&few, 200), (at(50), None));
    // One of them is left, beside nine new ones.
    let mut all = vec![of(8, 58)];
    all.extend((10..19).map(|number| of(number, 1_000)));
    assert_eq!(stated(&all, 1_100), (at(1_000), Some((1, at(58)))));
    assert_eq!(stated(&all[1..], 1_105), (at(1_000), None));
    // With one new pod less it is too many.
    assert_eq!(stated(&all[..9], 1_110), (at(58), None));
}

#[test]
fn what_is_kept_is_bounded_by_the_affected_pods_and_the_newest_ended() {
    let mut over_time = OverTime::default();
    for second in 0..300_i64 {
        let image = format!("r.io/{second}");
        let one = affected(&format!("a{second}"), &image, "n", Cause::Image, -100);
        let found = finding(&mut over_time, &[one], second);
        assert!(over_time.pods.len() == 1 && over_time.lasting.len() == 1);
        assert!(found.ended.len() <= MOST_ENDED);
    }
    let newest = &over_time.ended[0].1.problem.shared;
    assert_eq!(newest, &Some((Dimension::Image, "r.io/298".into())));
}

#[test]
fn a_clock_that_is_set_back_keeps_nothing_of_the_future() {
    let mut over_time = OverTime::default();
    finding(&mut over_time, &of_image(&REGISTRY), 10_000);
    finding(&mut over_time, &[], 10_005);
    let found = finding(&mut over_time, &[], 500);
    assert_eq!(found.ended[0].at, at(500));
    assert_eq!(finding(&mut over_time, &[], 1_100).ended.len(), 0);
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }
}

/// What was found at one instant by itself: the sets with their pods, those that have waited longest first.
struct Step {
    second: i64,
    sets: Vec<(ProblemKey, Vec<String>)>,
}

/// What is stated of a pod, and which other result has been found since when.
type State = (ProblemKey, Option<(ProblemKey, i64)>);

/// Every finding so far, and what was stated at each.
#[derive(Default)]
struct Reference {
    records: BTreeMap<String, (String, String, i64)>,
    steps: Vec<Step>,
    stated: Vec<BTreeMap<String, ProblemKey>>,
    /// By finding and pod: whose past a pod that was new then took for its own
    joined: BTreeMap<(usize, String), String>,
}

impl Reference {
    fn found(&self, step: usize, pod: &str) -> Option<&ProblemKey> {
        let sets = &self.steps[step].sets;
        let of = sets.iter().find(|(_, pods)| pods.iter().any(|one| one == pod));
        of.map(|(key, _)| key)
    }

    /// The pod whose past counts at `step - 1` for `pod`, which is found with `cause` at `step`.
    fn past(&self, step: usize, pod: &str, cause: Cause) -> Option<String> {
        let before = self.stated.get(step.checked_sub(1)?)?;
        let is_known = before.get(pod).is_some_and(|(known, ..)| *known == cause);
        match is_known {
            true => Some(pod.to_owned()),
            false => self.joined.get(&(step, pod.to_owned())).cloned(),
        }
    }

    /// When the result that `pod` is found with at `step` began to be found without a break, while something else
    /// was stated.
    fn began(&self, step: usize, pod: &str) -> i64 {
        let key = self.found(step, pod).unwrap();
        let second = self.steps[step].second;
        let Some(past) = self.past(step, pod, key.0) else {
            return second;
        };
        let is_same = self.found(step - 1, &past) == Some(key);
        let is_other = self.stated[step - 1][&past] != *key;
        match is_same && is_other {
            true => self.began(step - 1, &past),
            false => second,
        }
    }

    /// What is stated of a pod at a finding, and which other result has been found since when.
    fn state_of(&self, step: usize, pod: &str) -> State {
        let stated = self.stated[step][pod].clone();
        let found = self.found(step, pod).unwrap().clone();
        let other = (found != stated).then(|| (found, self.began(step, pod)));
        (stated, other)
    }

    fn has(&self, pod: &str, (cause, shared, _): &ProblemKey) -> bool {
        let (image, node, _) = &self.records[pod];
        let Some((dimension, value)) = shared else {
            return true;
        };
        **value
            == *match dimension {
                Dimension::Image => image.as_str(),
                Dimension::Registry if *cause == Cause::Image => image.split('/').next().unwrap(),
                Dimension::Node => node,
                Dimension::Namespace => "shop",
                _ => return false,
            }
    }

    fn add(&mut self, step: Step) {
        let (now, number) = (step.second, self.steps.len());
        self.steps.push(step);
        let mut stated = BTreeMap::new();
        let sets: Vec<_> = self.steps[number].sets.clone();
        for (key, pods) in &sets {
            let mut states: Vec<(State, Vec<String>)> = Vec::new();
            for pod in pods {
                if self.past(number, pod, key.0).is_some() {
                    let state = self.state_of(number - 1, pod);
                    match states.iter_mut().find(|(one, _)| *one == state) {
                        Some((_, of)) => of.push(pod.clone()),
                        None => states.push((state, vec![pod.clone()])),
                    }
                }
            }
            let most = |states: &[((ProblemKey, _), Vec<String>)], pod: &str| {
                let fits = states.iter().filter(|((one, _), _)| one == key || self.has(pod, one));
                // The last of the largest is the first where it is read backwards.
                fits.rev().max_by_key(|(_, of)| of.len()).map(|(_, of)| of[0].clone())
            };
            let new: Vec<_> = (pods.iter())
                .filter(|pod| self.past(number, pod, key.0).is_none())
                .filter_map(|pod| Some((pod.clone(), most(&states, pod)?)))
                .collect();
            for (pod, parent) in new {
                self.joined.insert((number, pod), parent);
            }
            for pod in pods {
                let before = self
                    .past(number, pod, key.0)
                    .map(|past| self.stated[number - 1][&past].clone());
                let keeps = before.filter(|_| now - self.began(number, pod) < 30);
                stated.insert(pod.clone(), keeps.unwrap_or_else(|| key.clone()));
            }
        }
        self.stated.push(stated);
    }

    fn keys(&self, step: usize) -> BTreeSet<&ProblemKey> {
        self.stated[step].values().collect()
    }

    /// Since when a problem is stated to last, and how many pods that leaves out.
    fn since(&self, step: usize, key: &ProblemKey) -> (i64, usize) {
        let pods = self.stated[step].iter().filter(|(_, one)| *one == key);
        let mut times: Vec<i64> = pods.map(|(pod, _)| self.records[pod].2).collect();
        times.sort_unstable();
        let is_gap = |left_out: &usize| times[*left_out] >= times[*left_out - 1] + 15 * 60;
        if let Some(left_out) = (1..=times.len() / 10).rev().find(is_gap) {
            return (times[left_out], left_out);
        }
        let lasts = step > 0 && self.keys(step - 1).contains(key);
        let before = if lasts { self.since(step - 1, key).0 } else { i64::MAX };
        (times[0].min(before), 0)
    }

    /// What has ended by the last finding, and when.
    fn ended(&self) -> BTreeSet<(ProblemKey, i64)> {
        let last = self.steps.len() - 1;
        let mut ended = BTreeSet::new();
        for step in 1..=last {
            let second = self.steps[step].second;
            for key in self.keys(step - 1) {
                let is_stated = (step..=last).any(|later| self.keys(later).contains(key));
                let moved = self.stated[step - 1].iter().any(|(pod, one)| {
                    one == key && self.stated[step].get(pod).is_some_and(|now| now.0 == key.0)
                });
                if !is_stated && !moved && self.steps[last].second - second < 600 {
                    ended.insert((key.clone(), second));
                }
            }
        }
        ended
    }
}

#[test]
fn it_agrees_with_a_reading_that_looks_back_through_every_finding() {
    let (mut changes, mut waits, mut stragglers) = (0, 0, 0);
    for seed in 0..40 {
        let mut random = Random(seed);
        let mut reference = Reference::default();
        let mut over_time = OverTime::default();
        let mut present: BTreeMap<String, Record> = BTreeMap::new();
        let mut second = 1_000;
        for born in 0..40_u64 {
            second += [5, 5, 5, 10, 35, 700][random.below(6) as usize % (4 + (seed % 3) as usize)];
            present.retain(|_, _| random.below(9) > 0);
            // In some histories there are many pods, a few of which have waited for long.
            let is_crowd = seed % 4 == 3;
            for n in 0..random.below(if is_crowd { 12 } else { 4 }) {
                let name = format!("p{born}-{n}");
                let image = format!(
                    "r{}.io/{}",
                    random.below(if is_crowd { 1 } else { 2 }),
                    random.below(3)
                );
                let node = format!("n{}", random.below(2));
                let had = [Cause::Image, Cause::Image, Cause::Crash][random.below(3) as usize];
                let is_late = is_crowd && random.below(20) == 0;
                let since = second - 20 - random.below(40) as i64 - if is_late { 1_500 } else { 0 };
                present.insert(name.clone(), affected(&name, &image, &node, had, since));
                reference.records.insert(name, (image, node, since));
            }
            let pods: Vec<_> = present.values().cloned().collect();
            let alone = find(pods.clone(), &[], &NodeFaults::default(), at(second));
            let names = |pods: &[u32]| (alone.pods.all(pods)).map(|pod| pod.name.into()).collect();
            let sets = (alone.problems.iter()).map(|(problem, pods)| (key(problem), names(pods)));
            reference.add(Step { second, sets: sets.collect() });
            let found = finding(&mut over_time, &pods, second);
            let step = reference.steps.len() - 1;
            let mut stated = BTreeMap::new();
            for (problem, pods) in &found.problems {
                let (since, left_out) = reference.since(step, &key(problem));
                let dated = (problem.since, problem.earlier.map_or(0, |earlier| earlier.pods));
                assert_eq!(dated, (at(since), left_out), "seed {seed} at {second}: {problem:?}");
                stragglers += left_out;
                assert_eq!(problem.pods, pods.len());
                let pods = found.pods.all(pods);
                stated.extend(pods.map(|pod| (pod.name.to_string(), key(problem))));
            }
            assert_eq!(stated, reference.stated[step], "seed {seed} at {second}");
            let ended = found.ended.iter().map(|ended| (key(&ended.problem), ended.at));
            let expected = reference.ended().into_iter().map(|(key, second)| (key, at(second)));
            assert_eq!(
                ended.collect::<BTreeSet<_>>(),
                expected.collect::<BTreeSet<_>>(),
                "seed {seed} at {second}"
            );
            waits += usize::from(
                (stated.iter()).any(|(pod, key)| reference.found(step, pod) != Some(key)),
            );
            changes += usize::from(
                step > 0
                    && (stated.iter()).any(|(pod, key)| {
                        reference.stated[step - 1].get(pod).is_some_and(|before| before != key)
                    }),
            );
        }
    }
    // The histories have what the rules are about.
    assert!(
        changes > 40 && waits > 200 && stragglers > 40,
        "{changes} changes, {waits} waits, {stragglers} stragglers"
    );
}
