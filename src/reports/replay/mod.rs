//! Replays recordings through the pipeline ([§8.2](crate::specification#s8-2)): the same decoder, tracker and
//! metrics as `serve`, with the time that the recording states instead of a clock.

mod deliveries;
mod exposition;
mod replay_clock;
mod replayed;
mod streamed_list;

pub use deliveries::{Replay, ReplayConfig};
pub use exposition::{ExpositionConfig, ReplayError, expose};
pub use replayed::replayed;
