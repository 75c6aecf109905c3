//! Which startups count for an SLO, and the sources of evidence that tell.

use crate::config_file::yaml::{Fault, FileError, Section};
use crate::slo::SloFile;
use podinit_core::lifecycle::{Selection, StartupCapacity, StartupImages};

/// The sources of evidence that are read besides pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sources {
    /// Events (`--evidence events`)
    pub events: bool,
    /// Nodes (`--evidence nodes`)
    pub nodes: bool,
}

impl Sources {
    /// Those of a reader of the file that needs none of them.
    pub const ALL: Self = Self {
        events: true,
        nodes: true,
    };

    /// The value of `--evidence` that has these.
    const fn flag(self) -> &'static str {
        match (self.events, self.nodes) {
            (true, true) => "events,nodes",
            (true, false) => "events",
            (false, true) => "nodes",
            (false, false) => "none",
        }
    }
}

impl SloFile {
    /// The same, where these sources suffice to tell which startups count.
    pub(super) fn with(self, name: &str, sources: Sources) -> Result<Self, FileError> {
        let selections = || self.slos.iter().map(|slo| slo.rule.selection);
        let needed = Sources {
            events: sources.events || selections().any(|selection| selection.present_images),
            nodes: sources.nodes || selections().any(|selection| selection.existing_capacity),
        };
        for (at, slo) in self.slos.iter().enumerate() {
            let selection = slo.rule.selection;
            let (key, source) = if selection.existing_capacity && !sources.nodes {
                ("capacity", "nodes")
            } else if selection.present_images && !sources.events {
                ("images", "Events")
            } else {
                continue;
            };
            let why = format!(
                "needs {source} as evidence; add --evidence {}",
                needed.flag()
            );
            let fault = Fault::new(slo.line, format!("slos[{at}].{key}"), why);
            return Err(FileError::new(name, fault));
        }
        Ok(self)
    }
}

/// The selection of an SLO. Of each thing one value can be promised.
pub(super) fn selection(map: &Section<'_>) -> Result<Selection, Fault> {
    let is_selected = |key: &str, only: &str| match map.get(key) {
        None => Ok(false),
        Some(node) => map.text(key, node, |text| match text == only {
            true => Ok(true),
            false => Err(format!("must be {only} or left out, is {text:?}")),
        }),
    };
    let (existing, present) = (StartupCapacity::Existing, StartupImages::Present);
    Ok(Selection {
        existing_capacity: is_selected("capacity", existing.as_str())?,
        present_images: is_selected("images", present.as_str())?,
    })
}
