//! Times, and texts that many pods have in common.

use std::collections::HashSet;
use std::sync::Arc;

use super::ContentError;
use crate::checkpoint::codec::{Decoder, Encoder};
use crate::timestamp::Timestamp;

/// Nanoseconds; zero, which no [`Timestamp`] is, for none.
pub(super) fn put_time(out: &mut Encoder, at: Option<Timestamp>) {
    out.fixed64(at.map_or(0, |at| at.as_nanos().cast_unsigned()));
}

pub(super) fn take_time(from: &mut Decoder<'_>) -> Result<Option<Timestamp>, ContentError> {
    Ok(match from.fixed64()? {
        0 => None,
        nanos => Some(Timestamp::from_nanos(nanos.cast_signed())),
    })
}

/// A time that must be there.
pub(super) fn take_instant(from: &mut Decoder<'_>) -> Result<Timestamp, ContentError> {
    let missing = from.fail("a time is missing");
    take_time(from)?.ok_or_else(|| missing.into())
}

/// A second since the epoch in 32 bits.
pub(super) fn take_second(from: &mut Decoder<'_>) -> Result<u32, ContentError> {
    let second = u32::try_from(from.number()?);
    second.map_err(|_| from.fail("a second beyond the year 2106").into())
}

/// Texts that are held once, however often they are read.
#[derive(Default)]
pub(super) struct Texts(HashSet<Arc<str>>);

impl Texts {
    pub(super) fn take(&mut self, from: &mut Decoder<'_>) -> Result<Arc<str>, ContentError> {
        let text = from.text()?;
        if let Some(held) = self.0.get(text) {
            return Ok(Arc::clone(held));
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        Ok(text)
    }
}
