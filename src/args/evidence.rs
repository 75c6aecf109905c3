//! `--evidence`: what is evidence beside the conditions of pods.

use clap::ValueEnum;

/// The sources of evidence ([§9](crate::specification#s9)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Evidence {
    /// Pods only
    None,
    /// The Events about pods ([§9.5](crate::specification#s9-5))
    Events,
}

impl Evidence {
    /// Whether Events are a source.
    pub fn events(self) -> bool {
        self == Self::Events
    }
}
