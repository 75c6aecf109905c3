//! Configuration files: YAML whose errors name the line (`yaml`), and the detection of changes
//! ([`reload`]).

mod file_error;
mod nearest;
pub mod regular_file;
pub mod reload;
pub mod yaml;

pub use file_error::FileError;
pub use file_error::FileFault;
pub use nearest::nearest;
