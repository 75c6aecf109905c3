//! URLs of HTTP servers.

use http::Uri;

/// An absolute URL of HTTP or HTTPS, without a query; otherwise `expected`.
pub(super) fn parse_http_url(text: &str, expected: &'static str) -> Result<Uri, &'static str> {
    let url: Uri = text.parse().map_err(|_| expected)?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    let has_host = url.host().is_some_and(|host| !host.is_empty());
    match is_http && has_host && url.query().is_none() {
        true => Ok(url),
        false => Err(expected),
    }
}
