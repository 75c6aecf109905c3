//! Files of settings and secrets, which a pipe, a device or a file without end in their place must not
//! block or fill the memory: they are opened without waiting, have to be regular, and have a cap.
//!
//! Symbolic links to regular files are followed: Kubernetes mounts Secrets and ConfigMaps as such.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// The longest file with a token or a password, in bytes.
pub const LONGEST_SECRET: usize = 1024 * 1024;

/// The longest kubeconfig, and file with certificates or a key, in bytes.
pub const LONGEST_KUBECONFIG: usize = 16 * 1024 * 1024;

/// The contents of the file at `path`, of at most `most` bytes.
///
/// # Errors
/// Where it cannot be opened or read, is not a regular file, or is longer.
pub fn read(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let contents = read_past(path, most)?;
    match contents.len() > most {
        true => Err(too_long(most)),
        false => Ok(contents),
    }
}

/// The same, but of a longer file it returns one byte more than `most`, so that the caller sees that it is
/// too long.
///
/// # Errors
/// Where it cannot be opened or read, or is not a regular file.
pub fn read_past(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut contents = Vec::new();
    open(path)?.take(most as u64 + 1).read_to_end(&mut contents)?;
    Ok(contents)
}

/// Checks a file that something else is going to read.
///
/// # Errors
/// Those of [`read`], of whatever can be found out without reading it.
pub fn check(path: &Path, most: usize) -> io::Result<()> {
    match open(path)?.metadata()?.len() > most as u64 {
        true => Err(too_long(most)),
        false => Ok(()),
    }
}

/// What is wrong with a file that cannot be read, in words that repeat nothing of its name or contents.
pub fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => error.kind().to_string(),
        None => error.to_string(),
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Otherwise opening a pipe would wait for a writer.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    regular(file)
}

/// The file, if it is a regular one.
///
/// # Errors
/// If it is not.
pub fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

fn too_long(most: usize) -> io::Error {
    let why = format!("longer than {most} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode};

    use super::*;

    #[test]
    fn a_regular_file_is_read_up_to_the_cap_through_links_too() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "12345").unwrap();
        symlink("file", &link).unwrap();
        for path in [&file, &link] {
            assert_eq!(read(path, 5).unwrap(), b"12345");
            assert_eq!(read_past(path, 3).unwrap(), b"1234");
            check(path, 5).unwrap();
            for error in [read(path, 4).unwrap_err(), check(path, 4).unwrap_err()] {
                assert_eq!(why(&error), "longer than 4 bytes");
            }
        }
        let missing = read(&directory.path().join("none"), 5).unwrap_err();
        assert_eq!(why(&missing), "entity not found");
    }

    #[test]
    fn what_is_not_regular_is_neither_read_nor_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let refused = [
            (pipe.as_path(), "not a regular file"),
            (Path::new("/dev/zero"), "not a regular file"),
            (directory.path(), "is a directory"),
        ];
        for (path, expected) in refused {
            for error in [read(path, 5).unwrap_err(), check(path, 5).unwrap_err()] {
                assert_eq!(why(&error), expected, "{}", path.display());
            }
        }
    }
}
