//! Problems ([§13](crate::specification#s13)): which pods are affected by one cause, and the one thing that they
//! share, if there is one.
//!
//! ```text
//! records ─▶ affected pods ─▶ values, weighed against pods that start well ─▶ groups ─▶ problems
//!                                                        what was stated before ─┘
//! ```
//!
//! It is pure, as core is, and knows nothing but core. It must not know where records come from, nor how a problem is
//! worded.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod affected;
mod affected_pods;
mod background;
mod blocks;
mod capacity;
mod clocks;
mod container;
mod ended;
mod faults;
mod finding;
mod found_pod;
mod found_pods;
mod grouping;
mod kind;
mod late_nodes;
mod others;
mod over_time;
mod parts;
mod problem;
mod reason;
mod several_causes;
mod shared_gates;
mod since;
mod skeleton;
mod text_kind;
mod texts;
mod values;
mod weight;

pub use capacity::FoundCapacity;
pub use ended::FAILED_LASTS;
pub use finding::{FINDING_LASTS, FindingResult, MOST_RECORDS, ProblemFinding};
pub use found_pod::{FoundPod, FoundState};
pub use found_pods::FoundPods;
pub use kind::ProblemKind;
pub use late_nodes::FoundLateNodes;
pub use over_time::{EndedProblem, MOST_ENDED, OverTime};
pub use parts::{FoundParts, PartNumber};
pub use problem::{FoundProblem, MOST_NAMED};
pub use reason::{is_of_kubelet, reason};
pub use several_causes::CauseAtPlace;
pub use since::Earlier;

use podinit_core::lifecycle::{NodeFaults, Record};
use podinit_core::timestamp::Timestamp;

/// The problems among the pods in flight and those that have failed lately, the worst first, as of `now`.
///
/// `newest` are the newest records of startups that have ended, as for [`ProblemFinding::new`].
pub fn problems(in_flight: Vec<Record>, newest: &[Record], now: Timestamp) -> Vec<FoundProblem> {
    let found = find(in_flight, newest, &NodeFaults::default(), now).problems.into_iter();
    found.map(|(problem, _)| problem).collect()
}

/// Like [`problems`], with the pods of each, and with the problems of wrong clocks and of late nodes.
pub fn find(
    in_flight: Vec<Record>,
    newest: &[Record],
    faults: &NodeFaults,
    now: Timestamp,
) -> FindingResult {
    let mut finding = ProblemFinding::new(newest, now).with_faults(faults);
    for record in &in_flight {
        finding.add(record);
    }
    finding.finish(&mut OverTime::default())
}

#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod gate_tests;
#[cfg(test)]
mod late_nodes_tests;
#[cfg(test)]
mod old_and_new_tests;
#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod tests;
