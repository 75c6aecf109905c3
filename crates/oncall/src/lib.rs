//! What is known of single startups, and how people look at it: records, the API, problems, the page,
//! `explain` and `stuck`.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod api;
mod autoscaling;
pub mod explain;
pub mod live;
pub mod node_clocks;
pub mod page;
pub mod pods;
pub mod problems;
pub mod stuck;
