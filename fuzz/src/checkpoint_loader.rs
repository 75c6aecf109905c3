//! The checkpoint file, in which a disk may have changed anything.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use podinit_checkpoint::frame::{self, MAGIC, SectionWriter, VERSION};
use podinit_checkpoint::{CheckpointStore, Disk, LoadedCheckpoint};
use sha2::{Digest, Sha256};

use super::checkpoint_content;

/// The bytes as a file, as the sections under a good checksum, and as the payload of one section.
pub fn run(bytes: &[u8]) {
    load(bytes);
    load(&under_checksum(bytes));
    if let Some((tag, payload)) = bytes.split_first() {
        checkpoint_content::restore(&checkpoint_content::with_section((*tag).into(), payload));
    }
}

/// A file with a valid frame around any bytes: the fuzzer cannot guess a hash.
fn under_checksum(sections: &[u8]) -> Vec<u8> {
    let length = MAGIC.len() + 4 + 8 + sections.len() + 32;
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend((length as u64).to_le_bytes());
    file.extend(sections);
    file.extend(Sha256::digest(&file));
    file
}

fn load(file: &[u8]) {
    let files = Files::default();
    files.put("checkpoint", file);
    let mut store = CheckpointStore::with_disk(&files);
    match store.load() {
        LoadedCheckpoint::Found(found) => {
            assert_eq!(found, file);
            let mut again = SectionWriter::begin();
            for (tag, payload) in frame::read(&found).unwrap().iter() {
                again.section(tag, |to| to.extend(payload));
            }
            assert_eq!(again.finish(), file);
            checkpoint_content::restore(file);
        }
        LoadedCheckpoint::Rejected(rejection) => {
            assert!(frame::read(file).is_err());
            let kept = rejection.set_aside.unwrap();
            assert_eq!(files.get(&kept).as_deref(), Some(file));
            assert!(matches!(store.load(), LoadedCheckpoint::Absent));
        }
        LoadedCheckpoint::Absent => panic!("there is a checkpoint"),
    }
}

/// Files in memory.
#[derive(Default)]
struct Files(RefCell<BTreeMap<String, Vec<u8>>>);

impl Files {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.0.borrow().get(name).cloned()
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        self.0.borrow_mut().insert(name.to_owned(), bytes.to_vec());
    }
}

impl Disk for &Files {
    type File = String;

    fn create(&self, name: &str) -> io::Result<String> {
        self.put(name, b"");
        Ok(name.to_owned())
    }

    fn write(&self, file: &mut String, bytes: &[u8]) -> io::Result<()> {
        let mut files = self.0.borrow_mut();
        files.entry(file.clone()).or_default().extend(bytes);
        Ok(())
    }

    fn sync(&self, _: &mut String) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let bytes = self.0.borrow_mut().remove(from);
        self.put(to, &bytes.ok_or(io::ErrorKind::NotFound)?);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let removed = self.0.borrow_mut().remove(name);
        removed.map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_dir(&self) -> io::Result<()> {
        Ok(())
    }

    fn read(&self, name: &str, _: usize) -> io::Result<Option<Vec<u8>>> {
        Ok(self.get(name))
    }
}
