//! The Events of the simulated cluster: what components report, what becomes of it on its way, and how
//! the API server serves it.

use std::time::Duration;

use super::client::Http;
use crate::plan;
use crate::profile::{LifeKind, LifeSpeed};
use crate::rng::Rng;
use crate::{ClusterConfig, EventFaults, EventSettings, SimulatedCluster};
use k8s_openapi::api::core::v1::Event;
use podinit_core::timestamp::Timestamp;
use serde_json::Value;

const EVENTS: &str = "/api/v1/events";

async fn cluster(events: EventSettings) -> SimulatedCluster {
    let config = ClusterConfig { events, history: 100_000, ..ClusterConfig::manual() };
    SimulatedCluster::start(config).await.unwrap()
}

/// The Events of a whole life, in the order in which the API server has them.
async fn events_of(kind: LifeKind, seed: u64) -> Vec<Event> {
    let cluster = cluster(EventSettings::default()).await;
    assert!(cluster.begin(plan::life(kind, LifeSpeed::Usual, &mut Rng::new(seed))));
    cluster.step(Duration::from_secs(1_800));
    let events = cluster.events().events_after(1_000, usize::MAX).unwrap();
    (events.events.iter())
        .map(|event| serde_json::from_slice(&event.object.json).unwrap())
        .collect()
}

fn reasons(events: &[Event]) -> Vec<&str> {
    (events.iter()).map(|event| event.reason.as_deref().unwrap()).collect()
}

fn messages<'a>(events: &'a [Event], reason: &str) -> Vec<&'a str> {
    (events.iter())
        .filter(|event| event.reason.as_deref() == Some(reason))
        .map(|event| event.message.as_deref().unwrap())
        .collect()
}

#[tokio::test]
async fn a_startup_is_told_step_by_step() {
    let events = events_of(LifeKind::InitContainers, 4).await;
    let told = reasons(&events);
    let place = |reason| told.iter().position(|told| *told == reason).unwrap();
    assert_eq!(place("Scheduled"), 0);
    assert!(place("Pulled") < place("Created") && place("Created") < place("Started"));
    assert_eq!(told.iter().filter(|reason| **reason == "Started").count(), 3);
    assert!(place("Killing") > place("Started"));
    let pulled = |event: &&Event| event.reason.as_deref() == Some("Pulled");
    let paths: Vec<&str> = (events.iter().filter(pulled))
        .map(|event| event.involved_object.field_path.as_deref().unwrap())
        .collect();
    let expected = [
        "spec.initContainers{fetch-config}",
        "spec.initContainers{migrate}",
        "spec.containers{app}",
    ];
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn names_hold_the_instant_of_the_first_time() {
    for event in events_of(LifeKind::CrashLoop, 1).await {
        let name = event.metadata.name.unwrap();
        let (pod, nanos) = name.rsplit_once('.').unwrap();
        assert_eq!(Some(pod), event.involved_object.name.as_deref());
        let named = Timestamp::from_nanos(i64::from_str_radix(nanos, 16).unwrap());
        let component = event.reporting_component.unwrap_or_default();
        match event.first_timestamp {
            Some(first) => {
                let first = Timestamp::from_seconds(first.0.as_second());
                assert!((0..1_000_000_000).contains(&named.nanos_since(first)), "{name}");
            }
            None => assert_eq!(component, "default-scheduler"),
        }
    }
}

#[tokio::test]
async fn messages_have_the_forms_of_their_kubelets() {
    // 1.35, 1.27 and 1.24.
    let pulls = |events: &[Event]| -> Vec<String> {
        (messages(events, "Pulled").into_iter())
            .filter(|message| message.starts_with("Successfully"))
            .map(str::to_owned)
            .collect()
    };
    let mut forms = [0; 3];
    for seed in 0..20 {
        for (kind, form) in
            [(LifeKind::NextSync, 0), (LifeKind::ClockAhead, 1), (LifeKind::WithoutCondition, 2)]
        {
            let events = events_of(kind, seed).await;
            for pull in pulls(&events) {
                forms[form] += 1;
                assert_eq!(pull.contains(" including waiting)"), form < 2, "{pull}");
                assert_eq!(pull.contains("Image size: "), form == 0, "{pull}");
            }
            let created = messages(&events, "Created")[0];
            assert_eq!(created == "Container created", form == 0, "{created}");
        }
    }
    assert!(forms.iter().all(|count| *count > 2), "{forms:?}");
    let stuck = events_of(LifeKind::ImagePullStuck, 1).await;
    let failed = messages(&stuck, "Failed");
    assert!(failed[0].starts_with("Failed to pull image \"") && failed[1] == "Error: ErrImagePull");
    assert!(messages(&stuck, "BackOff")[0].starts_with("Back-off pulling image \""));
}

/// The pods that come are the same, byte for byte, whatever becomes of Events, and if there are none.
#[tokio::test]
async fn pods_do_not_depend_on_events() {
    let run = async |events| {
        let config = ClusterConfig {
            rate: 5.0,
            preexisting: 20,
            history: 100_000,
            events,
            ..ClusterConfig::manual()
        };
        let cluster = SimulatedCluster::start(config).await.unwrap();
        cluster.step(Duration::from_secs(60));
        let pods = cluster.store().events_after(1_000, usize::MAX).unwrap();
        let pods: Vec<_> = (pods.events.iter()).map(|event| event.object.json.clone()).collect();
        (pods, cluster.event_counts().written)
    };
    let without = EventSettings { recorded: false, ..EventSettings::default() };
    let faulty = EventSettings {
        queue: 20,
        faults: EventFaults { lost: 0.2, late: 0.2, doubled: 0.2, reordered: 0.2, combined: 0.2 },
        ..EventSettings::default()
    };
    let (pods, written) = run(EventSettings::default()).await;
    let (again, none) = run(without).await;
    let (disturbed, some) = run(faulty).await;
    assert!(pods.len() > 1_000 && pods == again && pods == disturbed);
    assert!(written > some && some > 0 && none == 0);
}

#[tokio::test]
async fn faults_lose_double_and_combine_events() {
    let run = async |faults| {
        let cluster = cluster(EventSettings { faults, ..EventSettings::default() }).await;
        for seed in 0..20 {
            cluster.begin(plan::life(LifeKind::Plain, LifeSpeed::Usual, &mut Rng::new(seed)));
        }
        cluster.step(Duration::from_secs(60));
        let events = cluster.events().events_after(1_000, usize::MAX).unwrap().events;
        let combined = (events.iter())
            .filter(|event| {
                let text = String::from_utf8_lossy(&event.object.json);
                text.contains("(combined from similar events)")
            })
            .count();
        (events.len(), combined, cluster.event_counts())
    };
    let (sound, none, counts) = run(EventFaults::default()).await;
    assert!(sound > 100 && none == 0 && counts.lost == 0);
    let (kept, _, counts) = run(EventFaults { lost: 0.5, ..EventFaults::default() }).await;
    assert!(kept < sound && counts.lost > 20);
    let (doubled, _, _) = run(EventFaults { doubled: 1.0, ..EventFaults::default() }).await;
    assert_eq!(doubled, 2 * sound);
    let (_, combined, _) = run(EventFaults { combined: 1.0, ..EventFaults::default() }).await;
    assert!(combined > 100);
}

/// As client-go's, whose queue holds a thousand and is emptied at 50 a second.
#[tokio::test]
async fn a_burst_is_dropped_where_the_queue_is_full() {
    let cluster = cluster(EventSettings { queue: 100, ..EventSettings::default() }).await;
    for seed in 0..600 {
        cluster.begin(plan::life(LifeKind::Coalesced, LifeSpeed::Usual, &mut Rng::new(seed)));
    }
    cluster.step(Duration::from_secs(30));
    let counts = cluster.event_counts();
    let share = counts.dropped as f64 / counts.made as f64;
    assert!((0.1..0.7).contains(&share), "{counts:?}");
    assert_eq!(counts.made, counts.dropped + counts.silenced + counts.written);
}

#[tokio::test]
async fn events_are_listed_and_watched_as_pods_are() {
    let cluster = cluster(EventSettings::default()).await;
    let http = Http::to(&cluster);
    let begin = |seed| {
        let life = plan::life(LifeKind::Coalesced, LifeSpeed::Usual, &mut Rng::new(seed));
        assert!(cluster.begin(life));
        cluster.step(Duration::from_secs(10));
    };
    begin(1);
    let selector = "fieldSelector=involvedObject.kind%3DPod";
    let list = http.get(&format!("{EVENTS}?limit=1&{selector}")).await;
    assert_eq!((list.code, &list.json["kind"]), (200, &"EventList".into()));
    assert_eq!(list.json["items"].as_array().unwrap().len(), 1);
    assert!(list.json["metadata"]["continue"].is_string());
    let version = list.json["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{EVENTS}?watch=true&allowWatchBookmarks=true&resourceVersion={version}");
    let mut watch = http.watch_path(&format!("{path}&{selector}")).await;
    begin(2);
    let event = watch.next_event().await;
    assert_eq!(event["type"], "ADDED");
    assert_eq!(
        (&event["object"]["kind"], &event["object"]["reason"]),
        (&Value::from("Event"), &Value::from("Scheduled"),)
    );
    let nobody = http.get(&format!("{EVENTS}?fieldSelector=involvedObject.kind%3DNode")).await;
    assert!(nobody.json["items"].as_array().unwrap().is_empty());
    let namespace = event["object"]["metadata"]["namespace"].as_str().unwrap();
    let scoped = http.get(&format!("/api/v1/namespaces/{namespace}/events")).await;
    assert!(!scoped.json["items"].as_array().unwrap().is_empty());
    // As `kubectl events --for pod/NAME` asks.
    let pod = event["object"]["involvedObject"]["name"].as_str().unwrap();
    let selector = format!(
        "involvedObject.kind%3DPod%2CinvolvedObject.apiVersion%3Dv1%2CinvolvedObject.name%3D{pod}"
    );
    let path = format!("/api/v1/namespaces/{namespace}/events?fieldSelector={selector}");
    let of_pod = http.get(&path).await;
    assert_eq!(of_pod.code, 200, "{}", of_pod.json);
    let of_pod = of_pod.json["items"].as_array().unwrap();
    assert!(!of_pod.is_empty());
    for event in of_pod {
        assert_eq!(event["involvedObject"]["name"], pod);
    }
    cluster.shutdown().await;
}

#[tokio::test]
async fn requests_for_events_fail_apart_from_those_for_pods() {
    let cluster = cluster(EventSettings::default()).await;
    let http = Http::to(&cluster);
    cluster.event_request_faults().set_modes(|modes| modes.forbidden = true);
    let refused = http.get(EVENTS).await;
    assert_eq!((refused.code, &refused.json["reason"]), (403, &"Forbidden".into()));
    assert_eq!(http.get("/api/v1/pods").await.code, 200);
    cluster.event_request_faults().clear();
    cluster.begin(plan::life(LifeKind::Plain, LifeSpeed::Usual, &mut Rng::new(1)));
    cluster.step(Duration::from_secs(60));
    cluster.events().compact();
    let path = format!("{EVENTS}?watch=true&resourceVersion=1000");
    let gone = http.watch_path(&path).await.next_event().await;
    assert_eq!((&gone["type"], &gone["object"]["code"]), (&"ERROR".into(), &410.into()));
    let unknown = http.get(&format!("{EVENTS}?fieldSelector=status.phase%3DRunning")).await;
    assert_eq!(unknown.code, 400);
    cluster.shutdown().await;
}

#[tokio::test]
async fn the_oldest_events_are_deleted() {
    let cluster = cluster(EventSettings { kept: 50, ..EventSettings::default() }).await;
    for seed in 0..30 {
        cluster.begin(plan::life(LifeKind::Coalesced, LifeSpeed::Usual, &mut Rng::new(seed)));
        cluster.step(Duration::from_secs(20));
    }
    assert_eq!(cluster.events().len(), 50);
}
