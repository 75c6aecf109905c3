//! Credentials that have to be obtained: from the file of a token, which may be rotated, or of a password,
//! or from a credential plugin (`exec` in a kubeconfig). The client of kube gets only what needs no obtaining.
//!
//! kube could do all of it. But it repeats the output of a plugin in its errors, waits for a plugin
//! without end, and sends the newline at the end of a token file, which makes the header invalid.
//!
//! No text that comes from such a source is ever part of an error.

mod password_file;
mod plugin;
pub mod plugin_output;
pub mod token_file;

use std::time::Duration;

use http::HeaderValue;
use kube::config::{AuthInfo, ExecConfig};

pub(crate) use password_file::read_password;
use plugin::PluginNotStarted;
pub(crate) use plugin::{check_installed, run};
pub(crate) use token_file::{TokenFile, authorized};

/// Why there are no credentials; one line without anything of their source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// The token file does not exist or may not be read
    #[error("the token file cannot be read: {0}")]
    TokenFileUnreadable(String),
    /// The token file holds nothing but white space
    #[error("the token file is empty")]
    TokenFileEmpty,
    /// A token that no header can hold
    #[error("the token is not one line of printable characters")]
    TokenMalformed,
    /// The file of a password does not exist or may not be read
    #[error("the password file cannot be read: {0}")]
    PasswordFileUnreadable(String),
    /// The file of a password holds nothing but white space
    #[error("the password file is empty")]
    PasswordFileEmpty,
    /// A password that is no text
    #[error("the password is not UTF-8 text")]
    PasswordMalformed,
    /// The kubeconfig asks for a way to authenticate that Kubernetes has removed
    #[error(
        "users[].user.auth-provider is not supported; use a credential plugin (users[].user.exec), \
         as kubectl does since 1.26"
    )]
    AuthProvider,
    /// There is no such program, or it may not be run
    #[error("{0}")]
    PluginNotStarted(#[from] PluginNotStarted),
    /// It ended with another status than 0
    #[error("the credential plugin failed ({0}); run it by hand to see why")]
    PluginFailed(String),
    /// It did not end in time
    #[error("the credential plugin did not end within {} s and was killed", .0.as_secs())]
    PluginHung(Duration),
    /// It printed too much
    #[error("the credential plugin printed more than {0} bytes")]
    PluginOutputTooLong(usize),
    /// It printed something else
    #[error("the credential plugin did not print one ExecCredential, as JSON or YAML")]
    PluginOutputMalformed,
    /// It printed no credential
    #[error(
        "the credential plugin printed an ExecCredential without status.token and without \
         status.clientCertificateData and clientKeyData"
    )]
    PluginOutputWithoutCredential,
    /// Its expiry is not a time
    #[error("the credential plugin printed an expirationTimestamp that is not in RFC 3339")]
    ExpiryMalformed,
}

/// Where the credentials of a user come from, apart from what kube takes from the configuration as it is
/// (user and password, client certificates).
pub(crate) enum CredentialSource {
    Configured,
    Token(HeaderValue),
    TokenFile(String),
    Plugin(Box<ExecConfig>),
}

impl CredentialSource {
    /// Takes the source out of `user`, so that kube does not obtain the credentials itself. The order
    /// is that of kube: user and password, token, token file, plugin.
    ///
    /// # Errors
    /// Where the configuration cannot work.
    pub(crate) fn take(user: &mut AuthInfo) -> Result<Self, CredentialError> {
        let token = inline_token(user);
        user.token = None;
        let (token_file, exec) = (user.token_file.take(), user.exec.take());
        if let Some(provider) = user.auth_provider.take() {
            let id_token = provider.config.get("id-token");
            let id_token = id_token.filter(|_| provider.name == "oidc");
            let id_token = id_token.ok_or(CredentialError::AuthProvider)?;
            return bearer(id_token).map(Self::Token);
        }
        if user.username.is_some() && user.password.is_some() {
            return Ok(Self::Configured);
        }
        match (token, token_file, exec) {
            (Some(token), _, _) => bearer(&token).map(Self::Token),
            (None, Some(file), _) => Ok(Self::TokenFile(file)),
            (None, None, Some(exec)) => Ok(Self::Plugin(Box::new(exec))),
            (None, None, None) => Ok(Self::Configured),
        }
    }
}

/// The token that stands in the kubeconfig. kube gives it out only in its saved form.
fn inline_token(user: &AuthInfo) -> Option<String> {
    user.token.as_ref()?;
    let saved = serde_json::to_value(user).ok()?;
    saved.get("token")?.as_str().map(str::to_owned)
}

/// The header `Authorization` for a bearer token.
fn bearer(token: &str) -> Result<HeaderValue, CredentialError> {
    let header = HeaderValue::try_from(format!("Bearer {token}"));
    let mut header = header.map_err(|_| CredentialError::TokenMalformed)?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn user(yaml: &str) -> AuthInfo {
        serde_saphyr::from_str(yaml).unwrap()
    }

    #[test]
    fn sources_have_the_order_of_kube_and_are_taken_out() {
        let all = "{token: a, tokenFile: b, exec: {command: c}}";
        let mut user_of_all = user(all);
        let source = CredentialSource::take(&mut user_of_all);
        assert!(matches!(source, Ok(CredentialSource::Token(token)) if token == "Bearer a"));
        assert!(user_of_all.token.is_none() && user_of_all.exec.is_none());
        for (yaml, expected) in [
            ("{tokenFile: b, exec: {command: c}}", "file"),
            ("{exec: {command: c}}", "plugin"),
            ("{username: u, password: p, exec: {command: c}}", "configured"),
            ("{client-certificate: c, client-key: k}", "configured"),
            ("{auth-provider: {name: oidc, config: {id-token: t}}}", "token"),
        ] {
            let source =
                match CredentialSource::take(&mut user(yaml)).unwrap_or_else(|e| panic!("{e}")) {
                    CredentialSource::Configured => "configured",
                    CredentialSource::Token(_) => "token",
                    CredentialSource::TokenFile(_) => "file",
                    CredentialSource::Plugin(_) => "plugin",
                };
            assert_eq!(source, expected, "{yaml}");
        }
    }

    #[test]
    fn what_cannot_work_is_refused_without_repeating_it() {
        let provider = "{auth-provider: {name: gcp, config: {cmd-path: x, access-token: secret}}}";
        for (yaml, expected) in [
            (provider, CredentialError::AuthProvider),
            (r#"{token: "sec\nret"}"#, CredentialError::TokenMalformed),
        ] {
            let error = CredentialSource::take(&mut user(yaml)).err().unwrap();
            assert_eq!(error, expected);
            assert!(!error.to_string().contains("sec"), "{error}");
        }
    }
}
