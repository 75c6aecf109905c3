//! Which startups count for an SLO, and the sources of evidence that tell.
//! And the names that an SLO file contains: of SLOs, intervals, namespaces and kinds of workloads.

use std::sync::Arc;

use crate::config_file::yaml::{Fault, FileError, Section, nearest};
use crate::slo::SloFile;
use podinit_core::lifecycle::{Interval, Selection, StartupCapacity, StartupImages};

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
            let why = format!("needs {source} as evidence; add --evidence {}", needed.flag());
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

/// The name of an SLO: short, and safe wherever a label value is used (PromQL, URLs, file names).
pub(super) fn slo_name(text: &str) -> Result<Arc<str>, String> {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let bytes = text.as_bytes();
    let is_valid = (1..=63).contains(&bytes.len()) && bytes.iter().all(inner);
    if is_valid && edge(bytes.first()) && edge(bytes.last()) {
        Ok(Arc::from(text))
    } else {
        Err(format!(
            "must be 1 to 63 letters, digits and inner hyphens, underscores or dots, is {text:?}"
        ))
    }
}

/// The name of a namespace: a DNS label (RFC 1123).
pub(super) fn namespace<T: for<'a> From<&'a str>>(text: &str) -> Result<T, String> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_valid = (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if is_valid {
        Ok(T::from(text))
    } else {
        Err(format!("must be 1 to 63 lower-case letters, digits and inner hyphens, is {text:?}"))
    }
}

pub(super) fn kind(text: &str) -> Result<Box<str>, String> {
    let is_valid = (1..=63).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_valid {
        Ok(text.into())
    } else {
        Err(format!("must be a kind such as StatefulSet, is {text:?}"))
    }
}

pub(super) fn interval(text: &str) -> Result<Interval, String> {
    // No SLO names a step of nodes ([§14.6](crate::specification#s14-6)).
    let all = &Interval::ALL[..Interval::WITHOUT_NODES];
    let found = all.iter().copied().find(|known| known.as_str() == text);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|known| known.as_str()).collect();
        match nearest(text, &known) {
            Some(near) => format!("unknown interval {text:?}; did you mean {near}?"),
            None => format!("unknown interval {text:?}; known are {}", known.join(", ")),
        }
    })
}
