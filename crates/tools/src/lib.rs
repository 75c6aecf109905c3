//! What people run beside the exporter.
//!
//! - [`capture`]: a recording out of a cluster: rotated files, anonymized.
//! - [`doctor`]: checks of what `serve` needs: rights, network, clocks, files, label sets.
//!
//! It knows what it checks: the exporter and all that stands below it. It must not know flags or how a command prints.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod capture;
pub mod doctor;
