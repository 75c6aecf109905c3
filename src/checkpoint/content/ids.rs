//! What names pods and sources.

use super::ContentError;
use crate::checkpoint::codec::{Decoder, Encoder};
use crate::lifecycle::delivery::SourceId;
use crate::pod::PodUid;

pub(super) fn put_uid(out: &mut Encoder, uid: PodUid) {
    for word in uid.words() {
        out.fixed64(word);
    }
}

pub(super) fn take_uid(from: &mut Decoder<'_>) -> Result<PodUid, ContentError> {
    Ok(PodUid::from_words([from.fixed64()?, from.fixed64()?]))
}

pub(super) fn put_source_id(out: &mut Encoder, source: SourceId) {
    out.number(source.0.into());
}

pub(super) fn take_source_id(from: &mut Decoder<'_>) -> Result<SourceId, ContentError> {
    let number = u16::try_from(from.number()?);
    Ok(SourceId(
        number.map_err(|_| from.fail("no source has this number"))?,
    ))
}
