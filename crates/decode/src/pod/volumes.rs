//! `volumes` of a `spec`, as far as they say whether a pod is stateful.

use serde::de::{MapAccess, SeqAccess};

use super::lenient::{Lenient, LenientField, Text, skip};

/// The sources of volumes that a stateless pod may have ([§9.4](crate::specification#s9-4)).
const STATELESS: [&str; 5] = [
    "secret",
    "configMap",
    "downwardAPI",
    "emptyDir",
    "projected",
];

/// Reads whether any volume has none of the `STATELESS` sources.
pub struct StatefulReader;

impl<'de> LenientField<'de> for StatefulReader {
    type Value = bool;

    fn absent(self) -> bool {
        false
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let mut any = false;
        while let Some(stateful) = seq.next_element_seed(Lenient(VolumeReader))? {
            any |= stateful;
        }
        Ok(any)
    }
}

/// Reads whether one volume is stateful. What is no object is no volume.
struct VolumeReader;

impl<'de> LenientField<'de> for VolumeReader {
    type Value = bool;

    fn absent(self) -> bool {
        false
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut stateless = false;
        while let Some(key) = map.next_key_seed(Lenient(Text))? {
            stateless |= key.is_some_and(|key| STATELESS.contains(&&*key));
            skip(&mut map)?;
        }
        Ok(!stateless)
    }
}
