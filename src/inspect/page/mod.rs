//! The live page: which pods wait, since when, why, and what next, for people.
//!
//! ```text
//! figures, records ─▶ Overview ─▶ `/`            history ◀─ a sample every 15 s
//! record, context ─▶ Explanation ─▶ `/pods/NAMESPACE/NAME`
//! ```
//!
//! HTML and SVG are made here; no script is needed. What a page takes from the owner of the records is
//! bounded, and the page at `/` is made at most once in two seconds, however many read it.

mod groups;
pub mod history;
mod link;
mod overview;
mod pod_page;
mod river;
mod routes;
mod sentence;
mod slo_card;
mod waiting_row;
mod waterfall;

pub use overview::{Foot, Overview};
pub use pod_page::pod_page;
pub use routes::{PageSources, SharedHistory, router};
pub use sentence::Situation;

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("templates/style.css");
