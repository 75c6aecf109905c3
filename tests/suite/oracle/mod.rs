//! An oracle for `podinit replay`: a plain, slow reading of the specification, written
//! independently of the implementation, with what is needed to hold the two against each other.
//!
//! - [`reading`]: documents in, expected figures out; keeps everything and recomputes it
//! - [`examples`]: histories written by hand with figures computed by hand, as data
//! - [`history`]: random pod lives and their adversarial delivery, from a seed
//! - [`mutants`]: deliberately wrong readings, which the histories must tell from the right one
//! - [`implementation`]: documents in, the figures of `podinit replay` out
//! - [`exposition`]: text exposition in, figures out
//! - [`conservation`]: what has to add up after every document
//! - `replay`: the tests that hold the implementation against the readings
//! - [`seeds`]: a check over many seeds
//! - [`compare`]: the difference of two sets of figures, and the shrinking of a history

pub(crate) mod build;
pub(crate) mod build_evidence;
pub(crate) mod build_nodes;
pub(crate) mod compare;
mod conservation;
pub(crate) mod examples;
pub(crate) mod exposition;
pub(crate) mod figures;
pub(crate) mod history;
pub(crate) mod implementation;
pub(crate) mod instant;
pub(crate) mod mutants;
pub(crate) mod reading;
mod replay;
pub(crate) mod seeds;
