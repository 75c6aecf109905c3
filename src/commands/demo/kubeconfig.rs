//! The kubeconfig of the simulated cluster, which exists as long as the demo.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;

/// What the cluster, its context and its user are called.
const NAME: &str = "podinit-demo";
/// So many names of a directory are tried: those of demos that were killed stay.
const ATTEMPTS: u32 = 100;

/// A file that only its owner can read; dropping it removes it, and the directory that was made for it.
#[derive(Debug)]
pub(super) struct KubeconfigFile {
    path: PathBuf,
    /// Made for it
    directory: Option<PathBuf>,
}

impl KubeconfigFile {
    /// Writes the kubeconfig of the API server at `url` to `path`, or into a private temporary directory.
    ///
    /// # Errors
    /// If there is such a file already, or it cannot be written.
    pub(super) fn write(path: Option<&Path>, url: &str) -> anyhow::Result<Self> {
        let (path, directory) = match path {
            Some(path) => {
                let whole = std::path::absolute(path);
                (whole.with_context(|| shown("cannot find", path))?, None)
            }
            None => {
                let directory = private_directory(&std::env::temp_dir())
                    .context("cannot make a directory for the kubeconfig")?;
                (directory.join("kubeconfig"), Some(directory))
            }
        };
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map(|file| (file, Self { path: path.clone(), directory }));
        let (mut file, written) = file.with_context(|| shown("cannot create", &path))?;
        let content = format!("{:#}\n", content(url));
        let sent = file.write_all(content.as_bytes());
        sent.with_context(|| shown("cannot write", &path))?;
        Ok(written)
    }

    /// Where it is, as a text.
    pub(super) fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

impl Drop for KubeconfigFile {
    fn drop(&mut self) {
        // What somebody has removed already is gone as well.
        let _ = fs::remove_file(&self.path);
        if let Some(directory) = &self.directory {
            let _ = fs::remove_dir(directory);
        }
    }
}

fn shown(what: &str, path: &Path) -> String {
    format!("{what} the kubeconfig {}", path.display())
}

/// A new directory below `place` that nobody else can enter.
fn private_directory(place: &Path) -> io::Result<PathBuf> {
    let process = std::process::id();
    let mut tried = Err(io::ErrorKind::AlreadyExists.into());
    for attempt in 0..ATTEMPTS {
        let more = if attempt == 0 { String::new() } else { format!("-{attempt}") };
        let directory = place.join(format!("{NAME}-{process}{more}"));
        tried = DirBuilder::new().mode(0o700).create(&directory).map(|()| directory);
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
        if !tried.as_ref().is_err_and(is_taken) {
            break;
        }
    }
    tried
}

/// JSON, which is YAML as well.
fn content(url: &str) -> serde_json::Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": {"server": url}}],
        "users": [{"name": NAME, "user": {}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_private_and_gone_at_the_end() {
        let written = KubeconfigFile::write(None, "http://127.0.0.1:1").unwrap();
        let path = PathBuf::from(written.path());
        let directory = path.parent().unwrap().to_owned();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&directory)), (0o600, 0o700));
        let other = KubeconfigFile::write(None, "http://127.0.0.1:2").unwrap();
        assert_ne!(other.path(), written.path());
        drop(written);
        assert!(!path.exists() && !directory.exists());
    }

    #[test]
    fn no_file_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("kubeconfig");
        fs::write(&path, "mine").unwrap();
        let error = KubeconfigFile::write(Some(&path), "http://127.0.0.1:1").unwrap_err();
        assert!(format!("{error:#}").contains("File exists"), "{error:#}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
