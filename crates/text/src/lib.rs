//! Documents and texts, fit for where they are shown: those of strangers, URLs, times, counts and shares for people,
//! colours.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod config_file;
pub mod document;
pub mod duration;
pub mod http_url;
pub mod human_time;
pub mod markdown;
pub mod palette;
pub mod strangers_text;
pub mod table;
pub mod words;
