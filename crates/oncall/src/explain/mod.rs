//! `podinit explain`: where the time of one startup went, for people.
//!
//! ```text
//! Pods of any source ─▶ Record, Context ─▶ Explanation ─▶ text | json | trace | html
//!                 └───▶ Worst ─▶ table | json
//! ```
//!
//! Whatever a record came from, it is explained the same way.

mod ended;
mod explanation;
mod fleet;
mod headline;
mod kubectl;
mod missing_object;
mod named;
mod new_node;
mod next_command;
mod parts;
mod peers;
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
pub use headline::Standing;
pub use kubectl::{addressed, quoted, time_of_node};
pub use named::gate_in_words;
pub(crate) use named::{NEVER_SET, is_of_kubelet};
pub use new_node::NodeLine;
pub use next_command::{next_command, next_command_of_problem};
pub use parts::{Part, Share};
pub use peers::Peers;
pub use target::{NoStartup, Target, TargetName};
pub use waterfall::Row;
pub use worst::{Worst, WorstStartup};
