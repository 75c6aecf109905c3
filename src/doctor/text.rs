//! The report as text.

use std::fmt::Write;

use super::report::{Check, Finding, Report, Severity};

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
pub fn summary(report: &Report, colour: bool) -> String {
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
    if colour {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            coloured.replace("\u{1b}[31m", "").replace("\u{1b}[0m", ""),
            plain
        );
    }

    #[test]
    fn an_interrupted_report_names_the_checks_that_were_not_made() {
        let report = Report {
            findings: vec![
                Finding::ok(Check::Listen, ""),
                Finding::error(Check::SloFile, ""),
            ],
            complete: false,
        };
        let text = summary(&report, false);
        assert!(text.starts_with("\n1 error, 1 ok; interrupted, not checked: web-config,"));
        assert!(text.ends_with("clock, labels\n"));
    }
}
