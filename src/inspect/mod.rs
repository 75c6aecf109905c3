//! What is known of single startups, and how people look at it: records, the API, problems, the page,
//! `explain` and `stuck`.

pub mod api;
mod autoscaling;
pub mod explain;
pub mod live;
pub(crate) mod node_clocks;
pub mod page;
pub mod pods;
pub mod problems;
pub mod stuck;
