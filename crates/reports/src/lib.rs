//! Recordings of pods, and their figures.
//!
//! - [`reader`]: files of lists, watch streams and single objects, JSON or YAML.
//! - [`replay`]: a recording through the same tracker and recorder as in `serve`, with the recording's own clock.
//! - [`lone_list`], [`one_moment`]: what shows one moment is read as one.
//! - [`report`], [`comparison`]: the figures of one recording, and of two.
//!
//! It knows the path of `serve` up to the metrics. It must not know a running exporter or a server.

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
