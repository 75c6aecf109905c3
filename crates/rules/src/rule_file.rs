//! The contents of a Prometheus rule file. And how the rules are written as YAML.

use serde::Serialize;

use super::options::{RenderOptions, RulesError};
use podinit_text::duration::PrometheusDuration;

/// Labels or annotations, in the order in which they are written.
pub(super) type YamlPairs = Vec<(&'static str, String)>;

/// A rule file, and the `spec` of a `PrometheusRule`.
#[derive(Debug, Serialize)]
pub(super) struct RuleFile {
    pub(super) groups: Vec<Group>,
}

/// Rules that Prometheus evaluates one after the other, at the same timestamp.
#[derive(Debug, Serialize)]
pub(super) struct Group {
    pub(super) name: String,
    /// `None`: Prometheus' own evaluation interval
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<PrometheusDuration>,
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Rule {
    Recording(RecordingRule),
    Alerting(AlertingRule),
}

#[derive(Debug, Serialize)]
pub(super) struct RecordingRule {
    pub(super) record: String,
    pub(super) expr: String,
    #[serde(serialize_with = "map", skip_serializing_if = "Vec::is_empty")]
    pub(super) labels: YamlPairs,
}

#[derive(Debug, Serialize)]
pub(super) struct AlertingRule {
    alert: &'static str,
    expr: String,
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    hold: Option<PrometheusDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_firing_for: Option<PrometheusDuration>,
    #[serde(serialize_with = "map")]
    labels: YamlPairs,
    #[serde(serialize_with = "map")]
    annotations: YamlPairs,
}

/// How urgent an alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlertSeverity {
    /// Pages somebody now
    Critical,
    /// Opens a ticket for working hours
    Warning,
    /// Reminds, once a day, of what a ticket was opened for
    Info,
}

impl AlertSeverity {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// The dashboard to open first.
#[derive(Clone, Copy, Debug)]
pub(super) enum AlertDashboard {
    Overview,
    Stuck,
    Capacity,
    Images,
    Health,
}

impl AlertDashboard {
    /// The dashboard's uid, and variables set from the alert's labels.
    const fn link(self) -> &'static str {
        match self {
            Self::Overview => {
                "podinit-overview?var-job={{ $labels.job }}&var-slo={{ $labels.slo }}"
            }
            Self::Stuck => "podinit-stuck?var-job={{ $labels.job }}&var-stage={{ $labels.stage }}",
            Self::Capacity => "podinit-capacity?var-job={{ $labels.job }}",
            Self::Images => "podinit-images?var-job={{ $labels.job }}",
            Self::Health => "podinit-health?var-job={{ $labels.job }}",
        }
    }
}

/// An alert. Its summary and description are Prometheus templates.
#[derive(Clone, Debug)]
pub(super) struct AlertRule {
    pub(super) name: &'static str,
    pub(super) expr: String,
    /// `for`: how long the expression must hold before the alert fires
    pub(super) hold: Option<PrometheusDuration>,
    /// `keep_firing_for`: how long the alert keeps firing after its expression is no longer true
    pub(super) keep: Option<PrometheusDuration>,
    pub(super) severity: AlertSeverity,
    pub(super) labels: YamlPairs,
    pub(super) summary: String,
    pub(super) description: String,
    /// The command to run next, where one command fits all causes
    pub(super) command: Option<&'static str>,
    pub(super) dashboard: AlertDashboard,
}

impl AlertRule {
    pub(super) fn rule(self, options: &RenderOptions) -> Rule {
        let (labels, annotations) = (self.all_labels(), self.annotations(options));
        Rule::Alerting(AlertingRule {
            alert: self.name,
            expr: self.expr,
            hold: self.hold,
            keep_firing_for: self.keep,
            labels,
            annotations,
        })
    }

    /// The labels that the alert adds to those of its expression.
    pub(super) fn all_labels(&self) -> YamlPairs {
        let mut labels = vec![("severity", self.severity.as_str().to_owned())];
        labels.extend(self.labels.iter().cloned());
        labels
    }

    /// The annotations, in alphabetical order. An alert with a label `cause` also links to the runbook of that cause.
    /// What has no base URL is not linked.
    pub(super) fn annotations(&self, options: &RenderOptions) -> YamlPairs {
        const CAUSE: &str = "$labels.cause";
        let mut annotations =
            vec![("description", self.description.clone()), ("summary", self.summary.clone())];
        if let Some(url) = runbook(options, &self.name.to_lowercase(), self.name) {
            annotations.push(("runbook_url", url));
            if [&self.description, &self.summary].iter().any(|text| text.contains(CAUSE)) {
                let cause = format!("{{{{ {CAUSE} }}}}");
                let url = runbook(options, &format!("cause-{cause}"), &cause);
                annotations.extend(url.map(|url| ("cause_runbook_url", url)));
            }
        }
        if let Some(base) = &options.dashboard_url {
            let dashboard = format!("{base}/{}", self.dashboard.link());
            annotations.push(("dashboard_url", dashboard));
        }
        if let Some(command) = self.command {
            annotations.push(("command", command.to_owned()));
            if let Some(base) = options.page() {
                annotations.push(("explain_command", format!("podinit explain --url {base}")));
                annotations.push(("page_url", format!("{base}/")));
            }
        }
        annotations.sort_unstable_by_key(|(key, _)| *key);
        annotations
    }
}

/// The URL of a runbook: a section of the file of runbooks, or else a page of the exporter.
fn runbook(options: &RenderOptions, section: &str, page: &str) -> Option<String> {
    match &options.runbook_url {
        Some(base) => Some(format!("{base}#{section}")),
        None => Some(format!("{}/runbooks/{page}", options.page()?)),
    }
}

/// One YAML document that ends with a line feed. Text of several lines (expressions) is a literal
/// block; other text stays on one line, with quotes where YAML needs them. The same value gives
/// the same bytes.
pub(super) fn document(value: &impl Serialize) -> Result<String, RulesError> {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: false,
        folded_wrap_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(value, options)
        .map_err(|error| RulesError::Yaml(error.to_string()))
}

/// Serializes pairs as a map, in their order.
pub(super) fn map<S: serde::Serializer>(
    pairs: &[(&'static str, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Serialize)]
    struct Example {
        name: &'static str,
        r#for: &'static str,
        state: &'static str,
        expr: &'static str,
        none: [u8; 0],
        list: [Item; 2],
        long: String,
    }

    #[derive(Serialize)]
    struct Item {
        it: &'static str,
        count: u8,
    }

    #[test]
    fn is_written_as_people_write_it() {
        let value = Example {
            name: "a-b.c/d",
            r#for: "10m",
            state: "on",
            expr: "up\n  == 0",
            none: [],
            list: [Item { it: "it's", count: 5 }, Item { it: "up: 1", count: 6 }],
            long: "word ".repeat(30) + "word",
        };
        let text = "\
name: a-b.c/d
for: 10m
state: \"on\"
expr: |-
  up
    == 0
none: []
list:
  - it: it's
    count: 5
  - it: \"up: 1\"
    count: 6
long: ";
        let written = document(&value).unwrap();
        assert_eq!(written, format!("{text}{}\n", value.long));
    }

    proptest! {
        #[test]
        fn texts_are_read_as_they_were_written(text in "[ -~äß\n]{0,40}") {
            let map = BTreeMap::from([("key", text.clone())]);
            let read: BTreeMap<String, String> =
                serde_saphyr::from_str(&document(&map).unwrap()).unwrap();
            prop_assert_eq!(&read["key"], &text);
        }
    }
}
