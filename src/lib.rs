//! podinit measures how fast, and how reliably, a Kubernetes cluster turns a scheduled pod into a
//! running one.
//!
//! [`specification`] says what it measures, rule by rule; [`architecture`] how the code is built, why
//! some parts are made by hand, and where to add what.

#![forbid(unsafe_code)]

#[doc = include_str!("../docs/architecture.md")]
pub mod architecture {}
pub mod args;
pub mod commands;
mod families;

pub use families::families;
#[doc(no_inline)]
pub use podinit_core::specification;
