//! Configuration files: YAML that knows where each value stands ([`yaml`]), so that an error names the
//! line, and files that are read again when they change ([`reload`]).

pub mod reload;
pub mod yaml;
