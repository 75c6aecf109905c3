//! Deployments, as a controller manager rolls them out: revisions, surge, progress deadline.
//!
//! They are told of the pods that the driver moves, and tell it which to create and which to delete.

mod controllers;
mod object;
pub(crate) mod releases;
mod replica_set;
mod rollout;
mod spec;
mod status;

pub(crate) use controllers::DeploymentControllers;
pub use spec::{DeploymentSpec, PodTemplate};
