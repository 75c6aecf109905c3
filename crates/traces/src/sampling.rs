//! Which startups are sent as traces.

use std::str::FromStr;

use podinit_core::lifecycle::EndedStartup;
use podinit_core::pod::PodUid;

/// The bits of a trace id by which OpenTelemetry samples: the last 56, which are random in a UUID too.
const RANDOM_BITS: u32 = 56;

/// How many of the startups that met their SLOs are sampled: from 0 to 1.
///
/// Decided by the trace id alone, as OpenTelemetry's consistent probability sampling does: every exporter
/// decides alike, and a larger ratio takes the same startups and others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRatio(f64);

impl SampleRatio {
    /// Whether a startup is sampled: each that missed an SLO is.
    pub fn samples(self, startup: &EndedStartup) -> bool {
        self.takes(startup.uid()) || startup.missed_slo()
    }

    fn takes(self, uid: PodUid) -> bool {
        const ALL: u64 = 1 << RANDOM_BITS;
        let [_, low] = uid.words();
        let rejected = ((1.0 - self.0) * ALL as f64).round() as u64;
        low % ALL >= rejected
    }
}

impl FromStr for SampleRatio {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<f64>() {
            Ok(ratio) if (0.0..=1.0).contains(&ratio) => Ok(Self(ratio)),
            _ => Err("expected a number from 0 to 1"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn ratio(text: &str) -> SampleRatio {
        text.parse().unwrap()
    }

    /// UIDs as the API server makes them: random, of version 4.
    fn uids() -> impl Iterator<Item = PodUid> {
        let mut random = fastrand::Rng::with_seed(1);
        std::iter::repeat_with(move || {
            let [high, low] = [random.u64(..), random.u64(..)];
            PodUid::from_words([high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62])
        })
        .take(10_000)
    }

    #[test]
    fn a_ratio_takes_that_share_of_random_uids() {
        for (text, from, to) in [("0", 0, 0), ("1", 10_000, 10_000), ("0.1", 900, 1_100)] {
            let taken = uids().filter(|uid| ratio(text).takes(*uid)).count();
            assert!((from..=to).contains(&taken), "{text}: {taken}");
        }
    }

    #[test]
    fn a_larger_ratio_takes_the_same_and_more() {
        for uid in uids() {
            assert!(ratio("0.5").takes(uid) || !ratio("0.2").takes(uid));
        }
    }

    #[test]
    fn only_numbers_from_0_to_1_are_ratios() {
        for text in ["-0.1", "1.1", "NaN", "", "all"] {
            assert!(text.parse::<SampleRatio>().is_err(), "{text}");
        }
    }
}
