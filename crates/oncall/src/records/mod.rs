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
pub(super) use client::UnansweredQuery;
pub(super) use filter::RecordFilter;
pub use keeper::keeper;
pub(super) use newest::MOST_NEWEST;
pub use newest::NewestRecords;
pub use queries::{RecordQueries, channel};
pub use query::{EndToEndDuration, QueryAnswer, RecordQuery};
pub(super) use query::{EndedPosition, QueryPosition, RecordOrder};
pub use slowest::MINUTES;
pub use store::RecordStore;
