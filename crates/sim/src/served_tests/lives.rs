//! Each kind of life shows its hazard, in what the API server serves.

use std::time::Duration;

use super::story::{Story, condition, holds};
use crate::plan;
use crate::profile::{LifeKind, LifeSpeed};
use crate::rng::Rng;
use crate::sim_clock::time;
use crate::truth::PodEnding;
use crate::{ClusterConfig, SimulatedCluster};
use serde_json::Value;

const NETWORK: &str = "PodReadyToStartContainers";

#[tokio::test]
async fn lives_begin_with_added_and_end_with_deleted_and_versions_grow() {
    for kind in LifeKind::all() {
        let story = Story::brisk(kind).await;
        let types: Vec<&Value> = story.events.iter().map(|event| &event["type"]).collect();
        let (first, last) = (types[0], types[types.len() - 1]);
        assert_eq!((first, last), (&"ADDED".into(), &"DELETED".into()), "{kind:?}");
        assert!(types[1..types.len() - 1].iter().all(|kind| *kind == "MODIFIED"));
        let versions: Vec<u64> = (story.events.iter())
            .map(|event| {
                event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
            })
            .collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{kind:?}");
        assert!(story.truth.removed.is_some(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_transition_time_moves_exactly_with_the_status() {
    for kind in LifeKind::all() {
        let story = Story::of(kind, LifeSpeed::Usual, 3).await;
        for name in
            [NETWORK, "PodHasNetwork", "Initialized", "ContainersReady", "Ready", "PodScheduled"]
        {
            for pair in story.conditions(name).windows(2) {
                if pair[0]["status"] == pair[1]["status"] {
                    let times = (&pair[0]["lastTransitionTime"], &pair[1]["lastTransitionTime"]);
                    assert_eq!(times.0, times.1, "{kind:?} {name}");
                }
            }
        }
    }
}

#[tokio::test]
async fn without_init_containers_initialized_comes_before_the_sandbox() {
    let story = Story::brisk(LifeKind::NextSync).await;
    assert!(story.ever(|pod| holds(pod, "Initialized") && !holds(pod, NETWORK)));
    // The network shows only with the containers, however long the image was pulled.
    assert!(!story.ever(|pod| holds(pod, NETWORK) && pod["status"]["phase"] == "Pending"));
    assert_eq!(story.truth.ending, Some(PodEnding::Ready));
}

#[tokio::test]
async fn init_containers_hold_initialized_back() {
    for kind in [LifeKind::InitContainers, LifeKind::Sidecar] {
        let story = Story::brisk(kind).await;
        assert_eq!(story.object(0)["spec"]["initContainers"].as_array().unwrap().len(), 2);
        assert_eq!(story.turns("Initialized")[..2], ["False", "True"]);
        assert_eq!(story.reasons("Initialized")[0], "ContainersNotInitialized");
        assert!(!story.ever(|pod| holds(pod, "Initialized") && pod["spec"]["nodeName"].is_null()));
    }
    let sidecar = Story::brisk(LifeKind::Sidecar).await;
    let restart = &sidecar.object(0)["spec"]["initContainers"][1]["restartPolicy"];
    assert_eq!(restart, "Always");
}

#[tokio::test]
async fn waits_for_the_scheduler_have_their_reasons() {
    let gated = Story::brisk(LifeKind::Gated).await;
    assert!(!gated.object(0)["spec"]["schedulingGates"].is_null());
    assert_eq!(condition(gated.object(0), "PodScheduled").unwrap()["reason"], "SchedulingGated");
    assert!(gated.object(1)["spec"]["schedulingGates"].is_null());
    assert!(gated.truth.ungated.unwrap() < gated.truth.scheduled.unwrap().written);

    let unschedulable = Story::brisk(LifeKind::Unschedulable).await;
    assert_eq!(unschedulable.reasons("PodScheduled"), ["Unschedulable"]);
    assert_eq!(unschedulable.turns("PodScheduled"), ["False", "True"]);

    let wrong = Story::brisk(LifeKind::ScheduledStaysFalse).await;
    assert_eq!(wrong.turns("PodScheduled"), ["False"]);
    assert!(wrong.ever(|pod| holds(pod, "Ready")));

    let preset = Story::brisk(LifeKind::PresetNode).await;
    assert!(preset.object(0)["spec"]["nodeName"].is_string());
    assert!(condition(preset.object(0), "PodScheduled").is_none());
    assert!(holds(preset.object(1), "PodScheduled"));
}

#[tokio::test]
async fn quick_and_failing_jobs_are_never_ready() {
    for (kind, reason, ending) in [
        (LifeKind::QuickJob, "PodCompleted", PodEnding::Completed),
        (LifeKind::FailingJob, "PodFailed", PodEnding::Failed),
    ] {
        for seed in 0..8 {
            let story = Story::of(kind, LifeSpeed::Usual, seed).await;
            assert_eq!(story.turns("Ready"), ["False"]);
            let end = condition(story.last(), "Ready").unwrap();
            assert_eq!(end["reason"], reason);
            assert!(!holds(story.last(), NETWORK));
            assert_eq!(story.truth.ending, Some(ending));
        }
    }
    let job = Story::brisk(LifeKind::Job).await;
    assert_eq!(job.turns("Ready")[..2], ["False", "True"]);
    assert!(!holds(job.last(), NETWORK) && !holds(job.last(), "Ready"));
}

#[tokio::test]
async fn what_comes_back_has_a_new_transition_time() {
    for (kind, names) in [
        (LifeKind::ReadinessFlap, &["ContainersReady", "Ready"][..]),
        (LifeKind::Restarted, &["ContainersReady", "Ready"]),
        (LifeKind::SandboxRecreated, &[NETWORK, "Initialized", "ContainersReady", "Ready"]),
    ] {
        // With the first seed the flap is the loss of a node, which touches only Ready.
        let story = Story::of(kind, LifeSpeed::Brisk, 2).await;
        for name in names {
            let mut times: Vec<&str> = (story.conditions(name).iter())
                .filter(|condition| condition["status"] == "True")
                .map(|condition| condition["lastTransitionTime"].as_str().unwrap())
                .collect();
            times.dedup();
            assert_eq!(times.len(), 2, "{kind:?} {name}");
        }
    }
    let restarted = Story::brisk(LifeKind::Restarted).await;
    assert!(restarted.ever(|pod| pod["status"]["containerStatuses"][0]["restartCount"] == 1));
}

#[tokio::test]
async fn some_pods_never_become_ready() {
    for kind in [LifeKind::CrashLoop, LifeKind::ImagePullStuck, LifeKind::SandboxStuck] {
        let story = Story::brisk(kind).await;
        assert_eq!(story.truth.ready, None, "{kind:?}");
        assert_eq!(story.truth.ending, Some(PodEnding::Removed), "{kind:?}");
        let stands = story.truth.network_ready.is_some();
        assert_eq!(stands, kind != LifeKind::SandboxStuck, "{kind:?}");
    }
}

#[tokio::test]
async fn pods_are_deleted_in_every_stage() {
    let (mut unbound, mut without_network, mut running) = (0, 0, 0);
    for seed in 0..40 {
        let story = Story::of(LifeKind::DeletedEarly, LifeSpeed::Usual, seed).await;
        // A container that ran ends with the pod, which has Succeeded then, Ready or not.
        let ran = story.ever(|pod| pod["status"]["phase"] == "Running");
        let ending = if ran { PodEnding::Completed } else { PodEnding::Removed };
        assert_eq!(story.truth.ending, Some(ending), "seed {seed}");
        assert_eq!(story.truth.ready, None, "seed {seed}");
        let truth = &story.truth;
        unbound += usize::from(truth.scheduled.is_none());
        without_network += usize::from(truth.scheduled.is_some() && truth.network_ready.is_none());
        running += usize::from(truth.network_ready.is_some());
    }
    assert!(unbound > 0 && without_network > 0 && running > 0);
}

#[tokio::test]
async fn names_are_used_again_by_new_pods() {
    for kind in [LifeKind::StatefulSet, LifeKind::ReusedName] {
        let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
        assert!(cluster.begin(plan::life(kind, LifeSpeed::Brisk, &mut Rng::new(2))));
        cluster.step(Duration::from_secs(36_000));
        let pods = cluster.truth().pods();
        assert_eq!(pods.len(), 4, "{kind:?}");
        assert!(
            pods.windows(2).all(|pair| pair[0].name == pair[1].name && pair[0].uid != pair[1].uid)
        );
        assert!(pods.windows(2).all(|pair| pair[0].removed.unwrap() < pair[1].created));
        assert!(cluster.store().is_empty());
    }
}

#[tokio::test]
async fn old_and_upgraded_kubelets_report_what_they_know() {
    let old = Story::brisk(LifeKind::ClockAhead).await;
    assert!(old.ever(|pod| holds(pod, "PodHasNetwork")));
    assert!(old.conditions(NETWORK).is_empty());
    let without = Story::brisk(LifeKind::WithoutCondition).await;
    assert!(
        without.conditions(NETWORK).is_empty() && without.conditions("PodHasNetwork").is_empty()
    );
    let upgraded = Story::brisk(LifeKind::UpgradedKubelet).await;
    assert_eq!(upgraded.turns(NETWORK)[0], "True");
    let (network, ready) = (upgraded.truth.network_ready, upgraded.truth.ready);
    assert!(network.unwrap().written > ready.unwrap().written);
    let early = Story::brisk(LifeKind::ReadyBeforeNetwork).await;
    assert!(early.ever(|pod| holds(pod, "Ready") && !holds(pod, NETWORK)));
}

#[tokio::test]
async fn node_clocks_are_wrong_and_bindings_are_not() {
    let skew = |story: &Story| {
        let ready = story.truth.ready.unwrap();
        ready.stamped.nanos_since(ready.written) / 1_000_000
    };
    assert_eq!(skew(&Story::brisk(LifeKind::ClockAhead).await), 1_800);
    assert_eq!(skew(&Story::brisk(LifeKind::ClockSlightlyBehind).await), -900);
    let behind = Story::brisk(LifeKind::ClockFarBehind).await;
    assert_eq!(skew(&behind), -2_600);
    let scheduled = behind.truth.scheduled.unwrap();
    assert_eq!(scheduled.stamped, scheduled.written);
    let shown = condition(behind.object(1), "PodScheduled").unwrap();
    assert_eq!(shown["lastTransitionTime"], time(scheduled.stamped));
    assert!(behind.truth.network_ready.unwrap().stamped < scheduled.stamped);
}

#[tokio::test]
async fn static_pods_are_marked_and_started_before_they_were_created() {
    let story = Story::brisk(LifeKind::Static).await;
    let pod = story.object(1);
    assert!(pod["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_string());
    assert_eq!(pod["metadata"]["ownerReferences"][0]["kind"], "Node");
    let (started, created) = (&pod["status"]["startTime"], &pod["metadata"]["creationTimestamp"]);
    assert!(started.as_str() < created.as_str());
    let daemon = Story::brisk(LifeKind::HostNetwork).await;
    assert_eq!(daemon.object(0)["spec"]["hostNetwork"], true);
    let coalesced = Story::brisk(LifeKind::Coalesced).await;
    assert!(holds(coalesced.object(2), "Ready") && holds(coalesced.object(2), NETWORK));
}

/// The states of the container status at `pointer`, without repetitions: the reason of a wait, or the
/// name of the state.
fn states(story: &Story, pointer: &str) -> Vec<String> {
    let mut states: Vec<String> = (story.events.iter())
        .filter_map(|event| event["object"].pointer(pointer))
        .map(|status| {
            let (name, state) = status["state"].as_object().unwrap().iter().next().unwrap();
            let reason = state["reason"].as_str().filter(|_| name == "waiting");
            reason.unwrap_or(name).to_owned()
        })
        .collect();
    states.dedup();
    states
}

const MAIN: &str = "/status/containerStatuses/0";

#[tokio::test]
async fn containers_have_statuses_under_their_names() {
    for kind in LifeKind::all() {
        let story = Story::of(kind, LifeSpeed::Usual, 5).await;
        for event in &story.events {
            let (spec, status) = (&event["object"]["spec"], &event["object"]["status"]);
            for (declared, stated) in
                [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")]
            {
                let names = |containers: &Value| -> Vec<(Value, Value)> {
                    (containers.as_array().into_iter().flatten())
                        .map(|container| (container["name"].clone(), container["image"].clone()))
                        .collect()
                };
                if !status["startTime"].is_null() {
                    assert_eq!(names(&spec[declared]), names(&status[stated]), "{kind:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn containers_wait_run_and_end_as_a_kubelet_says_it() {
    for (kind, expected) in [
        (LifeKind::NextSync, &["ContainerCreating", "running"][..]),
        (LifeKind::InitContainers, &["PodInitializing", "running"]),
        (LifeKind::Restarted, &["ContainerCreating", "running", "terminated", "running"]),
        (LifeKind::Job, &["ContainerCreating", "running", "terminated"]),
    ] {
        let states = states(&Story::brisk(kind).await, MAIN);
        assert_eq!(states[..expected.len()], *expected, "{kind:?}");
    }
    let stuck = Story::brisk(LifeKind::ImagePullStuck).await;
    let waits = states(&stuck, MAIN);
    let expected = ["ContainerCreating", "ErrImagePull", "ImagePullBackOff"];
    assert_eq!(waits[..3], expected);
    let message = |reason: &str| {
        (stuck.events.iter())
            .filter_map(|event| event["object"].pointer(MAIN))
            .find(|status| status["state"]["waiting"]["reason"] == reason)
            .and_then(|status| status["state"]["waiting"]["message"].as_str())
            .unwrap()
    };
    assert!(message("ErrImagePull").starts_with("rpc error: code = NotFound"));
    assert!(message("ImagePullBackOff").starts_with("Back-off pulling image \""));
    let init = Story::brisk(LifeKind::InitContainers).await;
    let first = states(&init, "/status/initContainerStatuses/0");
    assert_eq!(first[..3], ["PodInitializing", "running", "terminated"]);
}

#[tokio::test]
async fn a_crash_leaves_its_last_state_and_its_back_off() {
    let story = Story::of(LifeKind::CrashLoop, LifeSpeed::Usual, 0).await;
    let crashed: Vec<&Value> = (story.events.iter())
        .filter_map(|event| event["object"].pointer(MAIN))
        .filter(|status| status["state"]["waiting"]["reason"] == "CrashLoopBackOff")
        .collect();
    let message = |index: usize| crashed[index]["state"]["waiting"]["message"].as_str().unwrap();
    assert!(message(0).starts_with("back-off 10s restarting failed container=app pod="));
    assert!(message(1).starts_with("back-off 20s "));
    assert!(message(4).starts_with("back-off 2m40s "));
    let last = &crashed[0]["lastState"]["terminated"];
    assert_eq!((&last["exitCode"], &last["reason"]), (&1.into(), &"Error".into()));
    assert!(last["startedAt"].as_str() <= last["finishedAt"].as_str());
    assert_eq!(crashed[3]["restartCount"], 4);
}

/// Up to 1.35 the condition waits for the pull of the first image; from 1.36 on it does not.
#[tokio::test]
async fn old_kubelets_state_the_network_late_and_truth_knows_since_when_it_was_ready() {
    let (mut late, mut at_once) = (0, 0);
    for seed in 0..12 {
        let old = Story::of(LifeKind::NextSync, LifeSpeed::Usual, seed).await.truth;
        let stated = old.network_ready.unwrap().written;
        assert!(stated >= old.starts[0].1, "seed {seed}");
        late += usize::from(stated.nanos_since(old.sandbox_ready.unwrap()) > 1_500_000_000);

        let new = Story::of(LifeKind::SandboxRecreated, LifeSpeed::Usual, seed).await;
        assert_eq!(Some(new.truth.network_ready.unwrap().written), new.truth.sandbox_ready);
        at_once += usize::from(!new.truth.pulls.is_empty());
    }
    assert!(late > 2 && at_once > 2, "{late} {at_once}");
}

#[tokio::test]
async fn a_kubelet_of_1_37_says_why_there_is_no_sandbox() {
    let story = Story::brisk(LifeKind::SandboxRecreated).await;
    let messages: Vec<&str> = (story.conditions(NETWORK).iter())
        .filter(|condition| condition["reason"] == "PodSandboxNotReady")
        .map(|condition| condition["message"].as_str().unwrap())
        .collect();
    assert_eq!(messages[0], "no pod sandbox exists");
    assert!(messages.contains(&"pod sandbox is not ready"));
    let old = Story::brisk(LifeKind::NextSync).await;
    assert!(old.reasons(NETWORK).is_empty());
}

#[tokio::test]
async fn a_stateful_pod_mounts_its_claim_before_its_sandbox() {
    let story = Story::brisk(LifeKind::StatefulSet).await;
    let volumes = story.object(0)["spec"]["volumes"].as_array().unwrap();
    let claims = (volumes.iter()).filter(|volume| !volume["persistentVolumeClaim"].is_null());
    assert_eq!(claims.count(), 1);
    assert!(story.truth.mounted.unwrap() < story.truth.sandbox_ready.unwrap());
}
