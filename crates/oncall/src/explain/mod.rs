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
mod network_plugin;
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

pub(super) use explanation::{AutoscalerLine, CauseLine, MilestoneLine, SloLine, WorkloadPods};
pub use explanation::{Explanation, ExplanationContext};
pub use fleet::FleetDurations;
pub use headline::StartupHealth;
pub(super) use kubectl::{addressed, described};
pub use kubectl::{quoted, time_of_node};
pub(super) use named::gate_in_words;
pub use new_node::NodeLine;
pub use next_command::next_command;
pub(super) use next_command::next_command_of_problem;
pub use parts::StartupPart;
pub(super) use peers::Peers;
pub(super) use target::NoStartup;
pub use target::{ExplainTarget, TargetName};
pub use waterfall::WaterfallRow;
pub use worst::Worst;
