//! Which cluster is chosen, and why connecting to it can fail.

use std::path::PathBuf;

/// The cluster that the command line chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterOptions {
    /// `--kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--context`
    pub context: Option<String>,
}

/// A server that is named by its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Its URL
    pub url: http::Uri,
    /// A file with the bearer token to show to it
    pub token_file: Option<PathBuf>,
    /// The user to log in as, with basic authentication
    pub username: Option<String>,
    /// A file with the user's password
    pub password_file: Option<PathBuf>,
    /// The certificates to verify it with, instead of those of the system
    pub ca_file: Option<PathBuf>,
    /// The client certificate to show to it
    pub cert_file: Option<PathBuf>,
    /// The key of the client certificate
    pub key_file: Option<PathBuf>,
    /// A token or password was given, but for another server
    pub withholds_secret: bool,
}

impl ServerOptions {
    /// The server at `url`, without credentials.
    pub const fn of_url(url: http::Uri) -> Self {
        Self {
            url,
            token_file: None,
            username: None,
            password_file: None,
            ca_file: None,
            cert_file: None,
            key_file: None,
            withholds_secret: false,
        }
    }
}

/// Why no client can be made; one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be read
    #[error("{origin} cannot be read: {why}; name one that can with --kubeconfig or KUBECONFIG")]
    Unreadable {
        /// Which one
        origin: String,
        /// What the system says
        why: String,
    },
    /// The file is not a kubeconfig
    #[error("{origin} is not a kubeconfig: {why}")]
    Malformed {
        /// Which one
        origin: String,
        /// What the parser says
        why: String,
    },
    /// The kubeconfig has no such context
    #[error("{origin} has no context {context:?}; {choice}")]
    UnknownContext {
        /// Which kubeconfig
        origin: String,
        /// Which context
        context: String,
        /// The contexts that exist
        choice: String,
    },
    /// The kubeconfig has no current-context and none was named
    #[error("{origin} has no current-context; {choice}")]
    NoContext {
        /// Which kubeconfig
        origin: String,
        /// The contexts that exist
        choice: String,
    },
    /// Neither a kubeconfig nor a service account
    #[error(
        "no cluster to watch: KUBECONFIG is not set, there is no {default}, and this is no pod \
         with a service account ({why}); name a kubeconfig with --kubeconfig, or try podinit without \
         a cluster: podinit demo"
    )]
    NoCluster {
        /// Where a kubeconfig was looked for last
        default: String,
        /// Why the service account cannot be used
        why: String,
    },
    /// What the configuration names (certificates, tokens, plugins) cannot be used
    #[error("{origin} cannot be used: {why}")]
    Unusable {
        /// Which configuration
        origin: String,
        /// What is wrong with it
        why: String,
    },
}
