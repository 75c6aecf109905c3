//! TODO head

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;
pub mod access;
pub mod server;
pub mod web_config;
