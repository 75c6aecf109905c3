//! A shard of the pods of a cluster ([§12](crate::specification#s12)): a range of the hashes of their
//! UIDs.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::pod::PodUid;

/// The number of hashes.
const HASHES: u128 = 1 << 64;

/// Shard I of N: the UIDs whose hash lies in [⌊I·2⁶⁴/N⌋, ⌊(I+1)·2⁶⁴/N⌋). The N shards cover every UID,
/// each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SavedShard", into = "SavedShard")]
pub struct Shard {
    index: u64,
    count: NonZeroU64,
    first: u64,
    last: u64,
}

/// The saved form: a shard unless its index is past the last one.
#[derive(Serialize, Deserialize)]
struct SavedShard {
    index: u64,
    /// The number of other shards, N − 1
    others: u64,
}

impl From<Shard> for SavedShard {
    fn from(Shard { index, count, .. }: Shard) -> Self {
        Self { index, others: count.get() - 1 }
    }
}

impl TryFrom<SavedShard> for Shard {
    type Error = ShardError;

    fn try_from(SavedShard { index, others }: SavedShard) -> Result<Self, ShardError> {
        let count = NonZeroU64::MIN.saturating_add(others);
        Self::new(index, count).ok_or(ShardError::Index { count })
    }
}

/// Why a text is no shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// It is not of the form I/N
    #[error("expected I/N, such as 0/4: shard I of N, counted from 0")]
    Form,
    /// I ≥ N
    #[error("shards are counted from 0: with {count}, the last is {}/{count}", count.get() - 1)]
    Index {
        /// N
        count: NonZeroU64,
    },
}

impl Shard {
    /// All pods: shard 0 of 1.
    pub const ALL: Self = Self { index: 0, count: NonZeroU64::MIN, first: 0, last: u64::MAX };

    /// Shard `index` of `count`; `None` if there is none of that index.
    pub fn new(index: u64, count: NonZeroU64) -> Option<Self> {
        // At least one hash lies between two bounds, since there are fewer shards than hashes.
        let bound = |index: u64| (u128::from(index) * HASHES) / u128::from(count.get());
        (index < count.get()).then(|| Self {
            index,
            count,
            first: bound(index) as u64,
            last: (bound(index + 1) - 1) as u64,
        })
    }

    /// The index I, from 0.
    pub const fn index(self) -> u64 {
        self.index
    }

    /// Whether it is the only one, and has all pods.
    pub const fn is_all(self) -> bool {
        self.count.get() == 1
    }

    /// The number of shards, N.
    pub const fn count(self) -> NonZeroU64 {
        self.count
    }

    /// The hash with which its range begins.
    pub const fn start(self) -> u64 {
        self.first
    }

    /// The hash before which its range ends; 2⁶⁴ for the last shard.
    pub fn end(self) -> u128 {
        u128::from(self.last) + 1
    }

    /// Whether the pod `uid` is one of this shard.
    pub fn contains(self, uid: PodUid) -> bool {
        (self.first..=self.last).contains(&uid.hash())
    }
}

/// All pods.
impl Default for Shard {
    fn default() -> Self {
        Self::ALL
    }
}

/// As `--shard` takes it: `I/N`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (index, count) = text.split_once('/').ok_or(ShardError::Form)?;
        let index = number(index).ok_or(ShardError::Form)?;
        let count = number(count).and_then(NonZeroU64::new);
        let count = count.ok_or(ShardError::Form)?;
        Self::new(index, count).ok_or(ShardError::Index { count })
    }
}

/// A number of digits only: the parser would take a sign.
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn shard(text: &str) -> Shard {
        text.parse().unwrap()
    }

    #[test]
    fn the_bounds_are_rounded_down() {
        let bounds = |text: &str| (shard(text).start(), shard(text).end());
        assert_eq!(bounds("0/1"), (0, 1 << 64));
        assert_eq!(bounds("1/2"), (1 << 63, 1 << 64));
        assert_eq!(bounds("0/3"), (0, 0x5555_5555_5555_5555));
        assert_eq!(bounds("1/3"), (0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa));
        assert_eq!(bounds("2/3"), (0xaaaa_aaaa_aaaa_aaaa, 1 << 64));
        assert_eq!(shard("0/1"), Shard::ALL);
        let most = u64::MAX;
        let last = Shard::new(most - 1, NonZeroU64::MAX).unwrap();
        assert_eq!((last.start(), last.end()), (most - 1, 1 << 64));
        let first = Shard::new(0, NonZeroU64::MAX).unwrap();
        assert_eq!((first.start(), first.end()), (0, 1));
    }

    /// Hashes of published vectors: `a` is af63dc4c8601ec8c, `foobar` 85944171f73967e8.
    #[test]
    fn a_pod_belongs_to_the_shard_of_its_hash() {
        let holders = |uid: &str, count: u64| -> Vec<u64> {
            let shards = (0..count).map(|index| shard(&format!("{index}/{count}")));
            let holders = shards.filter(|shard| shard.contains(PodUid::from_text(uid)));
            holders.map(Shard::index).collect()
        };
        assert_eq!(holders("a", 4), [2]);
        assert_eq!(holders("a", 3), [2]);
        assert_eq!(holders("foobar", 3), [1]);
        assert_eq!(holders("foobar", 2), [1]);
    }

    #[test]
    fn what_is_no_shard_is_refused_with_a_reason() {
        for text in
            ["", "/", "1", "0/", "/4", "-1/4", "+1/4", "0/0", "0x1/4", "1/4/4", " 0/4", "a/b"]
        {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::Form), "{text:?}");
        }
        for text in ["4/4", "5/4", "1/1"] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(matches!(error, ShardError::Index { .. }), "{text:?}");
        }
        let error = "4/4".parse::<Shard>().unwrap_err().to_string();
        assert_eq!(error, "shards are counted from 0: with 4, the last is 3/4");
        assert_eq!(shard("3/4").to_string(), "3/4");
    }

    proptest! {
        #[test]
        fn the_ranges_follow_each_other_without_gap(count in 1..300u64) {
            let mut end = 0;
            for index in 0..count {
                let shard = Shard::new(index, NonZeroU64::new(count).unwrap()).unwrap();
                prop_assert_eq!(u128::from(shard.start()), end);
                prop_assert!(shard.end() > end);
                end = shard.end();
            }
            prop_assert_eq!(end, HASHES);
        }

        #[test]
        fn neighbours_share_a_bound_however_many_shards_there_are(
            count in 2..=u64::MAX,
            index in any::<u64>(),
        ) {
            let count = NonZeroU64::new(count).unwrap();
            let index = index % (count.get() - 1);
            let one = Shard::new(index, count).unwrap();
            let next = Shard::new(index + 1, count).unwrap();
            prop_assert_eq!(one.end(), u128::from(next.start()));
        }

        #[test]
        fn every_pod_is_in_exactly_one_shard(uid in ".{0,40}", count in 1..64u64) {
            let uid = PodUid::from_text(&uid);
            let shards = (0..count).map(|index| format!("{index}/{count}").parse().unwrap());
            prop_assert_eq!(shards.filter(|shard: &Shard| shard.contains(uid)).count(), 1);
        }
    }
}
