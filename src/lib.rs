//! podinit measures how fast, and how reliably, a Kubernetes cluster turns a scheduled pod into a
//! running one.

pub mod access;
pub mod args;
pub mod doctor;
pub mod ledger;
pub mod lifecycle;
pub mod logging;
pub mod metrics;
pub mod pace;
pub mod pod;
pub mod process;
pub mod recording;
pub mod reload;
pub mod replay;
pub mod report;
pub mod run;
pub mod server;
pub mod shutdown;
pub mod sim;
pub mod slo;
pub mod timestamp;
pub mod watch;
pub mod web_config;
pub mod yaml;
