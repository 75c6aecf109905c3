//! The SLO file: from YAML to validated SLOs, or to a one-line error that says what to change.

mod selection;

use std::path::Path;

pub use self::selection::Sources;

use self::selection::{interval, kind, namespace, selection, slo_name};
use super::duration::{FORMS, SloDuration};
use super::{Slo, SloFile};
use crate::config_file::reload::{FileState, Inspection};
use crate::config_file::yaml::{self, Fault, FileError, Node, Secrecy, Section, Value};
use podinit_core::lifecycle::{Namespaces, SloRule};

/// The most SLOs in a file: each pod is checked against each SLO, and each SLO has its own series.
pub const MAX_SLOS: usize = 64;
/// The longest file that is read, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

const MAX_NAMESPACES: usize = 256;
const MAX_KINDS: usize = 32;
const DEFAULT_GRACE: SloDuration = SloDuration::from_seconds(5);
const MAX_GRACE: SloDuration = SloDuration::from_hours(1);
/// Durations above thirty days are not observed ([§4.6](crate::specification#s4-6)).
const MAX_THRESHOLD: SloDuration = SloDuration::from_days(30);
const MIN_WINDOW: SloDuration = SloDuration::from_minutes(1);
const MAX_WINDOW: SloDuration = SloDuration::from_days(366);

const SLO_KEYS: [&str; 10] = [
    "name",
    "interval",
    "threshold",
    "objective",
    "window",
    "namespaces",
    "owner_kinds",
    "grace",
    "capacity",
    "images",
];

const DEFAULT_NAME: &str = "built-in SLOs";
/// The text of the built-in SLOs; `deploy/slo-default.yaml` is a copy of it.
pub const DEFAULT_TEXT: &str = include_str!("../default.yaml");

impl SloFile {
    /// The SLOs in force when no file is given.
    pub fn built_in() -> Self {
        #[expect(clippy::expect_used, reason = "the text is a constant that a test parses")]
        Self::parse(DEFAULT_NAME, DEFAULT_TEXT.as_bytes()).expect("the built-in SLOs are valid")
    }

    /// Reads the file at `path`, once.
    ///
    /// # Errors
    /// If it cannot be read, those of [`SloFile::parse`], or if an SLO needs another source than these.
    pub fn read(path: &Path, sources: Sources) -> Result<Self, FileError> {
        Self::inspect(path, sources).result
    }

    /// Looks at the file at `path`, to tell whether it has changed.
    pub fn inspect(path: &Path, sources: Sources) -> Inspection<Self, FileError> {
        let name = path.display().to_string();
        let read = yaml::read_file(path, MAX_BYTES);
        Inspection {
            files: vec![FileState::of(&read)],
            result: match read {
                Ok(contents) => {
                    Self::parse(&name, &contents).and_then(|file| file.with(&name, sources))
                }
                Err(error) => Err(FileError::unreadable(&name, &error)),
            },
        }
    }

    /// Parses the contents of an SLO file. Errors name it `file`.
    ///
    /// # Errors
    /// If it is too long, is not YAML, or has an unknown key or an invalid value.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let slos = slos(bytes).map_err(|fault| FileError::new(file, fault))?;
        Ok(Self { slos })
    }
}

fn slos(bytes: &[u8]) -> Result<Vec<Slo>, Fault> {
    let root = yaml::parse(bytes, MAX_BYTES, Secrecy::Show)?;
    let root = Section::of(&root, String::new(), &["slos"], Secrecy::Show)?;
    let list = root.need("slos")?;
    let Value::List(items) = &list.value else {
        let why = format!("must be a list ([] for none), is {}", root.kind(list));
        return Err(root.fault("slos", list, why));
    };
    if items.len() > MAX_SLOS {
        let why = format!("has {} SLOs; at most {MAX_SLOS} are allowed", items.len());
        return Err(root.fault("slos", list, why));
    }
    let mut slos: Vec<Slo> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let slo = slo(item, at)?;
        if let Some(first) = slos.iter().find(|other| other.rule.name == slo.rule.name) {
            let why =
                format!("{} is the name of the SLO on line {} already", slo.rule.name, first.line);
            return Err(Fault::new(slo.line, format!("slos[{at}].name"), why));
        }
        slos.push(slo);
    }
    Ok(slos)
}

fn slo(item: &Node, at: usize) -> Result<Slo, Fault> {
    let map = Section::of(item, format!("slos[{at}]"), &SLO_KEYS, Secrecy::Show)?;
    let name = map.text("name", map.need("name")?, slo_name)?;
    let interval = map.text("interval", map.need("interval")?, interval)?;
    let threshold = duration(&map, "threshold", map.need("threshold")?)?;
    let objective_percent = objective(&map)?;
    let window = window(&map)?;
    let grace = match map.get("grace") {
        Some(node) => at_most(&map, "grace", node, MAX_GRACE)?,
        None => DEFAULT_GRACE,
    };
    let threshold_node = map.need("threshold")?;
    if threshold == SloDuration::from_millis(0) {
        return Err(map.fault("threshold", threshold_node, "must be more than 0"));
    }
    at_most(&map, "threshold", threshold_node, MAX_THRESHOLD.min(window))?;
    Ok(Slo {
        rule: SloRule {
            name,
            interval,
            threshold: threshold.into(),
            grace: grace.into(),
            namespaces: namespaces(&map)?,
            owner_kinds: match map.get("owner_kinds") {
                Some(node) => map.texts("owner_kinds", node, MAX_KINDS, kind)?,
                None => Vec::new(),
            },
            selection: selection(&map)?,
        },
        objective_percent,
        window,
        line: item.line,
    })
}

fn objective(map: &Section<'_>) -> Result<f64, Fault> {
    let node = map.need("objective")?;
    match &node.value {
        Value::Number(percent) if *percent > 0.0 && *percent < 100.0 => Ok(*percent),
        _ => {
            let why = format!(
                "must be a percentage above 0 and below 100, such as 99.5; is {}",
                map.kind(node)
            );
            Err(map.fault("objective", node, why))
        }
    }
}

fn window(map: &Section<'_>) -> Result<SloDuration, Fault> {
    let node = map.need("window")?;
    let window = at_most(map, "window", node, MAX_WINDOW)?;
    if window < MIN_WINDOW {
        let why = format!("must be at least {MIN_WINDOW}, is {window}");
        return Err(map.fault("window", node, why));
    }
    if window != SloDuration::from_minutes(window.as_minutes()) {
        return Err(map.fault("window", node, "must be of whole minutes"));
    }
    Ok(window)
}

fn at_most(
    map: &Section<'_>,
    key: &str,
    node: &Node,
    most: SloDuration,
) -> Result<SloDuration, Fault> {
    let found = duration(map, key, node)?;
    if found > most {
        let why = format!("must be at most {most}, is {found}");
        return Err(map.fault(key, node, why));
    }
    Ok(found)
}

fn duration(map: &Section<'_>, key: &str, node: &Node) -> Result<SloDuration, Fault> {
    if let Value::Number(number) = node.value {
        let why = format!("needs a unit: {number}s, perhaps");
        return Err(map.fault(key, node, why));
    }
    map.text(key, node, |text| {
        text.parse().map_err(|_| format!("{text:?} is no duration: write it as {FORMS}"))
    })
}

fn namespaces(map: &Section<'_>) -> Result<Namespaces, Fault> {
    let Some(node) = map.get("namespaces") else {
        return Ok(Namespaces::All);
    };
    let choice = map.inner("namespaces", node, &["include", "exclude"])?;
    let list = |key, node| choice.texts(key, node, MAX_NAMESPACES, namespace);
    match (choice.get("include"), choice.get("exclude")) {
        (Some(include), None) => Ok(Namespaces::Include(list("include", include)?)),
        (None, Some(exclude)) => Ok(Namespaces::Exclude(list("exclude", exclude)?)),
        (Some(_), Some(exclude)) => {
            Err(choice.fault("exclude", exclude, "cannot be used with include; keep one of them"))
        }
        (None, None) => {
            Err(map.fault("namespaces", node, "must have include or exclude, has neither"))
        }
    }
}

#[cfg(test)]
mod tests;
