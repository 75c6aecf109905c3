//! A dashboard: variables, links, annotations, and panels in rows.

use serde_json::{Value, json};

use super::panel::{Panel, datasource};

/// Grafana 11 writes this version of the schema; Grafana 10 reads it.
const SCHEMA: u32 = 39;

/// A variable at the head of a dashboard.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variable {
    /// The values of a label
    Label {
        name: &'static str,
        /// The selector whose series are asked, and their label
        from: (&'static str, &'static str),
        /// What all stands for: `.*` where series may lack the label
        all: &'static str,
    },
    /// A list to choose one from: texts and values
    Choice {
        name: &'static str,
        label: &'static str,
        choices: &'static [(&'static str, &'static str)],
    },
}

const TARGET: &str = r#"podinit_synced{cluster=~"$cluster", job=~"$job"}"#;

/// The variables of every dashboard. The label `cluster` need not exist.
const COMMON: [Variable; 3] = [
    label("cluster", ("podinit_synced", "cluster"), ".*"),
    label(
        "job",
        ("podinit_synced{cluster=~\"$cluster\"}", "job"),
        ".+",
    ),
    label("instance", (TARGET, "instance"), ".+"),
];

pub(super) const fn label(
    name: &'static str,
    from: (&'static str, &'static str),
    all: &'static str,
) -> Variable {
    Variable::Label { name, from, all }
}

/// Which form of the histograms is read.
pub(super) const HISTOGRAM: Variable = Variable::Choice {
    name: "histogram",
    label: "Histograms",
    choices: &[("Classic", "_bucket"), ("Native", "()")],
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
    (
        r#"podinit_inflight_pods{cluster=~"$cluster", job=~"$job", instance=~"$instance"}"#,
        "stage",
    ),
    ".+",
);

impl Variable {
    fn json(self) -> Value {
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
            Self::Choice {
                name,
                label,
                choices,
            } => {
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

/// Panels beneath a heading.
#[derive(Clone, Debug)]
pub(super) struct Row {
    title: &'static str,
    /// The variable for each of whose values the row is shown
    repeat: Option<&'static str>,
    panels: Vec<Panel>,
}

pub(super) fn row(title: &'static str, panels: Vec<Panel>) -> Row {
    Row {
        title,
        repeat: None,
        panels,
    }
}

impl Row {
    pub(super) fn repeated(self, variable: &'static str) -> Self {
        Self {
            repeat: Some(variable),
            ..self
        }
    }
}

/// A dashboard.
#[derive(Clone, Debug)]
pub(super) struct Board {
    /// The name of the file, without its ending
    pub(super) file: &'static str,
    pub(super) uid: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) variables: Vec<Variable>,
    pub(super) rows: Vec<Row>,
}

impl Board {
    /// The dashboard as Grafana reads it, with links to the others.
    pub(super) fn json(&self, all: &[Self]) -> Value {
        let variables = COMMON.iter().chain(&self.variables);
        let mut list = vec![json!({
            "name": "datasource",
            "label": "Data source",
            "type": "datasource",
            "query": "prometheus",
            "regex": "",
            "refresh": 1,
            "multi": false,
            "includeAll": false,
            "current": {},
            "options": [],
            "hide": 0,
        })];
        list.extend(variables.map(|variable| variable.json()));
        json!({
            "uid": self.uid,
            "title": format!("podinit / {}", self.title),
            "description": self.description,
            "tags": ["podinit", "kubernetes"],
            "schemaVersion": SCHEMA,
            "version": 1,
            "editable": false,
            "graphTooltip": 1,
            "time": {"from": "now-3h", "to": "now"},
            "timezone": "browser",
            "refresh": "1m",
            "templating": {"list": list},
            "annotations": {"list": annotations()},
            "links": all.iter().filter(|other| other.uid != self.uid).map(Self::link).collect::<Vec<_>>(),
            "panels": self.panels(),
        })
    }

    /// Takes the time and the variables along.
    fn link(&self) -> Value {
        json!({
            "title": self.title,
            "tooltip": self.description,
            "type": "link",
            "url": format!("/d/{}", self.uid),
            "icon": "dashboard",
            "includeVars": true,
            "keepTime": true,
            "asDropdown": false,
            "targetBlank": false,
            "tags": [],
        })
    }

    /// Panels from left to right; where one does not fit, the next line begins.
    fn panels(&self) -> Vec<Value> {
        let mut panels = Vec::new();
        let (mut id, mut y) = (0, 0);
        for row in &self.rows {
            id += 1;
            let mut heading = json!({
                "id": id,
                "title": row.title,
                "type": "row",
                "collapsed": false,
                "gridPos": {"x": 0, "y": y, "w": 24, "h": 1},
                "panels": [],
            });
            if let Some(variable) = row.repeat {
                heading["repeat"] = json!(variable);
            }
            panels.push(heading);
            y += 1;
            let (mut x, mut tallest) = (0, 0);
            for panel in &row.panels {
                if x + panel.width > 24 {
                    (x, y, tallest) = (0, y + tallest, 0);
                }
                id += 1;
                panels.push(panel.json(id, x, y));
                x += panel.width;
                tallest = tallest.max(panel.height);
            }
            y += tallest;
        }
        panels
    }
}

/// Alerts that fire, and starts of the exporter.
fn annotations() -> Value {
    let annotation = |name: &str, expr: &str, color: &str, title: &str, at_value: bool| {
        json!({
            "name": name,
            "datasource": datasource(),
            "enable": true,
            "hide": false,
            "iconColor": color,
            "expr": expr,
            "step": "60s",
            "titleFormat": title,
            "textFormat": "",
            "useValueForTime": at_value,
        })
    };
    json!([
        annotation(
            "Alerts",
            r#"ALERTS{alertname=~"Podinit.+", alertstate="firing", job=~"$job"}"#,
            "red",
            "{{alertname}} {{slo}}{{stage}}",
            false,
        ),
        annotation(
            "Starts of the exporter",
            r#"process_start_time_seconds{cluster=~"$cluster", job=~"$job", instance=~"$instance"} * 1000"#,
            "blue",
            "{{instance}} started",
            true,
        ),
    ])
}
