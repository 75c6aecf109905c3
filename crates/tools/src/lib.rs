//! TODO head

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;
pub mod capture;
pub mod doctor;
