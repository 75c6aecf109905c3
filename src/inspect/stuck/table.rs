//! The stuck pods as a table.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{StuckPod, StuckPods};
use crate::text::human_time::seconds;
use crate::text::strangers_text::shown;

const NARROW: [&str; 8] = [
    "NAMESPACE",
    "POD",
    "STAGE",
    "WAIT",
    "LIMIT",
    "CAUSE",
    "NODE",
    "OWNER",
];
const WIDE: [&str; 5] = ["IMAGE", "MESSAGE", "REGISTRY", "UID", "NEXT"];

/// Between two columns, as in the tables of kubectl
const GAP: usize = 3;

impl StuckPods {
    /// The table and a line that sums it up, or only the line if no pod is stuck. `wide` adds columns.
    pub fn to_table(&self, wide: bool, colour: bool) -> String {
        if self.pods.is_empty() {
            return self.summary() + "\n";
        }
        let mut head: Vec<String> = NARROW.map(str::to_owned).into();
        if wide {
            head.extend(WIDE.map(str::to_owned));
        }
        let rows: Vec<Vec<String>> = self.pods.iter().map(|pod| cells(pod, wide)).collect();
        let all = || std::iter::once(&head).chain(&rows);
        let width = |column: usize| all().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..head.len()).filter_map(width).collect();
        let mut text = String::new();
        for (number, row) in all().enumerate() {
            let line = line(row, &widths);
            match colour && number == 0 {
                true => text.push_str(&format!("\x1b[1m{line}\x1b[0m\n")),
                false => text.push_str(&format!("{line}\n")),
            }
        }
        text + "\n" + &self.summary() + "\n"
    }

    /// How many pods are stuck, by cause, the most frequent one first.
    pub fn summary(&self) -> String {
        let mut counts = BTreeMap::<&str, usize>::new();
        for pod in &self.pods {
            *counts.entry(&pod.cause).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let causes = counts
            .iter()
            .map(|(cause, count)| format!("{count} {}", cell(cause)));
        let causes = causes.collect::<Vec<_>>().join(", ");
        match (self.pods.len(), self.complete) {
            (0, _) => "no pod is stuck".to_owned(),
            (count, true) => format!("{count} stuck: {causes}"),
            (count, false) => {
                format!("the first {count} stuck: {causes}; raise --limit to see more")
            }
        }
    }
}

fn cells(pod: &StuckPod, wide: bool) -> Vec<String> {
    let known = |text: &Option<String>| text.clone().unwrap_or_default();
    let mut cells = vec![
        pod.namespace.clone(),
        pod.name.clone(),
        pod.stage.clone(),
        seconds(pod.wait_seconds),
        seconds(pod.limit_seconds),
        pod.cause.clone(),
        known(&pod.node),
        known(&pod.owner),
    ];
    if wide {
        let registries = pod.registries.join(",");
        cells.extend([
            known(&pod.image),
            known(&pod.message),
            registries,
            pod.uid.clone(),
            pod.next_command.clone(),
        ]);
    }
    cells.iter().map(|text| cell(text)).collect()
}

/// The text of a cell.
fn cell(text: &str) -> String {
    match text {
        "" => "-".to_owned(),
        text => shown(text).into_owned(),
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(&format!("{cell:<0$}", width + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}
