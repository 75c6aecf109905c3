//! One list says what a watch says ([§13.2](crate::specification#s13-2)): `problems`, `stuck` and `explain` of pods and
//! Events as `kubectl get pods,events -o json` prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::{Arc, Mutex};

use podinit_core::lifecycle::{Backfill, Progress, Record, TrackerConfig};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_decode::{DecodeOptions, rfc3339};
use podinit_oncall::explain::{ExplainTarget, TargetName};
use podinit_oncall::pods::{PodQuestion, SourcePods};
use podinit_oncall::problems::{PodName, Problem};
use podinit_recordings::reader::{Recording, SoFar};
use podinit_recordings::replay::ReplayConfig;
use serde_json::{Value, json};

use crate::oracle::build::{
    CONTAINERS, NETWORK, Pod, READY, SCHEDULED, added, at, list, modified, pod, time,
};
use crate::oracle::history::{self, Rng};
use crate::oracle::instant::{Nanos, SECOND, parse};
use crate::oracle::reading::{LoneRules, PRESENT, SpecLone, Told, lone_list};
use crate::oracle::{compare, seeds};
use crate::support::process::run_with;

/// The recording, read in the oracle's present.
fn recording(documents: &[Value]) -> Recording {
    let options = DecodeOptions { probes: true, ..DecodeOptions::of_records() };
    let text = Cursor::new(history::text(documents));
    let present = || Timestamp::from_nanos(i64::try_from(PRESENT).unwrap());
    Recording::from_reader("list", text, options).following(&SoFar::new(Arc::new(present)))
}

fn config(backfill: Backfill) -> ReplayConfig {
    ReplayConfig {
        tracker: TrackerConfig { events: true, backfill, ..TrackerConfig::default() },
        ..ReplayConfig::default()
    }
}

fn look(documents: &[Value]) -> SourcePods {
    SourcePods::of_recording(
        recording(documents),
        config(Backfill::Nothing),
        &PodQuestion::Problems,
    )
    .unwrap()
}

/// As `podinit explain` reads a recording.
fn explained(documents: &[Value], name: &PodName) -> Value {
    let target = ExplainTarget {
        namespace: Some(name.namespace.clone()),
        name: TargetName::Pod(name.name.clone()),
    };
    let question = PodQuestion::Startup(target.clone());
    let pods = SourcePods::of_recording(recording(documents), config(Backfill::All), &question);
    let explained = pods.unwrap().explanation(&target);
    serde_json::from_str(&explained.unwrap().to_json().unwrap()).unwrap()
}

/// Stage, cause and since when to the millisecond, as a lone list tells it, and the same of what an autoscaler says.
type Line = (String, String, Nanos, Option<(String, Nanos)>);

fn implementation(documents: &[Value]) -> BTreeMap<String, Line> {
    let found = look(documents);
    let lines = found.in_flight().map(|pod| {
        let record = pod.record();
        let [cause] = record.causes[..] else {
            panic!("a list tells one cause: {record:?}");
        };
        let Progress::InFlight { waiting, .. } = record.progress else {
            panic!("{record:?}");
        };
        assert_eq!(cause.waiting, waiting);
        let (stage, name) = (waiting.stage().as_str(), waiting.cause().as_str());
        let capacity = record.unschedulable.as_ref().filter(|_| stage == "unschedulable");
        let capacity = capacity.and_then(|known| {
            let since = millis(known.since?.as_nanos().into());
            Some((known.state.as_str().to_owned(), since))
        });
        let began = millis(cause.began.as_nanos().into());
        let line = (stage.to_owned(), name.to_owned(), began, capacity);
        (record.uid.to_string(), line)
    });
    lines.collect()
}

fn expected(rules: &dyn LoneRules, documents: &[Value]) -> BTreeMap<String, Line> {
    let told = lone_list(rules, documents).into_iter();
    let line = |Told { stage, cause, began, capacity }: Told| {
        let capacity = capacity.map(|(state, since)| (state.to_owned(), millis(since)));
        (stage.to_owned(), cause.to_owned(), millis(began), capacity)
    };
    told.map(|(uid, told)| (PodUid::from_text(&uid).to_string(), line(told))).collect()
}

fn millis(instant: Nanos) -> Nanos {
    instant.max(0).div_euclid(SECOND / 1_000)
}

#[test]
fn random_lists_tell_the_causes_that_the_specification_says() {
    let differs = |documents: &[Value]| expected(&SpecLone, documents) != implementation(documents);
    let failing = seeds::first(4 * seeds::histories(), |seed| differs(&history::lone_list(seed)));
    if let Some(seed) = failing {
        let fewest = compare::shrink(&history::lone_list(seed), differs);
        let (expected, actual) = (expected(&SpecLone, &fewest), implementation(&fewest));
        panic!("seed {seed}\n{}\nexpected {expected:#?}\ngot {actual:#?}", history::text(&fewest));
    }
}

/// Wrong readings, which the random lists have to notice.
mod wrong {
    use super::{LoneRules, Nanos, Value};
    use crate::oracle::reading::{Said, SpecLone};

    pub(super) struct OrderOfTheFile;
    impl LoneRules for OrderOfTheFile {
        fn order(&self, _: &Value) -> Option<Nanos> {
            None
        }
    }

    pub(super) struct NoSeries;
    impl LoneRules for NoSeries {
        fn order(&self, event: &Value) -> Option<Nanos> {
            let mut event = event.clone();
            event["series"] = Value::Null;
            SpecLone.order(&event)
        }
    }

    pub(super) struct LatestOfThem;
    impl LoneRules for LatestOfThem {
        fn first(&self, times: &[Nanos]) -> Option<Nanos> {
            times.iter().max().copied()
        }
    }

    pub(super) struct BeforeTheStage;
    impl LoneRules for BeforeTheStage {
        fn within(&self, began: Nanos, _: Nanos, list: Nanos) -> Nanos {
            began.min(list)
        }
    }

    pub(super) struct AfterTheList;
    impl LoneRules for AfterTheList {
        fn within(&self, began: Nanos, entered: Nanos, _: Nanos) -> Nanos {
            began.max(entered)
        }
    }

    pub(super) struct LatestOfAutoscalers;
    impl LoneRules for LatestOfAutoscalers {
        fn capacity(&self, said: &[Said]) -> Option<Nanos> {
            said.last()?.first
        }
    }

    pub(super) struct AnyReporter;
    impl LoneRules for AnyReporter {
        fn capacity(&self, said: &[Said]) -> Option<Nanos> {
            let state = |one: &Said| Said { what: (one.what.0, String::new()), ..one.clone() };
            SpecLone.capacity(&said.iter().map(state).collect::<Vec<_>>())
        }
    }

    pub(super) struct CapacitySinceTheFirst;
    impl LoneRules for CapacitySinceTheFirst {
        fn capacity(&self, said: &[Said]) -> Option<Nanos> {
            said.iter().filter_map(|one| one.first).min()
        }
    }

    pub(super) struct CapacityOfThePresent;
    impl LoneRules for CapacityOfThePresent {
        fn capacity(&self, _: &[Said]) -> Option<Nanos> {
            None
        }
    }

    pub(super) struct NoTimeOfEvents;
    impl LoneRules for NoTimeOfEvents {
        fn tells_time(&self, _: Nanos) -> bool {
            false
        }
    }

    pub(super) struct TheFutureTellsTime;
    impl LoneRules for TheFutureTellsTime {
        fn tells_time(&self, _: Nanos) -> bool {
            true
        }
    }
}

#[test]
fn random_lists_notice_what_is_read_wrong() {
    let mutants: [(&str, &dyn LoneRules); 11] = [
        ("order of the file", &wrong::OrderOfTheFile),
        ("no series", &wrong::NoSeries),
        ("the latest of them", &wrong::LatestOfThem),
        ("before the stage", &wrong::BeforeTheStage),
        ("after the list", &wrong::AfterTheList),
        ("the latest of autoscalers", &wrong::LatestOfAutoscalers),
        ("any reporter", &wrong::AnyReporter),
        ("capacity since the first", &wrong::CapacitySinceTheFirst),
        ("capacity of the present", &wrong::CapacityOfThePresent),
        ("no time of Events", &wrong::NoTimeOfEvents),
        ("the future tells time", &wrong::TheFutureTellsTime),
    ];
    let unnoticed = Mutex::new(mutants.to_vec());
    seeds::first(3_000, |seed| {
        let documents = history::lone_list(seed);
        let right = expected(&SpecLone, &documents);
        let rules = unnoticed.lock().unwrap().clone();
        let reads_right = |(_, rules): &(_, &dyn LoneRules)| expected(*rules, &documents) == right;
        let noticed: Vec<_> = rules.into_iter().filter(|one| !reads_right(one)).collect();
        let mut unnoticed = unnoticed.lock().unwrap();
        unnoticed.retain(|(name, _)| !noticed.iter().any(|(noticed, _)| noticed == name));
        unnoticed.is_empty()
    });
    let unnoticed = unnoticed.lock().unwrap();
    let names: Vec<_> = unnoticed.iter().map(|(name, _)| name).collect();
    assert!(names.is_empty(), "nothing notices: {names:?}");
}

/// The pods and Events of lists, of watch events, or by themselves.
fn items(documents: &[Value]) -> impl Iterator<Item = &Value> {
    documents.iter().flat_map(|document| {
        let alone = std::slice::from_ref(document.get("object").unwrap_or(document));
        document["items"].as_array().map_or(alone, Vec::as_slice)
    })
}

/// Whether there is one pod of this name; of several `explain` takes the newest.
fn is_only(name: &PodName, documents: &[Value]) -> bool {
    let named = items(documents).filter(|item| item["metadata"]["name"] == *name.name);
    let uids: BTreeSet<&str> = named.filter_map(|pod| pod["metadata"]["uid"].as_str()).collect();
    uids.len() == 1
}

/// The cause and the time of `problems` are those of `explain`, for each pod that a problem names.
fn assert_they_agree(documents: &[Value]) {
    let mut seen = look(documents);
    let in_flight: Vec<Record> = seen.in_flight().map(|pod| pod.record()).collect();
    let problems = seen.problems().unwrap().problems;
    for problem in problems.iter().filter(|one| one.failed == 0) {
        for (place, name) in problem.oldest.iter().enumerate() {
            if !is_only(name, documents) {
                continue;
            }
            let explained = explained(documents, name);
            if let Some(record) = (in_flight.iter()).find(|record| *record.pod.name == *name.name) {
                let said = record.message.as_deref();
                assert_eq!(explained["message"].as_str(), said, "{name:?}");
            }
            let causes = explained["causes"].as_array().unwrap();
            let mut latest = causes.iter().rev();
            let had = latest.find(|one| one["cause"] == problem.cause);
            // A startup that is over has its causes; the crash after it is in the verdict, unless the pod is being deleted.
            let Some(had) = had else {
                if causes.iter().any(|one| one["cause"] == "terminating") {
                    continue;
                }
                let since = rfc3339::format(problem.since);
                let since = since.trim_end_matches('Z').replace('T', " ");
                let verdict = explained["verdict"].as_str().unwrap();
                let again = format!(
                    "It crashes again since {}",
                    if place == 0 && problem.oldest.len() == problem.pods { &since } else { "" }
                );
                assert!(
                    problem.relapsed > 0 && verdict.contains(&again),
                    "{problem:?} {explained:#} DOCS {}",
                    documents.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
                );
                continue;
            };
            let mut same = causes.iter();
            let since =
                same.find(|one| one["cause"] == had["cause"] && one["stage"] == had["stage"]);
            let own = millis(parse(since.unwrap()["began"].as_str().unwrap()).unwrap());
            let of_problem = millis(i128::from(problem.since.as_nanos()));
            // The pod that has waited longest may have another text than those that are named, or may have gone in a watch.
            let is_list = documents.iter().all(|document| document["type"].is_null());
            match place {
                0 if is_list && problem.oldest.len() == problem.pods => {
                    assert_eq!(own, of_problem, "{name:?} {explained:#}");
                }
                _ => assert!(own >= of_problem, "{name:?} {explained:#}"),
            }
        }
    }
}

#[test]
fn problems_and_explain_agree_on_random_lists() {
    for seed in 0..2 * seeds::histories() {
        assert_they_agree(&history::lone_list(seed));
    }
}

/// A warning, or what clears one.
fn event(name: &str, reason: &str, message: &str, [first, last]: [f64; 2]) -> Value {
    json!({
        "kind": "Event", "apiVersion": "v1", "type": "Warning", "count": 2,
        "metadata": {"name": format!("{name}.{reason}{first}{message}"), "namespace": "ns"},
        "involvedObject": {"kind": "Pod", "namespace": "ns", "name": name, "uid": pod(name).0["metadata"]["uid"]},
        "reason": reason, "message": message, "source": {"component": "kubelet"}, "reportingComponent": "kubelet",
        "firstTimestamp": time(first), "lastTimestamp": time(last), "eventTime": null,
    })
}

/// A pod whose kubelet has accepted it in second 2 and whose network is not there.
fn without_network(name: &str) -> Pod {
    let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
    pod(name)
        .yes(SCHEDULED, 1.0)
        .no(NETWORK, 2.0)
        .started(2.0)
        .put("spec", "nodeName", "node-1".into())
        .container("main", waiting)
}

const NO_ADDRESS: &str = "plugin type=\"aws-cni\" failed (add): failed to assign an IP address";

/// Lists that were worked by hand: what each shows, and its problems as "CAUSE since SECOND".
fn examples() -> Vec<(&'static str, Vec<Value>, &'static [&'static str])> {
    let web = || without_network("web").0;
    let cni = |times| event("web", "FailedCreatePodSandBox", NO_ADDRESS, times);
    let sandbox = |times| {
        event("web", "FailedCreatePodSandBox", "no runtime for \"gvisor\" is configured", times)
    };
    let mount = |times| event("web", "FailedMount", "secret \"tls\" not found", times);
    let claim = |times| event("web", "FailedPrepareDynamicResources", "no plugin", times);
    let attach = |times| event("web", "FailedAttachVolume", "Multi-Attach error", times);
    let attached = |times| event("web", "SuccessfulAttachVolume", "succeeded", times);
    let items = |items: Vec<Value>| vec![json!({"kind": "List", "items": items})];
    let with = |mut event: Value, changes: Value| {
        for (field, value) in changes.as_object().unwrap() {
            event[field] = value.clone();
        }
        event
    };
    let once = |first: f64, last: Option<f64>| {
        let series = last.map(|last| json!({"count": 3, "lastObservedTime": time(last)}));
        with(
            cni([0.0, 0.0]),
            json!({"firstTimestamp": null, "lastTimestamp": null, "eventTime": time(first), "series": series}),
        )
    };
    let mut other_uid = cni([60.0, 500.0]);
    other_uid["involvedObject"]["uid"] = "00000000-0000-4000-8000-00000000ffff".into();
    let ready = pod("web").all([1.0, 2.0, 2.0, 3.0, 3.0]).0;
    let crashing = pod("web").all([1.0, 2.0, 2.0, 3.0, 3.0]).started(2.0);
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let crashing = crashing.no(READY, 100.0).no(CONTAINERS, 100.0);
    let crashing = crashing.container("main", waiting).0;
    let mut observed = items(vec![web(), cni([60.0, 500.0])]);
    observed[0]["observedAt"] = time(70.0);
    vec![
        ("cni", items(vec![web(), cni([60.0, 500.0])]), &["cni since 60"]),
        ("Events before the pods", items(vec![cni([60.0, 500.0]), web()]), &["cni since 60"]),
        (
            "each by itself",
            vec![cni([60.0, 500.0]), web(), mount([40.0, 400.0])],
            &["cni since 60"],
        ),
        ("sandbox", items(vec![web(), sandbox([60.0, 500.0])]), &["sandbox since 60"]),
        ("claim", items(vec![web(), claim([60.0, 500.0])]), &["claim since 60"]),
        ("volume", items(vec![web(), mount([60.0, 500.0])]), &["volume since 60"]),
        (
            "the last warning decides, the first of its kind says since when",
            items(vec![web(), mount([300.0, 500.0]), attach([90.0, 100.0]), cni([60.0, 499.0])]),
            &["volume since 90"],
        ),
        (
            "on a tie the order of the file",
            items(vec![web(), mount([60.0, 500.0]), cni([70.0, 500.0])]),
            &["cni since 70"],
        ),
        (
            "a series",
            items(vec![web(), mount([50.0, 300.0]), once(60.0, Some(500.0))]),
            &["cni since 60"],
        ),
        (
            "eventTime only",
            items(vec![web(), mount([50.0, 300.0]), once(400.0, None), other_uid.clone()]),
            &["cni since 400"],
        ),
        ("older than the stage", items(vec![web(), cni([-60.0, 500.0])]), &["cni since 1"]),
        ("of an earlier pod of the name", items(vec![web(), other_uid]), &["unknown since 1"]),
        (
            "of a pod that was ready, and crashes now",
            items(vec![crashing, cni([1.0, 500.0])]),
            &["crash since 100"],
        ),
        ("of a pod that is ready now", items(vec![ready, cni([1.0, 500.0])]), &[]),
        (
            "attached after all",
            items(vec![web(), attached([300.0, 300.0]), attach([60.0, 200.0])]),
            &["unknown since 1"],
        ),
        ("just begun", items(vec![web(), cni([490.0, 500.0])]), &[]),
        (
            "first seen with the list",
            items(vec![web(), mount([500.0, 500.0])]),
            &["volume since 500"],
        ),
        ("the list says when it was", observed, &[]),
    ]
}

fn lines(mut seen: SourcePods) -> Vec<String> {
    let problems = seen.problems().unwrap().problems;
    let zero = parse(time(0.0).as_str().unwrap()).unwrap();
    let second = |one: &Problem| (i128::from(one.since.as_nanos()) - zero) / SECOND;
    (problems.iter()).map(|one| format!("{} since {}", one.cause, second(one))).collect()
}

#[test]
fn lists_worked_by_hand() {
    for (says, documents, problems) in examples() {
        assert_eq!(lines(look(&documents)), problems, "{says}");
        assert_eq!(expected(&SpecLone, &documents), implementation(&documents), "{says}");
        assert_they_agree(&documents);
    }
}

/// A random life of a pod without a network, as it is watched, and as one list shows it in the end.
fn watched_and_listed(seed: u64) -> (Vec<Value>, Vec<Value>) {
    let mut rng = Rng::new(seed);
    let mut watched = vec![at(0.0, list(&[]))];
    let mut items = Vec::new();
    let mut events: Vec<(f64, Value)> = Vec::new();
    let names = ["web", "db", "job"];
    for name in &names[..=rng.below(3)] {
        watched.push(at(1.0, added(&pod(name).yes(SCHEDULED, 1.0))));
        watched.push(at(2.0, modified(&without_network(name))));
        items.push(without_network(name).0);
        let kinds = [
            ("FailedMount", "secret \"tls\" not found"),
            ("FailedAttachVolume", "Multi-Attach error"),
            ("SuccessfulAttachVolume", "succeeded"),
            ("FailedCreatePodSandBox", NO_ADDRESS),
            ("FailedCreatePodSandBox", "no runtime"),
            ("FailedPrepareDynamicResources", "no plugin"),
        ];
        let mut now = 10.0;
        // An Event that happens again is the same one, with another time.
        let mut own = BTreeMap::<&str, (f64, Value)>::new();
        for _ in 0..rng.below(7) {
            now += 1.0 + rng.below(40) as f64;
            let (reason, message) = rng.pick(&kinds);
            let first = own.get(message).map_or(now, |(first, _)| *first);
            let happened = event(name, reason, message, [first, now]);
            events.push((now, json!({"type": "MODIFIED", "object": happened})));
            own.insert(message, (first, happened));
        }
        items.extend(own.into_values().map(|(_, event)| event));
    }
    events.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (second, event) in events {
        // An Event moves no time; this bookmark does.
        watched.push(at(second, crate::oracle::build::bookmark(false)));
        watched.push(event);
    }
    watched.push(at(1_000.0, crate::oracle::build::bookmark(false)));
    rng.shuffle(&mut items);
    (watched, vec![at(1_000.0, json!({"kind": "List", "items": items}))])
}

#[test]
fn one_list_says_what_the_watch_said() {
    for seed in 0..200 {
        let (watched, listed) = watched_and_listed(seed);
        let [watch, list] = [&watched, &listed].map(|documents| {
            let seen = look(documents);
            let records = seen.in_flight().map(|pod| {
                let record = pod.record();
                let present = record.causes.last().unwrap().waiting;
                let first = record.causes.iter().find(|one| one.waiting == present).unwrap();
                // A list does not tell since when the pod waits for what no Event gave.
                let is_given = present.cause().as_str() != "unknown";
                let began = is_given.then_some(first.began);
                (record.uid, (present, began, record.message.clone()))
            });
            records.collect::<BTreeMap<_, _>>()
        });
        assert_eq!(watch, list, "seed {seed}\n{}", history::text(&watched));
        assert_they_agree(&watched);
        assert_they_agree(&listed);
    }
}

/// What `podinit COMMAND --file -` says of the documents, and its status.
fn run(arguments: &[&str], documents: &[Value]) -> (i32, String, String) {
    let output = run_with(arguments, history::text(documents));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn stuck_reads_a_recording_as_problems_does() {
    let cni = event("web", "FailedCreatePodSandBox", NO_ADDRESS, [60.0, 1_500.0]);
    let listed = [json!({"kind": "List", "items": [cni, without_network("web").0]})];
    let (status, table, error) = run(&["stuck", "--file", "-"], &listed);
    assert_eq!((status, error.as_str()), (3, ""), "{table}");
    assert!(table.contains("1 stuck: 1 cni"), "{table}");
    let (status, json, _) = run(&["stuck", "-f", "-", "-o", "json"], &listed);
    let found: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((status, &found["time"]), (3, &time(1_500.0)));
    assert_eq!((&found["fresh"], &found["complete"]), (&json!(true), &json!(true)));
    let row = &found["pods"][0];
    assert_eq!((&row["cause"], &row["entered"]), (&json!("cni"), &time(1.0)));
    assert_eq!((&row["message"], &row["node"]), (&json!(NO_ADDRESS), &json!("node-1")));
    let (_, problems, _) = run(&["problems", "-f", "-", "-o", "json"], &listed);
    let problems: Value = serde_json::from_str(&problems).unwrap();
    assert_eq!((&problems["problems"][0]["stuck"], &problems["time"]), (&json!(1), &time(1_500.0)));

    let early = event("web", "FailedMount", "secret \"tls\" not found", [60.0, 90.0]);
    let early = [json!({"kind": "List", "items": [without_network("web").0, early]})];
    let hint = "no pod is stuck, but there is 1 problem: run podinit problems --file -\n\n\
                As of 2026-03-01T00:01:30Z\n";
    let (status, table, error) = run(&["stuck", "--file", "-"], &early);
    assert_eq!((status, &*table), (0, hint));
    assert!(error.contains("If this list is of now, 1 pod has waited for"), "{error}");
    let (status, _, error) = run(&["stuck", "--file", "-"], &[]);
    assert_eq!(status, 1, "{error}");
}

#[test]
fn what_chooses_pods_does_not_go_with_a_recording() {
    for (arguments, why) in [
        (&["stuck", "--file", "a", "--namespace", "shop"][..], "--namespace"),
        (&["stuck", "--file", "a", "--label-selector", "a=b"], "--label-selector"),
        (&["stuck", "--file", "a", "--url", "http://localhost:8080"], "cannot be used with"),
        (&["stuck", "--file", "a", "--watch"], "cannot be used with"),
        (&["stuck", "--file", "-", "--file", "-"], "read only once"),
        (&["problems", "--file", "-", "--file", "-"], "read only once"),
    ] {
        let (status, _, error) = run(arguments, &[]);
        assert!(status == 2 && error.contains(why), "{arguments:?}: {error}");
    }
}
