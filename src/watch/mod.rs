//! From Kubernetes (or a file) to events: everything that reads pods.

pub mod decode;
pub mod rfc3339;
pub(crate) mod slim;
