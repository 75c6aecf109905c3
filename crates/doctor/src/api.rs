//! Requests to the API server. Each has a deadline, and each answer is a sample of its clock.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use k8s_openapi::{ClusterResourceScope, Resource};
use kube::client::Body;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::clock_offset::ClockOffset;
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_kube::cluster::api_server_clock::date_of;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::clock::{DeliveryClock, SystemClock};
use podinit_kube::cluster::transport::{AGENT, read_into, send, timed_out};
use podinit_kube::watch::pages::{ListPages, PageEnd};
use podinit_kube::watch::requests::{ListFreshness, RequestBuilder};

/// The deadline of a request with a small answer.
const REQUEST: Duration = Duration::from_secs(10);
/// The deadline of a page of a list.
const PAGE: Duration = Duration::from_secs(30);
/// The length limit of a page, in bytes. A longer one is requested again with fewer objects.
const PAGE_BYTES: usize = 32 << 20;
/// The length limit of a small answer, in bytes.
const SMALL: usize = 1 << 20;

/// The API server, with a deadline for all requests together.
pub(super) struct DoctorApi {
    pub(super) cluster: ClusterClient,
    pub(super) ends: Instant,
    offset: Mutex<ClockOffset>,
}

impl DoctorApi {
    pub(super) fn new(cluster: ClusterClient, ends: Instant) -> Self {
        Self { cluster, ends, offset: Mutex::default() }
    }

    /// The offset of its clock from ours, by the answers so far.
    pub(super) fn offset(&self) -> ClockOffset {
        *self.offset.lock()
    }

    /// GETs a small document.
    pub(super) async fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.document(request(Method::GET, path, Body::empty())?).await
    }

    /// Has the API server answer a review. Reviews are created and answered, and never stored.
    pub(super) async fn review<T>(&self, review: &T) -> Result<T, ApiError>
    where
        T: Resource<Scope = ClusterResourceScope> + Serialize + DeserializeOwned,
    {
        let path = format!("/apis/{}/{}", T::API_VERSION, T::URL_PATH_SEGMENT);
        let body = serde_json::to_vec(review).map_err(ApiError::malformed)?;
        let request = request(Method::POST, &path, Body::from(body))?;
        self.document(request).await
    }

    /// Lists in pages of at most `limit` objects, and gives each page to `read`, which returns its continue token.
    ///
    /// # Errors
    /// If a page cannot be had or `read` fails.
    pub(super) async fn list(
        &self,
        requests: &RequestBuilder,
        limit: u32,
        mut read: impl FnMut(&[u8]) -> Result<PageEnd, ApiError>,
    ) -> Result<(), ApiError> {
        let mut pages = ListPages::new(requests, &ListFreshness::MostRecent, limit);
        while let Some(request) = pages.request()? {
            let page = self.send(request, PAGE, PAGE_BYTES).await;
            if let Some(body) = pages.fetched(page)? {
                pages.go_on(read(&body)?)?;
            }
        }
        Ok(())
    }

    /// Sends a request and waits only for the answer to begin.
    pub(super) async fn open(&self, request: Request<Body>) -> Result<(), ApiError> {
        let deadline = self.remaining(REQUEST)?;
        send(&self.cluster.client, request, deadline).await.map(drop)
    }

    async fn document<T: DeserializeOwned>(&self, request: Request<Body>) -> Result<T, ApiError> {
        let body = self.send(request, REQUEST, SMALL).await?;
        serde_json::from_slice(&body).map_err(ApiError::malformed)
    }

    async fn send(
        &self,
        request: Request<Body>,
        longest: Duration,
        limit: usize,
    ) -> Result<Vec<u8>, ApiError> {
        let deadline = self.remaining(longest)?;
        let whole = async {
            let sent = SystemClock.now();
            let response = send(&self.cluster.client, request, deadline).await?;
            let received = SystemClock.now();
            if let Some(date) = date_of(response.headers()) {
                let mut offset = self.offset.lock();
                offset.narrow(sent, received, date);
            }
            let mut body = Vec::new();
            read_into(&mut body, response.into_body(), deadline, limit).await?;
            Ok(body)
        };
        let answer = timeout(deadline, whole).await;
        answer.map_err(|_| timed_out("no complete answer", deadline))?
    }

    /// The time left, at most `longest`.
    fn remaining(&self, longest: Duration) -> Result<Duration, ApiError> {
        let left = self.ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let why = "--timeout has passed";
            return Err(ApiError::new(ApiErrorKind::Timeout, why));
        }
        Ok(left.min(longest))
    }
}

/// A request with a JSON body, for a JSON answer.
pub(super) fn request(method: Method, path: &str, body: Body) -> Result<Request<Body>, ApiError> {
    Request::builder()
        .method(method)
        .uri(path)
        .header(ACCEPT, "application/json")
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, AGENT)
        .body(body)
        .map_err(ApiError::from)
}
