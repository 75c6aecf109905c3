//! How many startups had to pull an image, and had not before ([§15.2](crate::specification#s15-2)).

use serde::Serialize;

use super::side::ComparisonSide;
use super::statistics::{Proportion, fisher};
use podinit_core::lifecycle::{Interval, StartupImages};
use podinit_text::words::percent;

/// A smaller difference of the shares is not told.
const MARGIN: f64 = 0.1;
/// A p-value below this is no chance.
const SIGNIFICANCE: f64 = 0.01;

/// The startups that pulled an image, of those of which it is known ([§14.4](crate::specification#s14-4)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct PulledStartups {
    before: Proportion,
    after: Proportion,
    /// Two-sided, of Fisher's exact test
    p_value: f64,
}

impl PulledStartups {
    /// Of the pods with this interval; `None` where on a side of none is known whether images were there.
    pub(super) fn from_sides(sides: [&ComparisonSide; 2], whole: Interval) -> Option<Self> {
        let [before, after] = sides.map(|side| {
            let pods = side.pods().iter().filter(|pod| pod.duration(whole).is_some());
            let known = pods.filter(|pod| pod.pulls.images != StartupImages::Unknown);
            let one = |is_pulled| Proportion { count: u64::from(is_pulled), of: 1 };
            Proportion::sum(known.map(|pod| one(pod.pulls.images == StartupImages::Pulled)))
        });
        let is_known = before.of > 0 && after.of > 0;
        is_known.then(|| Self { before, after, p_value: fisher(before, after) })
    }

    /// `12 of 300 (4 %) → 290 of 300 (97 %)`
    pub(super) fn in_words(&self) -> String {
        let [before, after] =
            [self.before, self.after].map(|one| format!("{one} ({})", percent(one.share())));
        format!("{before} → {after}")
    }

    /// That images were there before and are not after, or the reverse, beyond chance.
    pub(super) fn sentence(&self) -> Option<String> {
        let difference = self.after.share() - self.before.share();
        let is_told = difference.abs() >= MARGIN && self.p_value < SIGNIFICANCE;
        let what = match difference > 0.0 {
            true => "The images were not there",
            false => "More images were there",
        };
        let (before, after) = (self.before, self.after);
        is_told.then(|| format!(" {what}: {after} startups pulled, before {before}."))
    }
}
