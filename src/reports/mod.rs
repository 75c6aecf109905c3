//! Recordings of pods: read from files ([`reader`]), sent through the same pipeline as `serve`
//! ([`replay`]), and summarized for people ([`report`]).

pub mod one_moment;
pub mod reader;
pub mod replay;
pub mod report;
