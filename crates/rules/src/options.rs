//! The options of `podinit rules`, and the errors they can cause.

use std::str::FromStr;

use podinit_core::label_values;
use podinit_slo::SloFile;

/// Objectives up to this one, in percent, are refused: 14.4 times their error budget is all events
/// (to a thousandth) or more, so the alert on a burn rate of 14.4 could never fire
/// ([§6.9](crate::specification#s6-9)).
pub(crate) const REFUSED_OBJECTIVE: f64 = 93.06;

label_values! {
    /// The values of `podinit rules --output`.
    #[derive(Default)]
    pub enum RulesFormat {
        /// A Prometheus rule file
        #[default]
        Prometheus => "prometheus",
        /// The same rules as a `PrometheusRule` of the Prometheus operator
        PrometheusRule => "prometheusrule",
        /// The objectives as OpenSLO v1 objects
        OpenSlo => "openslo",
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

/// How the rules are rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    pub format: RulesFormat,
    /// The label `job` of the exporter's targets in Prometheus
    pub job: String,
    /// Where the runbooks are; `#` and the anchor of a section are appended. Without it alerts link to those of the
    /// exporter's page
    pub runbook_url: Option<String>,
    /// Where Grafana has its dashboards; `/` and the uid of a dashboard are appended. Without it alerts link to none
    pub dashboard_url: Option<String>,
    /// Where the exporter can be reached, with its live page. Without it alerts link to none
    pub page_url: Option<String>,
}

impl Default for RenderOptions {
    /// No links: the program cannot know where your runbooks, your dashboards and its own page are.
    fn default() -> Self {
        Self {
            format: RulesFormat::Prometheus,
            job: "podinit".to_owned(),
            runbook_url: None,
            dashboard_url: None,
            page_url: None,
        }
    }
}

/// Why the rules cannot be rendered. The text is one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// The alert that pages could never fire
    #[error(
        "line {line}: {name}: objective {objective} is too low for burn-rate alerts: 14.4 times \
         its error budget is all events or more; choose one above {REFUSED_OBJECTIVE}"
    )]
    Objective {
        /// The line of the SLO file on which the SLO begins
        line: u64,
        /// The name of the SLO
        name: String,
        /// Its objective in percent
        objective: f64,
    },
    /// An option would break the expressions or templates that contain it
    #[error("{option} {value:?} must be of {allowed}, and not empty")]
    Option {
        /// The flag
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
    /// [`Self::page_url`] without a slash at its end.
    pub(super) fn page(&self) -> Option<&str> {
        self.page_url.as_ref().map(|url| url.trim_end_matches('/'))
    }

    pub(super) fn check(&self, file: &SloFile) -> Result<(), RulesError> {
        let words = "letters, digits and _ . : / -";
        let urls = "printable ASCII without blanks, quotes, braces, # and \\";
        let job: fn(u8) -> bool = |byte| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        let url: fn(u8) -> bool = |byte| byte.is_ascii_graphic() && !b"\"'`{}#\\".contains(&byte);
        let names = [("--job", &self.job, words, job)];
        let links = [
            ("--runbook-url", &self.runbook_url),
            ("--dashboard-url", &self.dashboard_url),
            ("--page-url", &self.page_url),
        ];
        let links = links
            .into_iter()
            .filter_map(|(option, base)| Some((option, base.as_ref()?, urls, url)));
        for (option, value, allowed, is_allowed) in names.into_iter().chain(links) {
            if value.is_empty() || !value.bytes().all(is_allowed) {
                return Err(RulesError::Option { option, value: value.clone(), allowed });
            }
        }
        let low = file.slos.iter().find(|slo| slo.objective_percent <= REFUSED_OBJECTIVE);
        low.map_or(Ok(()), |slo| {
            Err(RulesError::Objective {
                line: slo.line,
                name: slo.rule.name.to_string(),
                objective: slo.objective_percent,
            })
        })
    }
}
