//! The URLs of the requests that a list-watch makes.

use std::fmt::{self, Write as _};

use http::Request;
use http::header::{ACCEPT, USER_AGENT};
use kube::client::Body;

use crate::cluster::transport::AGENT;

/// The pods that one list-watch covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The pods of all namespaces
    Cluster,
    /// The pods of one namespace
    Namespace(String),
}

impl Scope {
    /// The list-watches that the chosen namespaces need: one for each of them, duplicates aside,
    /// or one for the whole cluster where none is chosen.
    pub fn of_namespaces(namespaces: &[String]) -> Vec<Self> {
        if namespaces.is_empty() {
            return vec![Self::Cluster];
        }
        let mut scopes: Vec<Self> = Vec::new();
        for namespace in namespaces {
            let scope = Self::Namespace(namespace.clone());
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        scopes
    }
}

/// As a log line says it.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster => f.write_str("pods of all namespaces"),
            Self::Namespace(name) => write!(f, "pods of namespace {name}"),
        }
    }
}

/// Which of the pods of a scope are wanted, in the syntax of the Kubernetes API. The API server
/// judges them; they are passed on as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selectors {
    /// `labelSelector`
    pub label: Option<String>,
    /// `fieldSelector`
    pub field: Option<String>,
}

/// How recent a list has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The most recent state (a quorum read; no resourceVersion)
    MostRecent,
    /// At least this version, so that a lagging cache cannot make pods vanish and come back
    NotOlderThan(String),
}

/// Which page of a list is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Page<'a> {
    /// The first one, with the freshness of the whole list
    First(&'a Freshness),
    /// The one that this token leads to. The API accepts no resourceVersion beside it.
    Next(&'a str),
}

/// Makes the requests of one list-watch.
#[derive(Clone, Debug)]
pub struct Requests {
    path: String,
    selection: Query,
}

impl Requests {
    /// The requests for the selected pods of a scope.
    pub fn new(scope: &Scope, selectors: &Selectors) -> Self {
        let path = match scope {
            Scope::Cluster => "/api/v1/pods".to_owned(),
            Scope::Namespace(name) => format!("/api/v1/namespaces/{}/pods", Encoded(name)),
        };
        let mut selection = Query::default();
        if let Some(label) = &selectors.label {
            selection.add("labelSelector", label);
        }
        if let Some(field) = &selectors.field {
            selection.add("fieldSelector", field);
        }
        Self { path, selection }
    }

    /// Asks for one page of at most `limit` pods.
    pub fn list(&self, page: &Page<'_>, limit: u32) -> Result<Request<Body>, http::Error> {
        let mut query = self.selection.clone();
        query.add("limit", limit);
        match page {
            Page::First(Freshness::MostRecent) => {}
            Page::First(Freshness::NotOlderThan(version)) => {
                query.add("resourceVersion", version);
                query.add("resourceVersionMatch", "NotOlderThan");
            }
            Page::Next(token) => query.add("continue", token),
        }
        self.get(&query)
    }

    /// Asks for a list as the beginning of a watch (KEP-3157), which the API server ends after
    /// `timeout_seconds`.
    pub fn streamed_list(
        &self,
        freshness: &Freshness,
        timeout_seconds: u32,
    ) -> Result<Request<Body>, http::Error> {
        let mut query = self.selection.clone();
        query.add("watch", true);
        query.add("sendInitialEvents", true);
        query.add("allowWatchBookmarks", true);
        query.add("resourceVersionMatch", "NotOlderThan");
        if let Freshness::NotOlderThan(version) = freshness {
            query.add("resourceVersion", version);
        }
        query.add("timeoutSeconds", timeout_seconds);
        self.get(&query)
    }

    /// Asks for the events after `version`. The API server ends the stream after
    /// `timeout_seconds`.
    pub fn watch(&self, version: &str, timeout_seconds: u32) -> Result<Request<Body>, http::Error> {
        let mut query = self.selection.clone();
        query.add("watch", true);
        query.add("allowWatchBookmarks", true);
        query.add("resourceVersion", version);
        query.add("timeoutSeconds", timeout_seconds);
        self.get(&query)
    }

    fn get(&self, query: &Query) -> Result<Request<Body>, http::Error> {
        Request::get(format!("{}?{}", self.path, query.0))
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, AGENT)
            .body(Body::empty())
    }
}

#[derive(Clone, Debug, Default)]
struct Query(String);

impl Query {
    fn add(&mut self, name: &str, value: impl fmt::Display) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{name}={}", Encoded(&value.to_string()));
    }
}

/// Percent-encodes all but the unreserved characters of RFC 3986.
pub(crate) struct Encoded<'a>(pub(crate) &'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    f.write_char(char::from(byte))?;
                }
                _ => write!(f, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn uri(request: Result<Request<Body>, http::Error>) -> String {
        request.unwrap().uri().to_string()
    }

    #[test]
    fn a_first_page_states_its_freshness_and_further_ones_only_the_token() {
        let requests = Requests::new(&Scope::Cluster, &Selectors::default());
        assert_eq!(
            uri(requests.list(&Page::First(&Freshness::MostRecent), 500)),
            "/api/v1/pods?limit=500"
        );
        let known = Freshness::NotOlderThan("42".into());
        assert_eq!(
            uri(requests.list(&Page::First(&known), 500)),
            "/api/v1/pods?limit=500&resourceVersion=42&resourceVersionMatch=NotOlderThan"
        );
        assert_eq!(
            uri(requests.list(&Page::Next("ab+/="), 20)),
            "/api/v1/pods?limit=20&continue=ab%2B%2F%3D"
        );
    }

    #[test]
    fn a_streamed_list_states_its_freshness_as_a_list_does() {
        let requests = Requests::new(&Scope::Cluster, &Selectors::default());
        let begin = "/api/v1/pods?watch=true&sendInitialEvents=true&allowWatchBookmarks=true\
                     &resourceVersionMatch=NotOlderThan";
        assert_eq!(
            uri(requests.streamed_list(&Freshness::MostRecent, 120)),
            format!("{begin}&timeoutSeconds=120")
        );
        assert_eq!(
            uri(requests.streamed_list(&Freshness::NotOlderThan("42".into()), 9)),
            format!("{begin}&resourceVersion=42&timeoutSeconds=9")
        );
    }

    #[test]
    fn selectors_are_encoded_and_stand_in_every_request() {
        let selectors = Selectors {
            label: Some("app in (web, api),tier!=ü&x".into()),
            field: Some("spec.nodeName=n1".into()),
        };
        let requests = Requests::new(&Scope::Namespace("shop".into()), &selectors);
        let selection = "labelSelector=app%20in%20%28web%2C%20api%29%2Ctier%21%3D%C3%BC%26x\
                         &fieldSelector=spec.nodeName%3Dn1";
        assert_eq!(
            uri(requests.watch("7", 25)),
            format!(
                "/api/v1/namespaces/shop/pods?{selection}&watch=true&allowWatchBookmarks=true\
                 &resourceVersion=7&timeoutSeconds=25"
            )
        );
        assert_eq!(
            uri(requests.list(&Page::Next("t"), 1)),
            format!("/api/v1/namespaces/shop/pods?{selection}&limit=1&continue=t")
        );
    }

    #[test]
    fn a_namespace_cannot_leave_its_path_segment() {
        let scope = Scope::Namespace("../../x?y".into());
        let requests = Requests::new(&scope, &Selectors::default());
        assert_eq!(
            uri(requests.list(&Page::Next("t"), 1)),
            "/api/v1/namespaces/..%2F..%2Fx%3Fy/pods?limit=1&continue=t"
        );
    }

    #[test]
    fn one_scope_for_each_namespace_or_one_for_all() {
        assert_eq!(Scope::of_namespaces(&[]), [Scope::Cluster]);
        let chosen = ["a".to_owned(), "b".to_owned(), "a".to_owned()];
        assert_eq!(
            Scope::of_namespaces(&chosen),
            [Scope::Namespace("a".into()), Scope::Namespace("b".into())]
        );
    }
}
