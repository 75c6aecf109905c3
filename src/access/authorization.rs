//! The header `Authorization` of a request.

use http::HeaderValue;

/// The credentials of `Authorization: SCHEME credentials`; `None` for another scheme.
pub(super) fn credentials<'a>(authorization: &'a HeaderValue, scheme: &str) -> Option<&'a [u8]> {
    let (found, rest) = authorization.as_bytes().split_at_checked(scheme.len())?;
    let rest = found
        .eq_ignore_ascii_case(scheme.as_bytes())
        .then_some(rest)?;
    let credentials = rest.strip_prefix(b" ")?.trim_ascii();
    (!credentials.is_empty()).then_some(credentials)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_is_compared_without_case_and_credentials_are_trimmed() {
        let of = |text: &'static str| {
            let header = HeaderValue::from_static(text);
            credentials(&header, "Bearer").map(<[u8]>::to_vec)
        };
        assert_eq!(of("Bearer token"), Some(b"token".to_vec()));
        assert_eq!(of("bEARER   token "), Some(b"token".to_vec()));
        for none in ["", "Bearer", "Bearer ", "Bearertoken", "Basic token"] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}
