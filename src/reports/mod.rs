//! Recordings of pods: read from files ([`reader`]), sent through the same pipeline as `serve`
//! ([`replay`]), summarized for people ([`report`]) and compared ([`comparison`]).

pub mod comparison;
mod observed;
pub mod one_moment;
pub mod reader;
pub mod replay;
pub mod report;
