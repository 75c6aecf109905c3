//! The pods that exist when the cluster starts, with the times of what they have been through.

use super::container::AppState;
use super::life::{PodChange, PodLife};
use super::manifest;
use super::node::{self, KubeletMinor, SimulatedNode};
use super::plan;
use super::profile::{LifeKind, LifeSpeed};
use super::rng::Rng;
use super::script::LifeScript;
use super::sim_clock::{MILLI, SECOND};

const HOUR: i64 = 3_600 * SECOND;

/// A life that began `age` nanoseconds before the cluster's start.
pub(super) struct PastLife {
    pub(super) life: PodLife,
    pub(super) age: i64,
}

/// The `index`-th pod of the past.
pub(super) fn draw(index: usize, rng: &mut Rng) -> PastLife {
    match index % 10 {
        0 => in_flight(LifeKind::InitContainers, rng),
        1 => in_flight(LifeKind::Plain, rng),
        2 => flapped(rng),
        3 | 4 => upgraded(rng),
        5 => settled(LifeKind::Static, rng),
        6 => settled(LifeKind::HostNetwork, rng),
        7 => finished(rng),
        _ => settled(LifeKind::Plain, rng),
    }
}

fn days(rng: &mut Rng) -> i64 {
    rng.between(HOUR, 20 * 24 * HOUR)
}

/// A life that is written up to its readiness.
fn written(
    kind: LifeKind,
    node: Option<SimulatedNode>,
    rng: &mut Rng,
    rest: impl FnOnce(&mut LifeScript<'_>),
) -> PodLife {
    let manifest = manifest::draw(kind, rng);
    let node = node.or(manifest.preset_node).unwrap_or_else(|| node::choose(rng));
    let mut script = LifeScript::new(rng, &manifest, node, LifeSpeed::Usual);
    if manifest.preset_node.is_none() {
        script.bind(true);
    }
    script.start_up();
    rest(&mut script);
    PodLife { kind, steps: script.steps, manifest, recreations: 0, permanent: true }
}

/// Ready for days.
fn settled(kind: LifeKind, rng: &mut Rng) -> PastLife {
    let age = days(rng);
    let life = written(kind, None, rng, |_| {});
    PastLife { life, age }
}

/// Ready for days, not ready just now, and ready again soon.
fn flapped(rng: &mut Rng) -> PastLife {
    let age = days(rng);
    let life = written(LifeKind::ReadinessFlap, None, rng, |script| {
        script.pass_until(age - 1_500 * MILLI);
        script.write_app(AppState::Running { ready: false });
        script.pass_until(age + 4 * SECOND);
        script.write_app(AppState::Running { ready: true });
        script.run_and_delete(20 * SECOND);
    });
    PastLife { life, age }
}

/// Ready for days on a node whose kubelet is about to be upgraded.
fn upgraded(rng: &mut Rng) -> PastLife {
    let age = days(rng);
    let kind = LifeKind::UpgradedKubelet;
    let life = written(kind, Some(node::UPGRADED), rng, |script| {
        script.pass_until(age + 5 * SECOND);
        script.then(PodChange::UpgradeKubelet(KubeletMinor::V1_37));
    });
    PastLife { life, age }
}

/// Somewhere in the middle of its startup.
fn in_flight(kind: LifeKind, rng: &mut Rng) -> PastLife {
    let life = plan::life(kind, LifeSpeed::Usual, rng);
    let ready = (life.steps.iter())
        .position(|step| {
            matches!(&step.change, PodChange::Report(report)
                if report.app == AppState::Running { ready: true })
        })
        .unwrap_or(1);
    let since = life.steps[0].after;
    let until = life.steps[ready].after;
    PastLife { age: rng.between(since + (until - since) / 2, until), life }
}

/// A job that is done.
fn finished(rng: &mut Rng) -> PastLife {
    let life = plan::life(LifeKind::QuickJob, LifeSpeed::Usual, rng);
    let age = (life.steps.iter())
        .find(|step| matches!(&step.change, PodChange::Report(report) if report.app == AppState::Completed))
        .map_or(0, |step| step.after + SECOND);
    PastLife { life, age }
}
