//! The metrics of pods: the recorder that the accounting feeds, label sets, SLOs, and the exposition of all families as
//! protobuf, OpenMetrics or text.
//!
//! It knows core's observations, what decoding can read for labels, texts of strangers, and the instruments of
//! `podinit-instruments`. It must not know where pods come from or who scrapes: other crates declare their own families
//! and hand them over as a [`FamilySource`](podinit_instruments::FamilySource).

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

pub mod metrics;
