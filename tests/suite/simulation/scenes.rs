//! The scenes of the demo: each breaks one thing, and the pods that start from then on say so in their
//! status. The demo without a scene is healthy.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::support::scene::{SceneRecording, SceneSettings, recorded};
use podinit_sim::object::ObjectKey;
use podinit_sim::scene::Scene;
use podinit_slo::SloFile;
use serde_json::Value;

/// The objects of the pods that are stuck at the end.
fn stuck(recording: &SceneRecording) -> Vec<Value> {
    (recording.stuck().iter())
        .map(|pod| {
            let key = ObjectKey::new(&pod.namespace, &pod.name);
            let object = recording.cluster.store().get(&key).unwrap();
            serde_json::from_slice(&object.json).unwrap()
        })
        .collect()
}

fn condition<'a>(pod: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = pod["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind)
}

/// Why the first container that waits does.
fn waiting(pod: &Value) -> Option<&str> {
    ["initContainerStatuses", "containerStatuses"]
        .iter()
        .flat_map(|statuses| pod["status"][*statuses].as_array().into_iter().flatten())
        .filter_map(|status| status["state"]["waiting"]["reason"].as_str())
        .find(|reason| *reason != "PodInitializing")
}

/// Of these pods, how many have which of what `of` says of them.
fn shares<'a>(
    pods: &'a [Value],
    of: impl Fn(&'a Value) -> Option<&'a str>,
) -> BTreeMap<&'a str, usize> {
    let mut shares = BTreeMap::new();
    for pod in pods {
        *shares.entry(of(pod).unwrap_or("-")).or_default() += 1;
    }
    shares
}

/// The messages of the Events with this reason.
fn messages(recording: &SceneRecording, reason: &str) -> Vec<String> {
    let page = recording.cluster.events().page(None, None, None, false, |_| true);
    (page.unwrap().objects.iter())
        .map(|object| serde_json::from_slice::<Value>(&object.json).unwrap())
        .filter(|event| event["reason"] == reason)
        .map(|event| event["message"].as_str().unwrap().to_owned())
        .collect()
}

/// How many pods wait in a stage at the end.
fn in_stage(recording: &SceneRecording, stage: &str) -> f64 {
    recording.last().sum_where("podinit_inflight_pods", "stage", stage)
}

/// The causes for which the pods of a stage wait at the end, the commonest first.
fn causes(recording: &SceneRecording, stage: &str) -> Vec<(String, f64)> {
    let of_stage = format!("stage=\"{stage}\"");
    let mut causes: Vec<(String, f64)> = (recording.last().of_name("podinit_waiting_pods"))
        .filter(|(series, pods)| series.contains(&of_stage) && *pods > 0.0)
        .map(|(series, pods)| {
            let (_, cause) = series.split_once("cause=\"").unwrap();
            (cause.split('"').next().unwrap().to_owned(), pods)
        })
        .collect();
    causes.sort_by(|(_, fewer), (_, more)| more.total_cmp(fewer));
    causes
}

/// This cause holds most of the pods of the stage.
fn assert_dominates(recording: &SceneRecording, stage: &str, cause: &str) {
    let causes = causes(recording, stage);
    let all: f64 = causes.iter().map(|(_, pods)| pods).sum();
    assert_eq!(causes[0].0, cause, "{causes:?}");
    assert!(causes[0].1 > 0.8 * all, "{causes:?}");
}

mod slow {
    use super::*;

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_healthy_hour_meets_the_shipped_objectives() {
        let recording = recorded(None).await;
        for slo in &SloFile::built_in().slos {
            let name = &slo.rule.name;
            for (at, scrape) in &recording.samples {
                let events = |result| {
                    let series =
                        format!("podinit_slo_events_total{{slo=\"{name}\",result=\"{result}\"}}");
                    scrape.value(&series).unwrap()
                };
                let (good, bad) = (events("good"), events("bad"));
                // Alerts on the budget need five bad pods in their long window.
                let met = bad < 5.0 || bad / (good + bad) <= slo.budget_ratio();
                assert!(met, "{name} at {at:?}: {bad} bad, {good} good");
            }
            let good = format!("podinit_slo_events_total{{slo=\"{name}\",result=\"good\"}}");
            assert!(recording.last().value(&good).unwrap() > 1_000.0);
        }
        // Few clocks are wrong: PodinitClockAnomalies fires at one anomaly in ten pods.
        let anomalies = ["skew", "negative", "missing", "too_long"];
        let odd: f64 = (anomalies.iter())
            .map(|kind| {
                let last = recording.last();
                last.sum_where("podinit_clock_anomalies_total", "kind", kind)
            })
            .sum();
        let pods = recording.last().sum("podinit_pods_discovered_total");
        assert!(odd < 0.06 * pods, "{odd} anomalies of {pods} pods");
        // Nothing is stuck for longer than the least limit of an alert on stuck pods.
        let oldest = |scrape: &crate::support::scrape::Scrape, stage: &str| {
            let name =
                format!("podinit_oldest_inflight_pod_timestamp_seconds{{stage=\"{stage}\"}}");
            scrape.value(&name)
        };
        for (at, scrape) in &recording.samples {
            let now = at.as_nanos() as f64 / 1e9;
            for (stage, limit) in [
                ("scheduling", 300.0),
                ("unschedulable", 1_800.0),
                ("network", 600.0),
                ("init", 1_800.0),
                ("containers", 1_800.0),
                ("readiness", 900.0),
            ] {
                let age = oldest(scrape, stage).map_or(0.0, |since| now - since);
                assert!(age < limit, "{stage}: {age} s at {at:?}");
            }
        }
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn registry_down_leaves_pods_without_their_images() {
        let recording = recorded(Some(Scene::RegistryDown)).await;
        let pods = stuck(recording);
        let reasons = shares(&pods, waiting);
        let without = reasons.get("ErrImagePull").unwrap_or(&0) + reasons["ImagePullBackOff"];
        assert!(without > 200 && without * 10 > pods.len() * 9, "{reasons:?}");
        let in_time = in_stage(recording, "containers") + in_stage(recording, "init");
        assert!(in_time > 200.0, "{in_time}");
        assert_dominates(recording, "containers", "image");
        let failed = messages(recording, "Failed");
        let refused = failed.iter().filter(|message| message.contains("connection refused"));
        assert!(refused.count() > 50);
        // Pods whose images are there start as ever.
        assert!(
            recording
                .cluster
                .truth()
                .pods()
                .iter()
                .any(|pod| { Some(pod.created) > recording.broken && pod.ready.is_some() })
        );
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_cni_outage_leaves_pods_without_a_sandbox() {
        let recording = recorded(Some(Scene::CniOutage)).await;
        let pods = stuck(recording);
        assert!(pods.len() > 1_000, "{}", pods.len());
        let bound: Vec<Value> =
            (pods.into_iter()).filter(|pod| !pod["spec"]["nodeName"].is_null()).collect();
        let reasons = shares(&bound, |pod| {
            let kind = "PodReadyToStartContainers";
            condition(pod, kind).and_then(|condition| condition["reason"].as_str())
        });
        assert_eq!(reasons.keys().copied().collect::<Vec<_>>(), ["-", "PodSandboxNotReady"]);
        assert!(in_stage(recording, "network") * 100.0 > bound.len() as f64 * 99.0);
        assert_dominates(recording, "network", "cni");
        let told = messages(recording, "FailedCreatePodSandBox");
        assert!(told.iter().all(|message| message.contains("network")));
        let combined = "(combined from similar events): ";
        assert!(told.iter().any(|message| message.starts_with(combined)));
        // Nobody is deleted to make room for more.
        let removed = recording.cluster.truth().pods().into_iter().filter(|pod| {
            Some(pod.created) > recording.broken && pod.removed.is_some() && pod.node_name.is_some()
        });
        assert!(removed.count() < 20);
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn without_events_only_kubelets_from_1_37_on_say_why_there_is_no_sandbox() {
        let settings = SceneSettings {
            evidence: false,
            after: Duration::from_secs(60),
            length: Duration::from_secs(300),
            ..SceneSettings::of(Scene::CniOutage)
        };
        let recording = settings.record().await;
        let known = causes(&recording, "network");
        let known: Vec<&str> = known.iter().map(|(cause, _)| cause.as_str()).collect();
        assert_eq!(known[..2], ["unknown", "no_sandbox"], "{known:?}");
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_bad_node_holds_only_its_own_pods() {
        let recording = recorded(Some(Scene::BadNode)).await;
        let pods = stuck(recording);
        let waits = |pod: &&Value| {
            condition(pod, "Initialized").is_some() && pod["status"]["podIP"].is_null()
        };
        let nodes = shares(&pods, |pod| pod["spec"]["nodeName"].as_str());
        let bad = nodes["node-a0"];
        assert!(bad > 200 && bad * 10 > pods.iter().filter(waits).count() * 9, "{nodes:?}");
        let told = messages(recording, "FailedCreatePodSandBox");
        assert!(told.iter().any(|message| message.contains("no space left on device")));
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn without_capacity_pods_wait_for_a_node() {
        let recording = recorded(Some(Scene::NoCapacity)).await;
        let pods = stuck(recording);
        let unschedulable: Vec<&str> = (pods.iter())
            .filter_map(|pod| condition(pod, "PodScheduled")?["message"].as_str())
            .filter(|message| {
                message.starts_with("0/10 nodes are available: 10 Insufficient cpu. ")
            })
            .collect();
        assert!(unschedulable.len() > 1_000 && unschedulable.len() * 10 > pods.len() * 9);
        assert!(in_stage(recording, "unschedulable") > 1_000.0);
        assert_dominates(recording, "unschedulable", "resources");
        assert!(messages(recording, "FailedScheduling").len() > 1_000);
        assert!(messages(recording, "NotTriggerScaleUp").len() > 1_000);
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_bad_release_crashes_and_is_not_taken_back() {
        let recording = recorded(Some(Scene::CrashLoop)).await;
        let pods = stuck(recording);
        let reasons = shares(&pods, waiting);
        let crashing = reasons["CrashLoopBackOff"];
        assert!(crashing > 400 && crashing * 10 > pods.len() * 9, "{reasons:?}");
        let images = shares(&pods, |pod| pod["spec"]["containers"][0]["image"].as_str());
        let release = "registry.example.com/shop/checkout:2.7.1";
        assert!(images[release] * 10 > pods.len() * 9, "{images:?}");
        assert!(in_stage(recording, "containers") > 400.0);
        assert_dominates(recording, "containers", "crash");
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn gangs_that_do_not_fit_wait_together() {
        let recording = recorded(Some(Scene::Gang)).await;
        let pods = stuck(recording);
        let (gangs, others): (Vec<&Value>, Vec<&Value>) =
            (pods.iter()).partition(|pod| !pod["spec"]["schedulingGroup"].is_null());
        assert!(gangs.len() > 80, "{}", gangs.len());
        for pod in &gangs {
            let scheduled = condition(pod, "PodScheduled").unwrap();
            assert_eq!(scheduled["reason"], "Unschedulable");
            assert!(
                scheduled["message"].as_str().unwrap().starts_with("pod group is unschedulable")
            );
        }
        assert!(others.len() < gangs.len());
        assert!(in_stage(recording, "unschedulable") > 80.0);
        assert_dominates(recording, "unschedulable", "gang");
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_forgotten_gate_holds_its_own_pods_and_no_others() {
        let recording = recorded(Some(Scene::GateForgotten)).await;
        let pods = stuck(recording);
        let (gated, others): (Vec<&Value>, Vec<&Value>) =
            (pods.iter()).partition(|pod| !pod["spec"]["schedulingGates"].is_null());
        assert!(gated.len() > 20 && others.len() < gated.len(), "{} {}", gated.len(), others.len());
        let gate = serde_json::json!([{"name": "kueue.x-k8s.io/admission"}]);
        for pod in &gated {
            assert_eq!(pod["spec"]["schedulingGates"], gate);
            assert_eq!(condition(pod, "PodScheduled").unwrap()["reason"], "SchedulingGated");
        }
        assert!(in_stage(recording, "gated") > 20.0);
        assert_dominates(recording, "gated", "gate");
    }

    #[tokio::test]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_recording_is_what_prometheus_would_have_scraped() {
        let settings = SceneSettings {
            length: Duration::from_secs(120),
            interval: Duration::from_secs(30),
            ..SceneSettings::of(Scene::Gang)
        };
        let recording = settings.record().await;
        assert_eq!(recording.samples.len(), 5);
        let text = recording.open_metrics();
        assert!(text.ends_with("# EOF\n"));
        let series =
            "podinit_inflight_pods{job=\"podinit\",instance=\"podinit:8080\",stage=\"network\"}";
        assert_eq!(text.lines().filter(|line| line.starts_with(series)).count(), 5);
        let input = recording.input_series(|name| name == "up");
        assert_eq!(input[0]["values"], "1 1 1 1 1");
        assert_eq!(input.as_array().unwrap().len(), 1);
    }
}
