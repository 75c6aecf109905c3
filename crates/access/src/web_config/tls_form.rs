//! `tls_server_config` as it is written.

use serde::Deserialize;
use serde_saphyr::Spanned;

use podinit_config::yaml::SpecifiedSetting;

/// Names, files and PEM.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TlsForm {
    pub(super) cert: SpecifiedSetting<Spanned<String>>,
    pub(super) key: SpecifiedSetting<Spanned<String>>,
    pub(super) client_ca: SpecifiedSetting<Spanned<String>>,
    pub(super) cert_file: SpecifiedSetting<Spanned<String>>,
    pub(super) key_file: SpecifiedSetting<Spanned<String>>,
    pub(super) client_auth_type: SpecifiedSetting<Spanned<String>>,
    pub(super) client_ca_file: SpecifiedSetting<Spanned<String>>,
    pub(super) client_allowed_sans: SpecifiedSetting<Spanned<Vec<Box<str>>>>,
    pub(super) min_version: SpecifiedSetting<Spanned<String>>,
    pub(super) max_version: SpecifiedSetting<Spanned<String>>,
    pub(super) cipher_suites: SpecifiedSetting<Vec<Spanned<String>>>,
    pub(super) prefer_server_cipher_suites: SpecifiedSetting<bool>,
    pub(super) curve_preferences: SpecifiedSetting<Vec<Spanned<String>>>,
}
