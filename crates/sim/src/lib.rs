//! An embedded cluster: a real HTTP server on loopback that speaks the list/watch protocol of
//! the Kubernetes API for simulated pods and their Events.
//!
//! `podinit demo` and the integration tests watch it. It shares only the type of an instant with the
//! program that watches it: pods leave it over HTTP, as JSON or as protobuf that is made of the JSON, so that
//! it cannot agree with the decoder or the tracker by construction.
//!
//! ```text
//! profile → plan (script, manifest) → life → driver → pod (kubelet, container) → pod_json → store → api
//!                                              ↑ sim_clock   ↓ component_events → event_recorder → event_json ↗  ↑ faults
//!                                                            ↓ truth
//! deployment (spec → rollout → replica_set → object) creates and deletes pods through the driver
//! ```

#![forbid(unsafe_code)]

mod active;
mod api;
mod autoscaler;
mod cluster;
pub mod component_events;
mod component_fault;
mod config;
pub mod container;
pub mod deployment;
mod discovery;
mod driver;
pub mod event_correlator;
mod event_json;
mod event_recorder;
pub mod faults;
mod host;
pub mod image;
mod image_puller;
mod infrastructure;
pub mod kubelet;
pub mod life;
mod list;
mod list_options;
mod log;
mod manifest;
pub mod node;
pub mod object;
mod past;
pub mod plan;
pub mod pod;
pub mod pod_json;
pub mod profile;
pub mod protobuf;
mod related;
mod representation;
pub mod rng;
pub mod scene;
mod script;
mod selector;
#[cfg(test)]
mod served_tests;
pub mod sim_clock;
pub mod status;
mod store;
mod table;
pub mod truth;
mod watch_event;
mod watch_stream;

pub use cluster::{FIRST_VERSION, SimulatedCluster};
pub use config::ClusterConfig;
pub use event_recorder::{EventFaults, EventSettings};
#[doc(no_inline)]
pub use podinit_core::specification;
