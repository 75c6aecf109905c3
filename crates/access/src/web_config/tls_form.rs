//! `tls_server_config` as it is written.

use serde::Deserialize;
use serde_saphyr::Spanned;

use podinit_config::yaml::Given;

/// Names, files and PEM.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TlsForm {
    pub(super) cert: Given<Spanned<String>>,
    pub(super) key: Given<Spanned<String>>,
    pub(super) client_ca: Given<Spanned<String>>,
    pub(super) cert_file: Given<Spanned<String>>,
    pub(super) key_file: Given<Spanned<String>>,
    pub(super) client_auth_type: Given<Spanned<String>>,
    pub(super) client_ca_file: Given<Spanned<String>>,
    pub(super) client_allowed_sans: Given<Spanned<Vec<Box<str>>>>,
    pub(super) min_version: Given<Spanned<String>>,
    pub(super) max_version: Given<Spanned<String>>,
    pub(super) cipher_suites: Given<Vec<Spanned<String>>>,
    pub(super) prefer_server_cipher_suites: Given<bool>,
    pub(super) curve_preferences: Given<Vec<Spanned<String>>>,
}
