//! What a pod claims besides room on a node.

use serde::{Deserialize, Serialize};

/// The kinds of things that a pod cannot start without, and that others do not need
/// ([§13.4](crate::specification#s13-4)). One byte, because a pod in flight has little room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedClaims", into = "SavedClaims")]
pub struct Claims(u8);

/// The saved form of [`Claims`], by name.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SavedClaims {
    volume: bool,
    resource: bool,
}

impl From<Claims> for SavedClaims {
    fn from(claims: Claims) -> Self {
        Self { volume: claims.has_volume(), resource: claims.has_resource() }
    }
}

impl From<SavedClaims> for Claims {
    fn from(saved: SavedClaims) -> Self {
        Self::new(saved.volume, saved.resource)
    }
}

const VOLUME: u8 = 1;
const RESOURCE: u8 = 1 << 1;

impl Claims {
    /// All bits that [`Claims::bits`] gives.
    pub const BITS: u8 = VOLUME | RESOURCE;

    /// The claims of a pod: a volume with a claim (`persistentVolumeClaim`, or `ephemeral`, for which one is made), or
    /// `spec.resourceClaims`.
    pub const fn new(has_volume: bool, has_resource: bool) -> Self {
        Self((has_volume as u8 * VOLUME) | (has_resource as u8 * RESOURCE))
    }

    /// Whether it claims a persistent volume.
    pub const fn has_volume(self) -> bool {
        self.0 & VOLUME != 0
    }

    /// Whether it claims a resource, such as a device.
    pub const fn has_resource(self) -> bool {
        self.0 & RESOURCE != 0
    }

    /// Whether it claims nothing.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The bits, to be saved.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The claims of saved bits. Other bits are ignored.
    pub(crate) const fn of_bits(bits: u8) -> Self {
        Self(bits & Self::BITS)
    }
}
