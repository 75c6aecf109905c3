//! Passes the `Date` of the API server's answers to the clock.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, UNIX_EPOCH};

use futures::future::BoxFuture;
use http::header::{DATE, HeaderMap};
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use tower_service::Service;

use super::api_server_clock::ApiServerClock;
use super::clock::Clock;
use podinit_core::timestamp::Timestamp;

/// 1971-01-01T00:00:00Z. A server whose clock says an earlier time was never set.
const FIRST_SENSIBLE_DATE: Duration = Duration::from_secs(31_536_000);

/// A client that passes the dates of all answers to a clock.
pub(super) struct DateObserver {
    client: Client,
    clock: Arc<ApiServerClock>,
}

impl DateObserver {
    /// A client that sends requests through `client`, and passes the dates of the answers to
    /// `clock`.
    pub(super) fn wrap(client: Client, clock: Arc<ApiServerClock>) -> Client {
        let namespace = client.default_namespace().to_owned();
        Client::new(Self { client, clock }, namespace)
    }
}

impl Service<Request<Body>> for DateObserver {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (client, clock) = (self.client.clone(), Arc::clone(&self.clock));
        Box::pin(async move {
            let sent = clock.elapsed();
            let response = client.send(request).await?;
            if let Some(date) = date_of(response.headers()) {
                clock.observe_date(sent, date);
            }
            Ok(response)
        })
    }
}

/// The second that the `Date` of an answer states. `None` where there is none, or none in the
/// preferred format of RFC 9110, section 5.6.7 (`Sun, 06 Nov 1994 08:49:37 GMT`): no API server
/// writes the obsolete ones.
pub(crate) fn date_of(headers: &HeaderMap) -> Option<Timestamp> {
    let text = headers.get(DATE)?.to_str().ok()?;
    let date = httpdate::parse_http_date(text).ok()?;
    // The parser also takes obsolete formats and days such as 31 February.
    if httpdate::fmt_http_date(date) != text {
        return None;
    }
    let since_epoch = date.duration_since(UNIX_EPOCH).ok()?;
    let seconds = i64::try_from(since_epoch.as_secs()).ok()?;
    (since_epoch >= FIRST_SENSIBLE_DATE).then(|| Timestamp::from_seconds(seconds))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_date_is_read_or_refused() {
        let at = |text: &str| {
            let headers = [(DATE, text.parse().unwrap())].into_iter().collect();
            date_of(&headers).map(Timestamp::as_nanos)
        };
        assert_eq!(
            at("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(784_111_777_000_000_000)
        );
        assert_eq!(
            at("Thu, 01 Jan 2026 00:00:00 GMT"),
            Some(1_767_225_600_000_000_000)
        );
        for nonsense in [
            "",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Thu, 01 Jan 1970 00:00:07 GMT",
        ] {
            assert_eq!(at(nonsense), None, "{nonsense}");
        }
        assert_eq!(date_of(&HeaderMap::new()), None);
    }
}
