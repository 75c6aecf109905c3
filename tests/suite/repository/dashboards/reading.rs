//! Reads the checked-in dashboards.

use std::collections::{BTreeMap, BTreeSet};

use podinit_instruments::{FamilyDoc, MetricType};
use serde_json::Value;

/// A dashboard as JSON, and the name of its file.
#[derive(Clone, Debug)]
pub(super) struct Dashboard {
    pub(super) name: String,
    pub(super) json: Value,
}

impl Dashboard {
    pub(super) fn new(name: &str, json: Value) -> Self {
        Self { name: name.to_owned(), json }
    }

    pub(super) fn text(&self, pointer: &str) -> String {
        self.json.pointer(pointer).unwrap().as_str().unwrap().to_owned()
    }

    /// What the dashboard shows before somebody opens a collapsed row.
    pub(super) fn shown(&self) -> &[Value] {
        self.json["panels"].as_array().unwrap()
    }

    /// Panels and rows, each row before its panels.
    pub(super) fn all_panels(&self) -> Vec<&Value> {
        let mut found = Vec::new();
        for panel in self.shown() {
            found.push(panel);
            found.extend(panel["panels"].as_array().into_iter().flatten());
        }
        found
    }

    /// Panels without rows.
    pub(super) fn panels(&self) -> Vec<&Value> {
        self.all_panels().into_iter().filter(|panel| panel["type"] != "row").collect()
    }

    /// The variables by name.
    pub(super) fn variables(&self) -> BTreeMap<String, &Value> {
        let list = self.json["templating"]["list"].as_array().unwrap();
        list.iter()
            .map(|variable| (variable["name"].as_str().unwrap().to_owned(), variable))
            .collect()
    }

    /// Every expression in panels, annotations and variables.
    pub(super) fn expressions(&self) -> impl Iterator<Item = String> {
        let panels = self.panels().into_iter();
        let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
        let annotations = self.json["annotations"]["list"].as_array().unwrap();
        let exprs = targets.chain(annotations).map(|holder| holder["expr"].as_str().unwrap());
        let variables = self.variables().into_values();
        let queries = variables
            .filter(|variable| variable["type"] == "query")
            .map(|variable| variable["query"].as_str().unwrap());
        exprs.chain(queries).map(str::to_owned).collect::<Vec<_>>().into_iter()
    }

    /// Every text of the dashboard; only the queries of variables.
    pub(super) fn strings(&self) -> impl Iterator<Item = String> {
        let mut found = Vec::new();
        collect(&self.json, &mut found);
        found.into_iter()
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(entries) => {
            for (key, value) in entries {
                match key.as_str() {
                    // The name of a variable, without a dollar.
                    "repeat" => found.push(format!("${}", value.as_str().unwrap())),
                    // `$__all`, a value.
                    "current" => {}
                    _ => collect(value, found),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The variables that a text mentions: `$name`, `${name}` and `${name:format}`.
pub(super) fn variables_of(text: &str) -> BTreeSet<String> {
    let parts = text.split('$').skip(1);
    let name = |part: &str| {
        let part = part.strip_prefix('{').unwrap_or(part);
        let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
        part.chars().take_while(|character| is_part(*character)).collect::<String>()
    };
    parts.map(name).filter(|name| !name.is_empty()).collect()
}

/// The metrics in an expression. A name that contains a variable is expanded with each value that the
/// dashboards have for it.
pub(super) fn metrics_of(expr: &str) -> Vec<String> {
    let mut exprs = vec![expr.to_owned()];
    for (variable, values) in [
        ("$histogram", &["_bucket", ""][..]),
        ("(_count)?", &["_count", ""]),
        ("${interval}", &["scheduled_to_ready", "created_to_ready"]),
    ] {
        if expr.contains(variable) {
            let with = |expr: &String| {
                let each = values.iter().map(|value| expr.replace(variable, value));
                each.collect::<Vec<_>>()
            };
            exprs = exprs.iter().flat_map(with).collect();
        }
    }
    exprs.iter().flat_map(|expr| metric_words(expr)).collect()
}

/// The words of a text that look like metric names.
pub(super) fn metric_words(text: &str) -> Vec<String> {
    let is_part =
        |character: char| character.is_ascii_alphanumeric() || character == '_' || character == ':';
    let is_metric = |word: &&str| {
        let begins = |prefix| word.starts_with(prefix);
        ["up", "ALERTS"].contains(word)
            || ["podinit_", "process_", "scrape_", "kubelet_"].into_iter().any(begins)
    };
    let words = text.split(|character| !is_part(character));
    words.filter(is_metric).map(str::to_owned).collect()
}

/// Whether it is a metric of Prometheus, of the process or of kubelets, not of podinit.
pub(super) fn is_foreign(metric: &str) -> bool {
    const FOREIGN: [&str; 12] = [
        "up",
        "ALERTS",
        "kubelet_pod_start_sli_duration_seconds_bucket",
        "scrape_duration_seconds",
        "scrape_samples_scraped",
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_max_fds",
        "process_virtual_memory_bytes",
        "process_virtual_memory_max_bytes",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
    ];
    FOREIGN.contains(&metric)
}

/// Whether series of that name belong to the family.
pub(super) fn is_shown(family: &FamilyDoc, metric: &str) -> bool {
    match metric.strip_prefix(family.name) {
        Some("") => true,
        Some(part) => {
            family.kind == MetricType::Histogram && ["_bucket", "_sum", "_count"].contains(&part)
        }
        None => false,
    }
}
