//! The real pipeline (kube client, list-watch, tracker, recorder) in front of a simulated cluster
//! that a test steps, and what the metrics must say by the cluster's own records.

pub mod claims;
pub mod expected;
pub mod facts;
pub mod pipeline;
pub mod world;
