//! Which file is which, and the order of operations that makes a save durable.

use std::io;
use std::path::Path;

use super::disk::{Disk, RealDisk, too_large};
use super::frame::{self, FrameError, MAX_BYTES};
use super::open::OpenError;
use crate::CheckpointLoad;

/// The last checkpoint that was saved.
pub(super) const CHECKPOINT: &str = "checkpoint";
/// The one being written.
const TEMPORARY: &str = "checkpoint.tmp";

/// The result of loading.
#[derive(Debug)]
pub enum LoadedCheckpoint {
    /// There is no checkpoint: it is the first start with this directory.
    Absent,
    /// A whole file, for [`frame::read`].
    Found(Vec<u8>),
    /// A checkpoint that cannot be used.
    Rejected(RejectedCheckpoint),
}

/// A checkpoint that cannot be used, and where it is now.
#[derive(Debug)]
pub struct RejectedCheckpoint {
    /// What is wrong, as the label `result` of `podinit_checkpoint_loads_total` has it
    pub reason: CheckpointLoad,
    /// What is wrong, as a continuation of "the checkpoint cannot be used:"
    pub why: String,
    /// The new name of its file, or why it could not be renamed; the next save replaces it then
    pub set_aside: io::Result<String>,
}

/// The name of the file that a checkpoint rejected for `reason` is renamed to.
fn rejected_name(reason: CheckpointLoad) -> String {
    format!("{CHECKPOINT}.rejected-{}", reason.as_str())
}

/// The checkpoint of one directory.
#[derive(Debug)]
pub struct CheckpointStore<D = RealDisk> {
    disk: D,
}

impl CheckpointStore {
    /// The checkpoint in `dir`, which is created if it is missing and locked for as long as the store
    /// lives.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        RealDisk::open(dir).map(Self::with_disk)
    }
}

impl<D: Disk> CheckpointStore<D> {
    /// The checkpoint on `disk`.
    pub const fn with_disk(disk: D) -> Self {
        Self { disk }
    }

    /// Loads the last checkpoint that was saved. One that cannot be used is set aside.
    pub fn load(&mut self) -> LoadedCheckpoint {
        let (reason, why) = match self.read() {
            Ok(None) => return LoadedCheckpoint::Absent,
            Ok(Some(bytes)) => match frame::read(&bytes) {
                Ok(_) => return LoadedCheckpoint::Found(bytes),
                Err(error @ FrameError::FutureVersion(_)) => {
                    (CheckpointLoad::FutureVersion, error.to_string())
                }
                Err(error @ FrameError::OldVersion(_)) => {
                    (CheckpointLoad::OldVersion, error.to_string())
                }
                Err(error) => (CheckpointLoad::Corrupt, error.to_string()),
            },
            Err(error) => (CheckpointLoad::Unreadable, error.to_string()),
        };
        LoadedCheckpoint::Rejected(RejectedCheckpoint {
            reason,
            why,
            set_aside: self.set_aside(reason),
        })
    }

    /// It tries three times, because a network disk that was just attached may fail at first.
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let read = || self.disk.read(CHECKPOINT, MAX_BYTES);
        read().or_else(|_| read()).or_else(|_| read())
    }

    /// Renames the checkpoint, in place of an earlier one rejected for the same reason, and returns
    /// the new name.
    ///
    /// This is not synced: a crash can only undo the renaming, and then it is rejected again.
    pub fn set_aside(&mut self, reason: CheckpointLoad) -> io::Result<String> {
        let name = rejected_name(reason);
        self.disk.rename(CHECKPOINT, &name).map(|()| name)
    }

    /// Whether the next process will not find what is saved, since another directory has taken the place.
    pub fn is_misplaced(&self) -> bool {
        self.disk.misplaced().is_some()
    }

    /// Replaces the checkpoint by `document`, which [`frame::SectionWriter`] has built. When this returns
    /// `Ok`, the document is durable. Otherwise the checkpoint is either the one before or this one,
    /// perhaps not durably.
    ///
    /// Where another directory has taken the place, the document goes into both: nobody knows which of them the next
    /// process will find. That is an error all the same, until the directory is back in its place.
    ///
    /// # Errors
    /// Those of the disk, or that the document has more than [`MAX_BYTES`]. The caller may try again at
    /// any time.
    pub fn save(&mut self, document: &[u8]) -> io::Result<()> {
        if document.len() > MAX_BYTES {
            return Err(too_large(MAX_BYTES));
        }
        let Some(error) = self.disk.misplaced() else {
            return self.write(document);
        };
        // The error says already that neither can be relied on.
        let _ = self.write(document);
        if let Ok(disk) = self.disk.of_next_process() {
            let _ = Self::with_disk(disk).write(document);
        }
        Err(error)
    }

    fn write(&self, document: &[u8]) -> io::Result<()> {
        if let Err(error) = self.replace(document) {
            // It would take space on a full disk. A reader ignores it in any case.
            let _ = self.disk.remove(TEMPORARY);
            return Err(error);
        }
        self.disk.sync_dir()
    }

    /// The contents are synced before the renaming: otherwise a crash could leave the name with a file
    /// whose contents are lost.
    fn replace(&self, document: &[u8]) -> io::Result<()> {
        let mut file = self.disk.create(TEMPORARY)?;
        self.disk.write(&mut file, document)?;
        self.disk.sync(&mut file)?;
        self.disk.rename(TEMPORARY, CHECKPOINT)
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
