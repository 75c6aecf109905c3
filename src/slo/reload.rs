//! Reading the SLO file again when it changes.
//!
//! The contents decide, not times or inodes: a ConfigMap volume swaps a symbolic link, editors
//! replace files, and clocks of file systems are coarse. The file is small, so that reading it
//! every few seconds costs less than being told of changes would. A broken or missing file changes
//! nothing but the report about it.

use std::io;

use super::SloFile;
use super::file::SloFileError;
use crate::timestamp::Timestamp;

/// What the last attempt to read the file came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReloadStatus {
    /// `podinit_config_last_reload_successful`: whether the file as it stands is in force
    pub successful: bool,
    /// `podinit_config_last_reload_success_timestamp_seconds`: when a file was last put in force
    pub last_success: Timestamp,
}

/// What was found at the last look.
#[derive(Debug, PartialEq)]
enum Found {
    Contents(Vec<u8>),
    Unreadable(io::ErrorKind),
}

/// Looks after one SLO file.
#[derive(Debug)]
pub struct Reloader {
    file: String,
    last: Found,
    status: ReloadStatus,
}

impl Reloader {
    /// Reads the file for the first time, at the start of the program. `file` is its name for
    /// messages.
    ///
    /// # Errors
    /// Where it cannot be read or is broken: a program that starts has no older file to keep.
    pub fn start(
        file: &str,
        now: Timestamp,
        read: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> Result<(Self, SloFile), SloFileError> {
        let contents = read().map_err(|error| SloFileError::unreadable(file, &error))?;
        let slos = SloFile::parse(file, &contents)?;
        let status = ReloadStatus {
            successful: true,
            last_success: now,
        };
        let reloader = Self {
            file: file.to_owned(),
            last: Found::Contents(contents),
            status,
        };
        Ok((reloader, slos))
    }

    /// Looks at the file again. `None` while it is as it was, so that each change is reported
    /// once: with the SLOs that are to be in force from now on, or with why those in force remain.
    pub fn poll(
        &mut self,
        now: Timestamp,
        read: impl FnOnce() -> io::Result<Vec<u8>>,
    ) -> Option<Result<SloFile, SloFileError>> {
        let (found, result) = match read() {
            Ok(contents) => {
                let result = SloFile::parse(&self.file, &contents);
                (Found::Contents(contents), result)
            }
            Err(error) => {
                let why = SloFileError::unreadable(&self.file, &error);
                (Found::Unreadable(error.kind()), Err(why))
            }
        };
        if found == self.last {
            return None;
        }
        self.last = found;
        self.status.successful = result.is_ok();
        if result.is_ok() {
            self.status.last_success = now;
        }
        Some(result)
    }

    /// What there is to expose.
    pub const fn status(&self) -> ReloadStatus {
        self.status
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::file::{MAX_BYTES, read_file};
    use super::*;

    const ONE: &str =
        "slos: [{name: one, interval: init, threshold: 1s, objective: 99, window: 1d}]";

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(second)
    }

    fn ok(text: &str) -> impl FnOnce() -> io::Result<Vec<u8>> {
        let contents = text.as_bytes().to_vec();
        move || Ok(contents)
    }

    fn gone() -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    #[test]
    fn a_change_is_put_in_force_once() {
        let (mut reloader, first) = Reloader::start("f", at(1), ok("slos: []")).unwrap();
        assert_eq!(first.slos.len(), 0);
        assert_eq!(reloader.poll(at(2), ok("slos: []")), None);
        let second = reloader.poll(at(3), ok(ONE)).unwrap().unwrap();
        assert_eq!(second.slos.len(), 1);
        assert_eq!(reloader.poll(at(4), ok(ONE)), None);
        let status = reloader.status();
        assert_eq!((status.successful, status.last_success), (true, at(3)));
    }

    #[test]
    fn a_broken_file_is_reported_once_and_its_repair_too() {
        let (mut reloader, _) = Reloader::start("f", at(1), ok("slos: []")).unwrap();
        let error = reloader.poll(at(2), ok("slos: 1")).unwrap().unwrap_err();
        assert_eq!(
            error.to_string(),
            "f:1: slos: must be a list ([] for none), is the number 1"
        );
        assert_eq!(reloader.poll(at(3), ok("slos: 1")), None);
        let status = reloader.status();
        assert_eq!((status.successful, status.last_success), (false, at(1)));
        // As it was before it broke.
        assert!(reloader.poll(at(4), ok("slos: []")).unwrap().is_ok());
        let status = reloader.status();
        assert_eq!((status.successful, status.last_success), (true, at(4)));
    }

    #[test]
    fn a_missing_file_is_a_broken_one() {
        let (mut reloader, _) = Reloader::start("f", at(1), ok("slos: []")).unwrap();
        let error = reloader.poll(at(2), gone).unwrap().unwrap_err();
        assert!(error.to_string().starts_with("f: cannot be read: "));
        assert_eq!(reloader.poll(at(3), gone), None);
        assert!(!reloader.status().successful);
        assert!(reloader.poll(at(4), ok("slos: []")).unwrap().is_ok());
        assert!(Reloader::start("f", at(1), gone).is_err());
    }

    #[test]
    fn the_swap_of_a_config_map_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("slo.yaml");
        for (version, text) in [("..1", "slos: []"), ("..2", ONE)] {
            std::fs::create_dir(dir.path().join(version)).unwrap();
            std::fs::write(dir.path().join(version).join("slo.yaml"), text).unwrap();
        }
        let data = dir.path().join("..data");
        std::os::unix::fs::symlink("..1", &data).unwrap();
        std::os::unix::fs::symlink("..data/slo.yaml", &path).unwrap();
        let (mut reloader, _) = Reloader::start("f", at(1), || read_file(&path)).unwrap();
        assert_eq!(reloader.poll(at(2), || read_file(&path)), None);
        let next = dir.path().join("..next");
        std::os::unix::fs::symlink("..2", &next).unwrap();
        std::fs::rename(&next, &data).unwrap();
        let swapped = reloader.poll(at(3), || read_file(&path)).unwrap().unwrap();
        assert_eq!(swapped.slos.len(), 1);
    }

    #[test]
    fn no_more_is_read_than_tells_that_a_file_is_too_long() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long.yaml");
        std::fs::write(&path, vec![b'#'; 2 * MAX_BYTES]).unwrap();
        assert_eq!(read_file(&path).unwrap().len(), MAX_BYTES + 1);
    }
}
