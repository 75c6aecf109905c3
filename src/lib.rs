//! podinit measures how fast, and how reliably, a Kubernetes cluster turns a scheduled pod into a
//! running one.

pub mod lifecycle;
pub mod metrics;
pub mod pod;
pub mod recording;
pub mod replay;
pub mod server;
pub mod timestamp;
pub mod watch;
