//! The report of `doctor`: the names of the checks, their findings and severity, and the report as text.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Value};

use podinit_core::label_values;
use podinit_text::strangers_text::{self, shown_as};

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
        Self { check, severity, found: one_line(&found.into()), fix: None, details: Map::new() }
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
pub struct DoctorReport {
    /// The findings
    pub findings: Vec<Finding>,
    /// Whether every check was made; false after an interruption
    pub complete: bool,
}

impl DoctorReport {
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

label_values! {
    /// A check. Every run reports on every one, if only as skipped.
    pub enum Check {
        /// Whether the address to listen on is free
        Listen => "listen",
        /// Whether the SLO file is valid
        SloFile => "slo-file",
        /// Whether the web configuration is valid
        WebConfig => "web-config",
        /// Whether the state directory can be used
        StateDir => "state-dir",
        /// Whether the collector of traces takes them
        Traces => "traces",
        /// Whether a kubeconfig or a service account names a cluster
        Cluster => "cluster",
        /// Whether the API server answers
        ApiServer => "api-server",
        /// Which user our credentials belong to
        Identity => "identity",
        /// Whether pods may be listed and watched
        Permissions => "permissions",
        /// Whether there are pods
        Pods => "pods",
        /// Whether the API server shards, and how many shards the pods need
        Sharding => "sharding",
        /// Whether a watch opens
        Watch => "watch",
        /// Whether, and under which name, the network condition is reported
        NetworkCondition => "network-condition",
        /// Which kubelets report that condition late
        Kubelets => "kubelets",
        /// The offset between the clocks
        Clock => "clock",
        /// How many series the labels lead to
        Labels => "labels",
    }
}

/// The width of the column of severities: the longest one and a space.
const SEVERITY_WIDTH: usize = 8;
/// The width of the column of checks: the longest one and two spaces.
const CHECK_WIDTH: usize = 19;

/// One finding: a line, and one more where there is something to fix. Colours are for terminals.
pub fn line(finding: &Finding, colour: bool) -> String {
    let severity = format!("{:<SEVERITY_WIDTH$}", finding.severity.as_str());
    let severity = paint(&severity, finding.severity, colour);
    let check = finding.check.as_str();
    let mut text = format!("{severity}{check:<CHECK_WIDTH$}{}\n", finding.found);
    if let Some(fix) = &finding.fix {
        let indent = SEVERITY_WIDTH + CHECK_WIDTH;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:indent$}→ {fix}", "");
    }
    text
}

/// The last line: the number of findings of each severity, the worst first.
pub fn summary(report: &DoctorReport, colour: bool) -> String {
    let mut parts = Vec::new();
    for severity in Severity::ALL.into_iter().rev() {
        let of_it = |finding: &&Finding| finding.severity == severity;
        let count = report.findings.iter().filter(of_it).count();
        if count > 0 {
            let name = match (severity, count) {
                (Severity::Ok | Severity::Skipped, _) | (_, 1) => severity.as_str().to_owned(),
                _ => format!("{}s", severity.as_str()),
            };
            parts.push(format!("{count} {name}"));
        }
    }
    let mut text = format!("\n{}", paint(&parts.join(", "), report.severity(), colour));
    if !report.complete {
        let reported = |check: &Check| report.findings.iter().any(|found| found.check == *check);
        let left = Check::ALL.iter().filter(|check| !reported(check));
        let left: Vec<&str> = left.map(|check| check.as_str()).collect();
        let _ = write!(text, "; interrupted, not checked: {}", left.join(", "));
    }
    text.push('\n');
    text
}

fn paint(text: &str, severity: Severity, colour: bool) -> String {
    let code = match severity {
        Severity::Ok => "32",
        Severity::Skipped => "2",
        Severity::Note => "36",
        Severity::Warning => "33",
        Severity::Error => "31",
    };
    if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_decides_the_exit_status() {
        let mut report = DoctorReport::default();
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

#[cfg(test)]
mod text_tests {
    use super::*;

    #[test]
    fn every_name_fits_its_column() {
        let severities = Severity::ALL.map(|severity| severity.as_str().len());
        assert_eq!(severities.iter().max(), Some(&(SEVERITY_WIDTH - 1)));
        let checks = Check::ALL.map(|check| check.as_str().len());
        assert_eq!(checks.iter().max(), Some(&(CHECK_WIDTH - 2)));
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        let finding = Finding::error(Check::Listen, "taken").fix("choose another");
        let plain = line(&finding, false);
        assert!(!plain.contains('\u{1b}'));
        let coloured = line(&finding, true);
        assert!(coloured.contains("\u{1b}[31m"));
        assert_eq!(coloured.replace("\u{1b}[31m", "").replace("\u{1b}[0m", ""), plain);
    }

    #[test]
    fn an_interrupted_report_names_the_checks_that_were_not_made() {
        let report = DoctorReport {
            findings: vec![Finding::ok(Check::Listen, ""), Finding::error(Check::SloFile, "")],
            complete: false,
        };
        let text = summary(&report, false);
        assert!(text.starts_with("\n1 error, 1 ok; interrupted, not checked: web-config,"));
        assert!(text.ends_with("clock, labels\n"));
    }
}
