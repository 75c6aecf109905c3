//! The file operations that the checkpoint uses. They are a trait so that tests can replace the disk
//! by one that loses what was not synced: the order of these operations is what makes a save durable.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

/// A directory of files that are written whole and replaced whole. Only the two sync operations make
/// anything durable.
pub trait Disk {
    /// A file being written.
    type File;

    /// Creates an empty file, in place of any file with this name.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Adds all of `bytes` to the file.
    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()>;

    /// Makes the contents of the file durable, but not its name.
    fn sync(&self, file: &mut Self::File) -> io::Result<()>;

    /// Renames a file, in place of any file with the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes the names of the files durable.
    fn sync_dir(&self) -> io::Result<()>;

    /// The contents of the file; `None` if there is no such file.
    ///
    /// # Errors
    /// Also if it is larger than `limit` bytes (it is not read then), or not a regular file.
    fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>>;

    /// Why the next process will not find what is written here; `None` where it will.
    fn misplaced(&self) -> Option<io::Error> {
        None
    }

    /// The directory that the next process will open.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn of_next_process(&self) -> io::Result<Self>
    where
        Self: Sized,
    {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A directory of this machine, locked against other processes until it is dropped.
#[derive(Debug)]
pub struct RealDisk {
    pub(super) dir: File,
    /// Where it was found
    pub(super) path: PathBuf,
    /// Closing it releases the lock, also when the process is killed.
    pub(super) _lock: File,
}

impl RealDisk {
    fn create_new(&self, name: &str) -> Result<File, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::openat(&self.dir, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
    }
}

impl Disk for RealDisk {
    type File = File;

    fn create(&self, name: &str) -> io::Result<File> {
        match self.create_new(name) {
            // It is removed and not truncated, because it may be a link or a pipe.
            Err(Errno::EXIST) => {
                self.remove(name)?;
                Ok(self.create_new(name)?)
            }
            result => Ok(result?),
        }
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &mut File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.dir, from, &self.dir, to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.dir, name, AtFlags::empty())?)
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.dir.sync_all()
    }

    fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
        read_in(&self.dir, name, limit)
    }

    fn misplaced(&self) -> Option<io::Error> {
        let is_same = |own: Stat| {
            let there = rustix::fs::stat(&self.path);
            there.is_ok_and(|there| (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino))
        };
        let path = self.path.display();
        let why = || {
            format!(
                "{path} is no longer the directory that podinit opened, as when its volume is unmounted; mount \
                 it again, or restart podinit"
            )
        };
        let is_there = rustix::fs::fstat(&self.dir).is_ok_and(is_same);
        (!is_there).then(|| io::Error::other(why()))
    }

    fn of_next_process(&self) -> io::Result<Self> {
        Self::open(&self.path).map_err(io::Error::other)
    }
}

/// [`Disk::read`] in a directory that another process may have locked.
pub(super) fn read_in(dir: &File, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    if size > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::with_capacity(size);
    file.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The error for a file larger than `limit` bytes.
pub(super) fn too_large(limit: usize) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn disk() -> (tempfile::TempDir, RealDisk) {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(dir.path()).unwrap();
        (dir, disk)
    }

    fn put(disk: &RealDisk, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = disk.create(name)?;
        disk.write(&mut file, bytes)?;
        disk.sync(&mut file)
    }

    #[test]
    fn files_are_written_renamed_read_and_removed() {
        let (_dir, disk) = disk();
        put(&disk, "new", b"one").unwrap();
        put(&disk, "new", b"2").unwrap();
        disk.rename("new", "old").unwrap();
        disk.sync_dir().unwrap();
        assert_eq!(disk.read("old", 1).unwrap().unwrap(), b"2");
        assert_eq!(disk.read("new", 1).unwrap(), None);
        disk.remove("old").unwrap();
        assert_eq!(disk.read("old", 1).unwrap(), None);
        disk.remove("old").unwrap_err();
    }

    #[test]
    fn only_the_owner_may_read_the_files() {
        let (dir, disk) = disk();
        put(&disk, "file", b"").unwrap();
        let mode = fs::metadata(dir.path().join("file")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_huge_file_is_refused_by_its_size() {
        let (dir, disk) = disk();
        let huge = File::create(dir.path().join("huge")).unwrap();
        huge.set_len(100 << 30).unwrap();
        let error = disk.read("huge", 1000).unwrap_err();
        assert_eq!(error.to_string(), "larger than 1000 bytes");
    }

    /// A pipe accepts bytes but cannot be synced.
    #[test]
    fn a_failing_sync_is_reported() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let mut pipe = File::from(OwnedFd::from(writer));
        let (_dir, mut disk) = disk();
        disk.write(&mut pipe, b"bytes").unwrap();
        disk.sync(&mut pipe).unwrap_err();
        disk.dir = pipe;
        disk.sync_dir().unwrap_err();
    }

    #[test]
    fn a_file_that_is_not_regular_is_neither_read_nor_waited_for() {
        let (dir, disk) = disk();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("dir")).unwrap();
        fs::write(path("file"), "elsewhere").unwrap();
        symlink(path("file"), path("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        for name in ["dir", "link", "pipe"] {
            disk.read(name, 1000).unwrap_err();
        }
        // A file replaces the link; its target does not change.
        for name in ["link", "pipe"] {
            put(&disk, name, b"mine").unwrap();
            assert_eq!(disk.read(name, 1000).unwrap().unwrap(), b"mine");
        }
        assert_eq!(fs::read(path("file")).unwrap(), b"elsewhere");
    }
}
