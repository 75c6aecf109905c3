//! What a startup knows of its pod beside milestones, in one byte because a pod in flight has little room.

use serde::{Deserialize, Serialize};

use crate::pod::Claims;

/// Whether the pod can still be Ready, and what it claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedTraits", into = "SavedTraits")]
pub(super) struct Traits(u8);

/// The saved form of [`Traits`], by name.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SavedTraits {
    never_ready: bool,
    claims: Claims,
}

impl From<Traits> for SavedTraits {
    fn from(traits: Traits) -> Self {
        Self { never_ready: traits.is_never_ready(), claims: traits.claims() }
    }
}

impl From<SavedTraits> for Traits {
    fn from(saved: SavedTraits) -> Self {
        let mut traits = Self::new(saved.claims);
        traits.set_never_ready(saved.never_ready);
        traits
    }
}

const NEVER_READY: u8 = 1 << 7;
const _: () = assert!(Claims::BITS & NEVER_READY == 0);

impl Traits {
    /// A pod with these claims that can still be Ready.
    pub(super) const fn new(claims: Claims) -> Self {
        Self(claims.bits())
    }

    /// A regular container has ended for good: the pod can never be Ready any more
    /// ([§6.12](crate::specification#s6-12)).
    pub(super) const fn is_never_ready(self) -> bool {
        self.0 & NEVER_READY != 0
    }

    /// The claims of the pod.
    pub(super) const fn claims(self) -> Claims {
        Claims::of_bits(self.0)
    }

    /// Sets whether the pod can never be Ready any more.
    pub(super) const fn set_never_ready(&mut self, is_never_ready: bool) {
        self.0 = self.claims().bits() | (is_never_ready as u8 * NEVER_READY);
    }

    /// Sets the claims of the pod.
    pub(super) const fn set_claims(&mut self, claims: Claims) {
        self.0 = (self.0 & NEVER_READY) | claims.bits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_kept_whatever_the_other_is() {
        for bits in 0..=Claims::BITS {
            let claims = Claims::of_bits(bits);
            let mut traits = Traits::new(claims);
            assert_eq!((traits.claims(), traits.is_never_ready()), (claims, false));
            traits.set_never_ready(true);
            assert_eq!((traits.claims(), traits.is_never_ready()), (claims, true));
            traits.set_claims(Claims::default());
            assert!(traits.is_never_ready() && traits.claims().is_none());
            traits.set_never_ready(false);
            assert_eq!(traits, Traits::default());
        }
    }
}
