//! `LabelPair`.

use super::wire::{WireType, key, put_text, put_varint, text_len};
use crate::instruments::Label;

const NAME: u8 = key(1, WireType::Bytes);
const VALUE: u8 = key(2, WireType::Bytes);

/// Writes each label as a `LabelPair` in the field `key`.
pub(super) fn put_labels<'a>(out: &mut Vec<u8>, key: u8, labels: impl Iterator<Item = Label<'a>>) {
    for (name, value) in labels {
        out.push(key);
        put_varint(out, (text_len(name) + text_len(value)) as u64);
        put_text(out, NAME, name);
        put_text(out, VALUE, value);
    }
}
