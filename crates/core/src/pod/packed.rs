//! Many snapshots in little memory: the list of a large cluster is held until it is complete
//! ([§5.4](crate::specification#s5-4)), and nearly all of its pods have an ordinary status.
//!
//! An ordinary snapshot takes 55 to 85 bytes here, and with its containers at least five times as much as a
//! [`PodSnapshot`]. Nothing is lost.

pub mod bytes;
mod container;
mod flags;
mod named;
mod numbered;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::{VecDeque, vec_deque};
use std::sync::Arc;

use self::bytes::{ByteReader, put_number};
use self::snapshot::{SharedValues, is_ordinary, pack, unpack};
use super::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// How many bytes are freed at once while the snapshots are taken out.
const CHUNK: usize = 1 << 20;

/// So much is allocated for a chunk, and what it does not need is given up when it is full. glibc takes
/// allocations of more than 32 MiB, and no smaller ones for certain, straight from the operating system: there a
/// chunk can go back to whatever happens around it. What is not written to takes no memory.
const RESERVED: usize = 33 << 20;

/// What stands before each snapshot, and is followed by its UID.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SnapshotKind {
    /// It follows.
    Ordinary = 0,
    /// It is the next of [`PackedPods::others`].
    Other = 1,
    /// It follows, but was removed.
    RemovedOrdinary = 2,
    /// It is the next of [`PackedPods::others`], but was removed.
    RemovedOther = 3,
}

/// Where a snapshot is, as long as none is taken out.
pub type PackedPlace = u32;

/// Snapshots in the order in which they were added.
#[derive(Clone, Default)]
pub struct PackedPods {
    chunks: VecDeque<Vec<u8>>,
    /// How much of the first chunk has been taken out
    taken: usize,
    /// The snapshots that are not ordinary
    others: VecDeque<Box<PodSnapshot>>,
    len: usize,
    /// The latest API time of all that were added
    latest_api_time: Option<Timestamp>,
    /// The bytes of the snapshot that is being packed
    scratch: Vec<u8>,
    /// The name of the ordinary snapshot before
    last_name: Vec<u8>,
    shared: Box<SharedValues>,
}

impl PackedPods {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The snapshots that are not ordinary: those that say something rare, such as their claims.
    pub fn others(&self) -> impl Iterator<Item = &PodSnapshot> {
        self.others.iter().map(|pod| &**pod)
    }

    /// The latest API time of all that were added.
    pub const fn latest_api_time(&self) -> Option<Timestamp> {
        self.latest_api_time
    }

    /// The namespaces of all that were added; one can come more than once.
    pub fn namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.shared.namespaces().chain(self.others().map(|pod| &pod.info.namespace))
    }

    /// Adds a snapshot, and says where it is; `None` past 4 GiB.
    pub fn push(&mut self, pod: PodSnapshot) -> Option<PackedPlace> {
        let kind = match is_ordinary(&pod) {
            true => SnapshotKind::Ordinary,
            false => SnapshotKind::Other,
        };
        self.latest_api_time = self.latest_api_time.max(pod.latest_api_time);
        self.scratch.clear();
        self.scratch.push(kind as u8);
        for word in pod.uid.words() {
            self.scratch.extend_from_slice(&word.to_le_bytes());
        }
        match kind {
            SnapshotKind::Ordinary => {
                pack_name(&pod, &mut self.last_name, &mut self.scratch);
                pack(&pod, &mut self.shared, &mut self.scratch);
            }
            _ => self.others.push_back(Box::new(pod)),
        }
        self.len += 1;
        let place = self.append();
        PackedPlace::try_from(place).ok()
    }

    /// Appends what was packed, and says where.
    fn append(&mut self) -> usize {
        let last = self.chunks.len().saturating_sub(1);
        let length = self.scratch.len();
        if let Some(chunk) = self.chunks.back_mut()
            && chunk.len() + length <= CHUNK
        {
            let offset = chunk.len();
            chunk.extend_from_slice(&self.scratch);
            return last * CHUNK + offset;
        }
        // A short list stays small: only chunks after the first have their full size from the beginning.
        let reserved = self.chunks.back_mut().map_or(0, |full| {
            full.shrink_to_fit();
            RESERVED
        });
        let mut chunk = Vec::with_capacity(reserved.max(length));
        chunk.extend_from_slice(&self.scratch);
        self.chunks.push_back(chunk);
        (self.chunks.len() - 1) * CHUNK
    }

    /// The UID of the snapshot at a place that [`PackedPods::push`] gave.
    pub fn uid_at(&self, place: PackedPlace) -> Option<PodUid> {
        let (chunk, offset) = split(place);
        let bytes = self.chunks.get(chunk)?.get(offset + 1..)?;
        Some(uid(&mut ByteReader(bytes)))
    }

    /// Removes the snapshot at a place that [`PackedPods::push`] gave.
    pub fn remove(&mut self, place: PackedPlace) {
        let (chunk, offset) = split(place);
        let chunk = self.chunks.get_mut(chunk);
        let Some(kind) = chunk.and_then(|chunk| chunk.get_mut(offset)) else {
            return;
        };
        let removed = match SnapshotKind::from_byte(*kind) {
            SnapshotKind::Ordinary => SnapshotKind::RemovedOrdinary,
            SnapshotKind::Other => SnapshotKind::RemovedOther,
            SnapshotKind::RemovedOrdinary | SnapshotKind::RemovedOther => return,
        };
        *kind = removed as u8;
        self.len -= 1;
    }

    /// A copy of each of them, one at a time.
    pub fn copies(&self) -> Copies<'_> {
        let reader = ByteReader(self.chunks.front().map_or(&[], Vec::as_slice));
        let others = self.others.iter();
        Copies { packed: self, chunk: 0, reader, others, last_name: Vec::new() }
    }
}

fn split(place: PackedPlace) -> (usize, usize) {
    let place = place as usize;
    (place / CHUNK, place % CHUNK)
}

fn uid(reader: &mut ByteReader<'_>) -> PodUid {
    PodUid::from_words([(); 2].map(|()| u64::from_le_bytes(reader.array())))
}

impl SnapshotKind {
    const fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::Ordinary,
            1 => Self::Other,
            2 => Self::RemovedOrdinary,
            _ => Self::RemovedOther,
        }
    }
}

/// The next snapshot, and whether it is still one of them. `other` gives the next of [`PackedPods::others`], and
/// `last_name` is the name of the ordinary snapshot before.
fn unpack_next(
    reader: &mut ByteReader<'_>,
    shared: &SharedValues,
    last_name: &mut Vec<u8>,
    other: impl FnOnce() -> Option<PodSnapshot>,
) -> Option<(PodSnapshot, bool)> {
    let kind = SnapshotKind::from_byte(reader.byte());
    let uid = uid(reader);
    let pod = match kind {
        SnapshotKind::Ordinary | SnapshotKind::RemovedOrdinary => {
            let name = unpack_name(last_name, reader);
            unpack(uid, name, shared, reader)
        }
        SnapshotKind::Other | SnapshotKind::RemovedOther => other()?,
    };
    Some((pod, matches!(kind, SnapshotKind::Ordinary | SnapshotKind::Other)))
}

/// Copies snapshots.
pub struct Copies<'a> {
    packed: &'a PackedPods,
    chunk: usize,
    /// What is left of the chunk
    reader: ByteReader<'a>,
    others: vec_deque::Iter<'a, Box<PodSnapshot>>,
    last_name: Vec<u8>,
}

impl Iterator for Copies<'_> {
    type Item = PodSnapshot;

    fn next(&mut self) -> Option<PodSnapshot> {
        let Self { packed, chunk, reader, others, last_name } = self;
        loop {
            if reader.0.is_empty() {
                *chunk += 1;
                reader.0 = packed.chunks.get(*chunk)?;
            }
            let other = || others.next().map(|pod| PodSnapshot::clone(pod));
            if let (pod, true) = unpack_next(reader, &packed.shared, last_name, other)? {
                return Some(pod);
            }
        }
    }
}

/// Takes snapshots out, and gives their memory back on the way.
#[derive(Debug)]
pub struct IntoIter {
    packed: PackedPods,
    /// The name of the ordinary snapshot before
    last_name: Vec<u8>,
}

impl IntoIterator for PackedPods {
    type Item = PodSnapshot;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter { packed: self, last_name: Vec::new() }
    }
}

impl IntoIter {
    /// The next snapshot, and whether it is still one of them.
    fn unpack_next(&mut self) -> Option<(PodSnapshot, bool)> {
        let Self { packed, last_name } = self;
        let chunk = packed.chunks.front()?;
        let mut reader = ByteReader(chunk.get(packed.taken..)?);
        let other = || packed.others.pop_front().map(|pod| *pod);
        let unpacked = unpack_next(&mut reader, &packed.shared, last_name, other);
        packed.taken = chunk.len() - reader.0.len();
        if reader.0.is_empty() {
            packed.chunks.pop_front();
            packed.taken = 0;
        }
        unpacked
    }
}

impl Iterator for IntoIter {
    type Item = PodSnapshot;

    fn next(&mut self) -> Option<PodSnapshot> {
        loop {
            if let (pod, true) = self.unpack_next()? {
                self.packed.len -= 1;
                return Some(pod);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.packed.len, Some(self.packed.len))
    }
}

impl Extend<PodSnapshot> for PackedPods {
    fn extend<I: IntoIterator<Item = PodSnapshot>>(&mut self, pods: I) {
        for pod in pods {
            self.push(pod);
        }
    }
}

impl FromIterator<PodSnapshot> for PackedPods {
    fn from_iter<I: IntoIterator<Item = PodSnapshot>>(pods: I) -> Self {
        let mut packed = Self::default();
        packed.extend(pods);
        packed
    }
}

impl From<Vec<PodSnapshot>> for PackedPods {
    fn from(pods: Vec<PodSnapshot>) -> Self {
        pods.into_iter().collect()
    }
}

impl PartialEq for PackedPods {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.copies().eq(other.copies())
    }
}

impl std::fmt::Debug for PackedPods {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.copies()).finish()
    }
}

/// Lists are in the order of names, and the pods of a workload share most of theirs: appends how many bytes the name
/// shares with `last`, and the rest. It is the last one from then on.
fn pack_name(pod: &PodSnapshot, last: &mut Vec<u8>, out: &mut Vec<u8>) {
    let name = pod.info.name.as_bytes();
    let pairs = name.iter().zip(last.iter());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    let rest = name.get(shared..).unwrap_or_default();
    put_number(out, shared as u64);
    put_number(out, rest.len() as u64);
    out.extend_from_slice(rest);
    last.truncate(shared);
    last.extend_from_slice(rest);
}

/// Reads what [`pack_name`] has written after the same names.
fn unpack_name(last: &mut Vec<u8>, reader: &mut ByteReader<'_>) -> Box<str> {
    let shared = reader.number();
    last.truncate(usize::try_from(shared).unwrap_or(usize::MAX));
    let length = reader.number();
    last.extend_from_slice(reader.bytes(length));
    String::from_utf8_lossy(last).into()
}
