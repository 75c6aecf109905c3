//! Certificates made for one test, web configurations that name them, and a TLS client.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use podinit_access::AccessGate;
use podinit_access::kubernetes::KubernetesAccess;
use podinit_access::web_config::WebConfig;
use podinit_core::timestamp::Timestamp;
use podinit_http::AccessStats;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::support::server::{Reply, request};

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

/// An authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub certificate: String,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { issuer, certificate }
    }

    /// A certificate for a server or a client of this name.
    pub fn issue(&self, name: &str) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        Identity {
            certificate: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

/// A directory with an authority, a server's certificate for `localhost`, and a web configuration.
pub struct Pki {
    directory: tempfile::TempDir,
    pub authority: Authority,
}

/// The beginning of a web configuration with TLS.
pub const TLS: &str = "tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\n";

impl Pki {
    pub fn new() -> Self {
        let pki = Self { directory: tempfile::tempdir().unwrap(), authority: Authority::new() };
        pki.write("ca.crt", &pki.authority.certificate);
        pki.serve_as(&pki.authority.issue("localhost"));
        pki
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Puts another certificate in the place of the server's.
    pub fn serve_as(&self, identity: &Identity) {
        self.write("tls.crt", &identity.certificate);
        self.write("tls.key", &identity.key);
    }

    pub fn config(&self, text: &str) -> WebConfig {
        let inspection = WebConfig::inspect(&self.write("web.yaml", text));
        inspection.result.unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn gate(&self, text: &str) -> (Arc<AccessGate>, Arc<AccessStats>) {
        gate(self.config(text), None)
    }

    pub fn client(&self) -> Client {
        Client::new(&self.authority)
    }
}

pub fn gate(
    config: WebConfig,
    tokens: Option<KubernetesAccess>,
) -> (Arc<AccessGate>, Arc<AccessStats>) {
    let stats = Arc::new(AccessStats::new(Timestamp::from_seconds(1)));
    let gate = AccessGate::new(config, tokens, Arc::clone(&stats)).unwrap();
    (Arc::new(gate), stats)
}

/// A TLS client that trusts one authority.
#[derive(Clone)]
pub struct Client {
    roots: RootCertStore,
    identity: Option<Identity>,
    versions: Vec<&'static SupportedProtocolVersion>,
    protocols: Vec<Vec<u8>>,
}

impl Client {
    pub fn new(authority: &Authority) -> Self {
        let mut roots = RootCertStore::empty();
        let pem = authority.certificate.as_bytes();
        roots.add(CertificateDer::from_pem_slice(pem).unwrap()).unwrap();
        Self { roots, identity: None, versions: vec![&TLS12, &TLS13], protocols: Vec::new() }
    }

    pub fn as_who(&self, identity: &Identity) -> Self {
        let identity = Some(identity.clone());
        Self { identity, ..self.clone() }
    }

    pub fn speaking(&self, versions: &[&'static SupportedProtocolVersion]) -> Self {
        let versions = versions.to_vec();
        Self { versions, ..self.clone() }
    }

    pub fn offering(&self, protocols: &[&str]) -> Self {
        let protocols = protocols.iter().map(|name| name.as_bytes().to_vec());
        Self { protocols: protocols.collect(), ..self.clone() }
    }

    pub fn connector(&self) -> TlsConnector {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&self.versions)
            .unwrap()
            .with_root_certificates(self.roots.clone());
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let chain = CertificateDer::pem_slice_iter(identity.certificate.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
                let chain = chain.map(Result::unwrap).collect();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = self.protocols.clone();
        TlsConnector::from(Arc::new(config))
    }

    pub async fn connect(&self, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        self.connector().connect(name, stream).await
    }

    /// One request on a connection of its own; an error where the connection is refused.
    pub async fn ask(
        &self,
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
    ) -> io::Result<Reply> {
        self.ask_with("GET", address, path, headers).await
    }

    pub async fn ask_with(
        &self,
        method: &str,
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
    ) -> io::Result<Reply> {
        let mut stream = self.connect(address).await?;
        stream.write_all(&request(method, path, headers)).await?;
        let mut received = Vec::new();
        stream.read_to_end(&mut received).await?;
        // In TLS 1.3 a client learns of its refusal when it reads.
        if received.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Reply::parse(&received))
    }

    /// Whether it gets an answer to a probe.
    pub async fn is_let_in(&self, address: SocketAddr) -> bool {
        self.status(address, "/livez").await == Some(200)
    }

    /// The status of an answer; none where the connection is refused.
    pub async fn status(&self, address: SocketAddr, path: &str) -> Option<u16> {
        let reply = self.ask(address, path, &[]).await;
        reply.ok().map(|reply| reply.status)
    }
}
