//! One request before the watch begins, so that a cluster that cannot be watched is an error on the
//! command line instead of an exporter that stays empty.

use std::time::Duration;

use super::requests::{ListFreshness, PageRequest, PodScope, PodSelectors, RequestBuilder};
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::client::ClusterClient;
use crate::cluster::transport::{read_into, send};
use podinit_core::lifecycle::Version;
use podinit_core::pod::PodSnapshot;
use podinit_decode::{DecodeOptions, PodDecoder};

/// More than the largest pod, and more than a hundred ordinary ones.
const BODY_LIMIT: usize = 32 << 20;

/// Why a cluster cannot be watched; one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// No answer
    #[error(
        "cannot reach the API server at {server} ({origin}): {why}; check the address, the \
         network and the certificates"
    )]
    Unreachable {
        /// Its URL
        server: String,
        /// Where that was configured
        origin: String,
        /// What happened
        why: String,
    },
    /// The credentials cannot be obtained or are not accepted (401)
    #[error("the API server at {server} does not accept the credentials of {origin}: {why}")]
    Unauthorized {
        /// Its URL
        server: String,
        /// Where the credentials were configured
        origin: String,
        /// Its message
        why: String,
    },
    /// The credentials give no right to list pods (403)
    #[error("not allowed to list {scope} at {server}: {why}; {remedy}")]
    Forbidden {
        /// Which pods
        scope: String,
        /// The API server's URL
        server: String,
        /// Its message
        why: String,
        /// What to do
        remedy: String,
    },
    /// The request is refused, most likely for its selectors (400)
    #[error(
        "the API server at {server} refuses the request: {why}; check --label-selector and --field-selector"
    )]
    Rejected {
        /// Its URL
        server: String,
        /// Its message
        why: String,
    },
    /// Something answers, but not a Kubernetes API server
    #[error("{server} ({origin}) does not answer like a Kubernetes API server: {why}")]
    Foreign {
        /// Its URL
        server: String,
        /// Where that was configured
        origin: String,
        /// Its message
        why: String,
    },
    /// The API server is there but cannot answer now (429, 5xx)
    #[error("the API server at {server} is not ready: {why}")]
    Busy {
        /// Its URL
        server: String,
        /// Its message
        why: String,
        /// How long it asks to be left alone
        retry_after: Option<Duration>,
    },
}

impl ProbeError {
    /// Whether it can pass by itself. An API server that is starting up refuses what it allows later,
    /// and what stands in front of one answers for it. Only a request that it rejects as such never
    /// succeeds.
    pub const fn is_transient(&self) -> bool {
        !matches!(self, Self::Rejected { .. })
    }

    /// A name for the state in which the API server is.
    pub const fn state(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::Unauthorized { .. } => "unauthorized",
            Self::Forbidden { .. } => "forbidden",
            Self::Rejected { .. } => "rejected",
            Self::Foreign { .. } => "foreign",
            Self::Busy { .. } => "busy",
        }
    }

    /// How long the API server asks to be left alone.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// The result of a probe.
#[derive(Clone, Debug, Default)]
pub struct ProbeResult {
    /// Some of the pods
    pub pods: Vec<PodSnapshot>,
    /// Whether the API server has left out those of other shards, and says so
    pub sharded: bool,
    /// The version of the list
    pub version: Option<Version>,
}

/// Lists pods of `scope`, at most `limit`, within `deadline`.
///
/// # Errors
/// Whatever would keep a watch from working now.
pub async fn probe(
    cluster: &ClusterClient,
    scope: &PodScope,
    selectors: &PodSelectors,
    limit: u32,
    deadline: Duration,
) -> Result<ProbeResult, ProbeError> {
    let attempt = list_some(cluster, scope, selectors, limit, deadline);
    let attempt = tokio::time::timeout(deadline, attempt);
    let result = attempt.await.unwrap_or_else(|_| {
        Err(crate::cluster::transport::timed_out("no complete answer", deadline))
    });
    result.map_err(|failure| explain(failure, cluster, scope))
}

async fn list_some(
    cluster: &ClusterClient,
    scope: &PodScope,
    selectors: &PodSelectors,
    limit: u32,
    deadline: Duration,
) -> Result<ProbeResult, ApiError> {
    match list(cluster, scope, selectors, limit, deadline).await {
        Err(failure) if failure.kind == ApiErrorKind::AnswerTooLong && limit > 1 => {
            list(cluster, scope, selectors, 1, deadline).await
        }
        listed => listed,
    }
}

async fn list(
    cluster: &ClusterClient,
    scope: &PodScope,
    selectors: &PodSelectors,
    limit: u32,
    deadline: Duration,
) -> Result<ProbeResult, ApiError> {
    let requests = RequestBuilder::new(scope, selectors);
    let request = requests.list(&PageRequest::First(&ListFreshness::MostRecent), limit)?;
    let response = send(&cluster.client, request, deadline).await?;
    let mut body = Vec::new();
    read_into(&mut body, response.into_body(), deadline, BODY_LIMIT).await?;
    let decoder = PodDecoder::new(DecodeOptions::default());
    let page = decoder.of_shard(selectors.shard).list_page(&body)?;
    Ok(ProbeResult {
        pods: page.pods,
        sharded: page.sharded,
        version: page.resource_version.as_deref().map(Version::from_text),
    })
}

fn explain(failure: ApiError, cluster: &ClusterClient, scope: &PodScope) -> ProbeError {
    let server = cluster.server.clone();
    let origin = cluster.origin.clone();
    let why = failure.detail;
    match failure.kind {
        ApiErrorKind::Transport | ApiErrorKind::Timeout => {
            ProbeError::Unreachable { server, origin, why }
        }
        ApiErrorKind::Unauthorized | ApiErrorKind::Credentials => {
            ProbeError::Unauthorized { server, origin, why }
        }
        ApiErrorKind::Forbidden => ProbeError::Forbidden {
            scope: scope.to_string(),
            server,
            why,
            remedy: match scope {
                PodScope::Cluster => format!(
                    "choose a namespace with -n, such as the context's (-n {}), or grant list and watch on pods \
                     in a ClusterRole",
                    cluster.client.default_namespace()
                ),
                PodScope::Namespace(_) => {
                    "grant the verbs list and watch on pods in a Role of that namespace".to_owned()
                }
            },
        },
        ApiErrorKind::Rejected => ProbeError::Rejected { server, why },
        ApiErrorKind::TooManyRequests
        | ApiErrorKind::ServerError
        | ApiErrorKind::NotImplemented
        | ApiErrorKind::VersionAhead => {
            ProbeError::Busy { server, why, retry_after: failure.retry_after }
        }
        _ => ProbeError::Foreign { server, origin, why },
    }
}
