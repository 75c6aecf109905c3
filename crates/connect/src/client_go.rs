//! What client-go reads in a kubeconfig and kube does not, so that a kubeconfig that works with kubectl works here:
//! base64 that is wrapped over lines, and a server or a proxy without a scheme.

use http::Uri;
use http::uri::Scheme;
use kube::config::{AuthInfo, Cluster, Kubeconfig};

/// Writes the entries as kube reads them.
pub(crate) fn normalize(kubeconfig: &mut Kubeconfig) {
    for user in &mut kubeconfig.auth_infos {
        if let Some(user) = &mut user.auth_info {
            unwrap_identity(user);
        }
    }
    // Whether a server speaks TLS, client-go tells by the cluster and by the user who goes there.
    let with_certificate: Vec<String> = (kubeconfig.contexts.iter())
        .filter_map(|named| named.context.as_ref())
        .filter(|context| {
            let mut users = kubeconfig.auth_infos.iter();
            let user = users.find(|user| Some(&user.name) == context.user.as_ref());
            let user = user.and_then(|user| user.auth_info.as_ref());
            user.is_some_and(has_certificate)
        })
        .map(|context| context.cluster.clone())
        .collect();
    for named in &mut kubeconfig.clusters {
        if let Some(cluster) = &mut named.cluster {
            unwrap_base64(&mut cluster.certificate_authority_data);
            let has_certificate = with_certificate.contains(&named.name);
            add_scheme(cluster, has_certificate);
        }
    }
}

/// The proxy with a scheme: `http` where it has none (golang.org/x/net/http/httpproxy, `parseProxy`).
pub(crate) fn with_scheme(proxy: Uri) -> Uri {
    if proxy.scheme().is_some() {
        return proxy;
    }
    let text = format!("http://{proxy}");
    text.parse().unwrap_or(proxy)
}

/// A server without a scheme speaks TLS if there is anything of TLS in the configuration (client-go, `DefaultServerURL`).
fn add_scheme(cluster: &mut Cluster, has_certificate: bool) {
    let Some(server) = &mut cluster.server else {
        return;
    };
    let has_scheme = server.parse::<Uri>().is_ok_and(|uri| uri.scheme().is_some());
    if has_scheme || server.is_empty() || server.contains("://") {
        return;
    }
    let has_tls = has_certificate
        || cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some()
        || cluster.insecure_skip_tls_verify == Some(true);
    let scheme = if has_tls { Scheme::HTTPS } else { Scheme::HTTP };
    *server = format!("{scheme}://{server}");
}

fn has_certificate(user: &AuthInfo) -> bool {
    user.client_certificate.is_some() || user.client_certificate_data.is_some()
}

fn unwrap_identity(user: &mut AuthInfo) {
    unwrap_base64(&mut user.client_certificate_data);
    // kube gives the key out only in its saved form.
    let saved = user.client_key_data.as_ref().and_then(|_| serde_json::to_value(&*user).ok());
    let mut key = saved.and_then(|saved| Some(saved.get("client-key-data")?.as_str()?.to_owned()));
    if key.as_ref().is_some_and(|key| key.contains(is_line_end)) {
        unwrap_base64(&mut key);
        user.client_key_data = key.map(Into::into);
    }
}

/// Go's decoder ignores the ends of lines.
fn unwrap_base64(data: &mut Option<String>) {
    if let Some(text) = data {
        text.retain(|character| !is_line_end(character));
    }
}

const fn is_line_end(character: char) -> bool {
    matches!(character, '\r' | '\n')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn normalized(cluster: &str, user: &str) -> Kubeconfig {
        let yaml = format!(
            "clusters:\n- {{name: c, cluster: {cluster}}}\nusers:\n- {{name: u, user: {user}}}\n\
             contexts:\n- {{name: x, context: {{cluster: c, user: u}}}}\n"
        );
        let mut kubeconfig = Kubeconfig::from_yaml(&yaml).unwrap();
        normalize(&mut kubeconfig);
        kubeconfig
    }

    fn server(cluster: &str, user: &str) -> String {
        let kubeconfig = normalized(cluster, user);
        kubeconfig.clusters[0].cluster.as_ref().unwrap().server.clone().unwrap()
    }

    #[test]
    fn a_server_without_a_scheme_speaks_tls_if_anything_of_tls_is_configured() {
        for (cluster, user, expected) in [
            (r#"{server: "127.0.0.1:6443"}"#, "{}", "http://127.0.0.1:6443"),
            (r#"{server: "api.example"}"#, "{token: t}", "http://api.example"),
            (
                r#"{server: "[::1]:6443", insecure-skip-tls-verify: true}"#,
                "{}",
                "https://[::1]:6443",
            ),
            (
                r#"{server: "api:6443", certificate-authority-data: "YQ=="}"#,
                "{}",
                "https://api:6443",
            ),
            (r#"{server: "api:6443", certificate-authority: ca}"#, "{}", "https://api:6443"),
            (
                r#"{server: "api:6443"}"#,
                "{client-certificate: c, client-key: k}",
                "https://api:6443",
            ),
            (r#"{server: "https://api:6443/k8s"}"#, "{}", "https://api:6443/k8s"),
            (r#"{server: "http://api", certificate-authority: ca}"#, "{}", "http://api"),
        ] {
            assert_eq!(server(cluster, user), expected, "{cluster} {user}");
        }
    }

    #[test]
    fn base64_may_be_wrapped_over_lines() {
        let kubeconfig = normalized(
            r#"{server: "https://api", certificate-authority-data: "YWJj\nZGVm\r\n"}"#,
            r#"{client-certificate-data: "YQ\n==\n", client-key-data: "Yg\n==\n"}"#,
        );
        let cluster = kubeconfig.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.certificate_authority_data.as_deref(), Some("YWJjZGVm"));
        let user = kubeconfig.auth_infos[0].auth_info.as_ref().unwrap();
        assert_eq!(user.client_certificate_data.as_deref(), Some("YQ=="));
        let saved = serde_json::to_value(user).unwrap();
        assert_eq!(saved["client-key-data"], "Yg==");
    }

    #[test]
    fn a_proxy_without_a_scheme_speaks_http() {
        for (proxy, expected) in [
            ("proxy.example:3128", "http://proxy.example:3128/"),
            ("127.0.0.1:3128", "http://127.0.0.1:3128/"),
            ("https://proxy.example", "https://proxy.example/"),
            ("socks5://proxy.example:1080", "socks5://proxy.example:1080/"),
        ] {
            assert_eq!(with_scheme(proxy.parse().unwrap()).to_string(), expected);
        }
    }
}
