//! Which pods a shard accounts for ([§12](crate::specification#s12)) and which of them an API server sends it,
//! without code of the program.

use std::collections::HashMap;

use podinit_core::shard::Shard;
use podinit_sim::rng::Rng;

/// Shard `index` of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardNumber {
    pub index: usize,
    pub count: usize,
}

impl ShardNumber {
    /// As the program is told.
    pub fn flag(self) -> Shard {
        let Self { index, count } = self;
        format!("{index}/{count}").parse().expect("it is a shard")
    }
}

/// A range of the hashes of UIDs, from the first until before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashRange {
    first: u128,
    end: u128,
}

impl HashRange {
    /// Every pod.
    pub const ALL: Self = Self { first: 0, end: 1 << 64 };

    /// The part of a shard; all where there are none.
    pub fn of(shard: Option<ShardNumber>) -> Self {
        let Some(ShardNumber { index, count }) = shard else {
            return Self::ALL;
        };
        let bound = |index: usize| ((index as u128) << 64) / count as u128;
        Self { first: bound(index), end: bound(index + 1) }
    }

    pub fn holds(self, hash: u64) -> bool {
        (self.first..self.end).contains(&u128::from(hash))
    }

    /// The range that a request asks for with its `shardSelector`.
    fn asked(query: &HashMap<&str, &str>) -> Option<Self> {
        let selector = query.get("shardSelector")?;
        let bounds = selector
            .strip_prefix("shardRange%28object.metadata.uid%2C%27")
            .and_then(|rest| rest.strip_suffix("%27%29"));
        let (first, end) = bounds?.split_once("%27%2C%27")?;
        let number = |text: &str| u128::from_str_radix(text.strip_prefix("0x")?, 16).ok();
        number(first).zip(number(end)).map(|(first, end)| Self { first, end })
    }
}

/// FNV-1a of 64 bits.
pub fn hash(uid: &str) -> u64 {
    uid.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Whether the API servers behind the one address send a shard only its own pods (KEP-5866).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerSharding {
    /// None of them does, and they say nothing of it
    #[default]
    Never,
    /// All of them do
    Always,
    /// Some of them do: a control plane in upgrade
    Mixed,
}

impl ServerSharding {
    pub const ALL: [Self; 3] = [Self::Never, Self::Always, Self::Mixed];

    /// The range that the answer to this request is cut down to, by whichever API server gets it.
    pub fn answers(self, query: &HashMap<&str, &str>, rng: &mut Rng) -> Option<HashRange> {
        let asked = HashRange::asked(query)?;
        let shards = match self {
            Self::Never => false,
            Self::Always => true,
            Self::Mixed => rng.chance(0.5),
        };
        shards.then_some(asked)
    }
}
