//! A file with the password of basic authentication.

use std::path::Path;

use super::CredentialError;
use podinit_config::regular_file::{self, LONGEST_SECRET};

/// The password in the file at `path`: without white space around it, as Prometheus reads its
/// `password_file`.
///
/// # Errors
/// Where there is none. The error repeats nothing of the file.
pub(crate) fn read_password(path: &Path) -> Result<String, CredentialError> {
    let content = regular_file::read(path, LONGEST_SECRET);
    let content = content
        .map_err(|error| CredentialError::PasswordFileUnreadable(regular_file::why(&error)))?;
    let text = str::from_utf8(&content).map_err(|_| CredentialError::PasswordMalformed)?;
    match text.trim() {
        "" => Err(CredentialError::PasswordFileEmpty),
        password => Ok(password.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn white_space_around_a_password_is_not_part_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("password");
        let read = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            read_password(&path)
        };
        for content in ["pass word", " pass word\r\n", "pass word\n\n"] {
            assert_eq!(read(content.as_bytes()), Ok("pass word".to_owned()));
        }
        assert_eq!(read(b" \n"), Err(CredentialError::PasswordFileEmpty));
        assert_eq!(read(b"\xff"), Err(CredentialError::PasswordMalformed));
        let missing = read_password(&directory.path().join("none"));
        assert!(matches!(missing, Err(CredentialError::PasswordFileUnreadable(_))));
    }
}
