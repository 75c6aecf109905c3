//! Recordings of pods: read from files ([`reader`]), sent through the same pipeline as `serve`
//! ([`replay`]), summarized for people ([`report`]) and compared ([`comparison`]). What shows one moment is read as one
//! ([`lone_list`]).

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod comparison;
pub mod lone_list;
mod observed;
pub mod one_moment;
pub mod reader;
pub mod replay;
pub mod report;
