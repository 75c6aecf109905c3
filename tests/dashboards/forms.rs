//! The generated files: JSON for Grafana.

use serde_json::Value;

use super::board::Board;
use super::boards;

/// A file: its path from the root of the repository, and its text.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

/// The directory of the JSON.
pub(super) const DIRECTORY: &str = "dashboards";

/// The dashboards as JSON, each with its definition.
pub(super) fn dashboards() -> Vec<(Board, Value)> {
    let all = boards::all();
    let json = |board: &Board| (board.clone(), board.json(&all));
    all.iter().map(json).collect()
}

/// Every generated file.
pub(super) fn files() -> Vec<File> {
    let file = |(board, json): (Board, Value)| File {
        path: format!("{DIRECTORY}/{}.json", board.file),
        text: pretty(&json),
    };
    dashboards().into_iter().map(file).collect()
}

pub(super) fn pretty(json: &Value) -> String {
    let text = serde_json::to_string_pretty(json).unwrap();
    text + "\n"
}
