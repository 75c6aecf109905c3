//! How a server is reached: from a kubeconfig, a service account or a URL to a client.
//!
//! - [`connect`]: the client of the chosen cluster, of a server that a URL names, or of a simulated one.
//! - `kubeconfig`, `client_go`, `proxy`: what kubectl and client-go would make of the configuration.
//! - [`credentials`]: tokens, passwords and plugins.
//! - [`options`]: what the command line chooses, and why connecting can fail.
//!
//! It knows the client that it makes (`podinit-kube`) and files of settings. It must not know what is requested, nor
//! flags. The exporter does not know it: it is given a cluster.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod client_go;
mod connect;
pub mod credentials;
mod kubeconfig;
mod kubeconfig_entry;
pub mod options;
mod proxy;

pub use connect::{check_kubeconfig, connect, connect_to, connect_to_server};
