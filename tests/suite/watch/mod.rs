//! The list-watch, in front of API servers that fail in every way.

mod client;
mod converges;
#[path = "converges.rs"]
mod converges_protobuf;
mod credentials;
mod embedded;
#[path = "embedded.rs"]
mod embedded_protobuf;
mod embedded_stream;
#[path = "embedded_stream.rs"]
mod embedded_stream_protobuf;
mod event_burst;
mod events;
mod faults;
mod list;
mod nodes;
mod reconciliation;
mod rollback;
mod shards;
mod signs;
mod stream;
mod streamed_list;
#[path = "streamed_list.rs"]
mod streamed_list_protobuf;
mod versions;
mod whole_list;
#[path = "whole_list.rs"]
mod whole_list_protobuf;
