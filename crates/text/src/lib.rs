//! Texts that people read.
//!
//! - [`document`], [`table`], [`markdown`]: one document, written as text, Markdown or HTML.
//! - [`chrome_trace`]: events on tracks, for Perfetto.
//! - [`strangers_text`]: texts of others, escaped for where they are shown.
//! - [`human_time`], [`duration`], [`words`], [`http_url`], [`nearest`]: times, counts, URLs and words as people write
//!   them.
//!
//! It knows core's instants and does no I/O. It must not know what podinit measures, nor any client, server or metric:
//! whoever has something to say builds a document of it.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod chrome_trace;
pub mod document;
pub mod duration;
pub mod error_text;
pub mod http_url;
pub mod human_time;
pub mod markdown;
pub mod nearest;
pub mod strangers_text;
pub mod table;
pub mod words;
