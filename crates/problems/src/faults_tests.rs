//! Each fault is a problem of its own ([§13.5](crate::specification#s13-5)), and stays the same one over time
//! ([§13.7](crate::specification#s13-7)); many causes at one place are one ([§13.15](crate::specification#s13-15)).
#![allow(clippy::unwrap_used)]

use super::old_and_new_tests::{fails, owned};
use super::tests::{NOW, at, on, pod};
use super::*;
use podinit_core::lifecycle::{Cause, Stage};

/// What the problems of these pods say, as "VALUE: TEXT PODS of TOLD, next TEXT PODS, or FAULTS".
fn told(in_flight: &[Record]) -> Vec<String> {
    let line = |problem: &FoundProblem| {
        let (_, value) = problem.shared_texts();
        let text = problem.message.as_deref().unwrap_or("nothing");
        let next = problem.next_message.as_ref();
        let next = next.map_or_else(String::new, |(next, pods)| format!(", next {next} {pods}"));
        let untold = match problem.untold_faults {
            0 => String::new(),
            faults => format!(", {faults} faults"),
        };
        let FoundProblem { pods, message_pods, told, .. } = problem;
        format!("{pods} {value}: {text} {message_pods} of {told}{next}{untold}")
    };
    problems(in_flight.to_vec(), &[], at(NOW)).iter().map(line).collect()
}

/// So many pods of a workload that crash, and are told this.
fn crash(workload: &str, pods: usize, said: &str) -> Vec<Record> {
    let one = |number: usize| {
        let name = format!("{workload}-{number}");
        let image = format!("r.example.com/{workload}:1");
        let since = 9_000 + number as i64;
        owned(fails(&name, &image, Cause::Crash, since, said), "shop", "Deployment", workload)
    };
    (0..pods).map(one).collect()
}

const SETTING: &str = "exit code 1, 3 restarts: the setting PAYMENT_URL is missing";
const POSTGRES: &str = "exit code 1, 2 restarts: cannot connect to postgres:5432";

#[test]
fn two_faults_are_two_problems_each_of_its_workload() {
    let pods = [crash("checkout", 6, SETTING), crash("users", 5, POSTGRES)].concat();
    assert_eq!(
        told(&pods),
        [
            format!("6 shop/Deployment/checkout: {SETTING} 6 of 6"),
            format!("5 shop/Deployment/users: {POSTGRES} 5 of 5")
        ]
    );
}

#[test]
fn a_workload_that_says_two_things_has_one_fault() {
    // Its pods crash sometimes before they connect.
    let both = |others: usize| {
        let mut pods = [crash("b", 6, SETTING), crash("a", 3 + others, POSTGRES)].concat();
        for pod in pods.iter_mut().rev().take(others) {
            pod.message = Some(SETTING.into());
        }
        told(&pods)
    };
    assert_eq!(both(1).len(), 2);
    assert_eq!(both(2), [format!("11 : {SETTING} 8 of 11, next {POSTGRES} 3")]);
}

#[test]
fn one_odd_pod_among_ten_is_no_problem_of_its_own() {
    let of = |many: usize, few: usize| {
        let most = (0..many).flat_map(|number| crash(&format!("w{number}"), 1, SETTING));
        told(&most.chain(crash("odd", few, POSTGRES)).collect::<Vec<_>>())
    };
    assert_eq!(of(9, 1), [format!("10 : {SETTING} 9 of 10")]);
    assert_eq!(of(8, 1).len(), 2);
    assert_eq!(of(18, 2).len(), 2);
}

#[test]
fn ends_without_words_are_one_fault_where_they_are_more_than_three() {
    let of = |workloads: usize| {
        let pods = (0..workloads).flat_map(|number| crash(&format!("w{number}"), 3, "exit code 1"));
        told(&pods.collect::<Vec<_>>())
    };
    assert_eq!(of(3).len(), 3);
    assert_eq!(of(4), ["12 : exit code 1 12 of 12"]);
}

#[test]
fn what_is_left_of_five_faults_gives_no_reason() {
    let words = ["a table", "a key", "a file", "memory", "a port", "a token", "a lock"];
    let of = |number: usize, pods| {
        let said = format!("exit code 1: there is no room for {}", words[number]);
        crash(&format!("w{number}"), pods, &said)
    };
    let mut pods: Vec<Record> = (0..6).flat_map(|number| of(number, 3)).collect();
    pods.extend(of(6, 1));
    let found = told(&pods);
    assert_eq!(found.len(), 6, "{found:?}");
    assert_eq!(found[0], "4 : nothing 0 of 0, 2 faults");
}

#[test]
fn what_a_scheduler_says_divides_nothing() {
    let waits = |number: usize| {
        let cause = super::tests::cause(Stage::Unschedulable, Cause::Resources, 9_000);
        let record = super::tests::waits(pod(&format!("p{number}"), "x"), 9_000, &[cause]);
        let lacks = ["cpu", "memory"][number % 2];
        let said = format!("0/5 nodes are available: 5 Insufficient {lacks}.");
        Record { message: Some(said.into()), ..record }
    };
    let pods: Vec<Record> = (0..8).map(waits).collect();
    let found = told(&pods);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("4 of 8, next 0/5 nodes are available: 5 Insufficient cpu. 4"));
}

#[test]
fn a_registry_stands_out_with_a_quarter_if_nothing_else_says_the_same() {
    let pull = |registry: &str, pods: usize, said: &str| -> Vec<Record> {
        let one = |number: usize| {
            let image = format!("{registry}/app{number}:1");
            fails(&format!("{registry}-{number}"), &image, Cause::Image, 9_000, said)
        };
        (0..pods).map(one).collect()
    };
    let values = |pods: &[Record]| {
        let found = problems(pods.to_vec(), &[], at(NOW)).into_iter();
        found.map(|one| one.shared_texts().1.to_owned()).collect::<Vec<_>>()
    };
    let refused = "dial tcp 10.0.0.1:443: connection refused";
    let three = |said| {
        let alike = [pull("a.io", 4, refused), pull("b.io", 4, said), pull("d.io", 4, said)];
        [alike.concat(), pull("c.io", 4, "teapot is empty")].concat()
    };
    let expired = "x509: certificate has expired";
    assert_eq!(values(&three(expired)), ["a.io", "b.io", "c.io", "d.io"]);
    // Three of them refuse connections: that is no fault of each.
    assert_eq!(values(&three(refused)), ["", "c.io"]);
}

#[test]
fn a_fault_stays_the_same_problem_while_another_begins_beside_it() {
    let mut over_time = OverTime::default();
    let mut at_second = |pods: &[Record], second| {
        let mut finding = ProblemFinding::new(&[], at(second));
        pods.iter().for_each(|record| finding.add(record));
        let found = finding.finish(&mut over_time);
        let ended = found.ended.len();
        let counts = found.problems.iter().map(|(problem, _)| (problem.fault, problem.pods));
        (counts.collect::<Vec<_>>(), ended)
    };
    let apart = |pods: usize, said: &str| {
        let all = (0..pods).flat_map(|number| crash(&format!("{}{number}", said.len()), 1, said));
        all.collect::<Vec<_>>()
    };
    let (first, _) = at_second(&[apart(9, SETTING), apart(1, POSTGRES)].concat(), NOW);
    let [(Some(fault), 10)] = first[..] else { panic!("{first:?}") };
    let both = [apart(9, SETTING), apart(4, POSTGRES)].concat();
    // The one that was told with the others stays with them for 30 s.
    let (second, _) = at_second(&both, NOW + 5);
    let [(Some(same), 10), (Some(other), 3)] = second[..] else { panic!("{second:?}") };
    assert!(same == fault && other != fault);
    let stands = vec![(Some(fault), 9), (Some(other), 4)];
    assert_eq!(at_second(&both, NOW + 35), (stands, 0));
    assert_eq!(at_second(&apart(4, POSTGRES), NOW + 40), (vec![(Some(other), 4)], 1));
}

#[test]
fn three_causes_at_one_node_are_one_problem_of_it() {
    let full = |cause: Cause, pods: usize, said: &str| -> Vec<Record> {
        let stage = if cause == Cause::Image { Stage::Containers } else { Stage::Network };
        let one = |number: usize| {
            let name = format!("{}-{number}", cause.as_str());
            let since = 9_000 + number as i64;
            let causes = [super::tests::cause(stage, cause, since)];
            let record =
                super::tests::waits(pod(&name, &format!("{name}.io/{name}:1")), since, &causes);
            Record { message: Some(said.into()), ..on(record, "b3") }
        };
        (0..pods).map(one).collect()
    };
    let healthy = (0..30).map(|number| on(pod(&format!("h{number}"), "x"), &format!("n{number}")));
    let healthy: Vec<Record> = healthy.collect();
    let images = full(Cause::Image, 8, "write /x: no space left on device");
    let two = [images, full(Cause::Sandbox, 5, "mkdir /y: no space left on device")].concat();
    let found = problems(two.clone(), &healthy, at(NOW));
    assert_eq!(found.iter().map(|one| one.pods).collect::<Vec<_>>(), [8, 5]);
    let three = [two, full(Cause::Cni, 4, "no space left on device")].concat();
    let found = problems(three, &healthy, at(NOW));
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one.pods, one.shared_texts()), (17, ("node", "b3")));
    assert_eq!(one.causes(), [(Cause::Image, 8), (Cause::Sandbox, 5), (Cause::Cni, 4)]);
    assert_eq!((one.cause, one.oldest[0].name.as_ref()), (Cause::Image, "image-0"));
}
