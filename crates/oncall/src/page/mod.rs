//! The live page: what is broken, where and since when, and how pods start, for people.
//!
//! ```text
//! problems and pods, figures, records ─▶ Overview ─▶ `/`        history ◀─ a sample every 15 s
//! record, context ─▶ Explanation ─▶ `/pods/NAMESPACE/NAME`
//! deploy/runbooks.md ─▶ `/runbooks`, `/runbooks/NAME`
//! ```
//!
//! HTML and SVG are made here; where the one small script does not run, only the reload is missing. What a page
//! takes from the owner of the records is bounded, and the page at `/` is made at most once in two seconds for
//! all who want to see the same.

pub mod history;
mod link;
mod lost_budgets;
mod overview;
mod pod_groups;
mod pod_page;
mod problem_card;
mod river;
mod rollout_card;
mod routes;
mod runbooks;
mod slo_card;
mod stage_table;
mod status;
mod waterfall;

pub use overview::{Overview, PageFooter};
pub use pod_page::pod_page;
pub(super) use routes::{PageSources, SharedHistory};
pub use routes::{router, serves};

use podinit_core::palette;

/// The style sheet of all pages.
pub fn style() -> String {
    palette::css() + include_str!("templates/style.css")
}
