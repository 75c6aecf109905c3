//! Shows the dates of the API server's answers to a clock.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::header::DATE;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use tower_service::Service;

use super::clock::Clock;
use super::disciplined::DisciplinedClock;
use super::http_date;

/// A client whose answers a clock is held against.
pub(super) struct Witness {
    client: Client,
    clock: Arc<DisciplinedClock>,
}

impl Witness {
    /// A client that answers as `client` does, while `clock` looks on.
    pub(super) fn of(client: Client, clock: Arc<DisciplinedClock>) -> Client {
        let namespace = client.default_namespace().to_owned();
        Client::new(Self { client, clock }, namespace)
    }
}

impl Service<Request<Body>> for Witness {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (client, clock) = (self.client.clone(), Arc::clone(&self.clock));
        Box::pin(async move {
            let asked = clock.elapsed();
            let response = client.send(request).await?;
            let date = response.headers().get(DATE);
            let date = date.and_then(|date| date.to_str().ok());
            if let Some(date) = date.and_then(http_date::parse) {
                clock.dated(asked, date);
            }
            Ok(response)
        })
    }
}
