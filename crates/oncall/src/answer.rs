//! What the answers of an exporter have in common.

use schemars::Schema;
use serde_json::Value;

/// An exporter always says how far it can be trusted.
pub(crate) fn with_freshness(schema: &mut Schema) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push("freshness".into());
    }
}

/// Whether a count is zero, and left out.
pub(crate) const fn is_zero(count: &usize) -> bool {
    *count == 0
}
