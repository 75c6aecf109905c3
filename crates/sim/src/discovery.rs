//! Which resources there are, for clients that ask before they read, as kubectl does.

use serde_json::json;

use super::related;

/// The documents that are always the same.
const DISCOVERY: [(&str, &str); 2] = [
    ("/api", r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}"#),
    (
        "/version",
        r#"{"major":"1","minor":"37","gitVersion":"v1.37.1","gitCommit":"0000000000000000000000000000000000000000","gitTreeState":"clean","buildDate":"2026-09-10T00:00:00Z","goVersion":"go1.26.3","compiler":"gc","platform":"linux/amd64"}"#,
    ),
];

/// The documents of the discovery, by path.
pub(super) fn documents() -> Vec<(String, String)> {
    let mut core = related::resources_of("");
    core.push(json!({
        "name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"],
    }));
    let core = json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": core});
    let fixed = DISCOVERY.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let made = [("/api/v1".to_owned(), core)].into_iter().chain(related::discovery());
    fixed.into_iter().chain(made.map(|(path, document)| (path, document.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_documents_of_the_discovery_are_json() {
        let documents = documents().into_iter();
        let documents = documents.map(|(path, text)| (path, serde_json::from_str(&text).unwrap()));
        let documents: std::collections::HashMap<String, Value> = documents.collect();
        let core = &documents["/api/v1"]["resources"];
        assert_eq!(core[0]["name"], "pods");
        assert_eq!(core[1]["singularName"], "event");
        let named = |name| core.as_array().unwrap().iter().any(|one| one["name"] == name);
        assert!(named("secrets") && named("pods/log"));
        for group in documents["/apis"]["groups"].as_array().unwrap() {
            let version = group["preferredVersion"]["groupVersion"].as_str().unwrap();
            assert_eq!(documents[&format!("/apis/{version}")]["groupVersion"], version);
        }
    }
}
