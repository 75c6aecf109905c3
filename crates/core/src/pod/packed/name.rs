//! Names of pods: lists are in their order, and the pods of a workload share most of their names.

use super::bytes::{Reader, put_number};
use crate::pod::PodSnapshot;

/// Appends how many bytes the name shares with `last`, and the rest. It is the last one from then on.
pub(super) fn pack_name(pod: &PodSnapshot, last: &mut Vec<u8>, out: &mut Vec<u8>) {
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
pub(super) fn unpack_name(last: &mut Vec<u8>, reader: &mut Reader<'_>) -> Box<str> {
    let shared = reader.number();
    last.truncate(usize::try_from(shared).unwrap_or(usize::MAX));
    let length = reader.number();
    last.extend_from_slice(reader.bytes(length));
    String::from_utf8_lossy(last).into()
}
