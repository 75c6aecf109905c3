//! [§17](crate::specification#s17): rollouts.
//!
//! Of each workload, a table states after every delivery which of its pods live, and how they stand ([`workload`]).
//! The deliveries are then gone through once ([`walk`]): what begins ([`begin`]), what would end ([`end`]), and by what
//! it is held meanwhile.

mod begin;
mod end;
mod rules;
pub(crate) mod tally;
mod walk;
mod workload;

pub(crate) use end::End;
pub(crate) use rules::{RolloutRules, SpecRollouts};
pub(crate) use workload::{State, lasting};

use crate::oracle::instant::Nanos;

/// One step of the replay, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) now: Nanos,
    pub(crate) is_first_list: bool,
    /// A list that completed, also a streamed one
    pub(crate) is_list: bool,
    /// Whether the watch is in sync after it
    pub(crate) in_sync: bool,
}

/// By what a rollout is held ([§17.3](crate::specification#s17-3)).
pub(crate) const HOLDERS: [&str; 4] = ["starting", "not_ready", "ending", "controller"];

/// How a rollout ends ([§17.2](crate::specification#s17-2)).
pub(crate) const OUTCOMES: [&str; 4] = ["completed", "rolled_back", "superseded", "removed"];
