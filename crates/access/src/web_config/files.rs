//! The files of a web configuration: itself, and those that it names.
//! Certificates and keys are in the configuration, or in such files.

use std::io;
use std::path::{Path, PathBuf};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use serde_saphyr::{Location, Spanned};

use podinit_config::reload::FileState;
use podinit_config::yaml::SpecifiedSetting;
use podinit_config::{FileFault, regular_file};

/// The length limit of the file, and of each file that it names, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Reads the configuration and the files that it names, and keeps the state of each.
#[derive(Debug)]
pub(super) struct WebConfigFiles {
    directory: PathBuf,
    /// The state of each file that was read
    states: Vec<FileState>,
}

impl WebConfigFiles {
    /// For the configuration at `path`; the names in it are relative to its directory.
    pub(super) fn beside(path: &Path) -> Self {
        Self { directory: path.parent().unwrap_or(Path::new("")).to_owned(), states: Vec::new() }
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
        let read = regular_file::read_past(path, MAX_BYTES);
        self.states.push(FileState::from_read(&read));
        read
    }

    /// The state of each file that was read.
    pub(super) fn into_states(self) -> Vec<FileState> {
        self.states
    }
}

/// A setting of PEM: in the configuration, or in the file that another key names.
pub(super) struct PemForm<'a> {
    /// The key of the former
    pub(super) key: &'static str,
    pub(super) inline: &'a SpecifiedSetting<Spanned<String>>,
    /// Under the same key with `_file`
    pub(super) file: &'a SpecifiedSetting<Spanned<String>>,
}

/// PEM, and where it is or is named.
pub(super) struct PemSource {
    pub(super) bytes: Vec<u8>,
    pub(super) place: Location,
}

impl PemForm<'_> {
    /// The PEM, if there is any.
    pub(super) fn read(&self, files: &mut WebConfigFiles) -> Result<Option<PemSource>, FileFault> {
        let key = self.key;
        match (&self.inline.0, &self.file.0) {
            (None, None) => Ok(None),
            (Some(_), Some(name)) => {
                let why = format!("{key}_file cannot be combined with {key}; keep one");
                Err(FileFault::at(name.referenced, why))
            }
            (Some(pem), None) => {
                Ok(Some(PemSource { bytes: pem.value.as_bytes().to_vec(), place: pem.referenced }))
            }
            (None, Some(name)) => {
                // The name is not repeated: a private key could be there by mistake.
                let bytes = files.read_named(&name.value).map_err(|error| {
                    let why = format!("the file of {key}_file cannot be read: {error}");
                    FileFault::at(name.referenced, why)
                })?;
                Ok(Some(PemSource { bytes, place: name.referenced }))
            }
        }
    }
}

/// At least one certificate.
pub(super) fn certificates_of(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, &'static str> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err("has no certificate in PEM (-----BEGIN CERTIFICATE-----)"),
    }
}
