//! Notices when configuration files change.
//!
//! The contents decide, not times or inodes: a ConfigMap volume swaps a symbolic link, editors
//! replace files, and the clocks of file systems are coarse. The files are small: to read them
//! every few seconds costs less than to subscribe to changes. A broken or missing file changes
//! nothing but the report about it.

use std::future::Future;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::FileError;
use podinit_core::timestamp::Timestamp;

/// The outcome of the last attempt to load a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReloadStatus {
    /// Whether the files, as they are now, are in force
    pub successful: bool,
    /// When a configuration was last put in force
    pub last_success: Timestamp,
}

/// What was found at a path: enough to notice a change, and nothing of the file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// The SHA-256 of its contents
    Contents([u8; 32]),
    /// It could not be read
    Unreadable(io::ErrorKind),
}

impl FileState {
    /// The state of a file that was just read.
    pub fn from_read(read: &io::Result<Vec<u8>>) -> Self {
        match read {
            Ok(contents) => Self::Contents(Sha256::digest(contents).into()),
            Err(error) => Self::Unreadable(error.kind()),
        }
    }
}

/// A configuration as it was just read from its file and from the files that it names.
#[derive(Debug)]
pub struct ConfigInspection<T, E> {
    /// The state of each file, in the order in which they were read
    pub files: Vec<FileState>,
    /// The configuration, or what is wrong with it
    pub result: Result<T, E>,
}

/// A configuration that can be read again and replaced.
pub trait Reloadable: Send + 'static {
    /// What the files say
    type Config: Send;

    /// What log lines call it.
    const NAME: &'static str;

    /// The file that names all others.
    fn path(&self) -> &Path;

    /// Reads the files.
    fn inspect(&self) -> ConfigInspection<Self::Config, FileError>;

    /// Exposes the outcome of a reload.
    fn report(&self, status: ReloadStatus);

    /// Replaces the configuration in force. False where nothing uses it any more.
    fn put_in_force(&mut self, config: Self::Config) -> impl Future<Output = bool> + Send;
}

/// Compares inspections, so that each change is reported once.
#[derive(Debug)]
pub struct ChangeDetector {
    last: Vec<FileState>,
    status: ReloadStatus,
}

impl ChangeDetector {
    /// Begins with the inspection at the start of the program.
    ///
    /// # Errors
    /// Where the configuration is broken: a program that starts has no older one to keep.
    pub fn start<T, E>(inspection: ConfigInspection<T, E>, now: Timestamp) -> Result<(Self, T), E> {
        let config = inspection.result?;
        let status = ReloadStatus { successful: true, last_success: now };
        let last = inspection.files;
        Ok((Self { last, status }, config))
    }

    /// Reads the files of `reloadable` again, and reports a change. `None` if nothing changed; otherwise the
    /// configuration to put in force, or why the previous one stays.
    pub fn poll<R: Reloadable>(
        &mut self,
        reloadable: &R,
        now: Timestamp,
    ) -> Option<Result<R::Config, FileError>> {
        let result = self.compare(reloadable.inspect(), now)?;
        reloadable.report(self.status);
        Some(result)
    }

    /// Compares with the previous inspection.
    fn compare<T, E>(
        &mut self,
        inspection: ConfigInspection<T, E>,
        now: Timestamp,
    ) -> Option<Result<T, E>> {
        if inspection.files == self.last {
            return None;
        }
        self.last = inspection.files;
        self.status.successful = inspection.result.is_ok();
        if inspection.result.is_ok() {
            self.status.last_success = now;
        }
        Some(inspection.result)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(second)
    }

    /// A configuration that is one number, in a file that has this text or is missing.
    fn inspect(text: Option<&str>) -> ConfigInspection<u8, String> {
        let read = text.ok_or(io::ErrorKind::NotFound.into());
        let read = read.map(|text| text.as_bytes().to_vec());
        let parsed = text.ok_or("missing".to_owned());
        ConfigInspection {
            files: vec![FileState::from_read(&read)],
            result: parsed.and_then(|text| text.parse().map_err(|_| format!("{text:?}"))),
        }
    }

    #[test]
    fn a_change_is_put_in_force_once() {
        let (mut detector, first) = ChangeDetector::start(inspect(Some("1")), at(1)).unwrap();
        assert_eq!(first, 1);
        assert_eq!(detector.compare(inspect(Some("1")), at(2)), None);
        assert_eq!(detector.compare(inspect(Some("2")), at(3)), Some(Ok(2)));
        assert_eq!(detector.compare(inspect(Some("2")), at(4)), None);
        let status = detector.status;
        assert_eq!((status.successful, status.last_success), (true, at(3)));
    }

    #[test]
    fn a_broken_file_is_reported_once_and_its_repair_too() {
        let (mut detector, _) = ChangeDetector::start(inspect(Some("1")), at(1)).unwrap();
        let error = detector.compare(inspect(Some("x")), at(2)).unwrap().unwrap_err();
        assert_eq!(error, r#""x""#);
        assert_eq!(detector.compare(inspect(Some("x")), at(3)), None);
        let status = detector.status;
        assert_eq!((status.successful, status.last_success), (false, at(1)));
        // Repaired, as it was before.
        assert_eq!(detector.compare(inspect(Some("1")), at(4)), Some(Ok(1)));
        let status = detector.status;
        assert_eq!((status.successful, status.last_success), (true, at(4)));
    }

    #[test]
    fn a_missing_file_is_a_broken_one() {
        assert!(ChangeDetector::start(inspect(None), at(1)).is_err());
        let (mut detector, _) = ChangeDetector::start(inspect(Some("1")), at(1)).unwrap();
        assert!(detector.compare(inspect(None), at(2)).unwrap().is_err());
        assert_eq!(detector.compare(inspect(None), at(3)), None);
        assert!(!detector.status.successful);
        assert_eq!(detector.compare(inspect(Some("1")), at(4)), Some(Ok(1)));
    }
}
