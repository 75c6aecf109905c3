//! Reading files again when they change.
//!
//! The contents decide, not times or inodes: a ConfigMap volume swaps a symbolic link, editors
//! replace files, and clocks of file systems are coarse. The files are small, so that reading them
//! every few seconds costs less than being told of changes would. A broken or missing file changes
//! nothing but the report about it.

use std::io;

use sha2::{Digest, Sha256};

use crate::timestamp::Timestamp;

/// What the last attempt to read a file came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReloadStatus {
    /// Whether the file as it stands is in force
    pub successful: bool,
    /// When a file was last put in force
    pub last_success: Timestamp,
}

/// What was found in the place of a file: enough to tell that it has changed, and nothing of what
/// stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The SHA-256 of its contents
    Contents([u8; 32]),
    /// It could not be read
    Unreadable(io::ErrorKind),
}

impl Found {
    /// What an attempt to read a file came to.
    pub fn of(read: &io::Result<Vec<u8>>) -> Self {
        match read {
            Ok(contents) => Self::Contents(Sha256::digest(contents).into()),
            Err(error) => Self::Unreadable(error.kind()),
        }
    }
}

/// One look at settings: at a file, and at those that it names.
#[derive(Debug)]
pub struct Look<T, E> {
    /// What was found, in the order in which it was read
    pub found: Vec<Found>,
    /// What it means
    pub result: Result<T, E>,
}

/// Tells of settings when they change.
#[derive(Debug)]
pub struct Reloader {
    last: Vec<Found>,
    status: ReloadStatus,
}

impl Reloader {
    /// Takes the first look, at the start of the program.
    ///
    /// # Errors
    /// Where the settings are broken: a program that starts has no older ones to keep.
    pub fn start<T, E>(look: Look<T, E>, now: Timestamp) -> Result<(Self, T), E> {
        let settings = look.result?;
        let status = ReloadStatus {
            successful: true,
            last_success: now,
        };
        let last = look.found;
        Ok((Self { last, status }, settings))
    }

    /// Takes another look. `None` while all is as it was, so that each change is reported once:
    /// with the settings that are to be in force from now on, or with why those in force remain.
    pub fn poll<T, E>(&mut self, look: Look<T, E>, now: Timestamp) -> Option<Result<T, E>> {
        if look.found == self.last {
            return None;
        }
        self.last = look.found;
        self.status.successful = look.result.is_ok();
        if look.result.is_ok() {
            self.status.last_success = now;
        }
        Some(look.result)
    }

    /// What there is to expose.
    pub const fn status(&self) -> ReloadStatus {
        self.status
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(second)
    }

    /// Settings that are a number, in a file that says so or is gone.
    fn look(text: Option<&str>) -> Look<u8, String> {
        let read = text.ok_or(io::ErrorKind::NotFound.into());
        let read = read.map(|text| text.as_bytes().to_vec());
        let parsed = text.ok_or("gone".to_owned());
        Look {
            found: vec![Found::of(&read)],
            result: parsed.and_then(|text| text.parse().map_err(|_| format!("{text:?}"))),
        }
    }

    #[test]
    fn a_change_is_put_in_force_once() {
        let (mut reloader, first) = Reloader::start(look(Some("1")), at(1)).unwrap();
        assert_eq!(first, 1);
        assert_eq!(reloader.poll(look(Some("1")), at(2)), None);
        assert_eq!(reloader.poll(look(Some("2")), at(3)), Some(Ok(2)));
        assert_eq!(reloader.poll(look(Some("2")), at(4)), None);
        let status = reloader.status();
        assert_eq!((status.successful, status.last_success), (true, at(3)));
    }

    #[test]
    fn a_broken_file_is_reported_once_and_its_repair_too() {
        let (mut reloader, _) = Reloader::start(look(Some("1")), at(1)).unwrap();
        let error = reloader.poll(look(Some("x")), at(2)).unwrap().unwrap_err();
        assert_eq!(error, r#""x""#);
        assert_eq!(reloader.poll(look(Some("x")), at(3)), None);
        let status = reloader.status();
        assert_eq!((status.successful, status.last_success), (false, at(1)));
        // As it was before it broke.
        assert_eq!(reloader.poll(look(Some("1")), at(4)), Some(Ok(1)));
        let status = reloader.status();
        assert_eq!((status.successful, status.last_success), (true, at(4)));
    }

    #[test]
    fn a_missing_file_is_a_broken_one() {
        assert!(Reloader::start(look(None), at(1)).is_err());
        let (mut reloader, _) = Reloader::start(look(Some("1")), at(1)).unwrap();
        assert!(reloader.poll(look(None), at(2)).unwrap().is_err());
        assert_eq!(reloader.poll(look(None), at(3)), None);
        assert!(!reloader.status().successful);
        assert_eq!(reloader.poll(look(Some("1")), at(4)), Some(Ok(1)));
    }
}
