//! Opens the state directory: creates it if it is missing, checks that it is writable, and locks it.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::disk::RealDisk;
use podinit_config::regular_file;
use podinit_core::shard::Shard;

/// The file that is locked.
pub(super) const LOCK: &str = "lock";

/// Why a directory cannot be the one of `--state-dir`.
#[derive(Debug, thiserror::Error)]
#[error("cannot use --state-dir {}: {cause}", dir.display())]
pub struct OpenError {
    /// The directory that was given
    pub dir: PathBuf,
    /// What is wrong with it
    pub cause: OpenFault,
}

/// What is wrong with a directory.
#[derive(Debug, thiserror::Error)]
pub enum OpenFault {
    /// Something else has its name.
    #[error("it is not a directory")]
    NotADirectory,
    /// It is missing and cannot be created.
    #[error("it is missing and cannot be created: {0}")]
    Create(io::Error),
    /// Files cannot be written in it.
    #[error("it is not writable: {0}")]
    NotWritable(io::Error),
    /// It cannot be opened, or its file system has no locks.
    #[error("it cannot be opened and locked: {0}")]
    Lock(io::Error),
    /// It belongs to another shard.
    #[error(
        "it holds the state of shard {saved}, and this is shard {present}; give each shard a directory of its own"
    )]
    OtherShard {
        /// Whose state it holds
        saved: Shard,
        /// The shard of this process
        present: Shard,
    },
    /// Another process holds the lock.
    #[error("another process is using it; give each podinit a directory of its own")]
    InUse,
}

impl RealDisk {
    /// The directory `dir`, created for its owner alone (mode 0700) where it is missing, and locked
    /// for as long as the disk lives.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        open(dir).map_err(|cause| OpenError { dir: dir.to_owned(), cause })
    }
}

fn open(path: &Path) -> Result<RealDisk, OpenFault> {
    create(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => OpenFault::NotADirectory,
        _ => OpenFault::Create(error),
    })?;
    let dir = File::open(path).map_err(OpenFault::Lock)?;
    // The lock file may exist from a time when the directory was writable.
    rustix::fs::accessat(&dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty())
        .map_err(|error| OpenFault::NotWritable(error.into()))?;
    let lock = open_lock(&dir, OFlags::RDWR | OFlags::CREATE).map_err(|error| {
        match error.raw_os_error() {
            Some(_) => OpenFault::NotWritable(error),
            None => OpenFault::Lock(error),
        }
    })?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(RealDisk {
            dir,
            // The working directory may be another one later.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            _lock: lock,
        }),
        Err(Errno::WOULDBLOCK) => Err(OpenFault::InUse),
        Err(error) => Err(OpenFault::Lock(error.into())),
    }
}

/// Opens the lock in `dir`: it follows no link out of the directory, and waits for no pipe.
pub(super) fn open_lock(dir: &File, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(dir, LOCK, flags, Mode::RUSR | Mode::WUSR) {
        Ok(lock) => regular_file::regular(File::from(lock)),
        Err(Errno::LOOP) => Err(io::Error::other("its lock is a symbolic link; remove it")),
        Err(error) => Err(error.into()),
    }
}

/// Creates `dir` and its missing parents durably: the first checkpoint must not be lost together with
/// its directory.
fn create(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let parent = parent(dir);
    if parent != dir {
        create(parent)?;
    }
    DirBuilder::new().mode(0o700).create(dir)?;
    File::open(parent)?.sync_all()
}

/// The parent of `dir`; for a bare name, the working directory.
fn parent(dir: &Path) -> &Path {
    match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::fs::CWD;

    use super::*;

    fn fault(path: &Path) -> String {
        let error = RealDisk::open(path).unwrap_err().to_string();
        let path = path.display().to_string();
        assert!(!error.contains('\n'), "{error}");
        error.replace(&path, "DIR")
    }

    #[test]
    fn a_missing_directory_is_created_for_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        RealDisk::open(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(path.join(LOCK).exists());
        RealDisk::open(&path).unwrap();
    }

    #[test]
    fn a_bare_name_is_in_the_working_directory() {
        for (dir, expected) in [("state", "."), ("a/state", "a"), ("/state", "/")] {
            assert_eq!(parent(Path::new(dir)), Path::new(expected));
        }
    }

    #[test]
    fn a_second_process_is_refused_until_the_first_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let first = RealDisk::open(dir.path()).unwrap();
        assert_eq!(
            fault(dir.path()),
            "cannot use --state-dir DIR: another process is using it; give each podinit a \
             directory of its own"
        );
        drop(first);
        RealDisk::open(dir.path()).unwrap();
    }

    #[test]
    fn a_file_is_not_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let wanted = "cannot use --state-dir DIR: it is not a directory";
        assert_eq!(fault(&file), wanted);
        assert_eq!(fault(&file.join("below")), wanted);
    }

    #[test]
    fn a_directory_that_cannot_be_created_is_reported() {
        assert_eq!(
            fault(Path::new("/proc/podinit")),
            "cannot use --state-dir DIR: it is missing and cannot be created: \
             No such file or directory (os error 2)"
        );
    }

    /// Whoever can write in the directory above must not choose what is opened, and not keep it waiting.
    #[test]
    fn a_lock_that_is_not_a_regular_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (lock, elsewhere) = (dir.path().join(LOCK), dir.path().join("elsewhere"));
        symlink(&elsewhere, &lock).unwrap();
        let begin = "cannot use --state-dir DIR: it cannot be opened and locked: ";
        let link = "its lock is a symbolic link; remove it";
        assert_eq!(fault(dir.path()), format!("{begin}{link}"));
        assert!(!elsewhere.exists());
        fs::remove_file(&lock).unwrap();
        rustix::fs::mkfifoat(CWD, &lock, Mode::RUSR | Mode::WUSR).unwrap();
        assert_eq!(fault(dir.path()), format!("{begin}not a regular file"));
    }

    /// In a directory where not even root may create files.
    #[test]
    fn a_directory_that_is_not_writable_is_reported() {
        let error = fault(Path::new("/proc/self"));
        let begin = "cannot use --state-dir DIR: it is not writable: ";
        assert!(error.starts_with(begin), "{error}");
    }
}
