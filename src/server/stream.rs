//! The transport of a connection: TCP, or TLS over TCP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

/// A connection: TCP on the left, TLS on the right.
pub(super) type Stream = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// Completes the TLS handshake, if any, within `deadline`.
pub(super) async fn open(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    deadline: Duration,
) -> io::Result<Stream> {
    let Some(config) = tls else {
        return Ok(Either::Left(stream));
    };
    let handshake = TlsAcceptor::from(config).accept(stream);
    let stream = timeout(deadline, handshake)
        .await
        .map_err(|_| io::ErrorKind::TimedOut)??;
    Ok(Either::Right(Box::new(stream)))
}

/// Whether the client sent a certificate.
pub(super) fn has_certificate(stream: &Stream) -> bool {
    match stream {
        Either::Left(_) => false,
        Either::Right(stream) => stream.get_ref().1.peer_certificates().is_some(),
    }
}

/// Writes as much as the kernel takes at once, and closes the connection.
pub(super) fn write_at_once(stream: Stream, bytes: &[u8]) {
    // TLS would have to encrypt it and wait: such a connection is only closed.
    if let Either::Left(stream) = stream {
        let _ = stream.try_write(bytes);
    }
}
