//! The operations on files that the checkpoint consists of. They are a trait because the order in which
//! a disk keeps them is what the checkpoint is about: the tests put a disk in their place that forgets
//! what was not synced.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// A directory of files that are written whole and replaced whole. None of the operations but the
/// two that sync makes anything durable.
pub trait Disk {
    /// A file being written.
    type File;

    /// A new, empty file of this name. One that there was is gone.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Adds all of `bytes` to the file.
    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()>;

    /// Makes durable what the file holds, though not its name.
    fn sync(&self, file: &mut Self::File) -> io::Result<()>;

    /// Gives the file another name. One that had it is gone.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes durable which name stands for which file.
    fn sync_dir(&self) -> io::Result<()>;

    /// What the file holds; `None` if there is no such file.
    ///
    /// # Errors
    /// Also if it is larger than `limit` bytes (not read then), or anything but a plain file.
    fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>>;
}

/// A directory of this machine, locked against other processes until it is dropped.
#[derive(Debug)]
pub struct RealDisk {
    pub(super) dir: File,
    /// The lock goes with the file, also when the process is killed.
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
            // Not truncated: it may be a link or a pipe.
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
}

/// As [`Disk::read`], in a directory that may be another process's.
pub(super) fn read_in(dir: &File, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
    // A pipe would keep the opening waiting for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a plain file"));
    }
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    if size > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::with_capacity(size);
    file.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// That a file is larger than `limit` bytes.
pub(super) fn too_large(limit: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("larger than {limit} bytes"),
    )
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
        let mode = fs::metadata(dir.path().join("file"))
            .unwrap()
            .permissions()
            .mode();
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

    /// A pipe takes bytes, and cannot be synced.
    #[test]
    fn what_cannot_be_made_durable_is_told() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let mut pipe = File::from(OwnedFd::from(writer));
        let (_dir, mut disk) = disk();
        disk.write(&mut pipe, b"bytes").unwrap();
        disk.sync(&mut pipe).unwrap_err();
        disk.dir = pipe;
        disk.sync_dir().unwrap_err();
    }

    #[test]
    fn what_is_no_plain_file_is_neither_read_nor_waited_for() {
        let (dir, disk) = disk();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("dir")).unwrap();
        fs::write(path("file"), "elsewhere").unwrap();
        symlink(path("file"), path("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        for name in ["dir", "link", "pipe"] {
            disk.read(name, 1000).unwrap_err();
        }
        // A file takes the place of the link; what it points to is not touched.
        for name in ["link", "pipe"] {
            put(&disk, name, b"mine").unwrap();
            assert_eq!(disk.read(name, 1000).unwrap().unwrap(), b"mine");
        }
        assert_eq!(fs::read(path("file")).unwrap(), b"elsewhere");
    }
}
