//! From the command line to a client of the API server.
//!
//! The order is that of kube's `Config::infer` and of kubectl: `--kubeconfig`, else the files in
//! `KUBECONFIG`, else `~/.kube/config`, else the service account of the pod that podinit runs in. A
//! kubeconfig that was named but cannot be used is an error: podinit never connects to another
//! cluster instead.

use std::sync::Arc;
use std::time::Duration;

use kube::{Client, Config};

use super::api_error::root_causes;
use super::api_server_clock::ApiServerClock;
use super::date_observer::DateObserver;
use super::kubeconfig::ConfigSource;
use super::options::{ClusterOptions, ConnectError};
use super::renewing_client::{MakeClient, RenewingClient};

/// Deadline of a TCP and TLS handshake with the API server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client of one API server, and how messages name it.
#[derive(Clone)]
pub struct Cluster {
    /// The client. It has no deadline for reading: callers set one for each request.
    pub client: Client,
    /// The API server's URL
    pub server: String,
    /// Where the configuration came from
    pub origin: String,
    /// The CA certificates (DER) that are configured for the API server, if any
    pub authority: Vec<Vec<u8>>,
    /// The proxy that requests go through, without its credentials
    pub proxy: Option<String>,
    /// The server's certificate is not verified (`insecure-skip-tls-verify`)
    pub unverified: bool,
}

impl Cluster {
    /// Passes the dates of all answers from now on to `clock`.
    #[must_use]
    pub fn observing_dates(self, clock: Arc<ApiServerClock>) -> Self {
        Self {
            client: DateObserver::wrap(self.client, clock),
            ..self
        }
    }
}

/// Makes a client of the chosen cluster. It reads its configuration again when its credentials are
/// refused. Sends no request; a credential plugin may run.
///
/// # Errors
/// When the configuration cannot be used.
pub async fn connect(options: &ClusterOptions) -> Result<Cluster, ConnectError> {
    let source = ConfigSource::locate(
        options,
        std::env::var_os("KUBECONFIG"),
        std::env::home_dir(),
    );
    let context = options.context.clone();
    let cluster = configured(source.clone(), context.clone()).await?;
    let make: MakeClient = Box::new(move || {
        let made = configured(source.clone(), context.clone());
        Box::pin(async move { Ok(made.await?.client) })
    });
    Ok(Cluster {
        client: RenewingClient::wrap(cluster.client, make),
        ..cluster
    })
}

/// Makes a client from the current configuration.
async fn configured(
    source: ConfigSource,
    context: Option<String>,
) -> Result<Cluster, ConnectError> {
    let (config, origin) = source.load(context.as_deref()).await?;
    from_config(config, origin).await
}

/// Makes a client of the API server at `url`, without credentials: for the simulated one of `demo`.
///
/// # Errors
/// When the client cannot be made.
pub async fn connect_to(url: http::Uri, origin: String) -> Result<Cluster, ConnectError> {
    from_config(Config::new(url), origin).await
}

async fn from_config(mut config: Config, origin: String) -> Result<Cluster, ConnectError> {
    // Fails only when a provider is installed already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.read_timeout = None;
    // The reflector decides what is retried, and when: retries inside the client would defeat its
    // deadlines and ignore the API server's Retry-After.
    config.default_retry = false;
    // Without TLS no root certificates are needed, so a machine without any is no error.
    if config.cluster_url.scheme() == Some(&http::uri::Scheme::HTTP) {
        config.root_cert.get_or_insert_default();
    }
    let authority = config.root_cert.clone().unwrap_or_default();
    let server = without_credentials(&config.cluster_url);
    let proxy = config.proxy_url.as_ref().map(without_credentials);
    let unverified = config.accept_invalid_certs;
    // Making a client runs the credential plugin and waits for it.
    let made = tokio::task::spawn_blocking(move || Client::try_from(config)).await;
    let unusable = |why: String| ConnectError::Unusable {
        origin: origin.clone(),
        why,
    };
    let client = made
        .map_err(|error| unusable(error.to_string()))?
        .map_err(|error| unusable(root_causes(&error)))?;
    Ok(Cluster {
        client,
        server,
        origin,
        authority,
        proxy,
        unverified,
    })
}

/// The URL without user and password, so that it can be shown.
fn without_credentials(url: &http::Uri) -> String {
    let text = url.to_string();
    let authority = url.authority().map_or("", |authority| authority.as_str());
    match authority.rsplit_once('@') {
        Some((credentials, _)) => text.replacen(&format!("{credentials}@"), "", 1),
        None => text,
    }
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
        assert!(
            text.contains(r#"has no context "z"; choose one with --context: a, b"#),
            "{text}"
        );

        let text = refused(&path, Some("b")).await;
        assert!(text.contains("context b cannot be used"), "{text}");

        let (_keep, path) = file(&TWO.replace("current-context: a\n", ""));
        let text = refused(&path, None).await;
        assert!(
            text.contains("has no current-context; choose one with"),
            "{text}"
        );

        let (_keep, path) = file("clusters: [");
        let text = refused(&path, None).await;
        assert!(text.contains("is not a kubeconfig"), "{text}");
    }

    #[test]
    fn a_url_is_shown_without_credentials() {
        for (url, shown) in [
            ("http://user:secret@proxy:3128", "http://proxy:3128/"),
            ("http://secret@proxy:3128/", "http://proxy:3128/"),
            ("https://10.0.0.1:6443", "https://10.0.0.1:6443/"),
        ] {
            assert_eq!(without_credentials(&url.parse().unwrap()), shown);
        }
    }

    #[tokio::test]
    async fn a_good_kubeconfig_names_server_and_origin() {
        let (_keep, path) = file(TWO);
        let options = ClusterOptions {
            kubeconfig: Some(path.clone()),
            context: None,
        };
        let cluster = connect(&options).await.unwrap();
        assert_eq!(cluster.server, "http://127.0.0.1:1/");
        assert_eq!(
            cluster.origin,
            format!("kubeconfig {}, context a", path.display())
        );
    }
}
