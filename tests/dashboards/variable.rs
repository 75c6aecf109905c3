//! The variables of dashboards.

use serde_json::{Value, json};

use super::panel::datasource;

/// A variable that the user can set at the top of a dashboard.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variable {
    /// The values of a label
    Label {
        name: &'static str,
        /// The selector of the series that are queried, and the label
        from: (&'static str, &'static str),
        /// The value of "All": `.*` if series may lack the label
        all: &'static str,
    },
    /// One of several fixed choices: texts and values
    Choice {
        name: &'static str,
        label: &'static str,
        choices: &'static [(&'static str, &'static str)],
    },
}

const TARGET: &str = r#"podinit_synced{cluster=~"$cluster", job=~"$job"}"#;

/// The variables of every dashboard. The label `cluster` need not exist.
pub(super) const COMMON: [Variable; 3] = [
    label("cluster", ("podinit_synced", "cluster"), ".*"),
    label("job", ("podinit_synced{cluster=~\"$cluster\"}", "job"), ".+"),
    label("instance", (TARGET, "instance"), ".+"),
];

pub(super) const fn label(
    name: &'static str,
    from: (&'static str, &'static str),
    all: &'static str,
) -> Variable {
    Variable::Label { name, from, all }
}

/// Classic or native histograms.
pub(super) const HISTOGRAM: Variable = Variable::Choice {
    name: "histogram",
    label: "Histograms",
    choices: &[("Classic", "_bucket"), ("Native", "()")],
};

/// The label with the namespace of pods. Where a scrape does not honour labels, Prometheus renames it.
pub(super) const NAMESPACE_LABEL: Variable = Variable::Choice {
    name: "namespace_label",
    label: "Label of namespaces",
    choices: &[("namespace", "namespace"), ("exported_namespace", "exported_namespace")],
};

/// The SLOs.
pub(super) const SLO: Variable = label(
    "slo",
    (
        r#"podinit_slo_objective_ratio{cluster=~"$cluster", job=~"$job", instance=~"$instance"}"#,
        "slo",
    ),
    ".+",
);

/// The stages.
pub(super) const STAGE: Variable = label(
    "stage",
    (r#"podinit_inflight_pods{cluster=~"$cluster", job=~"$job", instance=~"$instance"}"#, "stage"),
    ".+",
);

impl Variable {
    pub(super) fn json(self) -> Value {
        match self {
            Self::Label { name, from, all } => {
                let query = format!("label_values({}, {})", from.0, from.1);
                json!({
                    "name": name,
                    "label": capitalized(name),
                    "type": "query",
                    "datasource": datasource(),
                    "query": query,
                    "definition": query,
                    "refresh": 2,
                    "sort": 1,
                    "multi": true,
                    "includeAll": true,
                    "allValue": all,
                    "current": {"selected": true, "text": "All", "value": "$__all"},
                    "options": [],
                    "hide": 0,
                })
            }
            Self::Choice { name, label, choices } => {
                let options: Vec<Value> = choices
                    .iter()
                    .enumerate()
                    .map(|(at, (text, value))| json!({"text": text, "value": value, "selected": at == 0}))
                    .collect();
                let query: Vec<String> = choices
                    .iter()
                    .map(|(text, value)| match text == value {
                        true => (*value).to_owned(),
                        false => format!("{text} : {value}"),
                    })
                    .collect();
                json!({
                    "name": name,
                    "label": label,
                    "type": "custom",
                    "query": query.join(","),
                    "current": options[0],
                    "options": options,
                    "multi": false,
                    "includeAll": false,
                    "hide": 0,
                })
            }
        }
    }
}

fn capitalized(name: &str) -> String {
    if name == "slo" {
        return "SLO".to_owned();
    }
    let (first, rest) = name.split_at(1);
    format!("{}{}", first.to_uppercase(), rest.replace('_', " "))
}
