//! The requests of a list-watch. kube builds their URLs, and begins each query with an empty
//! parameter (`?&`), which API servers ignore.

use std::fmt;

use http::Request;
use kube::client::Body;
use kube::core::params::{ListParams, VersionMatch, WatchParams};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::cluster::api_error::ApiError;
use crate::cluster::transport::get_json;
use podinit_core::shard::Shard;

/// What is percent-encoded in a path segment and in a value: all but the unreserved characters of RFC
/// 3986.
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The pods that one list-watch covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodScope {
    /// The pods of all namespaces
    Cluster,
    /// The pods of one namespace
    Namespace(String),
}

impl PodScope {
    /// The scopes to watch: one for each of these namespaces, without duplicates, or the whole cluster
    /// if there are none.
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

/// As log lines and messages show it.
impl fmt::Display for PodScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster => f.write_str("pods of all namespaces"),
            Self::Namespace(name) => write!(f, "pods of namespace {name}"),
        }
    }
}

/// Which pods of a scope are selected, in the syntax of the Kubernetes API. They are passed on as they
/// are: the API server validates them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSelectors {
    /// `labelSelector`
    pub label: Option<String>,
    /// `fieldSelector`
    pub field: Option<String>,
    /// Only the pods of this shard ([§12](crate::specification#s12)). Pods of others are left out
    /// whatever the API server sends
    pub shard: Option<Shard>,
}

/// How recent a list has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFreshness {
    /// Whatever the API server's cache holds (version 0), which costs the API server least. Only where no
    /// version is known yet that the list could be older than
    Any,
    /// The most recent state (a quorum read; no resourceVersion)
    MostRecent,
    /// At least this version, so that no pod vanishes and comes back because a cache lags
    NotOlderThan(String),
}

/// Which page of a list to request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageRequest<'a> {
    /// The first one, with the freshness of the whole list
    First(&'a ListFreshness),
    /// The page of this continue token. The API accepts no resourceVersion together with it.
    Next(&'a str),
}

/// Builds the requests of one list-watch.
#[derive(Clone, Debug)]
pub struct RequestBuilder {
    resource: kube::core::Request,
    selectors: PodSelectors,
}

impl RequestBuilder {
    /// The requests for the selected pods of a scope.
    pub fn new(scope: &PodScope, selectors: &PodSelectors) -> Self {
        Self::from_resource("pods", scope, selectors.clone())
    }

    /// The requests for the Events about pods of a scope. Events cannot be selected by the labels or
    /// fields of their pods.
    pub fn of_events(scope: &PodScope) -> Self {
        Self::of_events_about("Pod", scope)
    }

    /// The requests for the Events about persistent volume claims of a scope.
    pub fn of_claim_events(scope: &PodScope) -> Self {
        Self::of_events_about("PersistentVolumeClaim", scope)
    }

    fn of_events_about(kind: &str, scope: &PodScope) -> Self {
        let selectors = PodSelectors {
            label: None,
            field: Some(format!("involvedObject.kind={kind}")),
            shard: None,
        };
        Self::from_resource("events", scope, selectors)
    }

    /// The requests for all nodes.
    pub fn of_nodes() -> Self {
        Self::from_resource("nodes", &PodScope::Cluster, PodSelectors::default())
    }

    /// The requests for the node of this name.
    pub fn of_node(name: &str) -> Self {
        let selectors = PodSelectors {
            field: Some(format!("metadata.name={name}")),
            ..PodSelectors::default()
        };
        Self::from_resource("nodes", &PodScope::Cluster, selectors)
    }

    /// The requests for the selected objects of a namespace. `group` is the path of the API, such as `/apis/apps/v1`.
    pub fn of_objects(
        group: &str,
        resource: &str,
        namespace: &str,
        selectors: PodSelectors,
    ) -> Self {
        Self::in_group(group, resource, &PodScope::Namespace(namespace.to_owned()), selectors)
    }

    fn from_resource(resource: &str, scope: &PodScope, selectors: PodSelectors) -> Self {
        Self::in_group("/api/v1", resource, scope, selectors)
    }

    fn in_group(group: &str, resource: &str, scope: &PodScope, selectors: PodSelectors) -> Self {
        let path = match scope {
            PodScope::Cluster => format!("{group}/{resource}"),
            // Encoded here, because kube does not encode what it puts into a path.
            PodScope::Namespace(name) => {
                let segment = utf8_percent_encode(name, &UNRESERVED);
                format!("{group}/namespaces/{segment}/{resource}")
            }
        };
        Self { resource: kube::core::Request::new(path), selectors }
    }

    /// Requests one page of at most `limit` pods.
    pub fn list(&self, page: &PageRequest<'_>, limit: u32) -> Result<Request<Body>, ApiError> {
        let mut params = ListParams {
            label_selector: self.selectors.label.clone(),
            field_selector: self.selectors.field.clone(),
            limit: Some(limit),
            ..ListParams::default()
        };
        match page {
            PageRequest::First(freshness) => params = at_least(params, freshness),
            PageRequest::Next(token) => params.continue_token = Some((*token).to_owned()),
        }
        Ok(self.sharded(get_json(self.resource.list(&params)?)))
    }

    /// Requests a list of one object, for the version that the API server is at.
    pub fn current_version(&self) -> Result<Request<Body>, ApiError> {
        self.list(&PageRequest::First(&ListFreshness::MostRecent), 1)
    }

    /// Requests all pods in one answer.
    pub(super) fn whole_list(&self, freshness: &ListFreshness) -> Result<Request<Body>, ApiError> {
        let params = ListParams {
            label_selector: self.selectors.label.clone(),
            field_selector: self.selectors.field.clone(),
            ..ListParams::default()
        };
        let params = at_least(params, freshness);
        Ok(self.sharded(get_json(self.resource.list(&params)?)))
    }

    /// Requests a list as the beginning of a watch (KEP-3157), which the API server ends after
    /// `timeout_seconds`. For the most recent list kube sends an empty `resourceVersion`, which the
    /// API server treats as an absent one.
    pub fn streamed_list(
        &self,
        freshness: &ListFreshness,
        timeout_seconds: u32,
    ) -> Result<Request<Body>, ApiError> {
        let params =
            WatchParams { send_initial_events: true, ..self.watch_params(timeout_seconds) };
        let version = match freshness {
            ListFreshness::Any => "0",
            ListFreshness::MostRecent => "",
            ListFreshness::NotOlderThan(version) => version,
        };
        Ok(self.sharded(get_json(self.resource.watch(&params, version)?)))
    }

    /// Requests the events after `version`. The API server ends the stream after `timeout_seconds`, and
    /// is asked for the events of the shard only if it `shards`: one that does not ignores the question
    /// without a word, and a watch does not show whether it does.
    pub fn watch(
        &self,
        version: &str,
        timeout_seconds: u32,
        shards: bool,
    ) -> Result<Request<Body>, ApiError> {
        let params = self.watch_params(timeout_seconds);
        let request = get_json(self.resource.watch(&params, version)?);
        Ok(match shards {
            true => self.sharded(request),
            false => request,
        })
    }

    /// The request with the selector of the shard, if there is one (KEP-5866).
    fn sharded(&self, mut request: Request<Body>) -> Request<Body> {
        let Some(shard) = self.selectors.shard else {
            return request;
        };
        let selector = shard_selector(shard);
        let selector = utf8_percent_encode(&selector, &UNRESERVED);
        let uri = format!("{}&shardSelector={selector}", request.uri());
        // The selector is percent-encoded, so that this is a URI as it was before.
        if let Ok(uri) = uri.parse() {
            *request.uri_mut() = uri;
        }
        request
    }

    fn watch_params(&self, timeout_seconds: u32) -> WatchParams {
        WatchParams {
            label_selector: self.selectors.label.clone(),
            field_selector: self.selectors.field.clone(),
            timeout: Some(timeout_seconds),
            bookmarks: true,
            send_initial_events: false,
        }
    }
}

/// The parameters of a list that is as recent as `freshness` says.
fn at_least(params: ListParams, freshness: &ListFreshness) -> ListParams {
    match freshness {
        ListFreshness::Any => ListParams { resource_version: Some("0".to_owned()), ..params },
        ListFreshness::MostRecent => params,
        ListFreshness::NotOlderThan(version) => ListParams {
            resource_version: Some(version.clone()),
            version_match: Some(VersionMatch::NotOlderThan),
            ..params
        },
    }
}

/// The selector of a shard, in the syntax of the Kubernetes API.
pub fn shard_selector(shard: Shard) -> String {
    format!("shardRange(object.metadata.uid,'{:#018x}','{:#018x}')", shard.start(), shard.end())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn uri(request: Result<Request<Body>, ApiError>) -> String {
        request.unwrap().uri().to_string()
    }

    #[test]
    fn a_first_page_states_its_freshness_and_further_ones_only_the_token() {
        let requests = RequestBuilder::new(&PodScope::Cluster, &PodSelectors::default());
        assert_eq!(
            uri(requests.list(&PageRequest::First(&ListFreshness::MostRecent), 500)),
            "/api/v1/pods?&limit=500"
        );
        let known = ListFreshness::NotOlderThan("42".into());
        assert_eq!(
            uri(requests.list(&PageRequest::First(&known), 500)),
            "/api/v1/pods?&limit=500&resourceVersion=42&resourceVersionMatch=NotOlderThan"
        );
        assert_eq!(
            uri(requests.list(&PageRequest::Next("ab+/="), 20)),
            "/api/v1/pods?&limit=20&continue=ab%2B%2F%3D"
        );
    }

    #[test]
    fn a_whole_list_has_no_limit_and_is_of_the_cache() {
        let requests = RequestBuilder::new(&PodScope::Cluster, &PodSelectors::default());
        for (freshness, query) in [
            (ListFreshness::Any, "&resourceVersion=0"),
            (
                ListFreshness::NotOlderThan("42".into()),
                "&resourceVersion=42&resourceVersionMatch=NotOlderThan",
            ),
        ] {
            let uri = uri(requests.whole_list(&freshness));
            assert_eq!(uri, format!("/api/v1/pods?{query}"));
        }
    }

    #[test]
    fn a_streamed_list_states_its_freshness_as_a_list_does() {
        let requests = RequestBuilder::new(&PodScope::Cluster, &PodSelectors::default());
        let uri_with = |seconds: u32, version: &str| {
            format!(
                "/api/v1/pods?&watch=true&timeoutSeconds={seconds}&allowWatchBookmarks=true\
                 &sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion={version}"
            )
        };
        assert_eq!(uri(requests.streamed_list(&ListFreshness::MostRecent, 120)), uri_with(120, ""));
        assert_eq!(
            uri(requests.streamed_list(&ListFreshness::NotOlderThan("42".into()), 9)),
            uri_with(9, "42")
        );
    }

    #[test]
    fn selectors_are_encoded_and_stand_in_every_request() {
        let selectors = PodSelectors {
            label: Some("app in (web, api),tier!=ü&x".into()),
            field: Some("spec.nodeName=n1".into()),
            shard: None,
        };
        let requests = RequestBuilder::new(&PodScope::Namespace("shop".into()), &selectors);
        let selection = "fieldSelector=spec.nodeName%3Dn1\
                         &labelSelector=app+in+%28web%2C+api%29%2Ctier%21%3D%C3%BC%26x";
        assert_eq!(
            uri(requests.watch("7", 25, true)),
            format!(
                "/api/v1/namespaces/shop/pods?&watch=true&timeoutSeconds=25&{selection}\
                 &allowWatchBookmarks=true&resourceVersion=7"
            )
        );
        assert_eq!(
            uri(requests.list(&PageRequest::Next("t"), 1)),
            format!("/api/v1/namespaces/shop/pods?&{selection}&limit=1&continue=t")
        );
    }

    #[test]
    fn events_are_those_about_pods() {
        let selection = "fieldSelector=involvedObject.kind%3DPod";
        let requests = RequestBuilder::of_events(&PodScope::Cluster);
        assert_eq!(
            uri(requests.list(&PageRequest::First(&ListFreshness::MostRecent), 1)),
            format!("/api/v1/events?&{selection}&limit=1")
        );
        let requests = RequestBuilder::of_events(&PodScope::Namespace("shop".into()));
        assert_eq!(
            uri(requests.watch("7", 25, false)),
            format!(
                "/api/v1/namespaces/shop/events?&watch=true&timeoutSeconds=25&{selection}\
                 &allowWatchBookmarks=true&resourceVersion=7"
            )
        );
    }

    #[test]
    fn every_list_asks_for_the_shard_and_a_watch_where_the_server_shards() {
        let of = |shard: &str| {
            let selectors =
                PodSelectors { shard: Some(shard.parse().unwrap()), ..PodSelectors::default() };
            RequestBuilder::new(&PodScope::Cluster, &selectors)
        };
        let asked =
            |range: &str| format!("&shardSelector=shardRange%28object.metadata.uid%2C{range}%29");
        let last = asked("%270xc000000000000000%27%2C%270x10000000000000000%27");
        let first = asked("%270x0000000000000000%27%2C%270x5555555555555555%27");
        let most_recent = PageRequest::First(&ListFreshness::MostRecent);
        assert_eq!(
            uri(of("3/4").list(&most_recent, 500)),
            format!("/api/v1/pods?&limit=500{last}")
        );
        assert_eq!(
            uri(of("0/3").list(&PageRequest::Next("t"), 500)),
            format!("/api/v1/pods?&limit=500&continue=t{first}")
        );
        let streamed = uri(of("3/4").streamed_list(&ListFreshness::MostRecent, 9));
        assert!(streamed.ends_with(&last), "{streamed}");
        let plain =
            "/api/v1/pods?&watch=true&timeoutSeconds=25&allowWatchBookmarks=true&resourceVersion=7";
        assert_eq!(uri(of("0/3").watch("7", 25, false)), plain);
        assert_eq!(uri(of("0/3").watch("7", 25, true)), format!("{plain}{first}"));
    }

    #[test]
    fn a_namespace_cannot_leave_its_path_segment() {
        let scope = PodScope::Namespace("../../x?y".into());
        let requests = RequestBuilder::new(&scope, &PodSelectors::default());
        assert_eq!(
            uri(requests.list(&PageRequest::Next("t"), 1)),
            "/api/v1/namespaces/..%2F..%2Fx%3Fy/pods?&limit=1&continue=t"
        );
    }

    #[test]
    fn one_scope_for_each_namespace_or_one_for_all() {
        assert_eq!(PodScope::of_namespaces(&[]), [PodScope::Cluster]);
        let chosen = ["a".to_owned(), "b".to_owned(), "a".to_owned()];
        assert_eq!(
            PodScope::of_namespaces(&chosen),
            [PodScope::Namespace("a".into()), PodScope::Namespace("b".into())]
        );
    }
}
