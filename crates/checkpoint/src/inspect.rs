//! Inspects a state directory without changing it: nothing is created, and nothing is set aside.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FlockOperation, OFlags};
use rustix::io::Errno;

use super::content::{self, DecodedCheckpoint};
use super::disk::read_in;
use super::frame::{self, MAX_BYTES};
use super::open::{OpenError, OpenFault, open_lock};
use super::store::CHECKPOINT;
use podinit_core::shard::Shard;
use podinit_instruments::FamilyDoc;

/// The state of a state directory.
#[derive(Debug)]
pub struct StateInspection {
    /// Whether the directory exists; a missing one would be created
    pub exists: bool,
    /// Whether another process is using it
    pub in_use: bool,
    /// The checkpoint in it
    pub checkpoint: FoundCheckpoint,
}

/// The checkpoint in a state directory.
#[derive(Debug, PartialEq, Eq)]
pub enum FoundCheckpoint {
    /// There is none
    Absent,
    /// One that podinit can be restored from, as far as the file itself shows
    Whole {
        /// Its length
        bytes: usize,
        /// The pods in it
        pods: usize,
        /// Which shard they are
        shard: Shard,
        /// How much of it this podinit does not know, and skips
        skipped: u64,
    },
    /// One that would be set aside, and why
    Unusable(String),
}

/// Inspects the directory `dir`, as `CheckpointStore::open` would use it.
///
/// `families` are those that this podinit can expose. It takes the lock for an instant if no other process holds it.
///
/// # Errors
/// What would prevent the directory from being used, except another process.
pub fn inspect(dir: &Path, families: &[FamilyDoc]) -> Result<StateInspection, OpenError> {
    inspect_path(dir, families).map_err(|cause| OpenError { dir: dir.to_owned(), cause })
}

fn inspect_path(path: &Path, families: &[FamilyDoc]) -> Result<StateInspection, OpenFault> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(OpenFault::NotADirectory),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            creatable(path)?;
            return Ok(StateInspection {
                exists: false,
                in_use: false,
                checkpoint: FoundCheckpoint::Absent,
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(OpenFault::NotADirectory);
        }
        Err(error) => return Err(OpenFault::Lock(error)),
    }
    writable(path).map_err(OpenFault::NotWritable)?;
    let dir = File::open(path).map_err(OpenFault::Lock)?;
    let checkpoint = match read_in(&dir, CHECKPOINT, MAX_BYTES) {
        Ok(None) => FoundCheckpoint::Absent,
        Ok(Some(bytes)) => inspect_bytes(&bytes, families),
        Err(error) => FoundCheckpoint::Unusable(error.to_string()),
    };
    Ok(StateInspection { exists: true, in_use: is_locked(&dir)?, checkpoint })
}

/// Checks that directories can be created in the nearest parent that exists.
fn creatable(path: &Path) -> Result<(), OpenFault> {
    let mut above = path.ancestors().skip(1);
    let above = above.find(|above| above.as_os_str().is_empty() || above.exists());
    let above = above.filter(|above| !above.as_os_str().is_empty());
    writable(above.unwrap_or(Path::new("."))).map_err(OpenFault::Create)
}

fn writable(dir: &Path) -> io::Result<()> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    Ok(rustix::fs::accessat(CWD, dir, access, AtFlags::empty())?)
}

fn is_locked(dir: &File) -> Result<bool, OpenFault> {
    let lock = match open_lock(dir, OFlags::RDONLY) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(OpenFault::Lock(error)),
    };
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(OpenFault::Lock(error.into())),
    }
}

fn inspect_bytes(bytes: &[u8], families: &[FamilyDoc]) -> FoundCheckpoint {
    let sections = match frame::read(bytes) {
        Ok(sections) => sections,
        Err(error) => return FoundCheckpoint::Unusable(error.to_string()),
    };
    match content::decode(&sections, families) {
        Ok(DecodedCheckpoint { content, pods, skipped }) => FoundCheckpoint::Whole {
            bytes: bytes.len(),
            pods: pods.len(),
            shard: content.scope.shard,
            skipped,
        },
        Err(error) => FoundCheckpoint::Unusable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::open::LOCK;
    use crate::{CheckpointStore, RealDisk};

    #[test]
    fn a_missing_directory_stays_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        let found = inspect(&path, &[]).unwrap();
        assert!(!found.exists && !found.in_use);
        assert!(!dir.path().join("a").exists());
    }

    #[test]
    fn a_lock_is_reported_and_not_held() {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(dir.path()).unwrap();
        assert!(inspect(dir.path(), &[]).unwrap().in_use);
        drop(disk);
        assert!(!inspect(dir.path(), &[]).unwrap().in_use);
        CheckpointStore::open(dir.path()).unwrap();
    }

    #[test]
    fn a_checkpoint_that_cannot_be_used_stays_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(inspect(dir.path(), &[]).unwrap().checkpoint, FoundCheckpoint::Absent);
        let checkpoint = dir.path().join(CHECKPOINT);
        fs::write(&checkpoint, "something else").unwrap();
        let found = inspect(dir.path(), &[]).unwrap().checkpoint;
        assert!(matches!(found, FoundCheckpoint::Unusable(_)), "{found:?}");
        assert_eq!(fs::read(&checkpoint).unwrap(), b"something else");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_path_that_is_not_a_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = inspect(file.path(), &[]).unwrap_err();
        assert!(matches!(error.cause, OpenFault::NotADirectory), "{error}");
        let error = inspect(&file.path().join("below"), &[]).unwrap_err();
        assert!(matches!(error.cause, OpenFault::NotADirectory), "{error}");
    }

    /// Links to themselves.
    #[test]
    fn a_path_that_cannot_be_opened_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        symlink(LOCK, dir.path().join(LOCK)).unwrap();
        symlink("state", dir.path().join("state")).unwrap();
        for path in [dir.path().to_owned(), dir.path().join("state")] {
            let error = inspect(&path, &[]).unwrap_err();
            assert!(matches!(error.cause, OpenFault::Lock(_)), "{error}");
        }
    }
}
