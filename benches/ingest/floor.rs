//! The least that reading a watch costs: a program on the thread of podinit that accounts, with its pauses, which drains
//! the same stream of TLS, counts the events, and throws them away.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use podinit_exporter::accounting_thread;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Drains a watch of the server at `address` until that ends.
pub(crate) fn drain(address: SocketAddr, certificate: &Path, encoding: &str) {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let tls = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let media_type = match encoding {
        "json" => "application/json",
        _ => "application/vnd.kubernetes.protobuf;stream=watch",
    };
    let thread = accounting_thread::start().unwrap();
    let drained = thread.handle().spawn(async move {
        let stream = TcpStream::connect(address).await?;
        let name = address.ip().into();
        let mut stream = TlsConnector::from(Arc::new(tls)).connect(name, stream).await?;
        let request = format!(
            "GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: {address}\r\nAccept: {media_type}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        count_events(BufReader::with_capacity(64 * 1024, stream)).await
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    println!("{:?}", runtime.block_on(drained).unwrap());
}

/// Counts the events of an answer: the server sends each as a chunk.
async fn count_events(mut answer: BufReader<impl tokio::io::AsyncRead + Unpin>) -> io::Result<u64> {
    let mut line = String::new();
    while answer.read_line(&mut line).await? > 2 {}
    let mut count = 0;
    let mut event = Vec::new();
    loop {
        line.clear();
        if answer.read_line(&mut line).await? == 0 {
            return Ok(count);
        }
        let length = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        event.resize(length + "\r\n".len(), 0);
        answer.read_exact(&mut event).await?;
        count += 1;
    }
}
