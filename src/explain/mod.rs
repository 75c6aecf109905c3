//! `podinit explain`: where the time of one startup went, for people.
//!
//! ```text
//! documents of a recording, or lists of a cluster ─▶ replay ─▶ Record, Others ─▶ Explanation ─▶ text | json | trace
//!                        records of a running exporter ──────────▲
//! ```
//!
//! Whatever a record came from, it is explained the same way.

mod explanation;
mod fleet;
mod listed;
mod next_command;
mod parts;
mod peers;
mod recorded;
mod replayed;
mod target;
mod text;
mod trace;
mod uncertainty;
mod verdict;
mod waterfall;

pub use explanation::{CauseLine, Explanation, MilestoneLine, Others, SloLine, WorkloadPods};
pub use fleet::Fleet;
pub use listed::{ListedPods, explain_list};
pub use next_command::{PodOnNode, next_command, next_command_of};
pub use parts::{Part, Share, shares};
pub use peers::Peers;
pub use recorded::{Records, explain_records};
pub use replayed::explain;
pub use target::{Target, TargetName};
pub use text::stage_colour;
pub use waterfall::Row;
