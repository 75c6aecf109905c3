//! Records of startups ([§11](crate::specification#s11)): which are kept, and how readers get them.
//!
//! ```text
//! exporter ─ EndedStartup ─▶ RecordStore ◀─ step ─ Queries ◀─ bounded queue ─ RecordsClient ◀─ readers
//! ```
//!
//! The exporter, which owns the tracker, owns the store too. It answers a query in steps, each of a bounded number of
//! pods, and accounts for deliveries between them. Readers never hold a lock that it needs.

mod client;
mod filter;
#[cfg(test)]
mod fixtures;
mod keeper;
mod newest;
mod queries;
mod query;
mod slowest;
mod store;

pub use client::RecordsClient;
pub(super) use client::Unanswered;
pub(super) use filter::Filter;
pub use keeper::keeper;
pub(super) use newest::MOST_NEWEST;
pub use newest::Newest;
pub use queries::{Queries, channel};
pub use query::{Answer, Query, Whole};
pub(super) use query::{EndedPosition, Position, Sort};
pub use slowest::MINUTES;
pub use store::RecordStore;
