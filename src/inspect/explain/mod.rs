//! `podinit explain`: where the time of one startup went, for people.
//!
//! ```text
//! documents of a recording, or lists of a cluster ─▶ replay ─▶ Record, Context ─▶ Explanation ─▶ text | json | trace
//!                        records of a running exporter ──────────▲
//! ```
//!
//! Whatever a record came from, it is explained the same way.

mod ended;
mod explanation;
mod fleet;
mod listed;
mod new_node;
mod next_command;
mod parts;
mod peers;
mod recorded;
mod replayed;
mod statuses;
mod target;
mod text;
mod trace;
mod uncertainty;
mod verdict;
mod waterfall;
mod worst;

pub use ended::EndedLine;
pub use explanation::{
    AutoscalerLine, CauseLine, Context, Explanation, MilestoneLine, SloLine, WorkloadPods,
};
pub use fleet::Fleet;
pub use listed::{ListedPods, explain_list};
pub use new_node::NodeLine;
pub(crate) use next_command::quoted;
pub use next_command::{
    PodOnNode, Run, addressed, logs_of, next_command, next_command_of, time_of_node,
};
pub use parts::{Part, Share};
pub use peers::Peers;
pub use recorded::{Records, explain_records};
pub use replayed::explain;
pub use target::{NoStartup, Target, TargetName};
pub use waterfall::Row;
pub use worst::{Worst, WorstStartup};
