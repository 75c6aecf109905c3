//! The generated files: JSON for Grafana's provisioning, and ConfigMaps that the sidecar of its Helm chart
//! finds by their label.

use serde_json::Value;

use super::board::Board;
use super::boards;

/// A file: its path from the root of the repository, and its text.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

/// The directories of the JSON: for Grafana, and a copy in the chart, because Helm reads no file outside of
/// a chart.
pub(super) const DIRECTORIES: [&str; 2] = ["dashboards", "deploy/chart/podinit/files/dashboards"];

/// The dashboards as JSON, each with its definition.
pub(super) fn dashboards() -> Vec<(Board, Value)> {
    let all = boards::all();
    let json = |board: &Board| (board.clone(), board.json(&all));
    all.iter().map(json).collect()
}

/// Every generated file.
pub(super) fn files() -> Vec<File> {
    let mut files = Vec::new();
    let mut maps = Vec::new();
    for (board, json) in dashboards() {
        let text = pretty(&json);
        maps.push(config_map(&board, &text));
        files.extend(DIRECTORIES.map(|directory| File {
            path: format!("{directory}/{}.json", board.file),
            text: text.clone(),
        }));
    }
    files.push(File { path: "dashboards/configmaps.yaml".to_owned(), text: maps.concat() });
    files
}

fn pretty(json: &Value) -> String {
    let text = serde_json::to_string_pretty(json).unwrap();
    text + "\n"
}

/// One ConfigMap for each dashboard, because `kubectl apply` copies the object into an annotation, which is
/// limited to 256 KiB.
fn config_map(board: &Board, json: &str) -> String {
    let file = board.file;
    let indented: String = json.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: podinit-dashboard-{file}\n  labels:\n    \
         app.kubernetes.io/name: podinit\n    grafana_dashboard: \"1\"\n  annotations:\n    \
         grafana_folder: podinit\ndata:\n  podinit-{file}.json: |\n{indented}"
    )
}
