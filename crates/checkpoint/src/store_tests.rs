//! The store in a directory of this machine.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::super::frame::{SectionWriter, VERSION};
use super::*;

fn document(text: &str) -> Vec<u8> {
    let mut writer = SectionWriter::begin();
    writer.section(1, |to| to.extend(text.bytes()));
    writer.finish()
}

fn store() -> (TempDir, CheckpointStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = CheckpointStore::open(dir.path()).unwrap();
    (dir, store)
}

/// The names of the files, except the lock.
fn files(dir: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "lock").collect();
    names.sort();
    names
}

fn found(store: &mut CheckpointStore) -> Vec<u8> {
    match store.load() {
        LoadedCheckpoint::Found(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}

fn rejected(store: &mut CheckpointStore) -> RejectedCheckpoint {
    match store.load() {
        LoadedCheckpoint::Rejected(rejection) => rejection,
        other => panic!("{other:?}"),
    }
}

fn checkpoint(dir: &TempDir) -> PathBuf {
    dir.path().join(CHECKPOINT)
}

#[test]
fn the_last_one_saved_is_found_by_the_next_process() {
    let (dir, mut store) = store();
    assert!(matches!(store.load(), LoadedCheckpoint::Absent));
    for text in ["one", "two, which is longer", "3"] {
        store.save(&document(text)).unwrap();
        assert_eq!(found(&mut store), document(text));
    }
    drop(store);
    let mut store = CheckpointStore::open(dir.path()).unwrap();
    assert_eq!(found(&mut store), document("3"));
    assert_eq!(files(&dir), [CHECKPOINT]);
}

#[test]
fn the_last_rejected_checkpoint_of_each_reason_is_left_unchanged() {
    let (dir, mut store) = store();
    let mut cut = document("a");
    cut.pop();
    let future = SectionWriter::version(VERSION + 1).finish();
    let old = SectionWriter::version(VERSION - 1).finish();
    let cases = [
        (&b"not a checkpoint"[..], CheckpointLoad::Corrupt, "it is not a checkpoint"),
        (b"", CheckpointLoad::Corrupt, "it is not a checkpoint"),
        (&cut, CheckpointLoad::Corrupt, "it is truncated: 72 of 73 bytes"),
        (
            &future,
            CheckpointLoad::FutureVersion,
            "its format is version 2, which this podinit does not know (it knows 1)",
        ),
        (
            &old,
            CheckpointLoad::OldVersion,
            "its format is version 0, which this podinit no longer reads (it reads 1)",
        ),
    ];
    for (bytes, reason, why) in cases {
        fs::write(checkpoint(&dir), bytes).unwrap();
        let rejection = rejected(&mut store);
        assert_eq!((rejection.reason, &rejection.why[..]), (reason, why));
        let kept = rejection.set_aside.unwrap();
        assert_eq!(kept, format!("checkpoint.rejected-{}", reason.as_str()));
        assert_eq!(fs::read(dir.path().join(kept)).unwrap(), bytes);
        assert!(matches!(store.load(), LoadedCheckpoint::Absent));
    }
    assert_eq!(
        files(&dir),
        [
            "checkpoint.rejected-corrupt",
            "checkpoint.rejected-future_version",
            "checkpoint.rejected-old_version"
        ]
    );
    store.save(&document("new")).unwrap();
    assert_eq!(found(&mut store), document("new"));
}

#[test]
fn the_caller_can_set_a_good_checkpoint_aside() {
    let (dir, mut store) = store();
    store.set_aside(CheckpointLoad::ForeignCluster).unwrap_err();
    store.save(&document("of another cluster")).unwrap();
    let kept = store.set_aside(CheckpointLoad::ForeignCluster).unwrap();
    assert_eq!(fs::read(dir.path().join(kept)).unwrap(), document("of another cluster"));
    assert!(matches!(store.load(), LoadedCheckpoint::Absent));
    assert_eq!(files(&dir), [rejected_name(CheckpointLoad::ForeignCluster)]);
}

#[test]
fn a_directory_or_a_file_too_large_is_unreadable() {
    let (dir, mut store) = store();
    fs::File::create(checkpoint(&dir)).unwrap().set_len(MAX_BYTES as u64 + 1).unwrap();
    let rejection = rejected(&mut store);
    assert_eq!(rejection.reason, CheckpointLoad::Unreadable);
    assert_eq!(rejection.why, "larger than 268435456 bytes");
    fs::remove_file(dir.path().join(rejection.set_aside.unwrap())).unwrap();

    fs::create_dir(checkpoint(&dir)).unwrap();
    let rejection = rejected(&mut store);
    assert_eq!(rejection.reason, CheckpointLoad::Unreadable);
    assert_eq!(rejection.why, "not a regular file");
    rejection.set_aside.unwrap();
    store.save(&document("new")).unwrap();
    assert_eq!(found(&mut store), document("new"));
}

/// A checkpoint that could not be loaded again is not written.
#[test]
fn a_document_over_the_limit_is_not_saved() {
    let (dir, mut store) = store();
    store.save(&document("small")).unwrap();
    let error = store.save(&vec![0; MAX_BYTES + 1]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(found(&mut store), document("small"));
    assert_eq!(files(&dir), [CHECKPOINT]);
}

/// A disk that accepts everything and stores nothing.
struct Nowhere;

impl Disk for Nowhere {
    type File = ();

    fn create(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, _file: &mut (), _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self, _file: &mut ()) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, _from: &str, _to: &str) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        Ok(())
    }

    fn read(&self, _name: &str, _limit: usize) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

#[test]
fn a_document_of_exactly_the_limit_is_saved() {
    let mut store = CheckpointStore::with_disk(Nowhere);
    store.save(&vec![0; MAX_BYTES]).unwrap();
    store.save(&vec![0; MAX_BYTES + 1]).unwrap_err();
}

/// As a crash leaves it. The next save replaces it.
#[test]
fn a_leftover_temporary_file_is_ignored() {
    let (dir, mut store) = store();
    fs::write(dir.path().join(TEMPORARY), document("half")).unwrap();
    assert!(matches!(store.load(), LoadedCheckpoint::Absent));
    store.save(&document("whole")).unwrap();
    assert_eq!(found(&mut store), document("whole"));
    assert_eq!(files(&dir), [CHECKPOINT]);
}

/// As when a volume is unmounted, and mounted again.
#[test]
fn a_save_is_an_error_while_another_directory_has_the_place() {
    let parent = tempfile::tempdir().unwrap();
    let [place, volume] = ["state", "volume"].map(|name| parent.path().join(name));
    let mut store = CheckpointStore::open(&place).unwrap();
    store.save(&document("one")).unwrap();
    let says_why = |store: &mut CheckpointStore, text| {
        assert!(store.is_misplaced());
        let why = store.save(&document(text)).unwrap_err().to_string();
        let begin = format!("{} is no longer the directory that podinit opened", place.display());
        assert!(why.starts_with(&begin), "{why}");
    };
    fs::rename(&place, &volume).unwrap();
    says_why(&mut store, "two");
    fs::remove_dir_all(&place).unwrap();
    fs::create_dir(&place).unwrap();
    says_why(&mut store, "three");
    // Whichever is there when podinit starts again has the newest state.
    for directory in [&place, &volume] {
        let saved = fs::read(directory.join(CHECKPOINT)).unwrap();
        assert_eq!(saved, document("three"), "{}", directory.display());
    }
    // It may be the directory of another process, which is left alone.
    let mut other = CheckpointStore::open(&place).unwrap();
    other.save(&document("other")).unwrap();
    says_why(&mut store, "four");
    assert_eq!(found(&mut other), document("other"));
    drop(other);
    fs::remove_dir_all(&place).unwrap();
    fs::rename(&volume, &place).unwrap();
    assert!(!store.is_misplaced());
    store.save(&document("five")).unwrap();
    drop(store);
    assert_eq!(found(&mut CheckpointStore::open(&place).unwrap()), document("five"));
}

#[test]
fn a_failed_save_says_why_and_leaves_the_one_before() {
    let (dir, mut store) = store();
    store.save(&document("one")).unwrap();
    let blocked = dir.path().join(TEMPORARY);
    fs::create_dir(&blocked).unwrap();
    store.save(&document("two")).unwrap_err();
    assert_eq!(found(&mut store), document("one"));
    fs::remove_dir(blocked).unwrap();
    store.save(&document("three")).unwrap();
    assert_eq!(found(&mut store), document("three"));
}
