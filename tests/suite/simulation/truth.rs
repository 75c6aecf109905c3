//! The pipeline against the oracle, over real sockets and in paused time: whatever befalls
//! the watch, no startup is lost, none is counted twice, and every duration is the right one.

use std::time::Duration;

use crate::support::cluster::world::World;
use podinit_sim::plan;
use podinit_sim::profile::{LifeKind, LifeSpeed};
use podinit_sim::rng::Rng;

/// Simulated steps of each run, of a quarter of a second on average.
const STEPS: u64 = 240;
const MANY_STEPS: u64 = 400;

/// What each run must contain for its comparison to mean something.
const CONTAINED: [&str; 17] = [
    "podinit_pods_finished_total{outcome=\"ready\"}",
    "podinit_pods_finished_total{outcome=\"completed\"}",
    "podinit_pods_finished_total{outcome=\"failed\"}",
    "podinit_pods_finished_total{outcome=\"deleted\"}",
    "podinit_pods_finished_total{outcome=\"vanished\"}",
    "podinit_pods_finished_total{outcome=\"preexisting\"}",
    "podinit_pods_finished_total{outcome=\"static\"}",
    "podinit_unobserved_total{interval=\"network\",reason=\"preexisting\"}",
    "podinit_unobserved_total{interval=\"network\",reason=\"condition_absent\"}",
    "podinit_unobserved_total{interval=\"network\",reason=\"not_seen\"}",
    "podinit_unobserved_total{interval=\"network\",reason=\"time\"}",
    "podinit_reentries_total{milestone=\"PodReadyToStartContainers\"}",
    "podinit_reentries_total{milestone=\"Initialized\"}",
    "podinit_clock_anomalies_total{kind=\"skew\"}",
    "podinit_clock_anomalies_total{kind=\"rounded\"}",
    "podinit_clock_anomalies_total{kind=\"negative\"}",
    "podinit_clock_anomalies_total{kind=\"missing\"}",
];

/// Runs a cluster for a while, with a disturbance now and then, and holds the metrics against
/// the oracle.
async fn run(seed: u64, steps: u64) {
    let mut world = World::start(seed).await;
    let mut lives = LifeKind::all();
    for step in 0..steps {
        let by = Duration::from_millis(world.random.within(1..=500).into());
        match step % 20 {
            3 => world.hang(by).await,
            6 | 16 => {
                world.step(by).await;
                world.relist().await;
            }
            9 | 19 => {
                world.step(by).await;
                world.miss_a_deletion().await;
            }
            _ => {
                world.disturb();
                world.step(by).await;
            }
        }
        // One of each kind; those that come at the cluster's own rate are mostly plain ones.
        if step % 5 == 0
            && let Some(kind) = lives.next()
        {
            let life = plan::life(kind, LifeSpeed::Brisk, &mut Rng::new(seed + step));
            world.begin(life).await;
        }
        let scrape = world.scrape();
        scrape.assert_conserved();
        let discovered = scrape.value("podinit_pods_discovered_total");
        assert_eq!(discovered, Some(world.discovered()), "step {step}");
    }
    let scrape = world.scrape();
    for series in CONTAINED {
        assert!(scrape.value(series).unwrap_or(0.0) > 0.0, "seed {seed} has no {series}");
    }
    let faults = world.faults();
    assert!(faults.is_empty(), "seed {seed}:\n{}", faults.join("\n"));
    assert!(world.pipeline.lists > steps / 10);
    world.pipeline.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_metrics_are_what_happened() {
    run(1, STEPS).await;
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn the_metrics_are_what_happened_in_another_cluster() {
        run(2, MANY_STEPS).await;
    }

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn the_metrics_are_what_happened_in_a_third_cluster() {
        run(3, MANY_STEPS).await;
    }
}
