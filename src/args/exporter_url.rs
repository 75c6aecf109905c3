//! `--url` of the commands that ask a running exporter.

use http::Uri;

/// An absolute URL of HTTP or HTTPS, without a query.
pub(super) fn parse_url(text: &str) -> Result<Uri, &'static str> {
    const EXPECTED: &str = "expected the URL of a running podinit, such as http://localhost:8080";
    let url: Uri = text.parse().map_err(|_| EXPECTED)?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    let has_host = url.host().is_some_and(|host| !host.is_empty());
    match is_http && has_host && url.query().is_none() {
        true => Ok(url),
        false => Err(EXPECTED),
    }
}
