//! A store with a fault in it, made from a good one: a disk that does not do what it is told.

use std::io;

use podinit::checkpoint::Disk;

use super::disk::{CrashDisk, Open};

/// What the store forgets or gets wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carelessness {
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

/// A disk with, or without, carelessness.
pub struct Careless {
    pub disk: CrashDisk,
    pub carelessness: Option<Carelessness>,
}

impl Careless {
    fn is(&self, carelessness: Carelessness) -> bool {
        self.carelessness == Some(carelessness)
    }

    fn target<'a>(&self, name: &'a str) -> &'a str {
        match self.is(Carelessness::NoRename) && name == "checkpoint.tmp" {
            true => "checkpoint",
            false => name,
        }
    }
}

impl Disk for Careless {
    type File = Open;

    fn create(&self, name: &str) -> io::Result<Open> {
        self.disk.create(self.target(name))
    }

    fn write(&self, file: &mut Open, bytes: &[u8]) -> io::Result<()> {
        self.disk.write(file, bytes)?;
        match self.is(Carelessness::RenameBeforeSync) {
            true => self.disk.rename("checkpoint.tmp", "checkpoint"),
            false => Ok(()),
        }
    }

    fn sync(&self, file: &mut Open) -> io::Result<()> {
        if self.is(Carelessness::NoFileSync) {
            return Ok(());
        }
        let result = self.disk.sync(file);
        match self.is(Carelessness::FileSyncUnheeded) {
            true => Ok(()),
            false => result,
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let in_place = self.is(Carelessness::NoRename) || self.is(Carelessness::RenameBeforeSync);
        match in_place && to == "checkpoint" {
            true => Ok(()),
            false => self.disk.rename(from, to),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(self.target(name))
    }

    fn sync_dir(&self) -> io::Result<()> {
        if self.is(Carelessness::NoDirSync) {
            return Ok(());
        }
        let result = self.disk.sync_dir();
        match self.is(Carelessness::DirSyncUnheeded) {
            true => Ok(()),
            false => result,
        }
    }

    fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
        self.disk.read(name, limit)
    }
}
