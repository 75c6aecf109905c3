//! Configuration files: YAML whose errors name the line ([`yaml`]), and the detection of changes
//! ([`reload`]).

pub mod regular_file;
pub mod reload;
pub mod yaml;
