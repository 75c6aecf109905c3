//! What podinit holds in memory.

#[allow(unsafe_code)]
pub(crate) mod counting;
mod crowd;
mod failing;
mod first_list;
mod large_cluster;
mod measure;
pub mod node_object;
mod pods;
mod report;
mod watch_line;
