//! The core of podinit: what a pod's snapshots say about its startup.
//!
//! - [`lifecycle`]: the rules of the [`specification`]: milestones, intervals, outcomes, SLOs, causes and records.
//! - [`reason`]: the sentence that tells most in a message of Kubernetes.
//! - [`palette`]: the colour of each stage, wherever one is drawn.
//!
//! It is pure and synchronous: time is an argument, and it does no I/O. It must not know a client, runtime, server,
//! metric or clock.

#![forbid(unsafe_code)]

pub mod claim_events;
pub mod dimension;
mod documents;
pub mod image_registry;
pub mod kube_event;
pub mod label_value;
pub mod lifecycle;
pub mod node;
pub mod palette;
pub mod pod;
pub mod quantile;
pub mod reason;
pub mod rfc3339;
pub mod saved;
pub mod shard;
/// The specification, part by part. Its index is `docs/specification.md`, which also says what `t` and `o` stand for.
#[doc = include_str!("../specification/measuring.md")]
#[doc = include_str!("../specification/deadlines.md")]
#[doc = include_str!("../specification/metrics.md")]
#[doc = include_str!("../specification/recordings.md")]
#[doc = include_str!("../specification/evidence.md")]
#[doc = include_str!("../specification/causes.md")]
#[doc = include_str!("../specification/problems.md")]
#[doc = include_str!("../specification/comparison.md")]
#[doc = include_str!("../specification/gates.md")]
#[doc = include_str!("../specification/rollouts.md")]
pub mod specification {}
pub mod timestamp;
