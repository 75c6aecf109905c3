//! What a credential plugin prints: an `ExecCredential` of `client.authentication.k8s.io`.

use std::fmt;

use http::HeaderValue;
use jiff::Timestamp;
use serde::Deserialize;

use super::{CredentialError, bearer};

/// The credential that a plugin printed.
#[derive(Clone, PartialEq, Eq)]
pub struct PluginCredential {
    /// The header `Authorization`, where there is a token
    pub(crate) token: Option<HeaderValue>,
    /// A certificate and its key, as PEM
    pub(crate) identity: Option<(String, String)>,
    /// When it is no longer valid
    pub(crate) expires: Option<Timestamp>,
}

impl fmt::Debug for PluginCredential {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginCredential")
            .field("has_token", &self.token.is_some())
            .field("has_identity", &self.identity.is_some())
            .field("expires", &self.expires)
            .finish()
    }
}

#[derive(Deserialize)]
struct ExecCredential {
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// Reads the output of a plugin, JSON or YAML.
///
/// # Errors
/// Where it holds no credential. The errors repeat nothing of it.
pub fn parse(output: &[u8]) -> Result<PluginCredential, CredentialError> {
    let parsed: Result<ExecCredential, _> = serde_saphyr::from_slice(output);
    let parsed = parsed.map_err(|_| CredentialError::PluginOutputMalformed)?;
    let without = CredentialError::PluginOutputWithoutCredential;
    let status = parsed.status.ok_or_else(|| without.clone())?;
    let expires = status.expiration_timestamp.map(|text| text.parse());
    let expires = expires.transpose();
    let expires = expires.map_err(|_| CredentialError::ExpiryMalformed)?;
    let token = status.token.filter(|token| !token.is_empty());
    let token = token.map(|token| bearer(&token)).transpose()?;
    let identity = status.client_certificate_data.zip(status.client_key_data);
    if token.is_none() && identity.is_none() {
        return Err(without);
    }
    Ok(PluginCredential { token, identity, expires })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn tokens_and_certificates_are_read_from_json_and_yaml() {
        let json = br#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
            "status":{"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"}}"#;
        let read = parse(json).unwrap();
        assert_eq!(read.token.unwrap(), "Bearer t");
        assert_eq!(read.expires.unwrap().as_second(), 1_893_456_000);
        let yaml = b"status:\n  clientCertificateData: c\n  clientKeyData: k\n";
        let read = parse(yaml).unwrap();
        assert_eq!(read.identity, Some(("c".to_owned(), "k".to_owned())));
        assert_eq!(read.token, None);
    }

    #[test]
    fn nothing_of_an_output_is_repeated() {
        for output in [
            "c4n4ry",
            "c4n4ry\n",
            r#"{"status":{"token":"c4n4ry"#,
            r#"{"status":{"token":"c4n4ry"}}{"status":{"token":"c4n4ry"}}"#,
            "---\nstatus: {token: c4n4ry}\n---\nstatus: {token: c4n4ry}\n",
            r#"{"status":"c4n4ry"}"#,
            r#"{"c4n4ry":"c4n4ry"}"#,
            r#"{"status":{"token":["c4n4ry"]}}"#,
            r#"{"status":{"token":"c4n4ry\n"}}"#,
            r#"{"status":{"expirationTimestamp":"c4n4ry","token":"c4n4ry"}}"#,
            r#"{"status":{"clientKeyData":"c4n4ry"}}"#,
        ] {
            let error = parse(output.as_bytes()).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("c4n4ry"), "{output}: {error}");
        }
        let read = parse(br#"{"status":{"token":"c4n4ry"}}"#).unwrap();
        assert!(!format!("{read:?}").contains("c4n4ry"), "{read:?}");
    }
}
