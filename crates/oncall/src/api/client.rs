//! Asks the API of a running exporter.

use std::time::Duration;

use http::{Request, Response, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::model::{ApiFailure, Page};
use super::parameters::MOST;
use crate::freshness::Freshness;
use crate::problems::Problems;
use crate::rollouts::Rollouts;
use podinit_connect::connect_to_server;
use podinit_connect::options::{ConnectError, ServerOptions};
use podinit_core::lifecycle::Record;
use podinit_core::timestamp::Timestamp;
use podinit_kube::cluster::api_error::ApiError;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::transport::{get_json, read_into, timed_out};
use podinit_text::strangers_text::shown;

/// The deadline of a whole answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// The length limit of an answer, in bytes.
const ANSWER_LIMIT: usize = 32 << 20;
/// How many pages in a row may be empty. A query visits at most 20,000 pods in flight, so these are two million pods.
const MOST_EMPTY_PAGES: u32 = 100;
/// The characters of a path segment and of a value that are not percent-encoded.
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Why an exporter gave no answer that can be used; one line.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot ask the exporter at {url}: {why}; check --url, and that the exporter runs")]
    Unreachable { url: String, why: String },
    #[error("the exporter at {url} does not let podinit in: {why}; {fix}")]
    Refused { url: String, why: String, fix: &'static str },
    #[error(
        "the exporter at {url} answers {why}; check --url: it names a running podinit that has the API, \
         without a path, such as http://localhost:8080"
    )]
    Foreign { url: String, why: String },
    #[error("the exporter at {url} cannot answer now: {why}; try again")]
    Busy { url: String, why: String },
    #[error(
        "the answer of the exporter at {url} cannot be read: {why}; use the podinit of the exporter's \
         version"
    )]
    Malformed { url: String, why: String },
}

/// What to do about [`AskError::Refused`].
const GIVE_CREDENTIALS: &str = "give credentials with the right to get /api/v1/*: --token-file, --username and \
                                --password-file, or --cert-file and --key-file";
/// What to do about [`AskError::Refused`] where a token or password was given for another exporter.
const GIVE_ITS_OWN: &str = "the token or password that you gave goes to the server of the first URL alone; name one \
                            for this server with --token-file URL=FILE or --password-file URL=FILE";

/// A list of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListEndpoint {
    /// Pods in flight
    InFlight,
    /// Pods in flight that are stuck
    Stuck,
    /// Startups that have ended
    Ended,
}

impl ListEndpoint {
    const fn path(self) -> &'static str {
        match self {
            Self::InFlight => "inflight",
            Self::Stuck => "stuck",
            Self::Ended => "startups",
        }
    }
}

/// Records of a list, and the freshness of the exporter.
#[derive(Clone, Debug, Default)]
pub struct RecordsResponse {
    /// Up to which instant the exporter had accounted for everything
    pub time: Option<Timestamp>,
    pub records: Vec<Record>,
    /// Whether the exporter has more records of the list
    pub(crate) has_more: bool,
    /// How far the exporter can be trusted; an earlier version does not say
    pub freshness: Option<Freshness>,
}

impl RecordsResponse {
    /// The kubeconfig with which kubectl reaches the exporter's cluster, where it names one.
    pub fn kubeconfig(&self) -> Option<&str> {
        self.freshness.as_ref()?.kubeconfig.as_deref()
    }
}

/// A client of one exporter.
pub struct ApiClient {
    exporter: ClusterClient,
    url: String,
    withholds_secret: bool,
}

impl ApiClient {
    /// A client of an exporter. Sends nothing yet.
    ///
    /// # Errors
    /// If no client can be made, as when credentials cannot be read, or of a URL with TLS on a machine
    /// without root certificates.
    pub async fn new(exporter: &ServerOptions) -> Result<Self, AskError> {
        let withholds_secret = exporter.withholds_secret;
        let exporter = connect_to_server(exporter, "--url".to_owned()).await?;
        let url = exporter.server.trim_end_matches('/').to_owned();
        Ok(Self { exporter, url, withholds_secret })
    }

    /// The URL of the exporter, for messages.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The newest startup of a pod; `None` if it is not in flight and no record is kept.
    ///
    /// # Errors
    /// If there is no answer that can be used.
    pub async fn pod(&self, namespace: &str, name: &str) -> Result<Option<Record>, AskError> {
        let path = format!("pods/{}/{}", encoded(namespace), encoded(name));
        self.get(&path).await
    }

    /// The problems of the exporter.
    ///
    /// # Errors
    /// If there is no answer that can be used.
    pub async fn problems(&self) -> Result<Problems, AskError> {
        let found: Option<Problems> = self.get("problems").await?;
        found.ok_or_else(|| self.foreign(StatusCode::NOT_FOUND.as_str()))
    }

    /// The rollouts of these namespaces, at most so many; no namespace means all.
    ///
    /// # Errors
    /// If there is no answer that can be used.
    pub async fn rollouts(
        &self,
        namespace: Option<&str>,
        most: usize,
    ) -> Result<Rollouts, AskError> {
        let namespace = namespace.map(|name| format!("&namespace={}", encoded(name)));
        let limit = most.min(MOST);
        let path = format!("rollouts?limit={limit}{}", namespace.unwrap_or_default());
        let found: Option<Rollouts> = self.get(&path).await?;
        found.ok_or_else(|| self.foreign(StatusCode::NOT_FOUND.as_str()))
    }

    /// The first records of `list` that fit `parameters`, at most so many.
    ///
    /// # Errors
    /// If there is no answer that can be used, or its pages do not end.
    pub async fn list(
        &self,
        list: ListEndpoint,
        parameters: &[(&str, &str)],
        most: usize,
    ) -> Result<RecordsResponse, AskError> {
        let parameters = parameters.iter();
        let parameters = parameters.map(|(key, value)| format!("&{key}={}", encoded(value)));
        let parameters: String = parameters.collect();
        let (mut found, mut next, mut empty) = (RecordsResponse::default(), None::<String>, 0);
        loop {
            let room = most - found.records.len();
            let place = next.as_deref().map(|token| format!("&continue={}", encoded(token)));
            let path = format!(
                "{}?limit={}{parameters}{}",
                list.path(),
                room.min(MOST),
                place.unwrap_or_default()
            );
            let page: Option<Page<Record>> = self.get(&path).await?;
            let page = page.ok_or_else(|| self.foreign(StatusCode::NOT_FOUND.as_str()))?;
            empty = if page.items.is_empty() { empty + 1 } else { 0 };
            found.records.extend(page.items.into_iter().take(room));
            found.time = found.time.max(page.time);
            found.freshness = page.freshness;
            found.has_more = page.next.is_some();
            if !found.has_more || found.records.len() == most {
                return Ok(found);
            }
            // A token that repeats would never end.
            if page.next == next {
                return Err(self.malformed("the same page is continued again"));
            }
            if empty == MOST_EMPTY_PAGES {
                return Err(self.malformed(&format!(
                    "{empty} pages in a row have no pod, and the last names a further one"
                )));
            }
            next = page.next;
        }
    }

    /// The document at a path below `/api/v1`; `None` if there is none.
    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, AskError> {
        let answer = fetch(&self.exporter, &format!("/api/v1/{path}")).await;
        let answer = answer.map_err(|error| self.unreachable(&error))?;
        let (status, body) = (answer.status(), answer.body());
        if status.is_success() {
            let document = serde_json::from_slice(body).map(Some);
            return document.map_err(|error| self.malformed(&error.to_string()));
        }
        let failure: Option<ApiFailure> = serde_json::from_slice(body).ok();
        match (status, failure) {
            (StatusCode::NOT_FOUND, Some(_)) => Ok(None),
            (status, failure) => Err(self.failed(status, failure)),
        }
    }

    fn failed(&self, status: StatusCode, failure: Option<ApiFailure>) -> AskError {
        let url = self.url.clone();
        let why = match failure {
            Some(ApiFailure { error }) => {
                format!("HTTP {}: {}", status.as_u16(), shown(&error))
            }
            None => format!("HTTP {status}"),
        };
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let fix = match self.withholds_secret {
                    true => GIVE_ITS_OWN,
                    false => GIVE_CREDENTIALS,
                };
                AskError::Refused { url, why, fix }
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                AskError::Busy { url, why }
            }
            _ => AskError::Foreign { url, why },
        }
    }

    fn foreign(&self, status: &str) -> AskError {
        AskError::Foreign { url: self.url.clone(), why: format!("HTTP {status}") }
    }

    fn unreachable(&self, error: &ApiError) -> AskError {
        AskError::Unreachable { url: self.url.clone(), why: error.detail.clone() }
    }

    fn malformed(&self, why: &str) -> AskError {
        AskError::Malformed { url: self.url.clone(), why: shown(why).into_owned() }
    }
}

/// The whole answer of an exporter to a GET of `path`, whatever its status.
///
/// # Errors
/// If there is no answer in time, or it is too long.
async fn fetch(exporter: &ClusterClient, path: &str) -> Result<Response<Vec<u8>>, ApiError> {
    let request = get_json(Request::get(path).body(())?);
    let whole = async {
        let sent = exporter.client.send(request).await;
        let sent = sent.map_err(|error| ApiError::from_client(&error))?;
        let (head, body) = sent.into_parts();
        let mut bytes = Vec::new();
        read_into(&mut bytes, body, DEADLINE, ANSWER_LIMIT).await?;
        Ok(Response::from_parts(head, bytes))
    };
    let whole = timeout(DEADLINE, whole).await;
    whole.unwrap_or_else(|_| Err(timed_out("no complete answer", DEADLINE)))
}

/// A path segment, or a value of a query string.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &UNRESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_encoded() {
        assert_eq!(encoded("1.-2.a&b é"), "1.-2.a%26b%20%C3%A9");
    }
}
