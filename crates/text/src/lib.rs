//! Texts that people read, and files of settings that people write.
//!
//! - [`document`], [`table`], [`markdown`]: one document, written as text, Markdown or HTML.
//! - [`chrome_trace`]: events on tracks, for Perfetto.
//! - [`strangers_text`]: texts of others, escaped for where they are shown.
//! - [`human_time`], [`duration`], [`words`], [`http_url`]: times, counts and URLs as people write them.
//! - [`config_file`]: YAML into types, with the place of what is wrong; reload.
//!
//! It knows core's instants. It must not know what podinit measures, nor any client, server or metric: whoever has
//! something to say builds a document of it.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod chrome_trace;
pub mod config_file;
pub mod document;
pub mod duration;
pub mod error_text;
pub mod http_url;
pub mod human_time;
pub mod markdown;
pub mod strangers_text;
pub mod table;
pub mod words;
