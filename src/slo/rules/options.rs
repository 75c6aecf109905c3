//! How rules are to be written, and why they cannot be.

use std::str::FromStr;

use crate::slo::SloFile;

/// The objective up to which a burn of 14.4 cannot be told from a lesser one, in percent: 14.4
/// times its error budget is all events, to a thousandth, or more (§6).
pub const REFUSED_OBJECTIVE: f64 = 93.06;

/// What `podinit rules --format` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RulesFormat {
    /// A rule file of Prometheus
    #[default]
    Prometheus,
    /// The same in a `PrometheusRule` of the Prometheus operator
    PrometheusRule,
    /// The objectives as OpenSLO v1 documents
    OpenSlo,
    /// Unit tests for `promtool test rules`, which belong to the rule file
    Tests,
}

impl RulesFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [
        Self::Prometheus,
        Self::PrometheusRule,
        Self::OpenSlo,
        Self::Tests,
    ];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prometheus => "prometheus",
            Self::PrometheusRule => "prometheusrule",
            Self::OpenSlo => "openslo",
            Self::Tests => "tests",
        }
    }
}

impl FromStr for RulesFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::as_str);
        let found = Self::ALL.into_iter().find(|format| format.as_str() == text);
        found.ok_or_else(|| format!("known formats are {}", known.join(", ")))
    }
}

/// How rules are to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// What is to be written
    pub format: RulesFormat,
    /// The label `job` of the exporter's targets
    pub job: String,
    /// Where the runbooks are; a section's anchor is put behind it
    pub runbook_url: String,
    /// Where Grafana has its dashboards; `/` and a dashboard's uid are put behind it
    pub dashboard_url: String,
    /// The name by which the unit tests call the rule file
    pub rule_file: String,
}

impl Default for RenderOptions {
    /// Links lead to the runbooks of this repository, and to the Grafana in which an alert is
    /// seen: neither knows where you run yours.
    fn default() -> Self {
        Self {
            format: RulesFormat::Prometheus,
            job: "podinit".to_owned(),
            runbook_url: "deploy/runbooks.md".to_owned(),
            dashboard_url: "/d".to_owned(),
            rule_file: "prometheus-rules.yaml".to_owned(),
        }
    }
}

/// Why rules cannot be written: one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// The page alert could never fire
    #[error(
        "line {line}: {name}: objective {objective} is too low for burn-rate alerts: 14.4 times \
         its error budget is all events or more; choose one above {REFUSED_OBJECTIVE}"
    )]
    Objective {
        /// The line of the SLO in its file
        line: u64,
        /// The SLO
        name: String,
        /// Its objective in percent
        objective: f64,
    },
    /// An option would break the expressions or templates in which it is put
    #[error("{option} {value:?} must be of {allowed}, and not empty")]
    Option {
        /// The option as the command line has it
        option: &'static str,
        /// Its value
        value: String,
        /// What it may consist of
        allowed: &'static str,
    },
    /// The serializer refused
    #[error("cannot write YAML: {0}")]
    Yaml(String),
}

impl RenderOptions {
    pub(super) fn check(&self, file: &SloFile) -> Result<(), RulesError> {
        let words = "letters, digits and _ . : / -";
        let urls = "printable ASCII without blanks, quotes, braces, # and \\";
        let job: fn(u8) -> bool = |byte| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        let url: fn(u8) -> bool = |byte| byte.is_ascii_graphic() && !b"\"'`{}#\\".contains(&byte);
        for (option, value, allowed, is_allowed) in [
            ("--job", &self.job, words, job),
            ("--runbook-url", &self.runbook_url, urls, url),
            ("--dashboard-url", &self.dashboard_url, urls, url),
            ("--rule-file", &self.rule_file, words, job),
        ] {
            if value.is_empty() || !value.bytes().all(is_allowed) {
                return Err(RulesError::Option {
                    option,
                    value: value.clone(),
                    allowed,
                });
            }
        }
        let low = file
            .slos
            .iter()
            .find(|slo| slo.objective_percent <= REFUSED_OBJECTIVE);
        low.map_or(Ok(()), |slo| {
            Err(RulesError::Objective {
                line: slo.line,
                name: slo.rule.name.to_string(),
                objective: slo.objective_percent,
            })
        })
    }
}
