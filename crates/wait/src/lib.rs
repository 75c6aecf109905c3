//! `podinit wait`: waits until a workload is rolled out, and says why it is not
//! ([§17.6](crate::specification#s17-6)).
//!
//! - `run`: the list-watches of a cluster, and the looks at what they bring.
//! - `wait`, `look`: what is known of one target, and what that means: it is done, has failed, or goes on.
//! - `object`, `pods`, `creations`, `patience`: what its object says, its pods, pods that cannot be created, and how
//!   long something may fail.
//! - `target`, `answer`: what is waited for, and what is said of it. `crash`: what the API says of a crash.
//!
//! It knows the cluster and what is told of pods (`podinit-oncall`). It must not know flags, nor print.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod answer;
mod crash;
mod creations;
mod look;
mod object;
mod patience;
mod pods;
mod run;
mod target;
mod wait;

pub use answer::{
    ContainerLog, INTERRUPTED, PodCounts, SlowestPod, TargetAnswer, TargetOutcome, WaitAnswer,
    WaitOutcome,
};
pub use run::{WaitError, WaitOptions, wait};
pub use target::{WaitTarget, WorkloadKind};
