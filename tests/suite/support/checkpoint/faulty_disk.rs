//! A disk that leaves out or reorders operations, so that the store behaves as if it had a bug.

use std::io;

use podinit_checkpoint::Disk;

use super::disk::{CrashDisk, Open};

/// Which operation is left out, or done at the wrong time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskBug {
    /// The sync of the file
    NoFileSync,
    /// The sync of the directory
    NoDirSync,
    /// The checkpoint is written in place
    NoRename,
    /// The file has its name before its contents are synced
    RenameBeforeSync,
    /// That a sync of the file has failed
    FileSyncUnheeded,
    /// That a sync of the directory has failed
    DirSyncUnheeded,
}

/// A disk with a bug, or without one.
pub struct FaultyDisk {
    pub disk: CrashDisk,
    pub bug: Option<DiskBug>,
}

impl FaultyDisk {
    fn is(&self, bug: DiskBug) -> bool {
        self.bug == Some(bug)
    }

    fn target<'a>(&self, name: &'a str) -> &'a str {
        match self.is(DiskBug::NoRename) && name == "checkpoint.tmp" {
            true => "checkpoint",
            false => name,
        }
    }
}

impl Disk for FaultyDisk {
    type File = Open;

    fn create(&self, name: &str) -> io::Result<Open> {
        self.disk.create(self.target(name))
    }

    fn write(&self, file: &mut Open, bytes: &[u8]) -> io::Result<()> {
        self.disk.write(file, bytes)?;
        match self.is(DiskBug::RenameBeforeSync) {
            true => self.disk.rename("checkpoint.tmp", "checkpoint"),
            false => Ok(()),
        }
    }

    fn sync(&self, file: &mut Open) -> io::Result<()> {
        if self.is(DiskBug::NoFileSync) {
            return Ok(());
        }
        let result = self.disk.sync(file);
        match self.is(DiskBug::FileSyncUnheeded) {
            true => Ok(()),
            false => result,
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let in_place = self.is(DiskBug::NoRename) || self.is(DiskBug::RenameBeforeSync);
        match in_place && to == "checkpoint" {
            true => Ok(()),
            false => self.disk.rename(from, to),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(self.target(name))
    }

    fn sync_dir(&self) -> io::Result<()> {
        if self.is(DiskBug::NoDirSync) {
            return Ok(());
        }
        let result = self.disk.sync_dir();
        match self.is(DiskBug::DirSyncUnheeded) {
            true => Ok(()),
            false => result,
        }
    }

    fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
        self.disk.read(name, limit)
    }
}
