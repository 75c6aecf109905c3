//! The names that the program can be called by. `kubectl` finds plugins, and what completes their
//! command lines, by file names (<https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/>).

use std::ffi::OsString;
use std::path::Path;

/// What the program is, by the name that it was called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `podinit`, or any other name.
    Podinit,
    /// The plugin of kubectl, which people call as `kubectl pod-startup`.
    KubectlPlugin,
    /// What kubectl runs to complete the command line of the plugin.
    KubectlCompletion,
}

impl Program {
    /// The program of a command line, the first word of which is the path of the program.
    pub fn of(words: &[OsString]) -> Self {
        let name = words.first().and_then(|path| Path::new(path).file_name());
        match name.and_then(|name| name.to_str()) {
            Some("kubectl-pod_startup") => Self::KubectlPlugin,
            Some("kubectl_complete-pod_startup") => Self::KubectlCompletion,
            _ => Self::Podinit,
        }
    }

    /// How people call it.
    pub const fn usage_name(self) -> &'static str {
        match self {
            Self::Podinit => "podinit",
            Self::KubectlPlugin | Self::KubectlCompletion => "kubectl pod-startup",
        }
    }
}
