//! The files of a web configuration: itself, and those that it names.

use std::io;
use std::path::{Path, PathBuf};

use crate::config_file::reload::FileState;
use crate::config_file::yaml;

/// The length limit of the file, and of each file that it names, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Reads the configuration and the files that it names, and keeps the state of each.
#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
    /// The state of each file that was read
    states: Vec<FileState>,
}

impl Files {
    /// For the configuration at `path`; the names in it are relative to its directory.
    pub(super) fn beside(path: &Path) -> Self {
        Self {
            directory: path.parent().unwrap_or(Path::new("")).to_owned(),
            states: Vec::new(),
        }
    }

    /// Reads a file that the configuration names.
    pub(super) fn read_named(&mut self, name: &str) -> io::Result<Vec<u8>> {
        let path = self.directory.join(name);
        let contents = self.read(&path)?;
        if contents.len() > MAX_BYTES {
            return Err(io::Error::other(format!("longer than {MAX_BYTES} bytes")));
        }
        Ok(contents)
    }

    pub(super) fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let read = yaml::read_file(path, MAX_BYTES);
        self.states.push(FileState::of(&read));
        read
    }

    /// The state of each file that was read.
    pub(super) fn into_states(self) -> Vec<FileState> {
        self.states
    }
}
