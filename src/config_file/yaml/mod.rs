//! Reads YAML strictly. An error is one line with the file, the line, the key and how to fix it.
//!
//! Of a file that may hold secrets values are redacted: no message repeats any of its contents, whatever
//! is wrong with it and wherever its author may have put a secret by mistake. The line number has to
//! suffice.

mod section;
mod tree;

pub(crate) use section::{Section, nearest};
pub use tree::FileError;
pub(crate) use tree::{Fault, Node, Secrecy, Value};

use std::io;
use std::path::Path;

use crate::config_file::regular_file;

/// Reads one YAML document of at most `most` bytes.
pub(crate) fn parse(bytes: &[u8], most: usize, secrecy: Secrecy) -> Result<Node, Fault> {
    if bytes.len() > most {
        let why = format!("is longer than {most} bytes");
        return Err(Fault::new(0, "", why));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        Fault::new(line, "", "is not UTF-8 text")
    })?;
    tree::read(text, secrecy)
}

/// Reads a file, and at most one byte more than `most`, so that the caller sees that it is too long.
///
/// # Errors
/// Where the file cannot be opened or read, or is not a regular one.
pub fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    regular_file::read_past(path, most)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_read_one_byte_past_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long.yaml");
        std::fs::write(&path, vec![b'#'; 200]).unwrap();
        assert_eq!(read_file(&path, 100).unwrap().len(), 101);
        let fault = parse(&[b'#'; 101], 100, Secrecy::Show).unwrap_err();
        assert_eq!(fault.why, "is longer than 100 bytes");
    }

    #[test]
    fn a_redacted_error_never_repeats_the_file() {
        const SECRET: &str = "s3cr3t-canary";
        for text in [
            "a: [s3cr3t-canary",
            "a: 's3cr3t-canary",
            "a: \"s3cr3t-canary\\q\"",
            "s3cr3t-canary: 1\ns3cr3t-canary: 2",
            "a: *s3cr3t-canary",
            "a: !!int s3cr3t-canary",
            "a: !s3cr3t-canary",
            "%s3cr3t-canary",
            "a: b\n  s3cr3t-canary",
            "- a\ns3cr3t-canary: 1",
            "a: |s3cr3t-canary",
            "a: 1\n--- s3cr3t-canary",
            "? [s3cr3t-canary]\n: 1",
            "\ts3cr3t-canary: 1",
        ] {
            let message = match parse(text.as_bytes(), 1000, Secrecy::Redact) {
                Err(fault) => fault.why,
                Ok(node) => {
                    let known = ["known"];
                    let section = Section::of(&node, String::new(), &known, Secrecy::Redact);
                    let fault = section.map(|section| section.need("known").unwrap_err());
                    match fault {
                        Ok(fault) | Err(fault) => format!("{}: {}", fault.key, fault.why),
                    }
                }
            };
            assert!(!message.contains(SECRET), "{text:?}: {message}");
            assert!(!message.is_empty());
        }
    }
}
