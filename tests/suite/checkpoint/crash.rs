//! The checkpoint under crashes and faults of the disk: the power fails at every operation, the disk
//! loses whatever was not synced, in every combination, and the next process has to find what was
//! promised (see `crates/checkpoint/src/lib.rs`).

use crate::support::checkpoint::choices::{Choices, every, some};
use crate::support::checkpoint::disk::{CrashDisk, DiskContents, Fault};
use crate::support::checkpoint::faulty_disk::{DiskBug, FaultyDisk};
use crate::support::checkpoint::promise::{History, document};
use podinit_checkpoint::CheckpointLoad;
use podinit_checkpoint::{CheckpointStore, LoadedCheckpoint};
use rustix::io::Errno;

/// Operations of a save that succeeds: create, write, sync, rename, sync of the directory.
const OPERATIONS: usize = 5;

type Outcome = Result<(), String>;

fn store(disk: &CrashDisk, bug: Option<DiskBug>) -> CheckpointStore<FaultyDisk> {
    let disk = disk.clone();
    CheckpointStore::with_disk(FaultyDisk { disk, bug })
}

/// Loads and saves `saves` times; the power fails somewhere in between. Returns what is left.
fn run(
    choices: &mut Choices,
    history: &mut History,
    contents: DiskContents,
    (saves, bug): (usize, Option<DiskBug>),
) -> Result<DiskContents, String> {
    let disk = CrashDisk::with(contents);
    let mut store = store(&disk, bug);
    history.load(&mut store)?;
    disk.cut_power_after(choices.pick(saves * OPERATIONS + 1));
    for _ in 0..saves {
        let _ = history.save(&mut store);
    }
    let left = disk.crash(choices);
    history.evidence(&left)?;
    Ok(left)
}

/// The last process: nothing fails.
fn recover(history: &mut History, contents: DiskContents) -> Outcome {
    let disk = CrashDisk::with(contents);
    let mut store = store(&disk, None);
    history.load(&mut store)?;
    history.save(&mut store).map_err(|error| error.to_string())?;
    history.load(&mut store)?;
    history.evidence(&disk.live())?;
    match disk.live().keys().find(|name| name.ends_with("tmp")) {
        Some(name) => Err(format!("{name} is left over")),
        None => Ok(()),
    }
}

/// Processes that save so many times each, one after the other's crash.
fn crashes(choices: &mut Choices, saves: &[usize], bug: Option<DiskBug>) -> Outcome {
    let mut history = History::default();
    let mut contents = DiskContents::new();
    for saves in saves {
        contents = run(choices, &mut history, contents, (*saves, bug))?;
    }
    recover(&mut history, contents)
}

#[test]
fn no_crash_loses_what_was_promised() {
    let ran = every(|choices| crashes(choices, &[3], None)).unwrap();
    assert!(ran > 50, "{ran}");
    let ran = every(|choices| crashes(choices, &[2, 2], None)).unwrap();
    assert!(ran > 1_000, "{ran}");
    let ran = every(|choices| crashes(choices, &[1, 1, 1], None)).unwrap();
    assert!(ran > 1_000, "{ran}");
    long_histories(3_000);
}

fn long_histories(seeds: u64) {
    some(seeds, |choices| crashes(choices, &[2, 1, 0, 3, 2], None)).unwrap();
}

/// Also not while a damaged checkpoint is put away, which itself is kept as it was.
#[test]
fn no_crash_loses_what_was_promised_after_damage() {
    let scenario = |choices: &mut Choices| {
        let mut damaged = document(90);
        damaged[40] ^= 1;
        let mut history = History::after_damage(damaged.clone());
        let mut contents = DiskContents::from([("checkpoint".to_owned(), damaged)]);
        for saves in [0, 1] {
            contents = run(choices, &mut history, contents, (saves, None))?;
        }
        recover(&mut history, contents)
    };
    let ran = every(scenario).unwrap();
    assert!(ran > 100, "{ran}");
}

/// Saves while operations fail, with a crash at the end; then the disk works again.
fn faults(choices: &mut Choices, bug: Option<DiskBug>) -> Outcome {
    let mut history = History::default();
    let disk = CrashDisk::default();
    let mut saving = store(&disk, bug);
    let good = |result: std::io::Result<()>| result.map_err(|error| error.to_string());
    good(history.save(&mut saving))?;
    // A save of which everything fails has two operations: it creates, and removes in vain.
    let first = disk.operations() + choices.pick(2 * OPERATIONS);
    let errno = [Errno::NOSPC, Errno::IO, Errno::ROFS][choices.pick(3)];
    disk.fail(Fault {
        operations: first..first + 1 + choices.pick(OPERATIONS),
        errno,
        half_done: choices.one_in(2),
    });
    for _ in 0..3 {
        let before = disk.failures();
        let saved = history.save(&mut saving);
        let faultless = disk.failures() == before;
        if let Err(error) = &saved
            && error.raw_os_error() != Some(errno.raw_os_error())
        {
            return Err(format!("{error} instead of {errno}"));
        }
        if saved.is_ok() != faultless {
            return Err(format!("faultless: {faultless}, and the save says {saved:?}"));
        }
        history.load(&mut store(&disk, None))?;
        if choices.one_in(2) {
            return recover(&mut history, disk.crash(choices));
        }
    }
    disk.clear_faults();
    // What there was, or what could be written, is still found, and saving goes on.
    good(history.save(&mut saving))?;
    recover(&mut history, disk.crash(choices))
}

#[test]
fn no_fault_of_the_disk_loses_what_was_promised() {
    let ran = every(|choices| faults(choices, None)).unwrap();
    assert!(ran > 1_000, "{ran}");
}

/// Loads a good checkpoint that the disk does not give: this process starts without it, and goes on.
fn unreadable(choices: &mut Choices) -> Outcome {
    let disk = CrashDisk::with(DiskContents::from([("checkpoint".to_owned(), document(1))]));
    let mut store = store(&disk, None);
    disk.fail_reads([Errno::IO, Errno::ACCESS][choices.pick(2)], usize::MAX);
    let read_only = choices.one_in(2);
    disk.fail(Fault {
        operations: 0..usize::from(read_only),
        errno: Errno::ROFS,
        half_done: false,
    });
    let LoadedCheckpoint::Rejected(rejection) = store.load() else {
        return Err("it has been read".to_owned());
    };
    assert_eq!(rejection.reason, CheckpointLoad::Unreadable);
    assert_eq!(rejection.set_aside.is_err(), read_only);
    let place = rejection.set_aside.unwrap_or("checkpoint".to_owned());
    assert_eq!(disk.live(), DiskContents::from([(place, document(1))]));
    disk.clear_faults();
    store.save(&document(2)).map_err(|error| error.to_string())?;
    match store.load() {
        LoadedCheckpoint::Found(bytes) if bytes == document(2) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn a_checkpoint_that_the_disk_does_not_give_is_survived() {
    assert_eq!(every(unreadable), Ok(4));
}

#[test]
fn a_read_that_fails_once_or_twice_does_not_cost_the_checkpoint() {
    for times in [1, 2] {
        let disk = CrashDisk::with(DiskContents::from([("checkpoint".to_owned(), document(1))]));
        disk.fail_reads(Errno::IO, times);
        match store(&disk, None).load() {
            LoadedCheckpoint::Found(bytes) => assert_eq!(bytes, document(1)),
            other => panic!("{other:?}"),
        }
    }
}

/// The proof that these tests can fail.
#[test]
fn every_disk_bug_is_found() {
    let crashing =
        [DiskBug::NoFileSync, DiskBug::NoDirSync, DiskBug::NoRename, DiskBug::RenameBeforeSync];
    for bug in crashing {
        let found = every(|choices| crashes(choices, &[3], Some(bug)));
        assert!(found.is_err(), "{bug:?} goes unnoticed");
    }
    let failing = [DiskBug::FileSyncUnheeded, DiskBug::DirSyncUnheeded];
    for bug in failing {
        let found = every(|choices| faults(choices, Some(bug)));
        assert!(found.is_err(), "{bug:?} goes unnoticed");
    }
}

mod slow {
    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn no_crash_loses_what_was_promised_in_fifty_thousand_histories() {
        super::long_histories(50_000);
    }
}
