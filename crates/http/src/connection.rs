//! One connection, from its acceptance to its end. Its transport is TCP, or TLS over TCP.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;

use super::access::{AccessControl, HasCertificate};
use super::activity::ConnectionActivity;
use super::limits::ServerLimits;
use super::write_deadline::{WriteDeadline, WriteLimits};

/// The response to a client whose connection is closed before its first request.
const EVICTED: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    content-length: 31\r\n\
    retry-after: 1\r\n\
    connection: close\r\n\
    \r\n\
    too many connections, try again";

/// What all connections share.
#[derive(Clone)]
pub(super) struct ServingContext {
    pub(super) builder: http1::Builder,
    pub(super) router: TowerToHyperService<Router>,
    pub(super) access: Arc<dyn AccessControl>,
    pub(super) limits: ServerLimits,
    pub(super) shutdown: CancellationToken,
}

impl ServingContext {
    /// Serves one connection to its end.
    pub(super) async fn run(self, stream: TcpStream, activity: Arc<ConnectionActivity>) {
        // A response is written as a whole, so waiting for more of it gains nothing. If the option
        // cannot be set, nothing breaks.
        let _ = stream.set_nodelay(true);
        let opening = open(stream, self.access.tls(), self.limits.handshake_timeout);
        let opened = tokio::select! {
            // First, so that a connection without a handshake always gets to its first request.
            biased;
            opened = opening => opened,
            () = activity.evicted() => return,
            () = self.shutdown.cancelled() => return,
        };
        let stream = match opened {
            Ok(stream) => stream,
            Err(error) => {
                self.access.handshake_failed();
                // At level debug: clients could fill the log with it.
                tracing::debug!(%error, "a TLS handshake failed");
                return;
            }
        };
        let has_certificate = has_certificate(&stream);
        let limits =
            WriteLimits { response: self.limits.write_timeout, stall: self.limits.stall_timeout };
        let io = TokioIo::new(WriteDeadline::new(stream, limits, Arc::clone(&activity)));
        let service =
            TrackedRoutes { router: self.router, activity: Arc::clone(&activity), has_certificate };
        let mut connection = self.builder.serve_connection(io, service);
        let outcome = tokio::select! {
            outcome = &mut connection => outcome,
            () = activity.evicted() => {
                if activity.is_unused() {
                    let stream = connection.into_parts().io.into_inner().into_inner();
                    write_at_once(stream, EVICTED);
                }
                return;
            }
            () = self.shutdown.cancelled() => {
                Pin::new(&mut connection).graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// The routes; each request is counted in the activity of its connection.
struct TrackedRoutes {
    router: TowerToHyperService<Router>,
    activity: Arc<ConnectionActivity>,
    has_certificate: bool,
}

impl Service<Request<Incoming>> for TrackedRoutes {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let answering = ConnectionActivity::answer(&self.activity, Instant::now());
        request.extensions_mut().insert(Arc::clone(&self.activity));
        if self.has_certificate {
            request.extensions_mut().insert(HasCertificate);
        }
        let response = self.router.call(request);
        Box::pin(async move {
            let _answering = answering;
            response.await
        })
    }
}

/// A connection: TCP on the left, TLS on the right.
pub(super) type ConnectionStream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// Completes the TLS handshake, if any, within `deadline`.
pub(super) async fn open(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    deadline: Duration,
) -> io::Result<ConnectionStream> {
    let Some(config) = tls else {
        return Ok(Either::Left(stream));
    };
    let handshake = TlsAcceptor::from(config).accept(stream);
    let stream = timeout(deadline, handshake).await.map_err(|_| io::ErrorKind::TimedOut)??;
    Ok(Either::Right(Box::new(stream)))
}

/// Whether the client sent a certificate.
pub(super) fn has_certificate(stream: &ConnectionStream) -> bool {
    match stream {
        Either::Left(_) => false,
        Either::Right(stream) => stream.get_ref().1.peer_certificates().is_some(),
    }
}

/// Writes as much as the kernel takes at once, and closes the connection.
pub(super) fn write_at_once(stream: ConnectionStream, bytes: &[u8]) {
    // TLS would have to encrypt it and wait: such a connection is only closed.
    if let Either::Left(stream) = stream {
        let _ = stream.try_write(bytes);
    }
}
