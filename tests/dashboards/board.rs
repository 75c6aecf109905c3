//! A dashboard: variables, links, annotations, and panels in rows.

use serde_json::{Value, json};

use super::panel::{Panel, datasource};
use super::variable::{COMMON, Variable};

/// The schema version of Grafana 11; Grafana 10 reads it.
const SCHEMA: u32 = 39;

/// Panels under a heading.
#[derive(Clone, Debug)]
pub(super) struct Row {
    title: &'static str,
    /// The variable that the row is repeated for
    repeat: Option<&'static str>,
    /// Whether the row shows only its heading until somebody opens it
    collapsed: bool,
    panels: Vec<Panel>,
}

pub(super) fn row(title: &'static str, panels: Vec<Panel>) -> Row {
    Row { title, repeat: None, collapsed: false, panels }
}

impl Row {
    pub(super) fn repeated(self, variable: &'static str) -> Self {
        Self { repeat: Some(variable), ..self }
    }

    pub(super) fn collapsed(self) -> Self {
        Self { collapsed: true, ..self }
    }
}

/// A dashboard.
#[derive(Clone, Debug)]
pub(super) struct Board {
    /// The name of the file, without its extension
    pub(super) file: &'static str,
    pub(super) uid: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) variables: Vec<Variable>,
    pub(super) rows: Vec<Row>,
}

impl Board {
    /// The dashboard as JSON, with links to the others.
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

    /// Keeps the time range and the variables.
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

    /// Places panels from left to right, in as many lines as needed. Those of a collapsed row are inside of it, at
    /// the places that they have once it is open; the next row stands directly below its heading.
    fn panels(&self) -> Vec<Value> {
        let mut panels = Vec::new();
        let (mut id, mut y) = (0, 0);
        for row in &self.rows {
            id += 1;
            let mut heading = json!({
                "id": id,
                "title": row.title,
                "type": "row",
                "collapsed": row.collapsed,
                "gridPos": {"x": 0, "y": y, "w": 24, "h": 1},
                "panels": [],
            });
            if let Some(variable) = row.repeat {
                heading["repeat"] = json!(variable);
            }
            y += 1;
            let (below, mut inside) = (y, Vec::new());
            let (mut x, mut tallest) = (0, 0);
            for panel in &row.panels {
                if x + panel.width > 24 {
                    (x, y, tallest) = (0, y + tallest, 0);
                }
                id += 1;
                inside.push(panel.json(id, x, y));
                x += panel.width;
                tallest = tallest.max(panel.height);
            }
            y += tallest;
            if row.collapsed {
                (heading["panels"], y) = (json!(inside), below);
                panels.push(heading);
            } else {
                panels.push(heading);
                panels.extend(inside);
            }
        }
        panels
    }
}

/// Marks firing alerts and starts of the exporter.
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
            r#"ALERTS{alertname=~"Podinit.+", alertstate="firing", cluster=~"$cluster", job=~"$job"}"#,
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
