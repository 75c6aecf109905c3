//! The promise of the checkpoint, with everything of the process but its sockets, and a disk that does
//! what the test says: what a scrape has shown is never newer than what is durable.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod disk;
mod process;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use disk::GatedDisk;
use process::{Process, history};

use crate::records::{CheckpointRecords, RecordKeeper};
use podinit_checkpoint::CheckpointStore;
use podinit_core::lifecycle::{EndedRollout, EndedStartup, RecordAmendment, Tracker};
use podinit_core::pod::PodUid;
use podinit_sim::rng::Rng;
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// The time limit for a disk that answers late.
const PATIENT: Duration = Duration::from_secs(600);

/// The series that only ever grow.
fn counters(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let series = lines.map(|line| line.rsplit_once(' ').unwrap());
    let grow = |name: &str| {
        let name = name.split('{').next().unwrap();
        ["_total", "_bucket", "_count", "_sum"].iter().any(|end| name.ends_with(end))
    };
    (series.filter(|(name, _)| grow(name)))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// Everything that `before` shows is shown by `after` at least as high.
fn assert_no_lower(before: &str, after: &str) {
    let after = counters(after);
    for (series, value) in counters(before) {
        let now = after.get(&series).copied();
        assert!(now >= Some(value), "{series} was shown at {value}, and is {now:?}");
    }
}

fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.expect("the series is there").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_scrape_is_not_sent_before_what_it_shows_is_durable() {
    let disk = GatedDisk::default();
    let mut process = Process::start(&disk, PATIENT).await;
    let history = history(1, 20);
    process.deliver(&history[..30]).await;
    disk.close();
    let mut scrape = process.scrape();
    disk.until_somebody_waits().await;
    // It has been requested and encoded, and waits for the disk.
    assert!(scrape.try_recv().is_err());
    process.deliver(&history[30..]).await;
    assert!(scrape.try_recv().is_err());
    assert!(disk.pulled_out().is_empty(), "nothing was synced yet");
    disk.open();
    let shown = scrape.await.unwrap();
    assert!(value(&shown, "podinit_pods_discovered_total") > 0.0);
    // Killed at this moment, and the power is lost.
    let disk = disk.pulled_out();
    process.kill();
    let restored = Process::start(&disk, PATIENT).await;
    assert_no_lower(&shown, &restored.shows());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn killed_at_any_moment_it_has_kept_what_it_showed_and_recovers_the_rest() {
    for seed in 1..=20 {
        let mut random = Rng::new(seed);
        let history = history(seed, 40);
        let mut disk = GatedDisk::default();
        let mut shown: Vec<String> = Vec::new();
        for _ in 0..8 {
            let mut process = Process::start(&disk, PATIENT).await;
            for shown in &shown {
                assert_no_lower(shown, &process.shows());
            }
            // From the saved version on, as an API server would deliver it.
            let after = process.resumes_after();
            let last = history.len().min(after + random.within(1..=60) as usize);
            let middle = after + (last - after) / 2;
            process.deliver(&history[after..middle]).await;
            shown.push(process.scrape().await.unwrap());
            if random.within(0..=1) == 0 {
                disk.close();
            }
            let unsent = process.scrape();
            process.deliver(&history[middle..last]).await;
            let pulled_out = disk.pulled_out();
            process.kill();
            drop(unsent);
            disk = pulled_out;
        }
        let mut process = Process::start(&disk, PATIENT).await;
        let after = process.resumes_after();
        process.deliver(&history[after..]).await;
        let restarted = process.scrape().await.unwrap();
        process.kill();
        let mut steady = Process::start(&GatedDisk::default(), PATIENT).await;
        steady.deliver(&history).await;
        let steady = steady.shows();
        for series in [
            "podinit_pods_discovered_total",
            "podinit_pods_finished_total{outcome=\"ready\"}",
            "podinit_pods_finished_total{outcome=\"deleted\"}",
            "podinit_created_to_ready_duration_seconds_count{namespace=\"ns\"}",
            "podinit_created_to_ready_duration_seconds_sum{namespace=\"ns\"}",
            "podinit_stage_duration_seconds_count{stage=\"network\",namespace=\"ns\"}",
        ] {
            assert_eq!(value(&restarted, series), value(&steady, series), "seed {seed}: {series}");
        }
    }
}

/// Somebody asks without end.
struct AlwaysAsked;

impl RecordKeeper for AlwaysAsked {
    fn add(&mut self, _startup: Arc<EndedStartup>) {}

    fn amend(&mut self, _uid: PodUid, _amendment: &RecordAmendment) {}

    fn add_rollout(&mut self, _rollout: EndedRollout) {}

    fn kept(&self) -> CheckpointRecords {
        CheckpointRecords::default()
    }

    fn restore(&mut self, _kept: CheckpointRecords) {}

    fn begin(&mut self) {}

    fn poll_asked(&mut self, _context: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn step(&mut self, _tracker: &Tracker) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_asks_without_end_keeps_neither_a_checkpoint_nor_the_watch_waiting() {
    let store = CheckpointStore::with_disk(GatedDisk::default());
    let mut process = Process::start_with(store, PATIENT, Some(Box::new(AlwaysAsked))).await;
    let asked = async {
        process.until_another_task_runs().await;
        process.deliver(&history(1, 20)).await;
        process.scrape().await.unwrap()
    };
    let shown = tokio::time::timeout(Duration::from_secs(60), asked).await.unwrap();
    assert!(value(&shown, "podinit_pods_discovered_total") > 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_written_while_nothing_changes() {
    let disk = GatedDisk::default();
    let mut process = Process::start(&disk, PATIENT).await;
    process.deliver(&history(1, 5)).await;
    process.scrape().await.unwrap();
    let written = disk.renames();
    for _ in 0..5 {
        process.scrape().await.unwrap();
    }
    assert_eq!(disk.renames(), written);
    process.deliver(&history(2, 5)).await;
    process.scrape().await.unwrap();
    assert_eq!(disk.renames(), written + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn scrapes_that_come_during_a_commit_share_the_next_one() {
    let disk = GatedDisk::default();
    let mut process = Process::start(&disk, PATIENT).await;
    disk.close();
    let history = history(1, 5);
    process.deliver(&history[..2]).await;
    let first = process.scrape();
    disk.until_somebody_waits().await;
    process.deliver(&history[2..]).await;
    let more: Vec<_> = (0..10).map(|_| process.scrape()).collect();
    process.until_asked(11).await;
    disk.open();
    first.await.unwrap();
    for scrape in more {
        scrape.await.unwrap();
    }
    assert_eq!(disk.renames(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_failing_disk_is_reported_and_written_again_when_it_works() {
    let disk = GatedDisk::default();
    let mut process = Process::start(&disk, PATIENT).await;
    disk.fail(true);
    process.deliver(&history(1, 5)).await;
    let first = process.scrape().await.unwrap();
    assert_eq!(value(&first, "podinit_checkpoint_durable"), 0.0);
    let shown = process.scrape().await.unwrap();
    assert_eq!(value(&shown, "podinit_checkpoint_durable"), 0.0);
    assert_eq!(value(&shown, "podinit_pods_discovered_total"), 5.0);
    assert!(value(&shown, "podinit_checkpoint_writes_total{result=\"failure\"}") >= 1.0);
    disk.fail(false);
    // A scrape that says that nothing is durable waits for no commit.
    let again = loop {
        let again = process.scrape().await.unwrap();
        if value(&again, "podinit_checkpoint_durable") == 1.0 {
            break again;
        }
    };
    let disk = disk.pulled_out();
    process.kill();
    assert_no_lower(&again, &Process::start(&disk, PATIENT).await.shows());
}

/// As when the volume of --state-dir is unmounted while podinit runs, and mounted again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_directory_that_is_moved_is_not_durable_until_it_is_back() {
    let parent = tempfile::tempdir().unwrap();
    let [place, volume] = ["state", "volume"].map(|name| parent.path().join(name));
    let mut process = Process::start_on(CheckpointStore::open(&place).unwrap(), PATIENT).await;
    process.deliver(&history(1, 5)).await;
    let shown = process.scrape().await.unwrap();
    assert_eq!(value(&shown, "podinit_checkpoint_durable"), 1.0);
    std::fs::create_dir(&volume).unwrap();
    // At once, since podinit would make a missing directory.
    let exchange = || renameat_with(CWD, &place, CWD, &volume, RenameFlags::EXCHANGE).unwrap();
    exchange();
    // Nothing changes meanwhile, so nothing would be written.
    let shown = process.until_durable(false).await;
    assert!(value(&shown, "podinit_checkpoint_writes_total{result=\"failure\"}") >= 1.0);
    // Whoever starts there now knows all pods that were shown.
    let copy = parent.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(place.join("checkpoint"), copy.join("checkpoint")).unwrap();
    let next = Process::start_on(CheckpointStore::open(&copy).unwrap(), PATIENT).await;
    let pods = |shown: &str| value(shown, "podinit_pods_discovered_total");
    assert_eq!(pods(&next.shows()), pods(&shown));
    next.kill();
    exchange();
    process.deliver(&history(2, 5)).await;
    let shown = process.until_durable(true).await;
    process.kill();
    // The thread that writes ends a moment later.
    let store = loop {
        match CheckpointStore::open(&place) {
            Ok(store) => break store,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_no_lower(&shown, &Process::start_on(store, PATIENT).await.shows());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_disk_that_hangs_holds_a_scrape_up_for_a_bounded_time_only() {
    let disk = GatedDisk::default();
    let mut process = Process::start(&disk, Duration::from_millis(20)).await;
    process.deliver(&history(1, 5)).await;
    disk.close();
    let shown = process.scrape().await.unwrap();
    assert_eq!(value(&shown, "podinit_checkpoint_durable"), 0.0);
    assert_eq!(value(&shown, "podinit_pods_discovered_total"), 5.0);
    assert_eq!(value(&process.shows(), "podinit_checkpoint_durable"), 0.0);
    disk.open();
    while value(&process.shows(), "podinit_checkpoint_durable") == 0.0 {
        process.scrape().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn at_the_end_everything_is_written_that_was_accounted_for() {
    let disk = GatedDisk::default();
    let mut process = Process::start(&disk, PATIENT).await;
    process.deliver(&history(1, 5)).await;
    let last = process.shows();
    process.end().await;
    let restored = Process::start(&disk.pulled_out(), PATIENT).await;
    assert_no_lower(&last, &restored.shows());
    assert_eq!(value(&restored.shows(), "podinit_pods_discovered_total"), 5.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_no_checkpoint_is_set_aside() {
    let disk = GatedDisk::default();
    disk.put("checkpoint", b"no checkpoint at all");
    let disk = Arc::new(disk);
    let process = Process::start(&disk, PATIENT).await;
    let loads = |result: &str| {
        let series = format!("podinit_checkpoint_loads_total{{result=\"{result}\"}}");
        value(&process.shows(), &series)
    };
    assert_eq!((loads("corrupt"), loads("restored")), (1.0, 0.0));
    assert!(disk.has("checkpoint.rejected-corrupt"));
    process.scrape().await.unwrap();
    assert!(disk.has("checkpoint"));
}
