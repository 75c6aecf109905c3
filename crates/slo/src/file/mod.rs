//! The SLO file: from YAML to validated SLOs, or to a one-line error that says what to change.

mod form;
mod selection;

use std::path::Path;
use std::sync::Arc;

use serde_saphyr::Spanned;

pub use self::selection::{AvailableEvidence, EvidenceSources};

use self::form::{FileForm, NamespacesForm, SloForm};
use super::{Slo, SloFile};
use podinit_config::reload::{ConfigInspection, FileState};
use podinit_config::yaml;
use podinit_config::{FileError, FileFault, regular_file};
use podinit_core::lifecycle::{Namespaces, Selection, SloRule};
use podinit_text::duration::PrometheusDuration;

/// The most SLOs in a file: each pod is checked against each SLO, and each SLO has its own series.
pub const MAX_SLOS: usize = 64;
/// The longest file that is read, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

const MAX_NAMESPACES: usize = 256;
const MAX_KINDS: usize = 32;
const DEFAULT_GRACE: PrometheusDuration = PrometheusDuration::from_seconds(5);
const MAX_GRACE: PrometheusDuration = PrometheusDuration::from_hours(1);
/// Durations above thirty days are not observed ([§4.6](crate::specification#s4-6)).
const MAX_THRESHOLD: PrometheusDuration = PrometheusDuration::from_days(30);
/// One of at most 1 % is a ratio by mistake. Nobody would ever learn that it is missed.
const LEAST_OBJECTIVE: f64 = 1.0;
const MIN_WINDOW: PrometheusDuration = PrometheusDuration::from_minutes(1);
const MAX_WINDOW: PrometheusDuration = PrometheusDuration::from_days(366);

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
    /// If it cannot be read, those of [`SloFile::parse`], or if an SLO needs more than is available.
    pub fn read(path: &Path, available: impl Into<AvailableEvidence>) -> Result<Self, FileError> {
        Self::inspect(path, &available.into()).result
    }

    /// Looks at the file at `path`, to tell whether it has changed.
    pub fn inspect(
        path: &Path,
        available: &AvailableEvidence,
    ) -> ConfigInspection<Self, FileError> {
        let name = path.display().to_string();
        let read = regular_file::read_past(path, MAX_BYTES);
        ConfigInspection {
            files: vec![FileState::from_read(&read)],
            result: match read {
                Ok(contents) => slos(&contents, available).map_err(|fault| fault.of_file(&name)),
                Err(error) => Err(FileError::unreadable(&name, &error)),
            },
        }
    }

    /// Parses the contents of an SLO file. Errors name it `file`.
    ///
    /// # Errors
    /// If it is too long, is not YAML, or has an unknown key or an invalid value.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        slos(bytes, &AvailableEvidence::ALL).map_err(|fault| fault.of_file(file))
    }
}

fn slos(bytes: &[u8], available: &AvailableEvidence) -> Result<SloFile, FileFault> {
    let FileForm { slos: list } = yaml::parse(bytes, MAX_BYTES, "slos: []")?;
    if list.value.len() > MAX_SLOS {
        let why = format!("has {} SLOs; at most {MAX_SLOS} are allowed", list.value.len());
        return Err(FileFault::at(list.referenced, why));
    }
    selection::check(&list.value, available)?;
    let mut slos: Vec<Slo> = Vec::with_capacity(list.value.len());
    for Spanned { value: form, referenced, .. } in list.value {
        let name = form.name.value.0.clone();
        if let Some(first) = slos.iter().find(|other| other.rule.name == name) {
            let why = format!("the SLO on line {} has this name already", first.line);
            return Err(FileFault::at(form.name.referenced, why));
        }
        slos.push(slo(form, name, referenced.line())?);
    }
    Ok(SloFile { slos })
}

fn slo(form: SloForm, name: Arc<str>, line: u64) -> Result<Slo, FileFault> {
    let objective_percent = form.objective.value;
    if !(objective_percent > LEAST_OBJECTIVE && objective_percent < 100.0) {
        let meant = (objective_percent * 100.0 * 1e6).round() / 1e6;
        let why = match objective_percent > 0.0 && meant < 100.0 {
            true => format!("the objective is in percent: did you mean {meant}?"),
            false => {
                "objective must be a percentage above 1 and below 100, such as 99.5".to_owned()
            }
        };
        return Err(FileFault::at(form.objective.referenced, why));
    }
    let window = at_most("window", &form.window, MAX_WINDOW)?;
    if window < MIN_WINDOW {
        let why = format!("window must be at least {MIN_WINDOW}");
        return Err(FileFault::at(form.window.referenced, why));
    }
    if window != PrometheusDuration::from_minutes(window.as_minutes()) {
        return Err(FileFault::at(form.window.referenced, "window must be of whole minutes"));
    }
    let grace = match &form.grace.0 {
        Some(grace) => at_most("grace", grace, MAX_GRACE)?,
        None => DEFAULT_GRACE,
    };
    let threshold = at_most("threshold", &form.threshold, MAX_THRESHOLD)?;
    let fault = |why: &str| Err(FileFault::at(form.threshold.referenced, why));
    if threshold == PrometheusDuration::from_millis(0) {
        return fault("threshold must be more than 0");
    }
    if threshold > window {
        return fault("threshold must be at most as long as the window");
    }
    Ok(Slo {
        rule: SloRule {
            name,
            interval: form.interval.value.0,
            threshold: threshold.into(),
            grace: grace.into(),
            namespaces: form.namespaces.0.map_or(Ok(Namespaces::All), namespaces)?,
            owner_kinds: form
                .owner_kinds
                .0
                .map_or(Ok(Vec::new()), |kinds| some(kinds, MAX_KINDS))?,
            selection: Selection {
                existing_capacity: form.capacity.0.is_some(),
                present_images: form.images.0.is_some(),
            },
        },
        objective_percent,
        window,
        line,
    })
}

fn at_most(
    key: &str,
    found: &Spanned<PrometheusDuration>,
    most: PrometheusDuration,
) -> Result<PrometheusDuration, FileFault> {
    match found.value > most {
        true => Err(FileFault::at(found.referenced, format!("{key} must be at most {most}"))),
        false => Ok(found.value),
    }
}

fn namespaces(form: Spanned<NamespacesForm>) -> Result<Namespaces, FileFault> {
    match (form.value.include.0, form.value.exclude.0) {
        (Some(include), None) => Ok(Namespaces::Include(some(include, MAX_NAMESPACES)?)),
        (None, Some(exclude)) => Ok(Namespaces::Exclude(some(exclude, MAX_NAMESPACES)?)),
        (Some(_), Some(exclude)) => {
            let why = "exclude cannot be used with include; keep one of them";
            Err(FileFault::at(exclude.referenced, why))
        }
        (None, None) => {
            let why = "namespaces must have include or exclude, has neither";
            Err(FileFault::at(form.referenced, why))
        }
    }
}

/// A list of 1 to `most` texts.
fn some<T: Into<Box<str>>>(list: Spanned<Vec<T>>, most: usize) -> Result<Vec<Box<str>>, FileFault> {
    let length = list.value.len();
    if !(1..=most).contains(&length) {
        let why = format!("must have from 1 to {most} items, has {length}");
        return Err(FileFault::at(list.referenced, why));
    }
    Ok(list.value.into_iter().map(Into::into).collect())
}

#[cfg(test)]
mod tests;
