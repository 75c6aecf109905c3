//! Directories that the process has no permission to write to.

#![allow(clippy::unwrap_used)]

use std::fs::{self, Permissions};
use std::io::ErrorKind::PermissionDenied;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use tempfile::TempDir;

use super::{OpenError, OpenFault, RealDisk, inspect};

/// Runs `work` in a thread without the capabilities that let root write anywhere.
fn unprivileged<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    let work = || {
        set_capabilities(None, none).unwrap();
        work()
    };
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

/// A directory that was writable once and contains a lock file from that time.
struct ReadOnly(TempDir);

impl ReadOnly {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        drop(RealDisk::open(dir.path()).unwrap());
        fs::set_permissions(dir.path(), Permissions::from_mode(0o555)).unwrap();
        Self(dir)
    }
}

impl Drop for ReadOnly {
    /// So that it can be removed.
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.0.path(), Permissions::from_mode(0o755));
    }
}

/// The faults that opening `dir` and inspecting it return.
fn faults(dir: &Path) -> [OpenFault; 2] {
    let opened = unprivileged(|| RealDisk::open(dir).map(drop).unwrap_err());
    let inspected = unprivileged(|| inspect(dir, &[]).map(drop).unwrap_err());
    [opened, inspected].map(|OpenError { cause, .. }| cause)
}

#[test]
fn a_directory_that_is_no_longer_writable_is_reported_despite_its_lock() {
    let dir = ReadOnly::new();
    for fault in faults(dir.0.path()) {
        assert!(
            matches!(&fault, OpenFault::NotWritable(error) if error.kind() == PermissionDenied),
            "{fault}"
        );
    }
}

#[test]
fn a_directory_that_may_not_be_created_is_reported() {
    let dir = ReadOnly::new();
    for fault in faults(&dir.0.path().join("a/b")) {
        assert!(
            matches!(&fault, OpenFault::Create(error) if error.kind() == PermissionDenied),
            "{fault}"
        );
    }
    assert!(!dir.0.path().join("a").exists());
}
