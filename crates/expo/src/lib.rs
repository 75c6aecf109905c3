//! Metrics: how one is declared and counted, and how all of them are exposed.
//!
//! - [`instruments`]: counters and gauges, a table row for each family, and the encoder that they write to.
//! - [`metrics`]: what is counted of pods: the recorder that the accounting feeds, label sets, histograms, SLOs, and the
//!   exposition as protobuf, OpenMetrics or text.
//!
//! It knows core's observations, what decoding can read for labels, and the cells of `podinit-histogram`. It must not
//! know where pods come from or who scrapes: other crates declare their own families and hand them over as a
//! [`FamilySource`](instruments::FamilySource).

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod instruments;
pub mod metrics;
