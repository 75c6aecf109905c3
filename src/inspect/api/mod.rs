//! The HTTP API over records ([§11](crate::specification#s11)): `/api/v1/...`, as JSON.
//!
//! [`model`] has the documents, `schema.json` their JSON Schema, [`docs/api.md`] their meaning.
//!
//! [`docs/api.md`]: https://github.com/podinit/podinit/blob/main/docs/api.md

pub mod client;
mod continue_token;
mod conversion;
pub mod model;
pub(crate) mod parameters;
pub mod reading;
mod response;
mod routes;

pub use conversion::{page_of, startup_of};
pub(in crate::inspect) use response::document;
pub use routes::router;

/// The JSON Schema of every answer.
pub const SCHEMA: &str = include_str!("schema.json");
