//! The statistics of a comparison ([§15](crate::specification#s15)): quantiles, their intervals, tests of ranks and of
//! proportions. They know numbers only.

mod bootstrap;
mod clusters;
mod normal;
mod proportions;
mod ranks;
mod sample;
mod trimmed;

pub use bootstrap::interval;
pub(super) use bootstrap::{BootstrapQuantiles, ends, widened};
pub(super) use clusters::ClusteredDifference;
pub use proportions::{Proportion, fisher, newcombe};
pub(super) use ranks::{RankTest, van_elteren};
pub use ranks::{holm, mann_whitney};
pub use sample::{DurationSample, ObservedDuration, Resampled};
pub use trimmed::{DividedDuration, DividedSample};
