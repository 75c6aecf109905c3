//! What rustls and hyper say of a connection whose ends do not fit together, as a person would say it. Both lose the
//! types of such errors on the way, so that only their words tell them.

/// What rustls or hyper says, and what it means.
const MEANINGS: [(&str, &str); 7] = [
    (
        "CaUsedAsEndEntity",
        "the server shows the certificate of a CA as its own: give it one that this CA has signed",
    ),
    ("UnknownIssuer", "no CA that is trusted here has signed the server's certificate"),
    ("certificate not valid for name", "the server's certificate is for other names"),
    ("certificate expired", "the server's certificate has expired"),
    ("certificate not valid yet", "the server's certificate is not valid yet"),
    (
        "InvalidContentType",
        "the server does not speak TLS: the URL says https, and the port is one of http",
    ),
    (
        "invalid HTTP version parsed",
        "the server does not speak HTTP: the URL says http, and the port is perhaps one of https",
    ),
];

/// What `error` means, where that is known, and the error itself.
pub(super) fn with_meaning(error: String) -> String {
    match MEANINGS.iter().find(|(words, _)| error.contains(words)) {
        Some((_, meaning)) => format!("{meaning} ({error})"),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_do_not_fit_together_are_told_in_words() {
        for (error, meaning) in [
            (
                "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
                "certificate of a CA",
            ),
            ("invalid peer certificate: UnknownIssuer", "no CA that is trusted"),
            ("invalid peer certificate: certificate expired: verified at", "has expired"),
            ("received corrupt message of type InvalidContentType", "does not speak TLS"),
            ("client error (SendRequest): invalid HTTP version parsed", "perhaps one of https"),
        ] {
            let told = with_meaning(error.to_owned());
            assert!(told.contains(meaning), "{told}");
            assert!(told.ends_with(&format!("({error})")), "{told}");
        }
        assert_eq!(with_meaning("connection refused".to_owned()), "connection refused");
    }
}
