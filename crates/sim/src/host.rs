//! The names under which the API server answers: those of loopback, where it listens.
//!
//! A page of any site can point its own name at this machine, and read what answers there (DNS rebinding). The browser
//! then sends the name of that site as `Host`.

use std::net::IpAddr;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Uri};

use super::status::StatusFailure;

/// Passes a request on that names loopback, or no host: every browser names one.
pub(super) async fn guard(request: Request, next: Next) -> Response {
    match is_own(request.uri(), request.headers()) {
        true => next.run(request).await,
        false => StatusFailure::foreign_host().into_response(),
    }
}

fn is_own(target: &Uri, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    target.authority().is_none_or(is_loopback)
        && hosts
            .all(|host| Authority::try_from(host.as_bytes()).is_ok_and(|host| is_loopback(&host)))
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = |address: IpAddr| address.to_canonical().is_loopback();
    host.eq_ignore_ascii_case("localhost") || address.parse().is_ok_and(is_loopback)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_the_names_of_loopback_are_its_own() {
        let is_own = |host: &'static str| {
            let host = HeaderValue::from_static(host);
            is_own(&Uri::from_static("/api"), &HeaderMap::from_iter([(HOST, host)]))
        };
        for own in ["127.0.0.1:4711", "localhost", "LOCALHOST:1", "[::1]:80", "[::ffff:127.0.0.1]"]
        {
            assert!(is_own(own), "{own}");
        }
        for foreign in
            ["evil.example", "evil.example:4711", "localhost.evil.example", "10.0.0.1", "", "a b"]
        {
            assert!(!is_own(foreign), "{foreign}");
        }
    }

    #[test]
    fn every_place_that_names_a_host_counts() {
        let mut headers = HeaderMap::new();
        assert!(is_own(&Uri::from_static("/"), &headers));
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert!(!is_own(&Uri::from_static("http://evil.example/"), &headers));
        headers.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_own(&Uri::from_static("/"), &headers));
    }
}
