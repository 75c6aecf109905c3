//! From the command line to a client of the API server.
//!
//! The order is that of kube's `Config::infer` and of kubectl: `--kubeconfig`, else the files in
//! `KUBECONFIG`, else `~/.kube/config`, else the service account of the pod that podinit runs in. A
//! kubeconfig that was named but cannot be used is an error: podinit never connects to another
//! cluster instead.

use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use kube::client::ConfigExt;
use kube::{Client, Config};

use super::credentials::{
    self, CredentialSource, TokenFile, authorized, check_installed, read_password,
};
use super::kubeconfig::{self, ConfigSource, client_fault};
use super::options::{ClusterOptions, ConnectError, ServerOptions};
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::renewing_client::{
    MadeClient, MakeClient, NoCredentials, RenewingClient,
};
use podinit_text::http_url::{ShownUrl, without_credentials};

/// Deadline of a TCP and TLS handshake with the API server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes a client of the chosen cluster. It reads its configuration again when its credentials are
/// refused. Sends no request and runs no credential plugin: the first request does.
///
/// # Errors
/// When the configuration cannot be used.
pub async fn connect(options: &ClusterOptions) -> Result<ClusterClient, ConnectError> {
    let source =
        ConfigSource::locate(options, std::env::var_os("KUBECONFIG"), std::env::home_dir());
    let context = options.context.clone();
    let (config, origin) = source.clone().load(context.as_deref()).await?;
    let configured = ConfiguredClient::from(config, origin)?;
    let client = match &configured.source {
        CredentialSource::Plugin(exec) => {
            check_installed(exec).map_err(|error| configured.unusable(&error))?;
            None
        }
        _ => Some(configured.connect().await?),
    };
    let make: MakeClient = Box::new(move || {
        let (source, context) = (source.clone(), context.clone());
        Box::pin(async move {
            let made = async {
                let (config, origin) = source.load(context.as_deref()).await?;
                ConfiguredClient::from(config, origin)?.connect().await
            };
            made.await.map_err(|error: ConnectError| NoCredentials(error.to_string()))
        })
    });
    let renewing = RenewingClient::new(client, make);
    let namespace = configured.config.default_namespace.clone();
    let client = renewing.clone().into_client(namespace);
    Ok(configured.cluster(client, Some(renewing)))
}

/// Reads the text of a kubeconfig as [`connect`] does, up to the TLS configuration of a client. Sends
/// nothing, and neither runs a credential plugin nor reads a token file. For fuzzing.
///
/// # Errors
/// Those of [`connect`].
pub fn check_kubeconfig(text: &str) -> Result<(), ConnectError> {
    let origin = "kubeconfig";
    let parsed = kubeconfig::parse(text, origin)?;
    let loaded = kubeconfig::config_of(parsed, None, origin.to_owned(), &[]).now_or_never();
    // It waits for nothing.
    let Some(loaded) = loaded else { return Ok(()) };
    let (config, origin) = loaded?;
    let configured = ConfiguredClient::from(config, origin)?;
    install_crypto();
    let tls = configured.config.rustls_client_config();
    tls.map(drop).map_err(|error| ConnectError::Unusable {
        origin: configured.origin.clone(),
        why: client_fault(&error),
    })
}

/// Makes a client of the API server at `url`, without credentials: for the simulated one of `demo`.
///
/// # Errors
/// When the client cannot be made.
pub async fn connect_to(url: http::Uri, origin: String) -> Result<ClusterClient, ConnectError> {
    let configured = ConfiguredClient::from(Config::new(url), origin)?;
    let client = configured.connect().await?.client;
    Ok(configured.cluster(client, None))
}

/// Makes a client of a server that is named by its URL. `origin` is how messages name what named it.
///
/// # Errors
/// When the token, the password or the certificates cannot be read, or the client cannot be made.
pub async fn connect_to_server(
    server: &ServerOptions,
    origin: String,
) -> Result<ClusterClient, ConnectError> {
    check_files(server).map_err(|why| ConnectError::Unusable { origin: origin.clone(), why })?;
    let kubeconfig = kubeconfig::of_server(server).map_err(|error| ConnectError::Unusable {
        origin: origin.clone(),
        why: error.to_string(),
    })?;
    let (config, _) = kubeconfig::config_of(kubeconfig, None, origin.clone(), &[]).await?;
    let configured = ConfiguredClient::from(config, origin)?;
    let client = configured.connect().await?.client;
    Ok(configured.cluster(client, None))
}

/// Names the file that cannot be read. The errors of a kubeconfig do not: there, a secret may stand in place of
/// a file name.
fn check_files(server: &ServerOptions) -> Result<(), String> {
    let named = |path: &Path, why: String| format!("{}: {why}", path.display());
    if let Some(path) = &server.token_file {
        TokenFile::open(path).map_err(|error| named(path, error.to_string()))?;
    }
    if let Some(path) = &server.password_file {
        read_password(path).map_err(|error| named(path, error.to_string()))?;
    }
    let certificates = [&server.ca_file, &server.cert_file, &server.key_file];
    for path in certificates.into_iter().flatten() {
        let found = std::fs::metadata(path);
        found.map_err(|error| named(path, format!("cannot be read: {}", error.kind())))?;
    }
    Ok(())
}

/// A configuration that is ready for a client to be made of it.
struct ConfiguredClient {
    /// Without the credentials that `source` obtains
    config: Config,
    source: CredentialSource,
    origin: String,
}

impl ConfiguredClient {
    fn from(mut config: Config, origin: String) -> Result<Self, ConnectError> {
        config.cluster_url = without_credentials(config.cluster_url);
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        config.read_timeout = None;
        // The reflector decides what is retried, and when: retries inside the client would defeat its
        // deadlines and ignore the API server's Retry-After.
        config.default_retry = false;
        // Without TLS no root certificates are needed, so a machine without any is no error.
        if config.cluster_url.scheme() == Some(&http::uri::Scheme::HTTP) {
            config.root_cert.get_or_insert_default();
        }
        match CredentialSource::take(&mut config.auth_info) {
            Ok(source) => Ok(Self { config, source, origin }),
            Err(error) => Err(ConnectError::Unusable { origin, why: error.to_string() }),
        }
    }

    fn unusable(&self, why: &dyn std::error::Error) -> ConnectError {
        ConnectError::Unusable { origin: self.origin.clone(), why: why.to_string() }
    }

    /// The cluster that this is the configuration of.
    fn cluster(&self, client: Client, credentials: Option<RenewingClient>) -> ClusterClient {
        ClusterClient {
            client,
            server: ShownUrl(&self.config.cluster_url).to_string(),
            origin: self.origin.clone(),
            authority: self.config.root_cert.clone().unwrap_or_default(),
            proxy: (self.config.proxy_url.as_ref()).map(|url| ShownUrl(url).to_string()),
            unverified: self.config.accept_invalid_certs,
            credentials,
        }
    }

    /// Makes the client. Runs the credential plugin, if there is one.
    async fn connect(&self) -> Result<MadeClient, ConnectError> {
        let mut config = self.config.clone();
        let mut expires = None;
        let mut token = None;
        match &self.source {
            CredentialSource::Configured => {}
            CredentialSource::Token(header) => token = Some(header.clone()),
            CredentialSource::TokenFile(path) => {
                let file = TokenFile::open(path).map_err(|error| self.unusable(&error))?;
                let client = self.client(config).await?;
                return Ok(MadeClient {
                    client: authorized(client, move || file.header()),
                    expires,
                });
            }
            CredentialSource::Plugin(exec) => {
                let given = credentials::run(exec).await;
                let given = given.map_err(|error| self.unusable(&error))?;
                if let Some((certificate, key)) = given.identity {
                    let user = &mut config.auth_info;
                    user.client_certificate_data = Some(STANDARD.encode(certificate));
                    user.client_key_data = Some(STANDARD.encode(key).into());
                }
                (token, expires) = (given.token, given.expires);
            }
        }
        let client = self.client(config).await?;
        let client = match token {
            Some(header) => authorized(client, move || header.clone()),
            None => client,
        };
        Ok(MadeClient { client, expires })
    }

    async fn client(&self, config: Config) -> Result<Client, ConnectError> {
        install_crypto();
        kubeconfig::check_identity(&config.auth_info, &self.origin)?;
        // Reads certificates from files.
        let made = tokio::task::spawn_blocking(move || Client::try_from(config)).await;
        let made = made.map_err(|error| self.unusable(&error))?;
        made.map_err(|error| ConnectError::Unusable {
            origin: self.origin.clone(),
            why: client_fault(&error),
        })
    }
}

fn install_crypto() {
    // Fails only when a provider is installed already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::path::{Path, PathBuf};

    use super::*;

    const TWO: &str = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
        clusters:\n- {name: c, cluster: {server: \"http://127.0.0.1:1\"}}\n\
        contexts:\n- {name: a, context: {cluster: c, user: u}}\n\
        - {name: b, context: {cluster: gone, user: u}}\n";

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        std::fs::write(&path, text).unwrap();
        (directory, path)
    }

    async fn refused(path: &Path, context: Option<&str>) -> String {
        let options = ClusterOptions {
            kubeconfig: Some(path.to_owned()),
            context: context.map(str::to_owned),
        };
        let error = connect(&options).await.err().expect("must be refused");
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    }

    #[tokio::test]
    async fn each_mistake_is_one_line_that_says_how_to_fix_it() {
        let (directory, path) = file(TWO);
        let missing = directory.path().join("none");
        let text = refused(&missing, None).await;
        assert!(text.contains("none cannot be read: No such file"), "{text}");
        assert!(text.contains("--kubeconfig"), "{text}");

        let text = refused(&path, Some("z")).await;
        assert!(text.contains(r#"has no context "z"; choose one with --context: a, b"#), "{text}");

        let text = refused(&path, Some("b")).await;
        assert!(text.contains("context b cannot be used"), "{text}");

        let (_keep, path) = file(&TWO.replace("current-context: a\n", ""));
        let text = refused(&path, None).await;
        assert!(text.contains("has no current-context; choose one with"), "{text}");

        let (_keep, path) = file("clusters: [");
        let text = refused(&path, None).await;
        assert!(text.contains("is not a kubeconfig"), "{text}");
    }

    #[tokio::test]
    async fn a_good_kubeconfig_names_server_and_origin() {
        let (_keep, path) = file(TWO);
        let options = ClusterOptions { kubeconfig: Some(path.clone()), context: None };
        let cluster = connect(&options).await.unwrap();
        assert_eq!(cluster.server, "http://127.0.0.1:1/");
        assert_eq!(cluster.origin, format!("kubeconfig {}, context a", path.display()));
    }
}
