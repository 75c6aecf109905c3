//! Finds the kubeconfig or service account to use, and reads it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{
    AuthInfo, Context, KubeConfigOptions, Kubeconfig, KubeconfigError, LoadDataError,
    NamedAuthInfo, NamedCluster, NamedContext,
};

use super::client_go;
use super::credentials::{CredentialError, read_password};
use super::kubeconfig_entry::KubeconfigEntry;
use super::options::{ClusterOptions, ConnectError, ServerOptions};
use super::proxy::{is_direct, no_proxy};
use podinit_config::regular_file::{self, LONGEST_KUBECONFIG};
use podinit_text::error_text::root_causes;
use podinit_text::http_url::has_wrong_port;

/// Where a configuration is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConfigSource {
    /// These files, merged as kubectl does it; the text names them in messages. Of several, those that do not exist are
    /// left out
    Files(Vec<PathBuf>, String),
    /// The service account of the pod that podinit runs in; the default kubeconfig, this path, does
    /// not exist
    ServiceAccount(PathBuf),
}

impl ConfigSource {
    pub(crate) fn locate(
        options: &ClusterOptions,
        variable: Option<OsString>,
        home: Option<PathBuf>,
    ) -> Self {
        let named = |path: PathBuf| {
            let origin = format!("kubeconfig {}", path.display());
            Self::Files(vec![path], origin)
        };
        if let Some(path) = &options.kubeconfig {
            return named(path.clone());
        }
        let listed: Vec<PathBuf> = variable
            .iter()
            .flat_map(std::env::split_paths)
            .filter(|path| !path.as_os_str().is_empty())
            .collect();
        if let Some(variable) = variable
            && !listed.is_empty()
        {
            let origin = format!("kubeconfig {} (from KUBECONFIG)", Path::new(&variable).display());
            return Self::Files(listed, origin);
        }
        let default = home.unwrap_or_default().join(".kube").join("config");
        // --context needs a kubeconfig, so that the error is that there is none.
        if options.context.is_some() || default.exists() {
            return named(default);
        }
        Self::ServiceAccount(default)
    }

    pub(crate) async fn load(
        self,
        context: Option<&str>,
    ) -> Result<(Config, String), ConnectError> {
        match self {
            Self::Files(paths, origin) => from_files(&paths, context, origin).await,
            Self::ServiceAccount(default) => {
                let config = Config::incluster().map_err(|error| ConnectError::NoCluster {
                    default: default.display().to_string(),
                    why: root_causes(&error),
                })?;
                Ok((config, "the pod's service account".to_owned()))
            }
        }
    }
}

async fn from_files(
    paths: &[PathBuf],
    context: Option<&str>,
    origin: String,
) -> Result<(Config, String), ConnectError> {
    let mut merged = Kubeconfig::default();
    // kubectl leaves out what KUBECONFIG names and is not there. Without any of them, the first one is missing.
    let there: Vec<PathBuf> = paths.iter().filter(|path| !is_missing(path)).cloned().collect();
    let paths = if there.is_empty() { paths } else { &there };
    for path in paths {
        // kube reads it, and says itself what cannot be opened.
        if let Err(error) = regular_file::check(path, LONGEST_KUBECONFIG)
            && error.raw_os_error().is_none()
        {
            return Err(ConnectError::Unreadable {
                origin: format!("kubeconfig {}", path.display()),
                why: regular_file::why(&error),
            });
        }
        merged = Kubeconfig::read_from(path)
            .and_then(|next| merged.merge(next))
            .map_err(|error| explain(error, origin.clone(), ""))?;
    }
    config_of(merged, context, origin, paths).await
}

fn is_missing(path: &Path) -> bool {
    std::fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Reads the text of a kubeconfig.
pub(crate) fn parse(text: &str, origin: &str) -> Result<Kubeconfig, ConnectError> {
    let parsed = Kubeconfig::from_yaml(text);
    parsed.map_err(|error| explain(error, origin.to_owned(), ""))
}

/// The kubeconfig of a server that is named by its URL.
///
/// # Errors
/// If there is no password in its file.
pub(crate) fn of_server(server: &ServerOptions) -> Result<Kubeconfig, CredentialError> {
    const NAME: &str = "server";
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let password = server.password_file.as_deref().map(read_password);
    Ok(Kubeconfig {
        clusters: vec![NamedCluster {
            name: NAME.to_owned(),
            cluster: Some(kube::config::Cluster {
                server: Some(server.url.to_string()),
                certificate_authority: server.ca_file.as_ref().map(text),
                ..kube::config::Cluster::default()
            }),
            ..NamedCluster::default()
        }],
        auth_infos: vec![NamedAuthInfo {
            name: NAME.to_owned(),
            auth_info: Some(AuthInfo {
                token_file: server.token_file.as_ref().map(text),
                username: server.username.clone(),
                password: password.transpose()?.map(Into::into),
                client_certificate: server.cert_file.as_ref().map(text),
                client_key: server.key_file.as_ref().map(text),
                ..AuthInfo::default()
            }),
            ..NamedAuthInfo::default()
        }],
        contexts: vec![NamedContext {
            name: NAME.to_owned(),
            context: Some(Context {
                cluster: NAME.to_owned(),
                user: Some(NAME.to_owned()),
                ..Context::default()
            }),
            ..NamedContext::default()
        }],
        current_context: Some(NAME.to_owned()),
        ..Kubeconfig::default()
    })
}

/// The configuration for a context of a kubeconfig, which was read from `files`.
pub(crate) async fn config_of(
    mut merged: Kubeconfig,
    context: Option<&str>,
    origin: String,
    files: &[PathBuf],
) -> Result<(Config, String), ConnectError> {
    client_go::normalize(&mut merged);
    let names: Vec<&str> = merged.contexts.iter().map(|named| named.name.as_str()).collect();
    let choice = if names.is_empty() {
        "it has no contexts at all".to_owned()
    } else {
        format!("choose one with --context: {}", names.join(", "))
    };
    let origin = match context.or(merged.current_context.as_deref()) {
        Some(context) if names.contains(&context) => format!("{origin}, context {context}"),
        _ => origin,
    };
    let options =
        KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let proxied = merged.clusters.iter().any(|named| {
        let cluster = named.cluster.as_ref();
        cluster.is_some_and(|cluster| cluster.proxy_url.is_some())
    });
    let chosen = ChosenEntries::from_context(&merged, context);
    let mut clusters = merged.clusters.iter();
    let cluster = clusters.find(|named| named.name == chosen.cluster);
    let cluster = cluster.and_then(|named| named.cluster.as_ref());
    let authority = cluster.and_then(|cluster| cluster.certificate_authority.as_deref());
    check_named("certificate-authority", authority, &origin)?;
    let config = Config::from_custom_kubeconfig(merged, &options).await;
    let mut config = config.map_err(|error| match unusable(&error, &chosen, files) {
        Some(why) => ConnectError::Unusable { origin: origin.clone(), why },
        None => explain(error, origin.clone(), &choice),
    })?;
    if has_wrong_port(&config.cluster_url) {
        let cluster = KubeconfigEntry::Cluster(&chosen.cluster).named(files);
        let why = format!("the port of the server of {cluster} is not from 1 to 65535");
        return Err(ConnectError::Unusable { origin, why });
    }
    // A proxy in the kubeconfig applies to this cluster. HTTPS_PROXY applies to everything except
    // what NO_PROXY names.
    if !proxied && is_direct(&config.cluster_url, &no_proxy()) {
        config.proxy_url = None;
    }
    config.proxy_url = config.proxy_url.map(client_go::with_scheme);
    Ok((config, origin))
}

/// The names of the entries that a context chooses.
#[derive(Default)]
struct ChosenEntries {
    context: String,
    cluster: String,
}

impl ChosenEntries {
    fn from_context(kubeconfig: &Kubeconfig, context: Option<&str>) -> Self {
        let context = context.or(kubeconfig.current_context.as_deref());
        let mut all = kubeconfig.contexts.iter();
        let Some(named) = all.find(|named| context == Some(named.name.as_str())) else {
            return Self::default();
        };
        let chosen = named.context.clone().unwrap_or_default();
        Self { context: named.name.clone(), cluster: chosen.cluster }
    }
}

/// What is wrong with an entry that the context has chosen, and where it stands.
fn unusable(error: &KubeconfigError, chosen: &ChosenEntries, files: &[PathBuf]) -> Option<String> {
    let cluster = || KubeconfigEntry::Cluster(&chosen.cluster).named(files);
    Some(match error {
        KubeconfigError::LoadClusterOfContext(_) => {
            let context = KubeconfigEntry::Context(&chosen.context).named(files);
            format!("{context} names the cluster {}, which is not there", chosen.cluster)
        }
        KubeconfigError::MissingClusterUrl => format!("{} has no server", cluster()),
        KubeconfigError::ParseClusterUrl(_) => {
            format!("the server of {} is not a URL", cluster())
        }
        KubeconfigError::LoadCertificateAuthority(_) | KubeconfigError::ParseCertificates(_) => {
            format!("{}: {}", cluster(), config_fault(error))
        }
        _ => return None,
    })
}

/// Checks the files of the client certificate and its key, which kube reads when it makes a client.
///
/// # Errors
/// If one cannot be read, or is not what a regular file of certificates can be.
pub(crate) fn check_identity(user: &AuthInfo, origin: &str) -> Result<(), ConnectError> {
    check_named("client-certificate", user.client_certificate.as_deref(), origin)?;
    check_named("client-key", user.client_key.as_deref(), origin)
}

/// Checks a file that `field` names. One that cannot be opened is left to kube: it may not be needed.
fn check_named(field: &str, file: Option<&str>, origin: &str) -> Result<(), ConnectError> {
    let Some(file) = file else { return Ok(()) };
    match regular_file::check(Path::new(file), LONGEST_KUBECONFIG) {
        Err(error) if error.raw_os_error().is_none() => Err(ConnectError::Unusable {
            origin: origin.to_owned(),
            why: format!("the file of {field} cannot be read: {}", regular_file::why(&error)),
        }),
        _ => Ok(()),
    }
}

fn explain(error: KubeconfigError, origin: String, choice: &str) -> ConnectError {
    let choice = choice.to_owned();
    match error {
        KubeconfigError::ReadConfig(why, path) => ConnectError::Unreadable {
            origin: format!("kubeconfig {}", path.display()),
            why: why.to_string(),
        },
        KubeconfigError::Parse(why) => ConnectError::Malformed { origin, why: place_of(&why) },
        KubeconfigError::LoadContext(context) => {
            ConnectError::UnknownContext { origin, context, choice }
        }
        KubeconfigError::CurrentContextNotSet => ConnectError::NoContext { origin, choice },
        other => ConnectError::Unusable { origin, why: config_fault(&other) },
    }
}

/// Where a file is not what it should be. What is wrong there is not said: the parser's message may
/// repeat the text, which may be a token.
fn place_of(error: &serde_saphyr::Error) -> String {
    match error.location() {
        Some(place) => format!(
            "line {}, column {} is not YAML, or not what has to stand there",
            place.line(),
            place.column()
        ),
        None => "it is not YAML, or not what has to stand there".to_owned(),
    }
}

/// What is wrong with a kubeconfig that could be read, in words of our own. The texts of kube contain
/// what the file says where a file name or a URL is expected, which may be a secret in the wrong place.
fn config_fault(error: &KubeconfigError) -> String {
    let text = match error {
        KubeconfigError::KindMismatch | KubeconfigError::ApiVersionMismatch => {
            "its files are of different kinds or versions"
        }
        KubeconfigError::LoadClusterOfContext(_) => "it has no cluster of the name in the context",
        KubeconfigError::MissingClusterUrl => "the cluster has no server",
        KubeconfigError::ParseClusterUrl(_) => "the server of the cluster is not a URL",
        KubeconfigError::ParseProxyUrl(_) => "the proxy (proxy-url, or HTTPS_PROXY) is not a URL",
        KubeconfigError::LoadCertificateAuthority(why) => {
            return data_fault("certificate-authority", why);
        }
        KubeconfigError::LoadClientCertificate(why) => {
            return data_fault("client-certificate", why);
        }
        KubeconfigError::LoadClientKey(why) => return data_fault("client-key", why),
        KubeconfigError::ParseCertificates(_) => {
            "certificate-authority is not a list of PEM certificates"
        }
        KubeconfigError::ParseNoProxy(_) => "NO_PROXY cannot be understood",
        _ => "it cannot be used",
    };
    text.to_owned()
}

fn data_fault(field: &str, error: &LoadDataError) -> String {
    match error {
        LoadDataError::DecodeBase64(_) => format!("{field}-data is not base64"),
        LoadDataError::ReadFile(why, _) => {
            format!("the file of {field} cannot be read: {}", why.kind())
        }
        LoadDataError::NoBase64DataOrFile => format!("it has no {field}"),
    }
}

/// Why no client can be made of a configuration, in words of our own for the same reason.
pub(crate) fn client_fault(error: &kube::Error) -> String {
    use kube::client::RustlsTlsError as Tls;
    let text = match error {
        kube::Error::InferKubeconfig(error) => return config_fault(error),
        kube::Error::RustlsTls(error) => match error {
            Tls::InvalidIdentityPem(_) => "the client certificate or its key is not PEM",
            Tls::MissingPrivateKey | Tls::UnknownPrivateKeyFormat | Tls::InvalidPrivateKey(_) => {
                "the key of the client certificate cannot be used: it must be PKCS#8, PKCS#1 or SEC1, \
                 and belong to the certificate"
            }
            Tls::MissingCertificate => "there is a client key without a certificate",
            Tls::AddRootCertificate(_) => {
                "certificate-authority holds no certificate that can be used"
            }
            Tls::NoValidNativeRootCA(_) => {
                "this machine has no root certificates; set certificate-authority-data"
            }
            Tls::InvalidServerName(_) => "tls-server-name is not a name of a server",
        },
        kube::Error::ProxyProtocolUnsupported { .. }
        | kube::Error::ProxyProtocolDisabled { .. } => {
            "the protocol of the proxy is not supported; use http, https or socks5"
        }
        kube::Error::HttpError(_) => {
            "the account to act as (as, as-groups) cannot stand in a header"
        }
        _ => "no client can be made of it",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn files_of_a_list_that_do_not_exist_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let text = "current-context: x\nclusters:\n- {name: c, cluster: {server: \"http://127.0.0.1:1\"}}\n\
            contexts:\n- {name: x, context: {cluster: c, user: u}}\n";
        std::fs::write(path("a"), text).unwrap();
        for list in [["a", "none"], ["none", "a"]] {
            let files = ConfigSource::Files(list.map(path).to_vec(), String::new());
            let (config, _) = files.load(None).await.unwrap();
            assert_eq!(config.cluster_url.host(), Some("127.0.0.1"), "{list:?}");
        }
        for list in [vec!["none"], vec!["none", "gone"]] {
            let files = ConfigSource::Files(list.into_iter().map(path).collect(), String::new());
            let error = files.load(None).await.unwrap_err().to_string();
            assert!(error.contains("none cannot be read: No such file"), "{error}");
        }
    }

    #[test]
    fn sources_are_tried_in_kubectls_order() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().to_owned();
        let locate = |kubeconfig: Option<&str>, context: Option<&str>, variable: Option<&str>| {
            let options = ClusterOptions {
                kubeconfig: kubeconfig.map(PathBuf::from),
                context: context.map(str::to_owned),
            };
            ConfigSource::locate(&options, variable.map(OsString::from), Some(home.clone()))
        };
        let files = |source: ConfigSource| match source {
            ConfigSource::Files(paths, _) => paths,
            ConfigSource::ServiceAccount(_) => Vec::new(),
        };
        let default = home.join(".kube").join("config");
        assert_eq!(files(locate(Some("k"), None, Some("e"))), [Path::new("k")]);
        assert_eq!(files(locate(None, None, Some("e:f:"))), [Path::new("e"), Path::new("f")]);
        assert_eq!(locate(None, None, None), ConfigSource::ServiceAccount(default.clone()));
        let chosen = files(locate(None, Some("x"), Some("")));
        assert_eq!(chosen, std::slice::from_ref(&default));
        std::fs::create_dir(home.join(".kube")).unwrap();
        std::fs::write(&default, "").unwrap();
        assert_eq!(files(locate(None, None, Some(":"))), [default]);
    }
}
