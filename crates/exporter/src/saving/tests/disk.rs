//! A disk with a gate in front of every sync.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use podinit_checkpoint::Disk;

/// Clones are the same disk.
#[derive(Clone, Default)]
pub(super) struct GatedDisk(Arc<(Mutex<DiskState>, Condvar)>);

#[derive(Default)]
struct DiskState {
    closed: bool,
    waiting: u64,
    fails: bool,
    renames: u64,
    /// Files that have been synced, by the names that they have
    files: BTreeMap<String, Vec<u8>>,
    /// The same as of the last time that the names were synced
    durable: BTreeMap<String, Vec<u8>>,
}

impl GatedDisk {
    fn state(&self) -> MutexGuard<'_, DiskState> {
        self.0.0.lock().unwrap()
    }

    /// From now on syncs wait.
    pub(super) fn close(&self) {
        self.state().closed = true;
    }

    pub(super) fn open(&self) {
        self.state().closed = false;
        self.0.1.notify_all();
    }

    /// From now on syncs fail, or not any more.
    pub(super) fn fail(&self, fails: bool) {
        self.state().fails = fails;
    }

    pub(super) async fn until_somebody_waits(&self) {
        while self.state().waiting == 0 {
            tokio::task::yield_now().await;
        }
    }

    pub(super) fn renames(&self) -> u64 {
        self.state().renames
    }

    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        self.state().files.insert(name.to_owned(), bytes.to_vec());
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.state().files.contains_key(name)
    }

    /// Another disk with what this one would hold if the power were lost now.
    pub(super) fn pulled_out(&self) -> Self {
        let durable = self.state().durable.clone();
        let disk = Self::default();
        disk.state().files.clone_from(&durable);
        disk.state().durable = durable;
        disk
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state().files.is_empty()
    }

    fn pass(&self) -> io::Result<MutexGuard<'_, DiskState>> {
        let mut state = self.state();
        state.waiting += u64::from(state.closed);
        let state = self.0.1.wait_while(state, |state| state.closed).unwrap();
        match state.fails {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => Ok(state),
        }
    }
}

impl Disk for GatedDisk {
    type File = (String, Vec<u8>);

    fn create(&self, name: &str) -> io::Result<Self::File> {
        Ok((name.to_owned(), Vec::new()))
    }

    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()> {
        file.1.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&self, file: &mut Self::File) -> io::Result<()> {
        let mut state = self.pass()?;
        state.files.insert(file.0.clone(), file.1.clone());
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        let file = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_owned(), file);
        state.renames += 1;
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.state().files.remove(name);
        Ok(())
    }

    fn sync_dir(&self) -> io::Result<()> {
        let mut state = self.pass()?;
        state.durable = state.files.clone();
        Ok(())
    }

    fn read(&self, name: &str, _limit: usize) -> io::Result<Option<Vec<u8>>> {
        Ok(self.state().files.get(name).cloned())
    }
}
