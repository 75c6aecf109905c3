//! `LabelPair`.

use super::wire::{WireType, key, message_len, put_head, put_text, text_len};
use crate::instruments::Label;

const NAME: u8 = key(1, WireType::Bytes);
const VALUE: u8 = key(2, WireType::Bytes);

/// Writes each label as a `LabelPair` in the field `key`.
pub(super) fn put_labels<'a>(out: &mut Vec<u8>, key: u8, labels: impl Iterator<Item = Label<'a>>) {
    for label @ (name, value) in labels {
        put_head(out, key, pair_len(label));
        put_text(out, NAME, name);
        put_text(out, VALUE, value);
    }
}

/// How many bytes [`put_labels`] writes.
pub(super) fn labels_len<'a>(labels: impl Iterator<Item = Label<'a>>) -> usize {
    labels.map(|label| message_len(pair_len(label))).sum()
}

const fn pair_len((name, value): Label<'_>) -> usize {
    text_len(name) + text_len(value)
}
