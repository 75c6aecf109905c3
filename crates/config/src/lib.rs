//! Files of settings and secrets, as people and Kubernetes write them.
//!
//! - [`regular_file`]: reads a file, which may be anything, without waiting and up to a cap.
//! - [`yaml`]: YAML into types, with the place of what is wrong ([`FileError`]).
//! - [`reload`]: notices when files change, and what can be replaced then.
//!
//! It knows the file system, and core's instants. It must not know what a file says, nor a runtime, a client or a
//! server.

#![forbid(unsafe_code)]

mod file_error;
pub mod regular_file;
pub mod reload;
pub mod yaml;

pub use file_error::{FileError, FileFault};
