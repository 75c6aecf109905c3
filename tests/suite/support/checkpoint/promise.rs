//! What the checkpoint promises, held against what it does.

use std::io;

use podinit::checkpoint::frame::Writer;
use podinit::checkpoint::{Disk, Loaded, Reason, Store};

/// The document of the `counter`-th save. No two have the same length, and later ones may be
/// shorter.
pub fn document(counter: u64) -> Vec<u8> {
    let mut writer = Writer::begin();
    writer.section(1, |to| to.number(counter));
    writer.section(2, |to| {
        to.raw(&vec![counter as u8; (counter * 137 % 401) as usize])
    });
    writer.finish()
}

/// What is known of the saves so far, over all crashes.
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
    /// That of a directory in which there was a damaged checkpoint.
    pub fn after_damage(damaged: Vec<u8>) -> Self {
        Self {
            damaged: Some(damaged),
            ..Self::default()
        }
    }

    /// Saves the next document, and takes note if it is said to be durable.
    pub fn save<D: Disk>(&mut self, store: &mut Store<D>) -> io::Result<()> {
        self.begun += 1;
        store.save(&document(self.begun))?;
        self.promised = self.begun;
        Ok(())
    }

    /// Loads, and holds what there is against what was promised: no older, whole, and one of those
    /// that were saved.
    pub fn load<D: Disk>(&self, store: &mut Store<D>) -> Result<(), String> {
        let found = match store.load() {
            Loaded::Found(bytes) => {
                let counters = self.promised.max(1)..=self.begun;
                let known = counters.clone().any(|counter| bytes == document(counter));
                return match known {
                    true => Ok(()),
                    false => Err(format!("found {bytes:?}, which is none of {counters:?}")),
                };
            }
            Loaded::Absent if self.promised == 0 => return Ok(()),
            Loaded::Rejected(rejection)
                if self.promised == 0
                    && self.damaged.is_some()
                    && rejection.reason == Reason::Corrupt =>
            {
                return Ok(());
            }
            other => other,
        };
        Err(format!("found {found:?} after {self:?}"))
    }

    /// That the damaged checkpoint, if it is on the platter, is there byte for byte.
    pub fn evidence(&self, platter: &super::disk::Platter) -> Result<(), String> {
        let kept = platter.get(Reason::Corrupt.file_name());
        match kept.is_some() && kept != self.damaged.as_ref() {
            true => Err(format!("{kept:?} was set aside")),
            false => Ok(()),
        }
    }
}
