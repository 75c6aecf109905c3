//! A token file, which is read again from time to time: the kubelet and Vault agents replace it. And the client that
//! shows the token of a file, or one that does not change.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Request;
use http::header::{AUTHORIZATION, HeaderValue};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{CredentialError, bearer};
use podinit_config::regular_file::{self, LONGEST_SECRET};

/// How long a token is used before the file is read again, as in client-go.
const READ_EVERY: Duration = Duration::from_secs(60);

/// A token file and what it held last.
pub(crate) struct TokenFile {
    path: PathBuf,
    last: Mutex<LastRead>,
}

struct LastRead {
    header: HeaderValue,
    at: Instant,
}

impl TokenFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Where it holds no token.
    pub(crate) fn open(path: impl Into<PathBuf>) -> Result<Self, CredentialError> {
        let path = path.into();
        let header = read(&path)?;
        let at = Instant::now();
        let last = Mutex::new(LastRead { header, at });
        Ok(Self { path, last })
    }

    /// The header with the token. If the file cannot be read any more, the last token is used: it may
    /// have been removed on purpose (kubernetes/kubernetes#68164).
    pub(crate) fn header(&self) -> HeaderValue {
        let mut last = self.last.lock();
        if last.at.elapsed() >= READ_EVERY {
            last.at = Instant::now();
            match read(&self.path) {
                Ok(header) => last.header = header,
                Err(error) => tracing::debug!(%error, "using the last token"),
            }
        }
        last.header.clone()
    }
}

fn read(path: &Path) -> Result<HeaderValue, CredentialError> {
    let content = regular_file::read(path, LONGEST_SECRET);
    let content =
        content.map_err(|error| CredentialError::TokenFileUnreadable(regular_file::why(&error)))?;
    header_of(&content)
}

/// The header with the token that a file of this content holds: without white space around it, as
/// client-go reads it.
///
/// # Errors
/// Where there is none.
pub fn header_of(content: &[u8]) -> Result<HeaderValue, CredentialError> {
    let text = str::from_utf8(content).map_err(|_| CredentialError::TokenMalformed)?;
    match text.trim() {
        "" => Err(CredentialError::TokenFileEmpty),
        token => bearer(token),
    }
}

/// A client that sends requests through `client`, with the header `Authorization` that is the present one.
pub(crate) fn authorized(
    client: Client,
    header: impl Fn() -> HeaderValue + Send + 'static,
) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |mut request: Request<Body>| {
        request.headers_mut().insert(AUTHORIZATION, header());
        let client = client.clone();
        async move { client.send(request).await }
    });
    Client::new(service, namespace)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn white_space_around_a_token_is_not_part_of_it() {
        for content in ["token", "token\n", " token\r\n\n", "\ttoken "] {
            assert_eq!(header_of(content.as_bytes()).unwrap(), "Bearer token");
        }
        assert_eq!(header_of(b" \n"), Err(CredentialError::TokenFileEmpty));
        assert_eq!(header_of(b"to\nken"), Err(CredentialError::TokenMalformed));
        assert_eq!(header_of(b"\xff"), Err(CredentialError::TokenMalformed));
    }

    #[tokio::test(start_paused = true)]
    async fn the_file_is_read_again_every_minute_and_may_disappear() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        fs::write(&path, "first\n").unwrap();
        let file = TokenFile::open(&path).unwrap();
        fs::write(&path, "second\n").unwrap();
        tokio::time::advance(READ_EVERY - Duration::from_millis(1)).await;
        assert_eq!(file.header(), "Bearer first");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(file.header(), "Bearer second");
        for broken in [Some(""), None] {
            match broken {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            tokio::time::advance(READ_EVERY).await;
            assert_eq!(file.header(), "Bearer second");
        }
        assert!(matches!(TokenFile::open(&path), Err(CredentialError::TokenFileUnreadable(_))));
    }
}
