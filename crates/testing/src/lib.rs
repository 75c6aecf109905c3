//! What tests of several crates are made of. Nothing that is shipped depends on this crate.
//!
//! - [`random`]: pods and Events as JSON, mutilated at random.
//! - [`records`]: records and deliveries. Core's own tests have the same file as a module, since a crate's tests cannot
//!   use types of another build of the crate.
//!
//! It is a crate and no feature of others, so that tests and the demo are built from the same crates.

#![forbid(unsafe_code)]

use podinit_core::{lifecycle, pod, timestamp};

pub mod random;
#[path = "../../core/src/lifecycle/record/fixtures.rs"]
pub mod records;
