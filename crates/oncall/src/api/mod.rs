//! The HTTP API over records ([§11](crate::specification#s11)): `/api/v1/...`, as JSON.
//!
//! [`Record`](podinit_core::lifecycle::Record) and [`model`] are the documents, of which `schema.json` is made;
//! [`docs/api.md`] has their meaning.
//!
//! [`docs/api.md`]: https://github.com/podinit/podinit/blob/main/docs/api.md

pub mod client;
mod continue_token;
pub mod model;
pub(crate) mod parameters;
mod response;
mod routes;
#[cfg(test)]
mod schema_tests;

pub(crate) use response::{document, failure};
pub use routes::router;

/// The JSON Schema of every answer.
pub const SCHEMA: &str = include_str!("schema.json");
