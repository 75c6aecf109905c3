//! The checkpoint under crashes and faults of the disk: the power fails at every operation, the disk
//! loses whatever was not synced, in every combination, and the next process has to find what was
//! promised (see `src/checkpoint/mod.rs`).

use crate::support::checkpoint::careless::{Careless, Carelessness};
use crate::support::checkpoint::disk::{CrashDisk, Fault, Platter};
use crate::support::checkpoint::promise::{History, document};
use crate::support::checkpoint::tape::{Tape, every, some};
use podinit::checkpoint::{Loaded, Store};
use podinit::metrics::CheckpointLoad;
use rustix::io::Errno;

/// Operations of a save that succeeds: create, write, sync, rename, sync of the directory.
const OPERATIONS: usize = 5;

type Outcome = Result<(), String>;

fn store(disk: &CrashDisk, carelessness: Option<Carelessness>) -> Store<Careless> {
    let disk = disk.clone();
    Store::with_disk(Careless { disk, carelessness })
}

/// Loads and saves `saves` times; the power fails somewhere in between. Returns what is left.
fn run(
    tape: &mut Tape,
    history: &mut History,
    platter: Platter,
    (saves, carelessness): (usize, Option<Carelessness>),
) -> Result<Platter, String> {
    let disk = CrashDisk::with(platter);
    let mut store = store(&disk, carelessness);
    history.load(&mut store)?;
    disk.cut_power_after(tape.pick(saves * OPERATIONS + 1));
    for _ in 0..saves {
        let _ = history.save(&mut store);
    }
    let left = disk.crash(tape);
    history.evidence(&left)?;
    Ok(left)
}

/// The last process: nothing fails.
fn recover(history: &mut History, platter: Platter) -> Outcome {
    let disk = CrashDisk::with(platter);
    let mut store = store(&disk, None);
    history.load(&mut store)?;
    history
        .save(&mut store)
        .map_err(|error| error.to_string())?;
    history.load(&mut store)?;
    history.evidence(&disk.live())?;
    match disk.live().keys().find(|name| name.ends_with("tmp")) {
        Some(name) => Err(format!("{name} is left over")),
        None => Ok(()),
    }
}

/// Processes that save so many times each, one after the other's crash.
fn crashes(tape: &mut Tape, saves: &[usize], carelessness: Option<Carelessness>) -> Outcome {
    let mut history = History::default();
    let mut platter = Platter::new();
    for saves in saves {
        platter = run(tape, &mut history, platter, (*saves, carelessness))?;
    }
    recover(&mut history, platter)
}

#[test]
fn no_crash_loses_what_was_promised() {
    let ran = every(|tape| crashes(tape, &[3], None)).unwrap();
    assert!(ran > 50, "{ran}");
    let ran = every(|tape| crashes(tape, &[2, 2], None)).unwrap();
    assert!(ran > 1_000, "{ran}");
    let ran = every(|tape| crashes(tape, &[1, 1, 1], None)).unwrap();
    assert!(ran > 1_000, "{ran}");
    some(50_000, |tape| crashes(tape, &[2, 1, 0, 3, 2], None)).unwrap();
}

/// Also not while a damaged checkpoint is put away, which itself is kept as it was.
#[test]
fn no_crash_loses_what_was_promised_after_damage() {
    let scenario = |tape: &mut Tape| {
        let mut damaged = document(90);
        damaged[40] ^= 1;
        let mut history = History::after_damage(damaged.clone());
        let mut platter = Platter::from([("checkpoint".to_owned(), damaged)]);
        for saves in [0, 1] {
            platter = run(tape, &mut history, platter, (saves, None))?;
        }
        recover(&mut history, platter)
    };
    let ran = every(scenario).unwrap();
    assert!(ran > 100, "{ran}");
}

/// Saves while operations fail, with a crash at the end; then the disk is mended.
fn faults(tape: &mut Tape, carelessness: Option<Carelessness>) -> Outcome {
    let mut history = History::default();
    let disk = CrashDisk::default();
    let mut careless = store(&disk, carelessness);
    let good = |result: std::io::Result<()>| result.map_err(|error| error.to_string());
    good(history.save(&mut careless))?;
    // A save of which everything fails has two operations: it creates, and removes in vain.
    let first = disk.operations() + tape.pick(2 * OPERATIONS);
    let errno = [Errno::NOSPC, Errno::IO, Errno::ROFS][tape.pick(3)];
    disk.fail(Fault {
        operations: first..first + 1 + tape.pick(OPERATIONS),
        errno,
        half_done: tape.one_in(2),
    });
    for _ in 0..3 {
        let before = disk.failures();
        let saved = history.save(&mut careless);
        let faultless = disk.failures() == before;
        if let Err(error) = &saved
            && error.raw_os_error() != Some(errno.raw_os_error())
        {
            return Err(format!("{error} instead of {errno}"));
        }
        if saved.is_ok() != faultless {
            return Err(format!(
                "faultless: {faultless}, and the save says {saved:?}"
            ));
        }
        history.load(&mut store(&disk, None))?;
        if tape.one_in(2) {
            return recover(&mut history, disk.crash(tape));
        }
    }
    disk.mend();
    // What there was, or what could be written, is still found, and saving goes on.
    good(history.save(&mut careless))?;
    recover(&mut history, disk.crash(tape))
}

#[test]
fn no_fault_of_the_disk_loses_what_was_promised() {
    let ran = every(|tape| faults(tape, None)).unwrap();
    assert!(ran > 1_000, "{ran}");
}

/// Loads a good checkpoint that the disk does not give: this process starts without it, and goes on.
fn unreadable(tape: &mut Tape) -> Outcome {
    let disk = CrashDisk::with(Platter::from([("checkpoint".to_owned(), document(1))]));
    let mut store = store(&disk, None);
    disk.fail_reads([Errno::IO, Errno::ACCESS][tape.pick(2)], usize::MAX);
    let read_only = tape.one_in(2);
    disk.fail(Fault {
        operations: 0..usize::from(read_only),
        errno: Errno::ROFS,
        half_done: false,
    });
    let Loaded::Rejected(rejection) = store.load() else {
        return Err("it has been read".to_owned());
    };
    assert_eq!(rejection.reason, CheckpointLoad::Unreadable);
    assert_eq!(rejection.set_aside.is_err(), read_only);
    let place = rejection.set_aside.unwrap_or("checkpoint".to_owned());
    assert_eq!(disk.live(), Platter::from([(place, document(1))]));
    disk.mend();
    store
        .save(&document(2))
        .map_err(|error| error.to_string())?;
    match store.load() {
        Loaded::Found(bytes) if bytes == document(2) => Ok(()),
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
        let disk = CrashDisk::with(Platter::from([("checkpoint".to_owned(), document(1))]));
        disk.fail_reads(Errno::IO, times);
        match store(&disk, None).load() {
            Loaded::Found(bytes) => assert_eq!(bytes, document(1)),
            other => panic!("{other:?}"),
        }
    }
}

/// The proof that these tests can fail.
#[test]
fn carelessness_is_found_out() {
    let crashing = [
        Carelessness::NoFileSync,
        Carelessness::NoDirSync,
        Carelessness::NoRename,
        Carelessness::RenameBeforeSync,
    ];
    for carelessness in crashing {
        let found = every(|tape| crashes(tape, &[3], Some(carelessness)));
        assert!(found.is_err(), "{carelessness:?} goes unnoticed");
    }
    let failing = [
        Carelessness::FileSyncUnheeded,
        Carelessness::DirSyncUnheeded,
    ];
    for carelessness in failing {
        let found = every(|tape| faults(tape, Some(carelessness)));
        assert!(found.is_err(), "{carelessness:?} goes unnoticed");
    }
}
