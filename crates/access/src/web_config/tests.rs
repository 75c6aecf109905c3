#![allow(clippy::unwrap_used)]

use rcgen::{CertificateParams, KeyPair};
use tempfile::TempDir;

use super::users::MAX_COST;
use super::*;

/// A hash of cost 4, of the password "right".
const HASH: &str = "$2y$04$Y6Rg8Bp6xC9Qq3y4nbPr1uHX1wJ5xqZkq6zK0fVYxMZzKpJ3X9xqe";

/// A directory with a certificate, its key, and the key of another.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).unwrap();
        };
        let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        write("tls.crt", &params.self_signed(&key).unwrap().pem());
        write("tls.key", &key.serialize_pem());
        write("other.key", &other.serialize_pem());
        write("empty.pem", "");
        Self(directory)
    }

    fn read(&self, text: &str) -> Result<WebConfig, String> {
        let path = self.0.path().join("web.yaml");
        std::fs::write(&path, text).unwrap();
        let prefix = format!("{}:", path.display());
        let read = WebConfig::inspect(&path).result.map_err(|error| error.to_string());
        read.map_err(|error| error.strip_prefix(&prefix).unwrap().to_owned())
    }

    /// TLS with further lines.
    fn tls(&self, more: &str) -> Result<ServerTls, String> {
        let lines = more.lines().map(|line| format!("\n  {line}"));
        let text = format!(
            "tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key{}",
            lines.collect::<String>()
        );
        self.read(&text).map(|config| config.tls.unwrap())
    }
}

#[test]
fn every_key_is_read() {
    let files = Files::new();
    let config = files
        .read(&format!(
            "tls_server_config:
  cert_file: tls.crt
  key_file: tls.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: tls.crt
  client_allowed_sans: [prometheus.example, 10.0.0.1]
  min_version: TLS12
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]
  prefer_server_cipher_suites: false
  curve_preferences: [X25519, CurveP256]
http_server_config:
  http2: false
  headers:
    Content-Security-Policy: default-src 'none'
    X-Frame-Options: sameorigin
    X-Content-Type-Options: nosniff
    X-XSS-Protection: ''
    Strict-Transport-Security: max-age=31536000
basic_auth_users:
  alice: {HASH}
rate_limit:
  interval: 500ms
  burst: 20
"
        ))
        .unwrap();
    let tls = config.tls.unwrap();
    assert!(tls.requires_certificate);
    assert!(!tls.config.ignore_client_order);
    assert_eq!(tls.config.alpn_protocols, [b"http/1.1"]);
    let suites = &tls.config.crypto_provider().cipher_suites;
    // The three of TLS 1.3 and the one that is named.
    assert_eq!(suites.len(), 4);
    assert_eq!(tls.config.crypto_provider().kx_groups.len(), 2);
    assert_eq!(config.users.hash_of("alice"), Some((HASH, 4)));
    assert_eq!(config.users.hash_of("bob"), None);
    assert_eq!(config.users.cost(), 4);
    let headers = config.headers.iter();
    let headers: Vec<_> =
        headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    assert_eq!(
        headers,
        [
            "content-security-policy: default-src 'none'",
            "x-frame-options: sameorigin",
            "x-content-type-options: nosniff",
            "strict-transport-security: max-age=31536000",
        ]
    );
    let limit = RateLimit { interval: std::time::Duration::from_millis(500), burst: 20 };
    assert_eq!(config.rate_limit, Some(limit));
}

#[test]
fn every_key_is_optional() {
    let files = Files::new();
    let config = files.read("{}").unwrap();
    assert!(config.tls.is_none() && config.users.is_empty() && config.headers.is_empty());
    assert!(files.read("basic_auth_users: {}").unwrap().users.is_empty());
    for off in ["{interval: 0, burst: 1}", "{interval: 0s}", "{interval: '0'}"] {
        let config = files.read(&format!("rate_limit: {off}")).unwrap();
        assert_eq!(config.rate_limit, None);
    }
}

#[test]
fn certificates_and_keys_may_be_inline() {
    let files = Files::new();
    let indented = |name: &str| {
        let text = std::fs::read_to_string(files.0.path().join(name)).unwrap();
        text.replace('\n', "\n    ")
    };
    let (cert, key) = (indented("tls.crt"), indented("tls.key"));
    let text = format!(
        "tls_server_config:\n  cert: |\n    {cert}\n  key: |\n    {key}\n  client_ca: |\n    {cert}\n  \
         client_auth_type: VerifyClientCertIfGiven"
    );
    let tls = files.read(&text).unwrap().tls.unwrap();
    assert!(!tls.requires_certificate);
}

#[test]
fn an_error_names_its_line_and_key() {
    let files = Files::new();
    let needs_hash = "2:9: this user has no bcrypt hash";
    for (text, told) in [
        ("", " is empty; write {}"),
        ("# nothing", " is empty; write {}"),
        ("- a", "1:1: must be a map"),
        ("tls_serverconfig: {}", "1:1: unknown key; did you mean tls_server_config?"),
        ("a: {}", "1:1: unknown key; known are tls_server_config, "),
        ("tls_server_config:", "1:18: the value is empty"),
        ("tls_server_config: {key_file: tls.key}", "1:20: cert_file is missing"),
        ("tls_server_config: {cert_file: tls.crt}", "1:20: key_file is missing"),
        (
            "tls_server_config:\n cert_file: none.crt\n key_file: tls.key",
            "2:13: the file of cert_file cannot be read: No such file",
        ),
        (
            "tls_server_config:\n cert_file: empty.pem\n key_file: tls.key",
            "2:13: has no certificate in PEM",
        ),
        (
            "tls_server_config:\n cert_file: tls.crt\n key_file: tls.crt",
            "3:12: has no private key in PEM",
        ),
        (
            "tls_server_config:\n cert_file: tls.crt\n key_file: other.key",
            "2:2: the key does not belong to the certificate",
        ),
        (
            "tls_server_config:\n cert: x\n cert_file: tls.crt\n key_file: tls.key",
            "3:13: cert_file cannot be combined with cert; keep one",
        ),
        (
            "http_server_config:\n http2: true",
            "2:9: http2 is not supported: podinit speaks HTTP/1.1",
        ),
        (
            "http_server_config:\n headers:\n  X-Frame-Options: allow",
            "3:20: must be deny or sameorigin",
        ),
        (
            "http_server_config:\n headers:\n  X-Custom: a",
            "3:3: unknown key; known are Content-Security-Policy",
        ),
        ("basic_auth_users:", "1:17: the value is empty"),
        ("basic_auth_users: []", "1:19: must be a map"),
        ("basic_auth_users:\n alice: hunter2", needs_hash),
        ("basic_auth_users:\n alice: 12345", needs_hash),
        ("basic_auth_users:\n alice: $2y$99$x", needs_hash),
        ("basic_auth_users:\n 'a:b': x", "2:2: the name of this user has a colon"),
        ("rate_limit: {burst: 1}", "1:14: interval is missing"),
        ("rate_limit: {interval: 1, burst: 1}", "1:24: interval must be a duration"),
        ("rate_limit: {interval: 1s}", "1:13: rate_limit needs a burst of at least 1"),
        ("rate_limit: {interval: 1s, burst: 1.5}", "1:35: must be a whole number"),
        ("rate_limit: {interval: 1s, burst: 1000001}", "1:35: burst must be a whole number from"),
        ("a: 1\n---\nb: 2", "1:1: unknown key"),
        ("rate_limit: {interval: 0}\n---\nb: 2", "3:1: has a second YAML document"),
    ] {
        let error = files.read(text).unwrap_err();
        assert!(error.contains(told), "{text:?}: {error}");
        assert_eq!(error.lines().count(), 1);
        assert!(!error.contains("hunter2"));
    }
    for (cost, is_accepted) in [(MAX_COST, true), (MAX_COST + 1, false)] {
        let hash = HASH.replace("$04$", &format!("${cost}$"));
        match files.read(&format!("basic_auth_users:\n alice: {hash}")) {
            Ok(_) => assert!(is_accepted),
            Err(error) => {
                assert_eq!(
                    error,
                    "2:9: this hash has a cost above 16, so that a check takes too long"
                );
            }
        }
    }
}

#[test]
fn impossible_tls_settings_are_refused() {
    let files = Files::new();
    for (more, told) in [
        ("min_version: TLS11", "4:16: is not supported; supported are TLS12, TLS13"),
        ("min_version: TLS13\nmax_version: TLS12", "min_version is above max_version"),
        (
            "cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]",
            "4:19: is not supported; supported are TLS_AES",
        ),
        ("curve_preferences: [CurveP521]", "4:23: is not supported; supported are CurveP256"),
        ("curve_preferences: X25519", "4:22: must be a list"),
        ("client_auth_type: Always", "4:21: is not supported; supported are NoClientCert"),
        ("client_auth_type: VerifyClientCertIfGiven", "client_auth_type needs client_ca_file"),
        ("client_ca_file: tls.crt", "client_ca_file has no effect without a client_auth_type"),
        (
            "client_auth_type: RequireAnyClientCert\nclient_ca_file: empty.pem",
            "5:19: has no certificate",
        ),
        (
            "client_allowed_sans: [a]",
            "client_allowed_sans needs client_auth_type RequireAnyClientCert",
        ),
        (
            "client_auth_type: RequireAnyClientCert\nclient_allowed_sans: []",
            "client_allowed_sans must have from 1 to 256 items",
        ),
        ("prefer_server_cipher_suites: 1", "4:32: must be true or false"),
    ] {
        let error = files.tls(more).unwrap_err();
        assert!(error.contains(told), "{more:?}: {error}");
    }
}

#[test]
fn every_supported_name_can_be_used() {
    let files = Files::new();
    for (name, _) in tls_names::CIPHER_SUITES {
        files.tls(&format!("cipher_suites: [{name}]")).unwrap();
    }
    for (name, _) in tls_names::CURVES {
        files.tls(&format!("curve_preferences: [{name}]")).unwrap();
    }
    for (name, _) in tls_names::VERSIONS {
        files.tls(&format!("min_version: {name}\nmax_version: {name}")).unwrap();
    }
}

#[test]
fn the_files_that_are_named_are_inspected_too() {
    let files = Files::new();
    files.tls("").unwrap();
    let path = files.0.path().join("web.yaml");
    let before = WebConfig::inspect(&path).files;
    assert_eq!(before.len(), 3);
    assert_eq!(WebConfig::inspect(&path).files, before);
    std::fs::copy(files.0.path().join("other.key"), files.0.path().join("tls.key")).unwrap();
    let after = WebConfig::inspect(&path);
    assert_ne!(after.files, before);
    assert!(after.result.is_err());
}

#[test]
fn protection_is_not_removed() {
    let files = Files::new();
    let tls = "tls_server_config: {cert_file: tls.crt, key_file: tls.key}";
    let strict = "tls_server_config: {cert_file: tls.crt, key_file: tls.key, \
                  client_auth_type: RequireAnyClientCert}";
    let users = format!("basic_auth_users: {{alice: {HASH}}}");
    let may = |one: &str, other: &str| {
        let (one, other) = (files.read(one).unwrap(), files.read(other).unwrap());
        one.may_become(&other)
    };
    assert_eq!(may(tls, tls), Ok(()));
    assert_eq!(may(tls, strict), Ok(()));
    assert_eq!(may("{}", &users), Ok(()));
    assert!(may(tls, "{}").unwrap_err().contains("TLS cannot be turned on or off"));
    assert!(may("{}", tls).unwrap_err().contains("TLS cannot be turned on or off"));
    assert!(may(strict, tls).unwrap_err().contains("client certificates"));
    assert!(may(&users, "{}").unwrap_err().contains("basic_auth_users cannot be removed"));
}
