//! A look at a state directory that leaves it as it is: nothing is created, and nothing set aside.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, FlockOperation};
use rustix::io::Errno;

use super::content;
use super::disk::read_in;
use super::frame::{self, MAX_BYTES};
use super::open::{LOCK, OpenError, OpenFault};
use super::store::CHECKPOINT;

/// What a state directory is like.
#[derive(Debug)]
pub struct Look {
    /// Whether there is such a directory; a missing one would be created
    pub exists: bool,
    /// Whether another process is using it
    pub in_use: bool,
    /// What is in it
    pub checkpoint: Seen,
}

/// What a checkpoint is like that was looked at.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// There is none
    Absent,
    /// One that can be gone on from, as far as it shows by itself
    Whole {
        /// Its length
        bytes: usize,
        /// The pods that it knows
        pods: usize,
    },
    /// One that would be set aside, and why
    Unusable(String),
}

/// Looks at the directory `dir`, as `Store::open` would use it.
///
/// The lock is had for an instant where nobody else has it.
///
/// # Errors
/// What would keep it from being used, another process aside.
pub fn look(dir: &Path) -> Result<Look, OpenError> {
    look_at(dir).map_err(|cause| OpenError {
        dir: dir.to_owned(),
        cause,
    })
}

fn look_at(path: &Path) -> Result<Look, OpenFault> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(OpenFault::NotADirectory),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            creatable(path)?;
            return Ok(Look {
                exists: false,
                in_use: false,
                checkpoint: Seen::Absent,
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
        Ok(None) => Seen::Absent,
        Ok(Some(bytes)) => seen(&bytes),
        Err(error) => Seen::Unusable(error.to_string()),
    };
    Ok(Look {
        exists: true,
        in_use: is_locked(&path.join(LOCK))?,
        checkpoint,
    })
}

/// Whether the nearest directory above that exists lets others be made in it.
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

fn is_locked(lock: &Path) -> Result<bool, OpenFault> {
    let lock = match File::open(lock) {
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

fn seen(bytes: &[u8]) -> Seen {
    let sections = match frame::read(bytes) {
        Ok(sections) => sections,
        Err(error) => return Seen::Unusable(error.to_string()),
    };
    match content::decode(&sections) {
        Ok((_, pods)) => Seen::Whole {
            bytes: bytes.len(),
            pods: pods.len(),
        },
        Err(error) => Seen::Unusable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::checkpoint::{RealDisk, Store};

    #[test]
    fn a_missing_directory_stays_missing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        let seen = look(&path).unwrap();
        assert!(!seen.exists && !seen.in_use);
        assert!(!dir.path().join("a").exists());
    }

    #[test]
    fn a_lock_is_seen_and_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(dir.path()).unwrap();
        assert!(look(dir.path()).unwrap().in_use);
        drop(disk);
        assert!(!look(dir.path()).unwrap().in_use);
        Store::open(dir.path()).unwrap();
    }

    #[test]
    fn a_checkpoint_that_cannot_be_used_stays_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(look(dir.path()).unwrap().checkpoint, Seen::Absent);
        let checkpoint = dir.path().join(CHECKPOINT);
        fs::write(&checkpoint, "something else").unwrap();
        let seen = look(dir.path()).unwrap().checkpoint;
        assert!(matches!(seen, Seen::Unusable(_)), "{seen:?}");
        assert_eq!(fs::read(&checkpoint).unwrap(), b"something else");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = look(file.path()).unwrap_err();
        assert!(matches!(error.cause, OpenFault::NotADirectory), "{error}");
        let error = look(&file.path().join("below")).unwrap_err();
        assert!(matches!(error.cause, OpenFault::NotADirectory), "{error}");
    }

    /// Links to themselves.
    #[test]
    fn what_cannot_be_opened_is_told() {
        let dir = tempfile::tempdir().unwrap();
        symlink(LOCK, dir.path().join(LOCK)).unwrap();
        symlink("state", dir.path().join("state")).unwrap();
        for path in [dir.path().to_owned(), dir.path().join("state")] {
            let error = look(&path).unwrap_err();
            assert!(matches!(error.cause, OpenFault::Lock(_)), "{error}");
        }
    }
}
