//! The files of a web configuration: itself, and those that it names.
//! Certificates and keys are in the configuration, or in such files.

use std::io;
use std::path::{Path, PathBuf};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::config_file::reload::FileState;
use crate::config_file::yaml;
use crate::config_file::yaml::{Fault, Node, Section};

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
        let read = yaml::read_file(path, MAX_BYTES);
        self.states.push(FileState::of(&read));
        read
    }

    /// The state of each file that was read.
    pub(super) fn into_states(self) -> Vec<FileState> {
        self.states
    }
}

/// PEM, and the key and node that hold or name it.
pub(super) struct Pem<'a> {
    pub(super) bytes: Vec<u8>,
    pub(super) key: &'static str,
    pub(super) node: &'a Node,
}

/// The PEM under `inline`, or in the file that `file` names.
pub(super) fn pem<'a>(
    section: &Section<'a>,
    inline: &'static str,
    file: &'static str,
    files: &mut Files,
) -> Result<Option<Pem<'a>>, Fault> {
    let (bytes, key, node) = match (section.get(inline), section.get(file)) {
        (None, None) => return Ok(None),
        (Some(_), Some(node)) => {
            let why = format!("cannot be combined with {inline}; keep one");
            return Err(section.fault(file, node, why));
        }
        (Some(node), None) => {
            let bytes = section.text(inline, node, |text| Ok(text.as_bytes().to_vec()))?;
            (bytes, inline, node)
        }
        (None, Some(node)) => {
            // The name is not repeated: a private key could be there by mistake.
            let read = |name: &str| {
                let read = files.read_named(name);
                read.map_err(|error| format!("the file cannot be read: {error}"))
            };
            (section.text(file, node, read)?, file, node)
        }
    };
    Ok(Some(Pem { bytes, key, node }))
}

/// At least one certificate.
pub(super) fn certificates_of(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, &'static str> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err("has no certificate in PEM (-----BEGIN CERTIFICATE-----)"),
    }
}
