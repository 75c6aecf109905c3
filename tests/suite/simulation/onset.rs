//! Two faults that begin at once are told apart from the beginning: 40 s later each is a problem of its own, at the rate
//! of the demo.

use std::time::Duration;

use podinit_oncall::problems::Problem;
use podinit_sim::scene::Scene;

use crate::support::scene::SceneSettings;

/// When the scene begins. Until then the cluster is healthy.
const BROKEN: Duration = Duration::from_secs(120);
/// So long after that it is looked at.
const AFTER: Duration = Duration::from_secs(40);
/// Fewer pods than these are no sign of a fault.
const FEW: usize = 5;

/// The problems 40 s after the onset.
async fn problems(scene: Scene) -> Vec<Problem> {
    let settings = SceneSettings {
        after: BROKEN,
        length: BROKEN + AFTER,
        interval: AFTER,
        rate: 5.0,
        problems: true,
        ..SceneSettings::of(scene)
    };
    let mut recording = settings.record().await;
    let (_, found) = recording.problems.pop().unwrap();
    found.problems
}

/// Each of these is told, of a value, in one problem that says so; and next to no pod is in any other.
async fn assert_told(scene: Scene, expected: [(&str, &str, &str); 2]) {
    let found = problems(scene).await;
    let told = expected.map(|(cause, value, reason)| {
        let is_it = |one: &&Problem| {
            one.cause == cause
                && one.value.as_deref() == Some(value)
                && one.sentence.contains(reason)
                && one.pods >= FEW
        };
        let problem = found.iter().find(is_it);
        problem.unwrap_or_else(|| panic!("{scene:?}: {cause} {value} {reason}: {found:#?}")).pods
    });
    let all: usize = found.iter().map(|one| one.pods).sum();
    assert!(20 * told.iter().sum::<usize>() >= 19 * all, "{scene:?}: {found:#?}");
}

#[tokio::test]
async fn a_registry_and_a_node() {
    let node = ("sandbox", "node-a0", "no space left on device");
    let registry = ("image", "registry.example.com", "connection refused");
    assert_told(Scene::TwoProblems, [node, registry]).await;
}

#[tokio::test]
async fn two_registries() {
    let own = ("image", "registry.example.com", "connection refused");
    let other = ("image", "docker.io", "503 Service Unavailable");
    assert_told(Scene::TwoRegistries, [own, other]).await;
}
