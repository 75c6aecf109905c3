//! `metadata.managedFields` of an object: who wrote it, when, and which fields.

use serde::Serialize;
use serde_json::value::RawValue;

/// One entry of `metadata.managedFields`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ManagedFields {
    pub(super) manager: &'static str,
    pub(super) operation: &'static str,
    pub(super) api_version: &'static str,
    pub(super) time: String,
    pub(super) fields_type: &'static str,
    pub(super) fields_v1: Option<&'static RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) subresource: Option<&'static str>,
}

impl ManagedFields {
    /// The fields that `manager` updated at `time`.
    pub(super) fn update(
        manager: &'static str,
        api_version: &'static str,
        time: String,
        fields: Option<&'static RawValue>,
    ) -> Self {
        Self {
            manager,
            operation: "Update",
            api_version,
            time,
            fields_type: "FieldsV1",
            fields_v1: fields,
            subresource: None,
        }
    }
}
