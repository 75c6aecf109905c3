//! Whose the seconds are ([§15.2](crate::specification#s15-2), [§15.4](crate::specification#s15-4)), in examples: stages that
//! came or went, image pulls, a node alone, and what one side does not show.

use serde_json::{Value, json};

use super::command::{pods as list, report_on};
use super::figures::compared;
use super::sides::{Pod, node_labels};
use podinit_core::lifecycle::{Interval, Stage, TimestampMode};
use podinit_reports::comparison::{Comparison, SideName, Threshold, ThresholdResult};

const SECOND: u64 = 1_000_000_000;

/// So many pods on 20 nodes and of four namespaces, a few in each minute. Each has `stages` in seconds, of which `more` may
/// change something for a pod of this number.
fn pods(
    count: usize,
    stages: &[(Stage, f64)],
    more: impl Fn(usize, &mut Vec<(Stage, f64)>),
) -> Vec<Pod> {
    let mut random = fastrand::Rng::with_seed(count as u64 + stages.len() as u64);
    let pod = |number: usize| {
        let mut seconds = stages.to_vec();
        more(number, &mut seconds);
        for (_, seconds) in &mut seconds {
            *seconds *= 0.9 + 0.2 * random.f64();
        }
        let whole = seconds.iter().map(|(_, seconds)| seconds).sum();
        let stages = seconds.into_iter().map(|(stage, seconds)| (Interval::Stage(stage), seconds));
        let all = stages.chain([(Interval::CreatedToReady, whole)]);
        Pod {
            created: 1_770_000_000 + 7 * number as i64,
            workload: Some((
                format!("team-{}", number % 4),
                "Deployment".to_owned(),
                "web".to_owned(),
            )),
            node: format!("node-{}", number % 20),
            labels: Some(node_labels("a", ["z1", "z2"][number % 2])),
            images: vec!["app".to_owned()],
            durations: all
                .map(|(interval, seconds)| (interval, (seconds * SECOND as f64) as u64))
                .collect(),
            ..Pod::default()
        }
    };
    (0..count).map(pod).collect()
}

const USUAL: [(Stage, f64); 3] =
    [(Stage::Scheduling, 1.0), (Stage::Network, 3.0), (Stage::Containers, 6.0)];

fn usual(count: usize) -> Vec<Pod> {
    pods(count, &USUAL, |_, _| {})
}

fn compare(before: &[Pod], after: &[Pod]) -> Comparison {
    compared(before, after, TimestampMode::Fused)
}

fn row<'a>(found: &'a Comparison, name: &str) -> Option<&'a podinit_reports::comparison::Row> {
    found.rows.iter().find(|row| row.interval == name)
}

#[test]
fn a_gate_that_was_added_is_named_although_no_row_could_compare_it() {
    let after = pods(200, &USUAL, |_, stages| stages.push((Stage::Gated, 40.0)));
    let found = compare(&usual(200), &after);
    let text = &found.answer.text;
    assert!(text.starts_with("Startups are slower: created to ready p50 10s → 50"), "{text}");
    assert!(text.contains(" It is the stage gated: +"), "{text}");
    assert!(text.contains(" on average, on all nodes. It was not there before."), "{text}");
    let gated = row(&found, "gated").unwrap();
    assert_eq!((gated.before.p50, gated.not_there), (0.0, Some(SideName::Before)));
    assert!(
        found
            .to_text(podinit_text::document::TerminalStyle { colour: false, width: 200 })
            .contains("gated (not there before)")
    );
    // A rule may be about it.
    let rule: Threshold = "gated:p50>+10s".parse().unwrap();
    assert_eq!(rule.check(&found).result, ThresholdResult::Exceeded);
    // Back again.
    let found = compare(&after, &usual(200));
    let text = &found.answer.text;
    assert!(text.contains(" It is the stage gated: -"), "{text}");
    assert!(text.contains(" It is not there after."), "{text}");
}

#[test]
fn a_readiness_gate_of_one_namespace_is_named_with_it() {
    let after = pods(240, &USUAL, |number, stages| {
        if number % 4 == 1 {
            stages.push((Stage::Readiness, 25.0));
        }
    });
    let text = compare(&usual(240), &after).answer.text;
    assert!(
        text.starts_with("The slowest tenth of startups is slower: created to ready p90 "),
        "{text}"
    );
    assert!(text.contains(" It is the stage readiness: +"), "{text}");
    assert!(text.contains("team-1"), "{text}");
}

#[test]
fn two_stages_are_named_together() {
    let slower = [(Stage::Scheduling, 1.0), (Stage::Network, 7.0), (Stage::Containers, 11.0)];
    let text = compare(&usual(200), &pods(200, &slower, |_, _| {})).answer.text;
    assert!(text.contains(" It is the stages containers and network: +"), "{text}");
    assert!(text.contains(" on average"), "{text}");
}

#[test]
fn one_startup_of_ten_minutes_does_not_speak_for_all() {
    let after = pods(200, &USUAL, |number, stages| {
        stages[2].1 += 3.0;
        if number % 50 == 0 {
            stages[1].1 += 600.0;
        }
    });
    let text = compare(&usual(200), &after).answer.text;
    assert!(text.contains(" It is the stage containers: +"), "{text}");
}

#[test]
fn no_stage_is_named_where_too_few_are_known() {
    let mut after = pods(200, &USUAL, |_, stages| stages[1].1 += 5.0);
    for pod in after.iter_mut().step_by(4) {
        pod.durations.retain(|(interval, _)| *interval != Interval::Stage(Stage::Containers));
        pod.unobserved.push(Interval::Stage(Stage::Containers));
    }
    let text = compare(&usual(200), &after).answer.text;
    assert!(
        text.contains(
            " No stage is named, on all nodes: all stages are known of 100 % of these pods before and 75 % after."
        ),
        "{text}"
    );
}

#[test]
fn what_one_side_does_not_show_is_said() {
    let mut before = usual(200);
    for pod in &mut before {
        pod.durations.retain(|(interval, _)| *interval != Interval::Stage(Stage::Network));
        pod.unobserved.push(Interval::Stage(Stage::Network));
    }
    let text = compare(&before, &usual(200)).answer.text;
    assert!(text.ends_with(" Network is not known before."), "{text}");
    // An init container that one side does not show was not added.
    let mut before = usual(200);
    before.iter_mut().for_each(|pod| pod.unobserved.push(Interval::Stage(Stage::Init)));
    let after = pods(200, &USUAL, |_, stages| stages.push((Stage::Init, 5.0)));
    let found = compare(&before, &after);
    assert!(row(&found, "init").is_none());
    assert!(found.answer.text.ends_with(" Init is not known before."), "{}", found.answer.text);
}

#[test]
fn a_node_alone_is_in_the_first_line() {
    // One node of twenty: neither the median nor p90 of all pods moves.
    let after = pods(400, &USUAL, |number, stages| {
        if number % 20 == 7 {
            stages[1].1 *= 6.0;
        }
    });
    let found = compare(&usual(400), &after);
    let text = &found.answer.text;
    assert!(text.starts_with("Startups on node node-7 are slower: network p50 "), "{text}");
    assert!(text.contains(" No difference, of all pods together: created to ready p50 "), "{text}");
    // Where all nodes are a little slower, none is named alone.
    let after = pods(400, &USUAL, |_, stages| stages[0].1 *= 1.3);
    let found = compare(&usual(400), &after);
    assert!(!found.answer.text.starts_with("Startups on "), "{}", found.answer.text);
    let equal = compare(&usual(400), &pods(400, &USUAL, |_, _| {}));
    assert!(equal.answer.text.starts_with("No difference: "), "{}", equal.answer.text);
}

/// 60 pods and the pulls of their images, which take so many seconds for a pod of this number; 0 where the image was there.
/// `shows` whether Events are recorded.
fn with_pulls(name: &str, shows: bool, seconds: impl Fn(i64) -> i64) -> String {
    let list = list(name, 60, 3, |_| 3);
    let mut documents = vec![
        json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}),
    ];
    for (number, pod) in list["items"].as_array().unwrap().iter().enumerate() {
        let seconds = seconds(number as i64);
        let created: jiff::Timestamp =
            pod["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap();
        let at = |shift: i64| (created + jiff::SignedDuration::from_secs(shift)).to_string();
        let message = match seconds {
            0 => format!("Container image \"web:{name}\" already present on machine"),
            _ => format!(
                "Successfully pulled image \"web:{name}\" in {seconds}s ({seconds}s including waiting). Image size: 10 bytes."
            ),
        };
        let (mut pending, mut ready) = (pod.clone(), pod.clone());
        for condition in ["/status/conditions/3", "/status/conditions/4"] {
            ready.pointer_mut(condition).unwrap()["lastTransitionTime"] = at(7 + seconds).into();
            pending.pointer_mut(condition).unwrap()["status"] = "False".into();
        }
        documents.push(json!({"type": "ADDED", "object": pending}));
        if shows {
            documents.push(json!({
                "kind": "Event",
                "metadata": {"namespace": "shop", "name": format!("web-{number}.1")},
                "involvedObject": {
                    "kind": "Pod", "namespace": "shop", "name": format!("web-{number}"),
                    "uid": format!("{name}-{number}"), "fieldPath": "spec.containers{c}",
                },
                "reportingComponent": "kubelet", "reason": "Pulled", "message": message,
                "firstTimestamp": at(3 + seconds),
            }));
        }
        ready["metadata"]["resourceVersion"] = "2".into();
        documents.push(json!({"type": "MODIFIED", "object": ready}));
    }
    documents.iter().map(|document| format!("{document}\n")).collect()
}

fn said(before: &str, after: &str) -> (String, Value) {
    let output = report_on([before.to_owned(), after.to_owned()], &["-o", "json"]);
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    (found["answer"]["text"].as_str().unwrap().to_owned(), found)
}

#[test]
fn slower_pulls_are_named_and_their_registry() {
    let (before, after) = (with_pulls("before", true, |_| 4), with_pulls("after", true, |_| 12));
    let (text, found) = said(&before, &after);
    assert!(
        text.contains("It is the stage containers: +8s of +8s on average, by image pulls (+8s)"),
        "{text}"
    );
    assert!(!text.contains("images were not there"), "{text}");
    let mut rows = found["rows"].as_array().unwrap().iter();
    let pulls = rows.find(|row| row["interval"] == "pulls").unwrap();
    assert_eq!((&pulls["verdict"], &pulls["p50"]["difference"]), (&json!("slower"), &json!(8.0)));
    let mut others = found["other_breakdowns"].as_array().unwrap().iter();
    let parts = &others.find(|one| one["interval"] == "pulls").unwrap()["parts"];
    let mut parts = parts.as_array().unwrap().iter();
    let registry = parts.find(|part| part["dimension"] == "registry").unwrap();
    assert_eq!((&registry["value"], &registry["share"]), (&json!("docker.io"), &json!(1.0)));
}

#[test]
fn that_the_images_were_not_there_is_an_answer() {
    let before = with_pulls("before", true, |number| if number % 20 == 0 { 8 } else { 0 });
    let (text, found) = said(&before, &with_pulls("after", true, |_| 8));
    assert!(text.contains(" by image pulls (+"), "{text}");
    assert!(
        text.contains(" The images were not there: 60 of 60 startups pulled, before 3 of 60."),
        "{text}"
    );
    assert_eq!(found["pulled"]["after"], json!({"count": 60, "of": 60}));
    let (text, _) = said(&before, &with_pulls("after", false, |_| 8));
    assert!(text.ends_with(" Image pulls are not known after."), "{text}");
}
