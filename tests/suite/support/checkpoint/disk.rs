//! A disk in memory that keeps apart what has been synced and what has not.
//!
//! It promises what POSIX does and no more: the contents of a file are durable after a sync of the
//! file, its name after a sync of the directory. `loss` chooses what a crash leaves of the rest.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::rc::Rc;

use podinit_checkpoint::Disk;
use rustix::io::Errno;

/// The files of a disk that is not in use, by name.
pub type DiskContents = BTreeMap<String, Vec<u8>>;

/// A disk in use. Clones are the same disk.
#[derive(Clone, Default)]
pub struct CrashDisk(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    files: Vec<Contents>,
    names: BTreeMap<String, Name>,
    /// Operations so far, but for reading
    operations: usize,
    power_until: Option<usize>,
    faults: Vec<Fault>,
    read_fault: Option<Errno>,
    /// How many reads fail yet
    reads_to_fail: usize,
    /// Operations that have failed
    failures: usize,
}

/// What a file holds.
#[derive(Clone, Default)]
pub struct Contents {
    /// As the running system sees it
    pub live: Vec<u8>,
    /// As of the last sync
    pub durable: Vec<u8>,
    /// A sync has failed: the system takes the contents for written, and they are not
    lost: bool,
}

/// Which file has a name.
#[derive(Clone, Default)]
pub struct Name {
    /// As of the last sync of the directory
    durable: Option<usize>,
    /// Since then, oldest first
    pending: Vec<Option<usize>>,
}

/// Operations that fail; reading is none of them.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which, by their number
    pub operations: Range<usize>,
    /// What the system says
    pub errno: Errno,
    /// Whether they have an effect in spite of it: half a write, a rename
    pub half_done: bool,
}

/// Chooses what a crash leaves of what was not synced.
pub trait Loss {
    /// Which of so many files a name stands for: the first is the durable one.
    fn name(&mut self, files: usize) -> usize;

    /// What there is of the contents of a file.
    fn contents(&mut self, contents: &Contents) -> Vec<u8>;
}

/// A file by its number.
pub struct Open(usize);

impl Name {
    fn live(&self) -> Option<usize> {
        *self.pending.last().unwrap_or(&self.durable)
    }
}

impl State {
    fn live(&self, name: &str) -> io::Result<usize> {
        let live = self.names.get(name).and_then(Name::live);
        live.ok_or_else(|| Errno::NOENT.into())
    }

    fn point(&mut self, name: &str, file: Option<usize>) {
        let name = self.names.entry(name.to_owned()).or_default();
        name.pending.push(file);
    }

    /// The error of the next operation, if it fails, and whether it is half done.
    fn failure(&self, operation: usize) -> Option<(io::Error, bool)> {
        if self.power_until.is_some_and(|until| operation >= until) {
            return Some((io::Error::other("the power is off"), false));
        }
        let mut faults = self.faults.iter();
        let fault = faults.find(|fault| fault.operations.contains(&operation))?;
        Some((fault.errno.into(), fault.half_done))
    }
}

impl CrashDisk {
    /// A disk with these files.
    pub fn with(contents: DiskContents) -> Self {
        let mut state = State::default();
        for (name, bytes) in contents {
            let durable = Some(state.files.len());
            state.files.push(Contents { live: bytes.clone(), durable: bytes, lost: false });
            let pending = Vec::new();
            state.names.insert(name, Name { durable, pending });
        }
        Self(Rc::new(RefCell::new(state)))
    }

    /// Lets so many more operations happen and none after them.
    pub fn cut_power_after(&self, operations: usize) {
        let mut state = self.0.borrow_mut();
        state.power_until = Some(state.operations + operations);
    }

    /// Lets operations fail. They are counted from the beginning.
    pub fn fail(&self, fault: Fault) {
        self.0.borrow_mut().faults.push(fault);
    }

    /// Lets the next `times` reads fail.
    pub fn fail_reads(&self, errno: Errno, times: usize) {
        let mut state = self.0.borrow_mut();
        state.read_fault = Some(errno);
        state.reads_to_fail = times;
    }

    /// Ends all faults.
    pub fn clear_faults(&self) {
        let mut state = self.0.borrow_mut();
        state.faults.clear();
        state.read_fault = None;
    }

    /// How many operations have failed.
    pub fn failures(&self) -> usize {
        self.0.borrow().failures
    }

    /// How many operations there were.
    pub fn operations(&self) -> usize {
        self.0.borrow().operations
    }

    /// What the running system sees; what a process that is killed leaves.
    pub fn live(&self) -> DiskContents {
        let state = self.0.borrow();
        let live = |(text, name): (&String, &Name)| {
            let file = name.live()?;
            Some((text.clone(), state.files[file].live.clone()))
        };
        state.names.iter().filter_map(live).collect()
    }

    /// What a machine that loses its power leaves.
    pub fn crash(&self, loss: &mut impl Loss) -> DiskContents {
        let state = self.0.borrow();
        let mut left = BTreeMap::new();
        let mut on_disk = DiskContents::new();
        for (text, name) in &state.names {
            let mut files = vec![name.durable];
            for file in &name.pending {
                if !files.contains(file) {
                    files.push(*file);
                }
            }
            if let Some(file) = files[loss.name(files.len())] {
                let contents = &state.files[file];
                let bytes = left.entry(file).or_insert_with(|| loss.contents(contents));
                on_disk.insert(text.clone(), bytes.clone());
            }
        }
        on_disk
    }

    /// Counts an operation and does it, or half of it, or nothing.
    fn operate<T>(
        &self,
        whole: impl FnOnce(&mut State) -> io::Result<T>,
        half: impl FnOnce(&mut State),
    ) -> io::Result<T> {
        let state = &mut *self.0.borrow_mut();
        let failure = state.failure(state.operations);
        state.operations += 1;
        match failure {
            None => whole(state),
            Some((error, half_done)) => {
                state.failures += 1;
                if half_done {
                    half(state);
                }
                Err(error)
            }
        }
    }
}

fn create(state: &mut State, name: &str) -> Open {
    state.files.push(Contents::default());
    let file = state.files.len() - 1;
    state.point(name, Some(file));
    Open(file)
}

fn rename(state: &mut State, from: &str, to: &str) -> io::Result<()> {
    let file = state.live(from)?;
    state.point(to, Some(file));
    state.point(from, None);
    Ok(())
}

impl Disk for CrashDisk {
    type File = Open;

    fn create(&self, name: &str) -> io::Result<Open> {
        self.operate(
            |state| Ok(create(state, name)),
            |state| {
                create(state, name);
            },
        )
    }

    fn write(&self, file: &mut Open, bytes: &[u8]) -> io::Result<()> {
        let half = &bytes[..bytes.len() / 2];
        self.operate(
            |state| {
                state.files[file.0].live.extend_from_slice(bytes);
                Ok(())
            },
            |state| state.files[file.0].live.extend_from_slice(half),
        )
    }

    /// After a sync that failed, Linux takes the pages for clean: the next one finds nothing to do.
    fn sync(&self, file: &mut Open) -> io::Result<()> {
        let contents = file.0;
        let result = self.operate(
            |state| {
                let contents = &mut state.files[contents];
                if !contents.lost {
                    contents.durable.clone_from(&contents.live);
                }
                Ok(())
            },
            |_| {},
        );
        self.0.borrow_mut().files[contents].lost |= result.is_err();
        result
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.operate(
            |state| rename(state, from, to),
            |state| {
                let _ = rename(state, from, to);
            },
        )
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.operate(
            |state| {
                state.live(name)?;
                state.point(name, None);
                Ok(())
            },
            |_| {},
        )
    }

    fn sync_dir(&self) -> io::Result<()> {
        self.operate(
            |state| {
                for name in state.names.values_mut() {
                    name.durable = name.live();
                    name.pending.clear();
                }
                Ok(())
            },
            |_| {},
        )
    }

    fn read(&self, name: &str, limit: usize) -> io::Result<Option<Vec<u8>>> {
        let mut state = self.0.borrow_mut();
        if let (Some(errno), 1..) = (state.read_fault, state.reads_to_fail) {
            state.reads_to_fail -= 1;
            return Err(errno.into());
        }
        let Ok(file) = state.live(name) else {
            return Ok(None);
        };
        let bytes = &state.files[file].live;
        match bytes.len() > limit {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(Some(bytes.clone())),
        }
    }
}
