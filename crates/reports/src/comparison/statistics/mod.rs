//! The statistics of a comparison ([§15](crate::specification#s15)): quantiles, their intervals, tests of ranks and of
//! proportions. They know numbers only.

mod bootstrap;
mod clusters;
mod normal;
mod proportions;
mod ranks;
mod sample;

pub use bootstrap::{RESAMPLES, Resamples, interval, widened};
pub use clusters::Clustered;
pub use proportions::{Proportion, fisher, newcombe};
pub use ranks::{RankTest, holm, mann_whitney, van_elteren};
pub use sample::{Observed, Resampled, Sample};
