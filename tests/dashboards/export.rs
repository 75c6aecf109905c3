//! The dashboards as grafana.com wants them: an import asks for the data source, and says what Grafana has to have.
//! They are made where they are needed, so that there is one copy of each.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::forms::{File, dashboards, pretty};

/// The variable of our own files, which lets a reader choose the data source at any time.
const VARIABLE: &str = "datasource";
const OF_VARIABLE: &str = "${datasource}";
/// The input that an import asks for.
const INPUT: &str = "DS_PROMETHEUS";
const OF_INPUT: &str = "${DS_PROMETHEUS}";
/// How much is wrong with a dashboard that is no export: everything but its uid.
pub(super) const COMPLAINTS_OF_NO_EXPORT: usize = 7;
/// The oldest Grafana that the dashboards are for.
const GRAFANA: &str = "10.0.0";

/// What grafana.com shows of a type of panels.
const PANELS: [(&str, &str); 4] =
    [("heatmap", "Heatmap"), ("stat", "Stat"), ("table", "Table"), ("timeseries", "Time series")];

/// Every dashboard as an export.
pub(super) fn files() -> Vec<File> {
    let export = |(board, json): (super::board::Board, Value)| File {
        path: format!("{}.json", board.uid),
        text: pretty(&exported(json)),
    };
    dashboards().into_iter().map(export).collect()
}

/// The dashboard with an input in place of the variable.
fn exported(mut board: Value) -> Value {
    let used = panel_types(&board);
    let known = PANELS.iter().filter(|(id, _)| used.contains(*id));
    let mut requires = vec![
        json!({"type": "grafana", "id": "grafana", "name": "Grafana", "version": GRAFANA}),
        json!({"type": "datasource", "id": "prometheus", "name": "Prometheus", "version": "1.0.0"}),
    ];
    requires.extend(
        known.map(|(id, name)| json!({"type": "panel", "id": id, "name": name, "version": ""})),
    );
    if let Some(variables) = board["templating"]["list"].as_array_mut() {
        variables.retain(|variable| variable["name"] != VARIABLE);
    }
    replace(&mut board);
    let mut export = json!({
        "__inputs": [{
            "name": INPUT,
            "label": "Prometheus",
            "description": "The data source that scrapes podinit",
            "type": "datasource",
            "pluginId": "prometheus",
            "pluginName": "Prometheus",
        }],
        "__elements": {},
        "__requires": requires,
        "id": null,
    });
    if let (Some(export), Value::Object(board)) = (export.as_object_mut(), board) {
        export.extend(board);
    }
    export
}

fn replace(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace(OF_VARIABLE, OF_INPUT),
        Value::Array(items) => items.iter_mut().for_each(replace),
        Value::Object(entries) => entries.values_mut().for_each(replace),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The types of the panels, but for rows, which are no plugin.
fn panel_types(board: &Value) -> BTreeSet<String> {
    let shown = || board["panels"].as_array().into_iter().flatten();
    let inside = shown().filter_map(|row| row["panels"].as_array()).flatten();
    let types = shown().chain(inside).filter_map(|panel| panel["type"].as_str());
    types.filter(|name| *name != "row").map(str::to_owned).collect()
}

/// What grafana.com, or an import, would miss in an export.
pub(super) fn complaints(file: &File) -> Vec<String> {
    let export: Value = serde_json::from_str(&file.text).unwrap();
    let required = |kind: &str| -> BTreeSet<String> {
        let all = export["__requires"].as_array().into_iter().flatten();
        let ids = all.filter(|one| one["type"] == kind).filter_map(|one| one["id"].as_str());
        ids.map(str::to_owned).collect()
    };
    let mut sources = BTreeSet::new();
    collect(&export, &mut sources);
    let inputs = export["__inputs"].as_array().map_or(&[][..], Vec::as_slice);
    let only = |name: &str| BTreeSet::from([name.to_owned()]);
    let holds = [
        ("it has an id", export["id"].is_null() && export.get("id").is_some()),
        ("it has no uid", export["uid"].is_string()),
        ("its input is not asked for", inputs.len() == 1 && inputs[0]["name"] == INPUT),
        ("a panel has another data source than the input", sources == only(OF_INPUT)),
        ("it still names the variable", !file.text.contains(OF_VARIABLE)),
        ("it requires no Grafana", required("grafana") == only("grafana")),
        ("it requires no Prometheus", required("datasource") == only("prometheus")),
        ("it does not require each type of its panels", required("panel") == panel_types(&export)),
    ];
    let broken = holds.iter().filter(|(_, holds)| !holds);
    broken.map(|(what, _)| format!("the export {}: {what}", file.path)).collect()
}

/// The ids of all data sources.
fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            let uid = entries.get(VARIABLE).and_then(|source| source["uid"].as_str());
            found.extend(uid.map(str::to_owned));
            entries.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}
