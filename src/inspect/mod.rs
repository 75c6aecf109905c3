//! What is known of single startups, and how people look at it: records, the API, the page, `explain` and
//! `stuck`.

pub mod api;
pub mod explain;
pub mod page;
pub mod records;
pub mod stuck;
