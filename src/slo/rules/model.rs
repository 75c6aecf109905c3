//! Rule groups as values, and how they look in a rule file.

use super::options::RenderOptions;
use super::yaml::Yaml;
use crate::slo::duration::SloDuration;

/// Rules that Prometheus evaluates in their order, at one time.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    /// `None` for as often as Prometheus evaluates rules
    pub(super) interval: Option<SloDuration>,
    pub(super) rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
pub(super) enum Rule {
    Record(Recording),
    Alert(Alert),
}

#[derive(Clone, Debug)]
pub(super) struct Recording {
    pub(super) name: String,
    pub(super) expr: String,
    pub(super) labels: Vec<(&'static str, String)>,
}

/// Who is to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// Somebody, now: it pages
    Critical,
    /// Somebody, in working hours: it opens a ticket
    Warning,
}

impl Severity {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
        }
    }
}

/// Where to look first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dashboard {
    Overview,
    Stuck,
    Health,
}

impl Dashboard {
    /// The dashboard's uid, and the variables that are taken over from the alert.
    const fn link(self) -> &'static str {
        match self {
            Self::Overview => {
                "podinit-overview?var-job={{ $labels.job }}&var-slo={{ $labels.slo }}"
            }
            Self::Stuck => "podinit-stuck?var-job={{ $labels.job }}&var-stage={{ $labels.stage }}",
            Self::Health => "podinit-health?var-job={{ $labels.job }}",
        }
    }
}

/// An alert. Its texts are templates of Prometheus.
#[derive(Clone, Debug)]
pub(super) struct Alert {
    pub(super) name: &'static str,
    pub(super) expr: String,
    /// For how long the expression must hold
    pub(super) hold: Option<SloDuration>,
    /// For how long the alert outlives it
    pub(super) keep: Option<SloDuration>,
    pub(super) severity: Severity,
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) summary: String,
    pub(super) description: String,
    pub(super) dashboard: Dashboard,
}

impl Alert {
    /// All labels that the alert adds to those of its expression.
    pub(super) fn all_labels(&self) -> Vec<(&'static str, String)> {
        let mut labels = vec![("severity", self.severity.as_str().to_owned())];
        labels.extend(self.labels.iter().cloned());
        labels
    }

    /// The annotations, in alphabetical order.
    pub(super) fn annotations(&self, options: &RenderOptions) -> [(&'static str, String); 4] {
        let runbook = format!("{}#{}", options.runbook_url, self.name.to_lowercase());
        let dashboard = format!("{}/{}", options.dashboard_url, self.dashboard.link());
        [
            ("dashboard_url", dashboard),
            ("description", self.description.clone()),
            ("runbook_url", runbook),
            ("summary", self.summary.clone()),
        ]
    }
}

/// The `groups` of a rule file.
pub(super) fn groups(groups: &[Group], options: &RenderOptions) -> Yaml {
    let group = |group: &Group| {
        let mut map = vec![("name", Yaml::text(&group.name))];
        if let Some(interval) = group.interval {
            map.push(("interval", Yaml::text(interval.to_string())));
        }
        let rules = group.rules.iter().map(|rule| rule.yaml(options));
        map.push(("rules", Yaml::List(rules.collect())));
        Yaml::Map(map)
    };
    Yaml::List(groups.iter().map(group).collect())
}

impl Rule {
    fn yaml(&self, options: &RenderOptions) -> Yaml {
        match self {
            Self::Record(recording) => recording.yaml(),
            Self::Alert(alert) => alert.yaml(options),
        }
    }
}

impl Recording {
    fn yaml(&self) -> Yaml {
        let mut map = vec![
            ("record", Yaml::text(&self.name)),
            ("expr", Yaml::Block(self.expr.clone())),
        ];
        if !self.labels.is_empty() {
            map.push(("labels", texts(&self.labels)));
        }
        Yaml::Map(map)
    }
}

impl Alert {
    fn yaml(&self, options: &RenderOptions) -> Yaml {
        let mut map = vec![
            ("alert", Yaml::text(self.name)),
            ("expr", Yaml::Block(self.expr.clone())),
        ];
        let times = [("for", self.hold), ("keep_firing_for", self.keep)];
        for (key, time) in times {
            map.extend(time.map(|time| (key, Yaml::text(time.to_string()))));
        }
        map.push(("labels", texts(&self.all_labels())));
        map.push(("annotations", texts(&self.annotations(options))));
        Yaml::Map(map)
    }
}

fn texts(entries: &[(&'static str, String)]) -> Yaml {
    Yaml::texts(entries.iter().map(|(key, text)| (*key, text.as_str())))
}
