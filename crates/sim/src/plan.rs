//! Writes the life of a pod of each kind.

use super::component_fault::{NoNode, SandboxFault};
use super::container::{AppState, ContainerRef};
use super::image::PullFault;
use super::kubelet::ConditionVerdict;
use super::life::{
    ConditionWriter, LifeStep, MODEL_LOADED, PodChange, PodLife, PodManifest, READINESS_GATE,
    ResizeStep, SCHEDULING_GATE,
};
use super::manifest;
use super::node::{self, KubeletMinor, SimulatedNode};
use super::profile::{LifeKind, LifeSpeed};
use super::rng::Rng;
use super::script::{
    FIRST_SYNC, GATE, LifeScript, PROBE, REGISTRATION, RELIST, SCHEDULING, WAIT_FOR_NODE,
};
use super::sim_clock::{MILLI, SECOND};

/// The longest time between a failed pull and what the kubelet says next.
const LONGEST_BACK_OFF: i64 = 150 * SECOND;

/// How long a pod stays that its kubelet has rejected.
const REJECTED_STAYS: i64 = 900 * SECOND;

/// A new life of `kind`.
pub fn life(kind: LifeKind, speed: LifeSpeed, rng: &mut Rng) -> PodLife {
    let manifest = manifest::draw(kind, rng);
    of_manifest(kind, speed, manifest, rng)
}

/// The life of the pod that takes the place and the name of a removed one.
pub fn successor(removed: &PodLife, rng: &mut Rng) -> PodLife {
    let mut manifest = removed.manifest.clone();
    manifest.uid = rng.uuid();
    let mut life = of_manifest(removed.kind, LifeSpeed::Usual, manifest, rng);
    life.recreations = removed.recreations.saturating_sub(1);
    life
}

/// The life of a pod that a controller keeps: only that deletes it.
pub(crate) fn kept(kind: LifeKind, manifest: PodManifest, rng: &mut Rng) -> PodLife {
    let mut life = of_manifest(kind, LifeSpeed::Usual, manifest, rng);
    let is_end =
        |step: &LifeStep| matches!(step.change, PodChange::Terminate { .. } | PodChange::Remove);
    let end = life.steps.iter().position(is_end);
    life.steps.truncate(end.unwrap_or(life.steps.len()));
    PodLife { recreations: 0, permanent: true, ..life }
}

fn of_manifest(kind: LifeKind, speed: LifeSpeed, manifest: PodManifest, rng: &mut Rng) -> PodLife {
    let node = node_of(kind, &manifest, rng);
    let mut script = LifeScript::new(rng, &manifest, node, speed);
    write(kind, &mut script);
    PodLife {
        kind,
        steps: script.steps,
        recreations: match kind {
            LifeKind::ReusedName | LifeKind::StatefulSet => 3,
            _ => 0,
        },
        permanent: false,
        manifest,
    }
}

fn node_of(kind: LifeKind, manifest: &PodManifest, rng: &mut Rng) -> SimulatedNode {
    match kind {
        // Their hazard needs a kubelet that knows the condition, on a clock that is right.
        LifeKind::SandboxRecreated | LifeKind::ReadyBeforeNetwork => node::CURRENT,
        LifeKind::ClockAhead => node::AHEAD,
        LifeKind::ClockSlightlyBehind => node::SLIGHTLY_BEHIND,
        LifeKind::ClockFarBehind => node::FAR_BEHIND,
        LifeKind::WithoutCondition => node::WITHOUT_CONDITION,
        LifeKind::NextSync => node::NEXT_SYNC,
        LifeKind::UpgradedKubelet => node::UPGRADED,
        LifeKind::Unschedulable => node::added_for(&manifest.uid),
        _ => manifest.preset_node.unwrap_or_else(|| node::choose(rng)),
    }
}

fn write(kind: LifeKind, script: &mut LifeScript<'_>) {
    match kind {
        LifeKind::Gated => {
            script.wait_then(GATE, PodChange::Ungate(SCHEDULING_GATE));
        }
        LifeKind::Unschedulable => {
            script.wait_then(SCHEDULING, PodChange::Unschedulable(NoNode::Resources));
            script.autoscale();
            script.wait(WAIT_FOR_NODE);
        }
        _ => {}
    }
    match kind {
        LifeKind::Static | LifeKind::PresetNode => {}
        LifeKind::ScheduledStaysFalse => {
            script.then(PodChange::Unschedulable(NoNode::Resources));
            script.bind(false);
        }
        _ => script.bind(true),
    }
    match kind {
        LifeKind::QuickJob => quick(script, AppState::Completed),
        LifeKind::FailingJob => quick(script, AppState::Failed),
        LifeKind::Job | LifeKind::ReusedName => job(script),
        // A demonstration that begins with them is rid of them before they count as problems.
        LifeKind::CrashLoop => crash_loop(script, if script.is_brisk() { 1 } else { 5 }),
        LifeKind::SandboxStuck => sandbox_stuck(script, if script.is_brisk() { 1 } else { 25 }),
        LifeKind::ImagePullStuck => image_pull_stuck(script),
        // For hours: nobody takes them back.
        LifeKind::BadRelease => crash_loop(script, 100),
        LifeKind::BadTag => fail_pulls(script, 100),
        LifeKind::Rejected => rejected(script),
        LifeKind::DeletedEarly => deleted_early(script),
        LifeKind::Disrupted => disrupted(script),
        LifeKind::ReadyBeforeNetwork => ready_before_network(script),
        LifeKind::Coalesced => coalesced(script),
        LifeKind::ModelServer => model_server(script),
        _ => {
            script.start_up();
            after_ready(kind, script);
            script.run_and_delete(10 * SECOND);
        }
    }
}

/// What happens to a pod that has been ready.
fn after_ready(kind: LifeKind, script: &mut LifeScript<'_>) {
    match kind {
        LifeKind::ReadinessGate => {
            script.wait_then(REGISTRATION, load_balancer(registering()));
            script.first_sync();
            script.wait_then(PROBE, load_balancer(ConditionVerdict::HOLDS));
            script.first_sync();
        }
        LifeKind::ReadinessFlap => flap(script),
        LifeKind::Restarted => {
            script.pass(2 * SECOND);
            restart(script);
        }
        LifeKind::SandboxRecreated => {
            script.pass(1_500 * MILLI);
            script.report.sandbox = false;
            script.report.init_done = 0;
            script.write_app(script.manifest.first_report().app);
            script.pass(SECOND);
            script.sandbox();
            script.initialize();
            script.run();
            script.probe();
        }
        LifeKind::Resized => {
            script.pass(2 * SECOND);
            script.then(PodChange::Resize(Some(ResizeStep::Deferred)));
            script.wait_then(WAIT_FOR_NODE, PodChange::Resize(Some(ResizeStep::InProgress)));
            script.wait_then(PROBE, PodChange::Resize(None));
        }
        LifeKind::UpgradedKubelet => {
            script.pass(2 * SECOND);
            script.then(PodChange::UpgradeKubelet(KubeletMinor::V1_37));
        }
        _ => {}
    }
}

/// What the load balancer's controller says of the pod as a target.
fn load_balancer(verdict: ConditionVerdict) -> PodChange {
    PodChange::SetCondition { kind: READINESS_GATE, verdict, writer: ConditionWriter::Controller }
}

/// Its words until the target is healthy: those of the load balancer.
fn registering() -> ConditionVerdict {
    ConditionVerdict::fails("Elb.RegistrationInProgress", "Target registration is in progress")
}

/// A model server: from the first sync to the readiness that follows from its model.
fn model_server(script: &mut LifeScript<'_>) {
    script.first_sync();
    script.sandbox();
    script.run();
    script.wait_then(
        PROBE,
        PodChange::SetCondition {
            kind: MODEL_LOADED,
            verdict: ConditionVerdict::HOLDS,
            writer: ConditionWriter::Application,
        },
    );
    script.wait(RELIST);
    script.write_app(AppState::Running { ready: true });
    script.run_and_delete(10 * SECOND);
}

fn flap(script: &mut LifeScript<'_>) {
    script.pass(1_500 * MILLI);
    if script.rng.chance(0.3) {
        script.then(PodChange::LoseNode);
    } else {
        script.write_app(AppState::Running { ready: false });
    }
    script.pass(1_200 * MILLI);
    script.wait(PROBE);
    script.write_app(AppState::Running { ready: true });
}

/// The container ends once. That is no crash loop: nothing is wrong with a cluster in which a container restarts.
fn restart(script: &mut LifeScript<'_>) {
    script.write_app(AppState::Restarting);
    script.pass(1_500 * MILLI);
    script.report.restarts += 1;
    script.start_main();
    script.show_running();
    script.probe();
}

/// Done before the kubelet has seen it run. Of 39 such pods on real kubelets of 1.36 (tests/e2e), 24
/// had the sandbox reported before the end and taken back with it, 14 had it stand in the very
/// status that ends the pod, and one never had it reported.
fn quick(script: &mut LifeScript<'_>, end: AppState) {
    match script.rng.below(20) {
        0..=11 => {
            script.first_sync();
            script.sandbox();
            script.report.sandbox = false;
        }
        draw => {
            script.wait(FIRST_SYNC);
            script.make_sandbox();
            // Older kubelets are a sync behind, and there is none.
            let at_once = script.node.kubelet.reports_sandbox_at_once();
            script.report.sandbox = draw <= 18 && at_once;
        }
    }
    script.start_main();
    script.pass(300 * MILLI);
    script.end(end);
    script.run_and_delete(5 * SECOND);
}

fn job(script: &mut LifeScript<'_>) {
    script.start_up();
    script.wait(PROBE);
    let succeeds = script.rng.chance(0.9);
    script.end(if succeeds { AppState::Completed } else { AppState::Failed });
    script.pass(2 * SECOND);
    script.wait(PROBE);
    script.delete();
}

fn crash_loop(script: &mut LifeScript<'_>, crashes: u32) {
    script.first_sync();
    script.sandbox();
    for crash in 0..crashes {
        script.start_main();
        script.report.sandbox = true;
        script.write_app(AppState::Running { ready: false });
        script.pass(SECOND);
        script.report.restarts += 1;
        script.write_app(AppState::Waiting("CrashLoopBackOff"));
        script.pass(((10 * SECOND) << crash.min(5)).min(300 * SECOND));
    }
    script.delete();
}

fn image_pull_stuck(script: &mut LifeScript<'_>) {
    match script.is_brisk() {
        true => fail_pulls(script, 3),
        false => {
            fail_pulls(script, 8);
            script.pass(120 * SECOND);
        }
    }
    script.delete();
}

fn fail_pulls(script: &mut LifeScript<'_>, attempts: u32) {
    script.first_sync();
    script.sandbox();
    let (image, fault) = (ContainerRef::MAIN, PullFault::NotFound);
    for attempt in 0..attempts {
        let (container, takes) = (image, SECOND);
        script.then(PodChange::Pull { container, takes });
        let failures = [PodChange::FailPull, PodChange::BackOffPull];
        for change in failures.map(|failure| failure(image, fault)) {
            script.pass(SECOND + ((SECOND << attempt.min(10)) / 4).min(LONGEST_BACK_OFF));
            script.then(change);
            script.write_sandbox(true);
        }
    }
}

/// Only Events report it (`FailedCreatePodSandBox`): the status does not change.
fn sandbox_stuck(script: &mut LifeScript<'_>, attempts: u32) {
    script.first_sync();
    let fault = SandboxFault::Network;
    for _ in 0..attempts {
        script.pass(12 * SECOND);
        script.then(PodChange::FailSandbox(fault));
    }
    script.delete();
}

/// A full startup, broken off between any two of its steps.
fn deleted_early(script: &mut LifeScript<'_>) {
    script.start_up();
    // The last step is the one that makes the pod ready; the one before it may stay.
    let last = script.steps.len().saturating_sub(1);
    let kept = script.rng.below(last as u64 + 1) as usize;
    script.break_off(kept);
    script.delete();
}

/// Somebody needs its place, or its node, before it has started.
fn disrupted(script: &mut LifeScript<'_>) {
    script.first_sync();
    script.sandbox();
    let reasons: [&'static str; 2] = ["PreemptionByScheduler", "EvictionByEvictionAPI"];
    let reason = *script.rng.pick(&reasons);
    script.then(PodChange::Disrupt(reason));
    script.delete();
}

/// A failed pod stays until somebody deletes it.
fn rejected(script: &mut LifeScript<'_>) {
    script.wait_then(FIRST_SYNC, PodChange::Reject);
    script.pass(REJECTED_STAYS);
    script.delete();
}

fn ready_before_network(script: &mut LifeScript<'_>) {
    script.first_sync();
    script.make_sandbox();
    script.start_main();
    script.write_app(AppState::Running { ready: true });
    script.pass(1_500 * MILLI);
    script.write_sandbox(true);
    script.run_and_delete(10 * SECOND);
}

fn coalesced(script: &mut LifeScript<'_>) {
    script.wait(FIRST_SYNC);
    script.make_sandbox();
    script.start_main();
    script.report.sandbox = true;
    script.write_app(AppState::Running { ready: true });
    script.run_and_delete(10 * SECOND);
}
