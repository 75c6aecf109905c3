//! What the simulated API server says that it serves, for clients that ask before they read, as kubectl
//! does.

use super::resource::Resource;

/// `GET /api`: the versions of the core group.
pub(super) const VERSIONS: &str =
    r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}"#;

/// `GET /apis`: no other groups.
pub(super) const GROUPS: &str = r#"{"kind":"APIGroupList","apiVersion":"v1","groups":[]}"#;

/// `GET /api/v1`: the resources.
pub(super) fn resources() -> String {
    let resources = [(Resource::Pods, "po"), (Resource::Events, "ev")].map(|(resource, short)| {
        let (plural, kind) = (resource.plural(), resource.kind());
        let singular = kind.to_lowercase();
        format!(
            r#"{{"name":"{plural}","singularName":"{singular}","namespaced":true,"kind":"{kind}","verbs":["get","list","watch"],"shortNames":["{short}"],"categories":[]}}"#
        )
    });
    let resources = resources.join(",");
    format!(
        r#"{{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{resources}]}}"#
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_documents_are_json() {
        for document in [VERSIONS, GROUPS, &resources()] {
            serde_json::from_str::<Value>(document).unwrap();
        }
        let resources: Value = serde_json::from_str(&resources()).unwrap();
        assert_eq!(resources["resources"][0]["name"], "pods");
        assert_eq!(resources["resources"][1]["singularName"], "event");
    }
}
