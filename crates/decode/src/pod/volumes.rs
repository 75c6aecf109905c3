//! `volumes` of a `spec`, as far as they say whether a pod is stateful, and whether it claims a persistent volume.

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

/// The sources of volumes for which there is a claim ([§13.4](crate::specification#s13-4)).
const CLAIMS: [&str; 2] = ["persistentVolumeClaim", "ephemeral"];

/// What volumes say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Volumes {
    /// One has none of the sources that a stateless pod may have
    pub is_stateful: bool,
    /// There is a claim for one
    pub has_claim: bool,
}

/// Reads [`Volumes`].
pub struct VolumesReader;

impl<'de> LenientField<'de> for VolumesReader {
    type Value = Volumes;

    fn absent(self) -> Volumes {
        Volumes::default()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Volumes, A::Error> {
        let mut all = Volumes::default();
        while let Some(volume) = seq.next_element_seed(Lenient(VolumeReader))? {
            all.is_stateful |= volume.is_stateful;
            all.has_claim |= volume.has_claim;
        }
        Ok(all)
    }
}

/// Reads what one volume says. What is no object is no volume.
struct VolumeReader;

impl<'de> LenientField<'de> for VolumeReader {
    type Value = Volumes;

    fn absent(self) -> Volumes {
        Volumes::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Volumes, A::Error> {
        let (mut is_stateless, mut has_claim) = (false, false);
        while let Some(key) = map.next_key_seed(Lenient(Text))? {
            is_stateless |= key.as_deref().is_some_and(|key| STATELESS.contains(&key));
            has_claim |= key.is_some_and(|key| CLAIMS.contains(&&*key));
            skip(&mut map)?;
        }
        Ok(Volumes {
            is_stateful: !is_stateless,
            has_claim,
        })
    }
}
