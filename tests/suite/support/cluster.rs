//! The real pipeline (kube client, list-watch, tracker, recorder) in front of a simulated cluster
//! that a test steps, and what the metrics must say by the oracle.

pub mod pipeline;
pub mod world;
