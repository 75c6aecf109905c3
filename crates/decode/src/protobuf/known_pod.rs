//! A version of a pod that is known: what the metadata and the spec say of it is remembered, as long as their bytes
//! are the same. Then only the version, the deletion and the status are read.

use std::hash::{BuildHasher, Hasher};

use hashbrown::DefaultHashBuilder;
use serde::de::DeserializeSeed;

use super::deserializer::{MessageDeserializer, instant};
use super::schema::POD_STATUS;
use super::wire::{Malformed, WireField, WireFields, WireValue};
use crate::pod::DecodeContext;
use crate::pod::deletion::StatedDeletion;
use crate::pod::lenient::LenientSeed;
use crate::pod::metadata::version;
use crate::pod::snapshot::SnapshotEdition;
use crate::pod::status::StatusReader;
use podinit_core::pod::{PodSnapshot, PodUid};

/// The parts of a pod by which it is known again.
pub(super) struct PodParts<'de> {
    pub(super) uid: PodUid,
    /// The hash of all that is read of the metadata and the spec, but for the edition
    pub(super) fingerprint: u64,
    edition: SnapshotEdition,
    status: &'de [u8],
}

impl<'de> PodParts<'de> {
    /// The parts of an object that is a pod; `None` for anything else, and for what no API server writes.
    pub(super) fn from_object(
        kind: Option<&str>,
        object: &'de [u8],
        hashes: &DefaultHashBuilder,
    ) -> Option<Self> {
        if kind.is_some_and(|kind| kind != "Pod") {
            return None;
        }
        let mut fields = WireFields::new(object);
        let mut part = |wanted| match fields.next() {
            Ok(Some(WireField { number, value: WireValue::Bytes(bytes) })) if number == wanted => {
                Some(bytes)
            }
            _ => None,
        };
        let (metadata, spec, status) = (part(1)?, part(2)?, part(3)?);
        if fields.next() != Ok(None) {
            return None;
        }
        let mut hash = hashes.build_hasher();
        let (uid, edition) = read_metadata(metadata, &mut hash).ok()??;
        hash.write(spec);
        Some(Self { uid, fingerprint: hash.finish(), edition, status })
    }

    /// The pod, if it is known by the same metadata and spec, and its status is well-formed.
    pub(super) fn pod(&self, context: &mut DecodeContext) -> Option<PodSnapshot> {
        let fixed = context.memory.recall(self.uid, self.fingerprint)?;
        let status = MessageDeserializer { message: self.status, known: POD_STATUS };
        let status = LenientSeed(StatusReader).deserialize(status).ok()?;
        Some(fixed.with_status(self.edition, status, &context.options))
    }
}

/// Reads what differs from version to version, and hashes the other fields that are read of a metadata. As
/// everywhere, an empty text counts as absent, and the last of several fields counts.
fn read_metadata(
    metadata: &[u8],
    hash: &mut impl Hasher,
) -> Result<Option<(PodUid, SnapshotEdition)>, Malformed> {
    let mut uid = None;
    let mut edition =
        SnapshotEdition { resource_version: None, deletion: StatedDeletion::default() };
    let mut fields = WireFields::new(metadata);
    while let Some(WireField { number, value }) = fields.next()? {
        let bytes = match (number, value) {
            (_, WireValue::Bytes(bytes)) => bytes,
            (10, WireValue::Varint(seconds)) => {
                edition.deletion.grace_seconds = Some(seconds);
                continue;
            }
            _ => continue,
        };
        match number {
            6 if !bytes.is_empty() => {
                edition.resource_version = str::from_utf8(bytes).ok().and_then(version);
            }
            9 => {
                let stated = instant(bytes)?;
                let stated =
                    stated.map(|(seconds, nanos)| StatedDeletion::of_instant(seconds, nanos));
                edition.deletion = edition.deletion.with_time(stated.unwrap_or_default());
            }
            // Name, namespace, UID, creation, labels, annotations and owners.
            1 | 3 | 5 | 8 | 11 | 12 | 13 => {
                if number == 5 && !bytes.is_empty() {
                    let Ok(text) = str::from_utf8(bytes) else {
                        return Ok(None);
                    };
                    uid = Some(PodUid::from_text(text));
                }
                hash.write_u64(u64::from(number) << 32 | bytes.len() as u64);
                hash.write(bytes);
            }
            _ => {}
        }
    }
    Ok(uid.map(|uid| (uid, edition)))
}

#[cfg(test)]
#[path = "known_pod_tests.rs"]
mod tests;
