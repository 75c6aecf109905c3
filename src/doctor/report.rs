//! The report of `doctor`: its findings, and their severity.

use serde::Serialize;
use serde_json::{Map, Value};

pub use super::check::Check;
use crate::text::strangers_text::{self, shown_as};
use podinit_core::label_values;

label_values! {
    /// How bad a finding is, the worst last.
    pub enum Severity {
        /// As it should be
        Ok => "ok",
        /// Could not be checked; the finding says why
        Skipped => "skipped",
        /// Nothing to fix, but good to know
        Note => "note",
        /// podinit works, but not with everything that its options ask for
        Warning => "warning",
        /// podinit will not start, or will measure nothing
        Error => "error",
    }
}

impl Severity {
    /// The exit status of a run in which this is the worst. 1 is for a failure of `doctor` itself, and
    /// 2 for usage errors.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Ok | Self::Skipped | Self::Note => 0,
            Self::Warning => 3,
            Self::Error => 4,
        }
    }
}

/// One result of a check. Its texts have one line each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Which check
    pub check: Check,
    /// How bad it is
    pub severity: Severity,
    /// What was found
    pub found: String,
    /// How to fix it
    pub fix: Option<String>,
    /// Figures, for programs
    pub details: Map<String, Value>,
}

impl Finding {
    fn new(check: Check, severity: Severity, found: impl Into<String>) -> Self {
        Self {
            check,
            severity,
            found: one_line(&found.into()),
            fix: None,
            details: Map::new(),
        }
    }

    /// Nothing is wrong.
    pub fn ok(check: Check, found: impl Into<String>) -> Self {
        Self::new(check, Severity::Ok, found)
    }

    /// The check could not be made, and why.
    pub fn skipped(check: Check, why: impl Into<String>) -> Self {
        Self::new(check, Severity::Skipped, why)
    }

    /// Good to know.
    pub fn note(check: Check, found: impl Into<String>) -> Self {
        Self::new(check, Severity::Note, found)
    }

    /// podinit works, but not with everything that its options ask for.
    pub fn warning(check: Check, found: impl Into<String>) -> Self {
        Self::new(check, Severity::Warning, found)
    }

    /// podinit cannot work like this.
    pub fn error(check: Check, found: impl Into<String>) -> Self {
        Self::new(check, Severity::Error, found)
    }

    /// Adds how to fix it.
    #[must_use]
    pub fn fix(mut self, how: impl Into<String>) -> Self {
        self.fix = Some(one_line(&how.into()));
        self
    }

    /// Adds a figure.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Parts of findings come from API servers and files: they are shown without what acts, and with a
/// bounded length.
fn one_line(text: &str) -> String {
    const LIMIT: usize = 2_000;
    let mut line: String = text.chars().take(LIMIT).map(shown_as).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line
}

/// All findings of a run, in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Report {
    /// The findings
    pub findings: Vec<Finding>,
    /// Whether every check was made; false after an interruption
    pub complete: bool,
}

impl Report {
    /// The worst severity of all findings.
    pub fn severity(&self) -> Severity {
        let severities = self.findings.iter().map(|finding| finding.severity);
        severities.max().unwrap_or(Severity::Ok)
    }

    /// The exit status.
    pub fn exit_code(&self) -> u8 {
        self.severity().exit_code()
    }

    /// The report as one JSON object on lines of its own.
    ///
    /// # Errors
    /// None that is known: JSON can express all of the report.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Form<'a> {
            podinit: &'static str,
            complete: bool,
            severity: Severity,
            exit_code: u8,
            findings: &'a [Finding],
        }
        strangers_text::json(&Form {
            podinit: env!("CARGO_PKG_VERSION"),
            complete: self.complete,
            severity: self.severity(),
            exit_code: self.exit_code(),
            findings: &self.findings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_decides_the_exit_status() {
        let mut report = Report::default();
        assert_eq!(report.exit_code(), 0);
        for (finding, code) in [
            (Finding::ok(Check::Listen, "free"), 0),
            (Finding::skipped(Check::Clock, "why"), 0),
            (Finding::note(Check::Kubelets, "old"), 0),
            (Finding::warning(Check::Labels, "many"), 3),
            (Finding::error(Check::Pods, "none"), 4),
            (Finding::ok(Check::SloFile, "valid"), 4),
        ] {
            report.findings.push(finding);
            assert_eq!(report.exit_code(), code);
        }
    }

    #[test]
    fn foreign_text_stays_on_its_line() {
        let finding = Finding::note(Check::Identity, "a\nb\u{1b}[2J").fix("x".repeat(9_000));
        assert_eq!(finding.found, "a b\u{fffd}[2J");
        assert!(finding.fix.is_some_and(|fix| fix.chars().count() == 2_001));
    }
}
