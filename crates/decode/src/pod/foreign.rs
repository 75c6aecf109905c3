//! Objects that look like those of Kubernetes and are not as the API writes them. Read leniently, they would be
//! pods of which hardly anything is known.

use std::fmt;

/// What an object is by its fields, which the API writes otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignObject {
    /// A line of an audit log: it has an `auditID`
    AuditLog,
    /// What `to_dict()` of the Python client gives: `creation_timestamp`
    SnakeCase,
    /// A struct whose fields have the names of Go: `ObjectMeta`
    Capitals,
}

impl ForeignObject {
    /// What an object with the field `key` is.
    pub fn of_object(key: &str) -> Option<Self> {
        match key {
            "auditID" => Some(Self::AuditLog),
            "api_version" => Some(Self::SnakeCase),
            "ObjectMeta" | "TypeMeta" | "objectmeta" | "typemeta" | "Metadata" | "Kind" => {
                Some(Self::Capitals)
            }
            _ => None,
        }
    }

    /// What an object is whose metadata have the field `key`.
    pub(super) fn of_metadata(key: &str) -> Option<Self> {
        match key {
            "creation_timestamp" | "resource_version" | "owner_references" => Some(Self::SnakeCase),
            "Name" | "UID" | "Uid" | "CreationTimestamp" | "creationtimestamp" => {
                Some(Self::Capitals)
            }
            _ => None,
        }
    }
}

impl fmt::Display for ForeignObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AuditLog => "this is a line of an audit log, and no Event of a pod",
            Self::SnakeCase => {
                "this is to_dict() of the Python client, which renames the fields of the API; write \
                 ApiClient().sanitize_for_serialization(pod)"
            }
            Self::Capitals => {
                "this is a struct with the names of Go, such as ObjectMeta, and not what the API writes"
            }
        })
    }
}
