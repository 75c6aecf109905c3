//! `podinit explain`, of recordings, clusters and exporters.

mod cluster;
mod credentials;
mod ended;
pub mod exporter;
mod gates;
mod node_evidence;
pub mod recordings;
