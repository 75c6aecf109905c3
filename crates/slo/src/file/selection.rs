//! Which startups count for an SLO, and the sources of evidence that tell.

use serde_saphyr::{Location, Spanned};

use super::form::SloForm;
use podinit_config::FileFault;
use podinit_core::lifecycle::CustomMilestones;

/// The sources of evidence that are read besides pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvidenceSources {
    /// Events (`--evidence events`)
    pub events: bool,
    /// Nodes (`--evidence nodes`)
    pub nodes: bool,
}

impl EvidenceSources {
    /// Pods alone.
    pub const NONE: Self = Self { events: false, nodes: false };

    /// Those of a reader of the file that needs none of them.
    pub const ALL: Self = Self { events: true, nodes: true };

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

/// What the reader of a file has of what its SLOs may need.
#[derive(Clone, Debug)]
pub struct AvailableEvidence {
    pub sources: EvidenceSources,
    /// The milestones of your own; `None` where they are not known, so that any will do
    pub milestones: Option<CustomMilestones>,
}

impl AvailableEvidence {
    /// All that an SLO can need.
    pub const ALL: Self = Self { sources: EvidenceSources::ALL, milestones: None };
}

impl From<EvidenceSources> for AvailableEvidence {
    fn from(sources: EvidenceSources) -> Self {
        Self { sources, milestones: None }
    }
}

/// Whether there is what the SLOs need.
pub(super) fn check(
    slos: &[Spanned<SloForm>],
    available: &AvailableEvidence,
) -> Result<(), FileFault> {
    check_sources(slos, available.sources)?;
    let Some(known) = &available.milestones else { return Ok(()) };
    for slo in slos {
        let interval = &slo.value.interval;
        if let Some(name) = interval.value.0.milestone()
            && !known.iter().any(|one| one.name == *name)
        {
            let why = format!(
                "this interval ends with a milestone of your own; add --milestone {name}=condition:TYPE"
            );
            return Err(FileFault::at(interval.referenced, why));
        }
    }
    Ok(())
}

/// Whether these sources suffice to tell which startups count.
fn check_sources(slos: &[Spanned<SloForm>], sources: EvidenceSources) -> Result<(), FileFault> {
    let slos = || slos.iter().map(|slo| &slo.value);
    let needed = EvidenceSources {
        events: sources.events || slos().any(|slo| slo.images.0.is_some()),
        nodes: sources.nodes || slos().any(|slo| slo.capacity.0.is_some()),
    };
    let lacks = |place: Location, key: &str, source: &str| {
        let flag = needed.flag();
        let why = format!("{key} needs {source} as evidence; add --evidence {flag}");
        Err(FileFault::at(place, why))
    };
    for slo in slos() {
        match (&slo.capacity.0, &slo.images.0) {
            (Some(capacity), _) if !sources.nodes => {
                return lacks(capacity.referenced, "capacity", "nodes");
            }
            (_, Some(images)) if !sources.events => {
                return lacks(images.referenced, "images", "Events");
            }
            _ => {}
        }
    }
    Ok(())
}
