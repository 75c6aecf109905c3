//! A small seeded generator, so that one seed gives one cluster on every platform.
//!
//! SplitMix64 (Steele, Lea and Flood, 2014): a counter and a mixing function, with no state worth
//! more than its seed. Only basic IEEE arithmetic is used on top of it, because `exp` and `ln`
//! differ in their last bit between C libraries.

use std::ops::RangeInclusive;

/// A deterministic source of numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

/// The letters that Kubernetes uses for generated name suffixes.
const NAME_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

impl Rng {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The generator of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator of its own for the `stream`-th thing of `seed`, so that what one pod draws
    /// does not move what the next one gets.
    pub fn fork(seed: u64, stream: u64) -> Self {
        let mut root = Self::new(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        Self::new(root.next_u64())
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::STEP);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 where `limit` is 0. The bias of the multiplication is below
    /// `limit` / 2^64.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with `probability`.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number in `[low, high)`; `low` where the range is empty.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high.saturating_sub(low).max(0) as u64) as i64
    }

    /// A number in `range`, which must not be empty.
    pub fn within(&mut self, range: RangeInclusive<u32>) -> u32 {
        let (low, high) = range.into_inner();
        let span = u64::from(high.saturating_sub(low)) + 1;
        // The remainder is at most `high - low`, so that it fits and the sum does not overflow.
        low + (self.next_u64() % span) as u32
    }

    /// A number with a long tail to the right, like a log-normal one: `median` times two to the
    /// power of `spread` standard deviations.
    pub(super) fn around(&mut self, median: i64, spread: f64) -> i64 {
        let normal = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        (median as f64 * power_of_two(spread * normal)) as i64
    }

    /// One of `items`, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }

    /// One of `items`, in proportion to their weights, of which one must be above 0.
    pub fn weighted<'a, T>(&mut self, items: &'a [(T, u64)]) -> &'a T {
        let mut left = self.below(items.iter().map(|(_, weight)| weight).sum());
        let mut index = 0;
        while left >= items[index].1 {
            left -= items[index].1;
            index += 1;
        }
        &items[index].0
    }

    /// A suffix of `length` letters as Kubernetes generates them.
    pub fn suffix(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(*self.pick(NAME_LETTERS))).collect()
    }

    /// A random (version 4) UUID.
    pub fn uuid(&mut self) -> String {
        let high = (self.next_u64() & !0xf000) | 0x4000;
        let low = (self.next_u64() >> 2) | (1 << 63);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff,
        )
    }
}

/// Two to the power of `x`, linear between whole powers: monotone, continuous, within 6 % of the
/// true value, and the same to the bit everywhere.
fn power_of_two(x: f64) -> f64 {
    let whole = x.floor().clamp(-60.0, 60.0);
    let scale = (1u64 << whole.abs() as u32) as f64;
    let base = if whole < 0.0 { 1.0 / scale } else { scale };
    base * (1.0 + (x - whole).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut rng = Rng::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423],
        );
    }

    #[test]
    fn half_of_the_long_tailed_numbers_lie_below_the_median() {
        let mut rng = Rng::new(7);
        let below = (0..10_000).filter(|_| rng.around(1_000_000, 1.0) < 1_000_000).count();
        assert!((4_800..5_200).contains(&below), "{below}");
    }

    #[test]
    fn ranges_and_uuids_keep_their_form() {
        let mut rng = Rng::new(3);
        assert!((0..1000).all(|_| (5..9).contains(&rng.between(5, 9))));
        assert_eq!(rng.between(5, 5), 5);
        assert!((0..1000).all(|_| (22..=28).contains(&rng.within(22..=28))));
        assert_eq!(rng.within(u32::MAX..=u32::MAX), u32::MAX);
        let uuid = rng.uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(&uuid[14..15], "4");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
    }

    #[test]
    fn powers_of_two_meet_at_the_whole_ones() {
        for (x, expected) in [(-1.0, 0.5), (0.0, 1.0), (0.5, 1.5), (3.0, 8.0)] {
            assert_eq!(power_of_two(x), expected);
        }
    }
}
