//! Why bytes could not be decoded.

use super::pod::object::ObjectFault;
use super::protobuf::wire::Malformed;

/// Why bytes could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They are no JSON. Nothing is known of what was meant.
    #[error("invalid JSON at line {line}, column {column}: {why}")]
    Json {
        /// The line, from 1
        line: usize,
        /// The column in bytes, from 1
        column: usize,
        /// What is wrong there
        why: String,
    },
    /// They are no protobuf. Nothing is known of what was meant.
    #[error("invalid protobuf: {0}")]
    Protobuf(String),
    /// They can be read, but the object in them is not what it should be.
    #[error("{fault}")]
    Object {
        /// The version of the object, where it has one: a watch may go on from it
        resource_version: Option<u64>,
        /// What is wrong with it
        fault: ObjectFault,
    },
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let place = format!(" at line {line} column {column}");
        let why = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        Self::Json { line, column, why }
    }
}

impl From<Malformed> for DecodeError {
    fn from(malformed: Malformed) -> Self {
        Self::Protobuf(malformed.to_string())
    }
}

impl From<ObjectFault> for DecodeError {
    fn from(fault: ObjectFault) -> Self {
        Self::Object { resource_version: None, fault }
    }
}
