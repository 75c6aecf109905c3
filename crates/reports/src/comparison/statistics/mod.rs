//! The statistics of a comparison ([§15](crate::specification#s15)): quantiles, their intervals and tests of
//! ranks. They know numbers only.

mod bootstrap;
mod ranks;
mod sample;

pub use bootstrap::{RESAMPLES, Resamples, interval};
pub use ranks::{RankTest, holm, mann_whitney, van_elteren};
pub use sample::{Observed, Resampled, Sample};
