//! The figures of recordings: of one ([`report`]), and of two beside each other ([`comparison`]).
//!
//! It knows recordings, core's observations and the bounds of histograms. It must not know a running exporter, a server,
//! or how a recording is read.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod comparison;
pub mod report;
mod spans;
