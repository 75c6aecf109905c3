//! Recorded pods: files in ([`reader`]), through the same pipeline as `serve` ([`replay`]), and out as
//! an exposition or a summary for people ([`report`]).

pub mod reader;
pub mod replay;
pub mod report;
