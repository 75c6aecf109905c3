//! The identity of a pod.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The identity of a pod: its `metadata.uid`. A new UID under an old name is a new pod.
///
/// Kubernetes UIDs are UUIDs and are held as their 128 bits. Any other text is held as two hashes that
/// are the same in every run, one of them [`PodUid::hash`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(inline)]
pub struct PodUid(#[schemars(with = "String")] [u64; 2]);

/// The bits of the second word that distinguish UUIDs from hashes: the variant of a UUID (RFC 9562). They are 0 for
/// hashes. The variant 0 is that of the 1980s; a UUID that has it is hashed as well.
const VARIANT: u64 = 0b11 << 62;

/// The length of a UUID as text.
const UUID_LEN: usize = 36;

impl PodUid {
    /// The identity for the UID `text`.
    pub fn from_text(text: &str) -> Self {
        let uuid = hyphenated(text.as_bytes()).filter(|uid| uid.is_uuid());
        uuid.unwrap_or_else(|| Self::hashed(text.as_bytes()))
    }

    /// The identity that [`PodUid::words`] gave.
    pub const fn from_words(words: [u64; 2]) -> Self {
        Self(words)
    }

    /// The identity as two words, for hashing and for storage.
    pub const fn words(self) -> [u64; 2] {
        self.0
    }

    /// The FNV-1a hash of 64 bits of the UID's text, by which pods are distributed over shards
    /// ([§12](crate::specification#s12)).
    pub fn hash(self) -> u64 {
        match self.is_uuid() {
            true => fnv1a_64(self.uuid_text()),
            false => self.0[0],
        }
    }

    const fn is_uuid(self) -> bool {
        self.0[1] & VARIANT != 0
    }

    /// The text of a UUID.
    fn uuid_text(self) -> [u8; UUID_LEN] {
        let [high, low] = self.0.map(u128::from);
        let mut value = high << 64 | low;
        let mut text = [b'-'; UUID_LEN];
        for (position, byte) in text.iter_mut().enumerate() {
            if !HYPHENS.contains(&position) {
                value = value.rotate_left(4);
                *byte = b"0123456789abcdef"[(value & 0xf) as usize];
            }
        }
        text
    }

    /// The second hash is FNV-1a as well, over 128 bits that are folded to 62.
    fn hashed(bytes: &[u8]) -> Self {
        const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let hash =
            bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME));
        let folded = (hash >> 64) as u64 ^ hash as u64;
        Self([fnv1a_64(bytes.iter().copied()), folded & !VARIANT])
    }
}

/// The UUID. Of a UID that is none, which no API server assigns, the form is that of a UUID all the
/// same: only hashes of it are known.
impl fmt::Display for PodUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.uuid_text();
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for PodUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}

/// Saved as its 16 bytes: as integers, its words would take up to ten bytes each. Shown as its text.
impl Serialize for PodUid {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            return to.collect_str(self);
        }
        let [high, low] = self.0.map(u128::from);
        (high << 64 | low).to_be_bytes().serialize(to)
    }
}

impl<'de> Deserialize<'de> for PodUid {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            // The hash of a UID that is no UUID is shown as one, too.
            let text = String::deserialize(from)?;
            let shown = hyphenated(text.as_bytes());
            return Ok(shown.unwrap_or_else(|| Self::from_text(&text)));
        }
        let value = <[u8; 16]>::deserialize(from).map(u128::from_be_bytes)?;
        Ok(Self([(value >> 64) as u64, value as u64]))
    }
}

/// FNV-1a over 64 bits.
pub(super) fn fnv1a_64(bytes: impl IntoIterator<Item = u8>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = bytes.into_iter();
    bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// Where the hyphens of a UUID stand.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The values of the hexadecimal digits in lower case, by their bytes; of other bytes [`NO_DIGIT`].
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

const NO_DIGIT: u8 = 0xff;

/// Only lower-case, hyphenated UUIDs: two different texts must not become one identity.
fn hyphenated(text: &[u8]) -> Option<PodUid> {
    let text: &[u8; UUID_LEN] = text.try_into().ok()?;
    let (mut words, mut all) = ([0; 2], 0);
    for (word, digits) in [(0, 0..8), (0, 9..13), (0, 14..18), (1, 19..23), (1, 24..36)] {
        for byte in &text[digits] {
            let digit = DIGITS[usize::from(*byte)];
            all |= digit;
            words[word] = words[word] << 4 | u64::from(digit & 0xf);
        }
    }
    let is_uuid = all != NO_DIGIT && HYPHENS.iter().all(|at| text[*at] == b'-');
    is_uuid.then_some(PodUid(words))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_uuid_is_its_bits_and_other_text_is_hashed() {
        let uuid = PodUid::from_text("00000000-0000-0001-8000-000000000002");
        assert_eq!(uuid.words(), [1, 1 << 63 | 2]);
        assert_ne!(
            PodUid::from_text("A0000000-0000-0001-8000-000000000002"),
            PodUid::from_text("a0000000-0000-0001-8000-000000000002"),
        );
        assert_ne!(PodUid::from_text("a"), PodUid::from_text("b"));
        let uuid = "6d14ca8c-7af5-46a4-8768-00000000abcd";
        assert_eq!(PodUid::from_text(uuid).to_string(), uuid);
    }

    /// From the test vectors of the draft "The FNV Non-Cryptographic Hash Algorithm".
    #[test]
    fn the_hash_is_that_of_the_published_vectors() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("b", 0xaf63_df4c_8601_f1a5),
            ("foobar", 0x8594_4171_f739_67e8),
            ("chongo was here!\n", 0x4681_0940_eff5_f915),
        ] {
            assert_eq!(fnv1a_64(text.bytes()), hash, "{text:?}");
            assert_eq!(PodUid::from_text(text).hash(), hash, "{text:?}");
        }
    }

    #[test]
    fn a_uuid_of_the_variant_that_marks_hashes_is_hashed() {
        for variant in 0..16 {
            let text = format!("01234567-89ab-4def-{variant:x}123-456789abcdef");
            let uid = PodUid::from_text(&text);
            assert_eq!(uid.is_uuid(), variant >= 4, "{text}");
            assert_eq!(uid.hash(), fnv1a_64(text.bytes()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_hash_of_a_uuid_is_that_of_its_text(
            text in "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
        ) {
            let uid = PodUid::from_text(&text);
            prop_assert!(uid.is_uuid());
            prop_assert_eq!(uid.hash(), fnv1a_64(text.bytes()));
        }

        #[test]
        fn the_hash_of_any_other_text_is_that_of_its_bytes(text in ".{0,40}") {
            prop_assert_eq!(PodUid::from_text(&text).hash(), fnv1a_64(text.bytes()));
        }
    }
}
