//! Compares what the store loads with what it has promised.

use std::io;

use podinit_checkpoint::CheckpointLoad;
use podinit_checkpoint::frame::SectionWriter;
use podinit_checkpoint::{CheckpointStore, Disk, LoadedCheckpoint};

/// The document of the `counter`-th save. No two have the same length, and later ones may be
/// shorter.
pub fn document(counter: u64) -> Vec<u8> {
    let mut writer = SectionWriter::begin();
    writer.section(1, |to| to.extend(counter.to_le_bytes()));
    writer.section(2, |to| to.extend(vec![counter as u8; (counter * 137 % 401) as usize]));
    writer.finish()
}

/// The saves so far, over all crashes.
#[derive(Debug, Default)]
pub struct History {
    /// The newest that was begun; 0 for none
    begun: u64,
    /// The newest that returned `Ok`; 0 for none
    promised: u64,
    /// A checkpoint that was damaged before the first save
    damaged: Option<Vec<u8>>,
}

impl History {
    /// The history of a directory with a damaged checkpoint in it.
    pub fn after_damage(damaged: Vec<u8>) -> Self {
        Self { damaged: Some(damaged), ..Self::default() }
    }

    /// Saves the next document, and remembers it if the store answers that it is durable.
    pub fn save<D: Disk>(&mut self, store: &mut CheckpointStore<D>) -> io::Result<()> {
        self.begun += 1;
        store.save(&document(self.begun))?;
        self.promised = self.begun;
        Ok(())
    }

    /// Loads, and checks that what is found is whole, is one of the saved documents, and is not older
    /// than what was promised.
    pub fn load<D: Disk>(&self, store: &mut CheckpointStore<D>) -> Result<(), String> {
        let found = match store.load() {
            LoadedCheckpoint::Found(bytes) => {
                let counters = self.promised.max(1)..=self.begun;
                let known = counters.clone().any(|counter| bytes == document(counter));
                return match known {
                    true => Ok(()),
                    false => Err(format!("found {bytes:?}, which is none of {counters:?}")),
                };
            }
            LoadedCheckpoint::Absent if self.promised == 0 => return Ok(()),
            LoadedCheckpoint::Rejected(rejection)
                if self.promised == 0
                    && self.damaged.is_some()
                    && rejection.reason == CheckpointLoad::Corrupt =>
            {
                return Ok(());
            }
            other => other,
        };
        Err(format!("found {found:?} after {self:?}"))
    }

    /// Checks that the damaged checkpoint, if it was set aside, has all its bytes.
    pub fn evidence(&self, contents: &super::disk::DiskContents) -> Result<(), String> {
        let aside = contents.get("checkpoint.rejected-corrupt");
        match aside.is_some() && aside != self.damaged.as_ref() {
            true => Err(format!("{aside:?} was set aside")),
            false => Ok(()),
        }
    }
}
