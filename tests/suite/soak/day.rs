//! 24 simulated hours against the oracle.

use std::cell::Cell;
use std::time::{Duration, Instant};

use podinit_sim::ClusterConfig;
use podinit_sim::faults::{FaultAnswer, FaultTarget, StreamFault};
use podinit_sim::status::StatusFailure;
use podinit_sim::truth::PodTruth;
use tokio::time::timeout;

use crate::memory::counting;
use crate::soak::slope;
use crate::support::PATIENCE;
use crate::support::cluster::world::World;

const HOURS: u32 = 24;

/// Some 17,000 pods in all; the records of the cluster hold 20,000.
const PODS_PER_SECOND: f64 = 0.2;

/// The most that accounting may grow by. It remembers as many pods at the end as after the first
/// hour; what still comes are exemplars and histograms of stages that few pods have.
const MOST_BYTES_PER_HOUR: f64 = 2048.0;

thread_local! {
    static ACCOUNTING: Cell<isize> = const { Cell::new(0) };
}

/// Adds what is allocated meanwhile to what tracker and recorder hold.
fn metered(account: &mut dyn FnMut()) {
    let before = counting::held();
    account();
    ACCOUNTING.set(ACCOUNTING.get() + counting::held() - before);
}

/// Something goes wrong with what is sent, of which nothing is lost.
async fn spoil(world: &mut World) {
    let fault = match world.random.within(0..=6) {
        0 => StreamFault::Corrupt,
        1 => StreamFault::Oversized(9 << 20),
        2 => StreamFault::Raw(b"\xff\xfe\xfd\n".as_slice().into()),
        3 => StreamFault::Raw(b"\n\n{}\n[]\nnull\n".as_slice().into()),
        4 => StreamFault::Fail(StatusFailure::internal("the soak wills it")),
        5 => {
            let busy = StatusFailure::internal("the soak wills it");
            world.cluster.faults().answer(FaultTarget::Watch, 3, FaultAnswer::Fail(busy));
            StreamFault::End
        }
        _ => StreamFault::Truncated,
    };
    world.cluster.faults().stream(fault);
    world.step(Duration::ZERO).await;
}

/// Lets an hour pass, in which anything may happen at any moment. Returns the faults that did.
async fn hour(world: &mut World) -> u32 {
    let mut left = Duration::from_secs(3600);
    let mut faults = 0;
    while left > Duration::ZERO {
        let by = Duration::from_millis(world.random.within(1..=60_000).into()).min(left);
        left -= by;
        let dice = world.random.within(0..=99);
        faults += u32::from(dice < 50);
        match dice {
            0..=2 => world.hang(by).await,
            3..=7 => {
                world.step(by).await;
                world.relist().await;
            }
            8..=11 => {
                world.step(by).await;
                let pods = world.cluster.truth().pods();
                if pods.iter().any(in_flight) {
                    world.miss_a_deletion().await;
                }
            }
            12..=17 => {
                world.step(by).await;
                spoil(world).await;
            }
            18..=49 => {
                world.disturb();
                world.step(by).await;
            }
            _ => world.step(by).await,
        }
        world.scrape().assert_conserved();
    }
    faults
}

/// A watch that was resumed is in sync a moment after it has delivered everything.
async fn in_sync(world: &mut World) {
    while world.scrape().value("podinit_synced") != Some(1.0) {
        world.step(Duration::ZERO).await;
    }
}

fn in_flight(pod: &PodTruth) -> bool {
    pod.ending.is_none() && pod.removed.is_none()
}

#[tokio::test]
#[ignore = "takes minutes; run by itself (see the head of main.rs)"]
async fn a_day() {
    let seed = std::env::var("PODINIT_SOAK_SEED").map_or(1, |text| text.parse().unwrap());
    println!("seed {seed}");
    let begun = Instant::now();
    let mut world = World::with(ClusterConfig {
        rate: PODS_PER_SECOND,
        seed,
        preexisting: 60,
        history: 4_000,
        population: 150,
        ..ClusterConfig::manual()
    })
    .await;
    world.pipeline.meter = metered;
    let mut points = Vec::new();
    for number in 1..=HOURS {
        let faults = hour(&mut world).await;
        timeout(PATIENCE, in_sync(&mut world)).await.unwrap();
        let (scrape, differences) = (world.scrape(), world.faults());
        assert!(differences.is_empty(), "seed {seed}, hour {number}:\n{}", differences.join("\n"));
        let bytes = ACCOUNTING.get();
        points.push((f64::from(number), bytes as f64));
        println!(
            "hour {number:2}: {:6} pods, {:4} remembered, {faults:3} faults, {bytes:8} bytes of accounting more than at the start, {:.0} s",
            scrape.sum("podinit_pods_discovered_total"),
            scrape.sum("podinit_remembered_pods"),
            begun.elapsed().as_secs_f64(),
        );
    }
    let slope = slope::of_second_half(&points);
    println!("accounting grows by {slope:.0} bytes an hour (second half, least squares)");
    assert!(slope <= MOST_BYTES_PER_HOUR, "{slope}");
    world.pipeline.end().await;
}
