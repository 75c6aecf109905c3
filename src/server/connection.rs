//! One connection, from when it is accepted to its end.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::activity::Activity;
use super::write_deadline::WriteDeadline;

/// What a client is told that is turned out before it has asked.
const TURNED_OUT: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    content-length: 31\r\n\
    retry-after: 1\r\n\
    connection: close\r\n\
    \r\n\
    too many connections, try again";

pub(super) type Connection = http1::Connection<TokioIo<WriteDeadline<TcpStream>>, Tracked>;

/// Serves one connection to its end.
pub(super) async fn run(
    mut connection: Connection,
    activity: Arc<Activity>,
    shutdown: CancellationToken,
) {
    let outcome = tokio::select! {
        outcome = &mut connection => outcome,
        () = activity.evicted() => {
            if activity.is_unused() {
                let stream = connection.into_parts().io.into_inner().into_inner();
                // As much as fits at once, which on a new connection is all of it.
                let _ = stream.try_write(TURNED_OUT);
            }
            return;
        }
        () = shutdown.cancelled() => {
            Pin::new(&mut connection).graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        // Whatever a client does wrong is its own affair, and it could do it often.
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The routes, with each request noted in the activity of its connection.
pub(super) struct Tracked {
    pub(super) router: TowerToHyperService<Router>,
    pub(super) activity: Arc<Activity>,
}

impl Service<Request<Incoming>> for Tracked {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let answering = Activity::answer(&self.activity, Instant::now());
        request.extensions_mut().insert(Arc::clone(&self.activity));
        let response = self.router.call(request);
        Box::pin(async move {
            let _answering = answering;
            response.await
        })
    }
}
