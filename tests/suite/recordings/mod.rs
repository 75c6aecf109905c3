//! Recordings of every shape and encoding, read and replayed.

mod as_of;
mod bare_pods;
mod clock_ahead;
mod lone_lists;
mod moments;
mod no_recording;
mod node_clocks;
mod packed_pods;
mod protobuf;
mod real_clusters;
mod records;
pub mod shards;
