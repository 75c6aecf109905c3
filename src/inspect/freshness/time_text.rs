//! Instants in documents: RFC 3339 in UTC.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;

pub(super) fn serialize<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&rfc3339::format(*at))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    rfc3339::parse(&text).ok_or_else(|| D::Error::custom("expected an instant in RFC 3339"))
}
