//! Certificates and keys, in the configuration or in files that it names.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::files::Files;
use crate::config_file::yaml::{Fault, Node, Section};

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
