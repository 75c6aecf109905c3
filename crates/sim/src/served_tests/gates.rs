//! Scheduling gates, readiness gates and the condition of an application, as the API server serves them; and what the
//! truth says of them.

use std::time::Duration;

use crate::container::AppState;
use crate::kubelet::ConditionVerdict;
use crate::life::{
    ConditionWriter, MODEL_LOADED, PodChange, PodManifest, READINESS_GATE, SCHEDULING_GATE,
};
use crate::node::AHEAD;
use crate::profile::{LifeKind, LifeSpeed};
use crate::scene::Scene;
use crate::sim_clock::time;
use crate::{ClusterConfig, SimulatedCluster};
use http_body_util::BodyExt;
use podinit_core::timestamp::Timestamp;
use serde_json::{Value, json};

use super::client::{Http, PODS, bind, manifest, report};
use super::story::{Story, condition, holds};

const SECOND: Duration = Duration::from_secs(1);

fn set(kind: &'static str, verdict: ConditionVerdict, writer: ConditionWriter) -> PodChange {
    PodChange::SetCondition { kind, verdict, writer }
}

/// The pod `web` of a cluster that a test moves by hand.
struct ByHand(SimulatedCluster);

impl ByHand {
    async fn of(manifest: PodManifest) -> Self {
        let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
        assert!(cluster.create(manifest));
        Self(cluster)
    }

    /// A second later, `change` happens. Returns when.
    fn then(&self, change: &PodChange) -> Timestamp {
        let now = self.0.step(SECOND);
        assert!(self.0.apply("web", change));
        now
    }

    /// What the API server says of it.
    async fn object(&self) -> Value {
        let list = Http::to(&self.0).list("").await;
        list["items"][0].clone()
    }
}

#[tokio::test]
async fn scheduling_gates_go_one_by_one() {
    let gates = vec![SCHEDULING_GATE, "example.com/license"];
    let pod = ByHand::of(PodManifest { scheduling_gates: gates, ..manifest("web") }).await;
    let object = pod.object().await;
    let named = json!([{"name": SCHEDULING_GATE}, {"name": "example.com/license"}]);
    assert_eq!(object["spec"]["schedulingGates"], named);
    let scheduled = condition(&object, "PodScheduled").unwrap();
    assert_eq!(
        (&scheduled["status"], &scheduled["reason"]),
        (&json!("False"), &json!("SchedulingGated"))
    );
    let message = "Scheduling is blocked due to non-empty scheduling gates";
    assert_eq!(scheduled["message"], message);

    let second = pod.then(&PodChange::Ungate("example.com/license"));
    let object = pod.object().await;
    assert_eq!(object["spec"]["schedulingGates"], json!([{"name": SCHEDULING_GATE}]));
    assert_eq!(object["metadata"]["generation"], 2);
    let truth = pod.0.truth().pod("web").unwrap();
    assert_eq!((truth.gate_removed("example.com/license"), truth.ungated), (Some(second), None));

    let first = pod.then(&PodChange::Ungate(SCHEDULING_GATE));
    // Nobody removes it twice.
    pod.then(&PodChange::Ungate(SCHEDULING_GATE));
    let object = pod.object().await;
    assert!(object["spec"]["schedulingGates"].is_null());
    assert_eq!(condition(&object, "PodScheduled").unwrap()["reason"], "SchedulingGated");
    let truth = pod.0.truth().pod("web").unwrap();
    let removed = [("example.com/license", second), (SCHEDULING_GATE, first)];
    assert_eq!((truth.gates_removed, truth.ungated), (removed.to_vec(), Some(first)));
}

#[tokio::test]
async fn ready_says_which_readiness_gates_it_waits_for() {
    let gates = vec![READINESS_GATE, "example.com/mesh"];
    let pod = ByHand::of(PodManifest { readiness_gates: gates, ..manifest("web") }).await;
    let running = report(true, AppState::Running { ready: true });
    pod.then(&bind());
    pod.then(&running);
    let object = pod.object().await;
    let named = json!([{"conditionType": READINESS_GATE}, {"conditionType": "example.com/mesh"}]);
    assert_eq!(object["spec"]["readinessGates"], named);
    assert!(holds(&object, "ContainersReady"));
    let ready = condition(&object, "Ready").unwrap();
    assert_eq!(
        (&ready["status"], &ready["reason"]),
        (&json!("False"), &json!("ReadinessGatesNotReady"))
    );
    let absent =
        |gate| format!("corresponding condition of pod readiness gate \"{gate}\" does not exist.");
    let mesh = absent("example.com/mesh");
    assert_eq!(ready["message"], format!("{}, {mesh}", absent(READINESS_GATE)));

    let registers =
        ConditionVerdict::fails("Elb.RegistrationInProgress", "Target registration is in progress");
    let registered = pod.then(&set(READINESS_GATE, registers, ConditionWriter::Controller));
    pod.then(&running);
    let object = pod.object().await;
    let expected = json!({
        "type": READINESS_GATE, "status": "False", "reason": "Elb.RegistrationInProgress",
        "message": "Target registration is in progress",
        "lastProbeTime": null, "lastTransitionTime": time(registered),
    });
    assert_eq!(condition(&object, READINESS_GATE), Some(&expected));
    let message = format!(
        "the status of pod readiness gate \"{READINESS_GATE}\" is not \"True\", but False, {mesh}"
    );
    assert_eq!(condition(&object, "Ready").unwrap()["message"], message);

    let healthy =
        pod.then(&set(READINESS_GATE, ConditionVerdict::HOLDS, ConditionWriter::Controller));
    pod.then(&running);
    assert_eq!(condition(&pod.object().await, "Ready").unwrap()["message"], mesh);
    pod.then(&set("example.com/mesh", ConditionVerdict::HOLDS, ConditionWriter::Controller));
    pod.then(&running);
    let object = pod.object().await;
    assert!(holds(&object, "Ready"));
    assert_eq!(condition(&object, READINESS_GATE).unwrap()["lastTransitionTime"], time(healthy));
    let truth = pod.0.truth().pod("web").unwrap();
    assert_eq!(truth.condition(READINESS_GATE).unwrap().stamped, healthy);
    assert!(truth.condition("example.com/mesh").unwrap().written > healthy);
}

#[tokio::test]
async fn an_application_states_its_condition_by_the_clock_of_its_node() {
    let pod = ByHand::of(manifest("web")).await;
    pod.then(&PodChange::Bind { node: AHEAD, stamped: true });
    pod.then(&report(true, AppState::Running { ready: false }));
    let written =
        pod.then(&set(MODEL_LOADED, ConditionVerdict::HOLDS, ConditionWriter::Application));
    let stamped = written.plus_nanos(AHEAD.skew);
    let object = pod.object().await;
    assert_eq!(condition(&object, MODEL_LOADED).unwrap()["lastTransitionTime"], time(stamped));
    // It may take it back, and comes to it again: only the first time counts.
    pod.then(&set(MODEL_LOADED, ConditionVerdict::FAILS, ConditionWriter::Application));
    pod.then(&set(MODEL_LOADED, ConditionVerdict::HOLDS, ConditionWriter::Application));
    let reached = pod.0.truth().pod("web").unwrap().condition(MODEL_LOADED).unwrap();
    assert_eq!((reached.stamped, reached.written), (stamped, written));
}

#[tokio::test]
async fn a_gated_pod_waits_for_its_queue_and_not_for_long() {
    for seed in 0..20 {
        let story = Story::of(LifeKind::Gated, LifeSpeed::Usual, seed).await;
        let first = story.object(0);
        assert_eq!(first["spec"]["schedulingGates"], json!([{"name": "kueue.x-k8s.io/admission"}]));
        assert_eq!(first["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "spare");
        let ungated = story.truth.ungated.unwrap();
        assert_eq!(story.truth.gate_removed(SCHEDULING_GATE), Some(ungated));
        assert!(ungated < story.truth.scheduled.unwrap().written);
        // A third of what is a problem at the least (13.2).
        let waited = ungated.nanos_since(story.truth.created);
        assert!((2_000_000_000..=10_000_000_000).contains(&waited), "seed {seed}: {waited}");
    }
}

#[tokio::test]
async fn a_load_balancer_delays_only_ready() {
    for seed in 0..20 {
        let story = Story::of(LifeKind::ReadinessGate, LifeSpeed::Usual, seed).await;
        assert_eq!(
            story.object(0)["spec"]["readinessGates"],
            json!([{"conditionType": "target-health.elbv2.k8s.aws/k8s-shop-web"}])
        );
        assert_eq!(story.turns(READINESS_GATE), ["False", "True"]);
        assert_eq!(story.reasons(READINESS_GATE), ["Elb.RegistrationInProgress"]);
        let mut waits: Vec<&str> = (story.conditions("Ready").iter())
            .filter(|ready| ready["reason"] == "ReadinessGatesNotReady")
            .map(|ready| ready["message"].as_str().unwrap())
            .collect();
        waits.dedup();
        assert_eq!(waits.len(), 2, "{waits:?}");
        assert!(
            waits[0].ends_with("does not exist.")
                && waits[1].ends_with("is not \"True\", but False")
        );
        let truth = &story.truth;
        let reached = truth.condition(READINESS_GATE).unwrap().written;
        assert!(truth.containers_ready.unwrap().written < reached);
        assert!(reached < truth.ready.unwrap().written);
    }
}

#[tokio::test]
async fn a_model_server_says_that_it_has_its_model_before_it_is_ready() {
    for seed in 0..20 {
        let story = Story::of(LifeKind::ModelServer, LifeSpeed::Usual, seed).await;
        assert!(story.object(0)["spec"]["readinessGates"].is_null());
        assert_eq!(story.turns("example.com/ModelLoaded"), ["True"]);
        let truth = &story.truth;
        let loaded = truth.condition(MODEL_LOADED).unwrap();
        assert!(truth.containers_started.unwrap().written < loaded.written);
        assert!(loaded.written < truth.ready.unwrap().written);
    }
}

#[tokio::test]
async fn without_its_controller_gated_pods_stay_gated_and_all_others_start() {
    let config = ClusterConfig { rate: 5.0, hopeless: false, ..ClusterConfig::manual() };
    let cluster = SimulatedCluster::start(config).await.unwrap();
    cluster.step(SECOND * 60);
    cluster.set_broken(Some(Scene::GateForgotten));
    let broken = cluster.clock().now();
    cluster.step(SECOND * 300);
    let (gated, others): (Vec<_>, Vec<_>) = (cluster.truth().pods().into_iter())
        .filter(|pod| pod.created > broken && pod.removed.is_none())
        .partition(|pod| pod.kind == Some(LifeKind::Gated));
    assert!(gated.len() > 20, "{}", gated.len());
    assert!(gated.iter().all(|pod| pod.ungated.is_none() && pod.scheduled.is_none()));
    let is_late = |pod: &&crate::truth::PodTruth| {
        pod.ending.is_none() && pod.created < cluster.clock().now().plus_nanos(-120_000_000_000)
    };
    assert_eq!(others.iter().filter(is_late).count(), 0);

    // Once it is back, they start.
    cluster.set_broken(None);
    cluster.step(SECOND * 60);
    let pod = cluster.truth().pod(&gated[0].uid).unwrap();
    assert!(pod.ready.is_some(), "{pod:?}");
}

#[tokio::test]
async fn protobuf_names_gates_and_conditions_too() {
    let pod = ByHand::of(PodManifest {
        scheduling_gates: vec![SCHEDULING_GATE],
        readiness_gates: vec![READINESS_GATE],
        ..manifest("web")
    })
    .await;
    pod.then(&set(MODEL_LOADED, ConditionVerdict::HOLDS, ConditionWriter::Application));
    let answer = Http::to(&pod.0).send_accepting("application/vnd.kubernetes.protobuf", PODS).await;
    assert_eq!(answer.headers()["content-type"], "application/vnd.kubernetes.protobuf");
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    for name in [SCHEDULING_GATE, READINESS_GATE, MODEL_LOADED] {
        // A name is field 1 of its message.
        let field = [&[0x0a, u8::try_from(name.len()).unwrap()], name.as_bytes()].concat();
        assert!(bytes.windows(field.len()).any(|window| window == field), "{name}");
    }
}
