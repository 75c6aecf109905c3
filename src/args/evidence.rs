//! `--evidence`: what is evidence beside the conditions of pods.

use clap::ValueEnum;

/// The sources of evidence ([§9](crate::specification#s9)). `--help` shows what is said of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Evidence {
    /// Pods only
    None,
    /// The Events about pods
    Events,
}

impl Evidence {
    /// Whether Events are a source.
    pub fn events(self) -> bool {
        self == Self::Events
    }
}
