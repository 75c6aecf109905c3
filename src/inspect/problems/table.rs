//! Problems for people.

use super::{Problem, Problems};
use crate::text::strangers_text::shown;
use crate::text::table::{cell, table};

const NARROW: [&str; 8] = [
    "PODS",
    "STUCK",
    "SINCE",
    "CAUSE",
    "SHARED",
    "NODES",
    "WORKLOADS",
    "NAMESPACES",
];
const WIDE: [&str; 3] = ["MESSAGE", "NEXT", "RUNBOOK"];

impl Problems {
    /// A sentence for each problem, and a table of their figures. `wide` adds columns.
    pub fn to_table(&self, wide: bool, colour: bool) -> String {
        let lines = |problems: &[Problem]| -> String {
            let sentences = problems.iter();
            sentences
                .map(|problem| shown(&problem.sentence) + "\n")
                .collect()
        };
        let ended = match self.ended.is_empty() {
            true => String::new(),
            false => format!("\nEnded lately:\n{}", lines(&self.ended)),
        };
        if self.problems.is_empty() {
            return self.summary() + "\n" + &ended;
        }
        let mut text = lines(&self.problems);
        let mut head = NARROW.to_vec();
        if wide {
            head.extend(WIDE);
        }
        let rows: Vec<_> = self
            .problems
            .iter()
            .map(|problem| cells(problem, wide))
            .collect();
        text.push('\n');
        text.push_str(&table(&head, &rows, colour));
        text + &ended
    }

    /// One line: the worst problem, or that there is none.
    pub fn summary(&self) -> String {
        match (self.problems.first(), &self.time) {
            (Some(worst), _) => shown(&worst.sentence).into_owned(),
            (None, Some(_)) => "No problem among the pods that are starting up.".to_owned(),
            (None, None) => "Nothing is known yet.".to_owned(),
        }
    }
}

fn cells(problem: &Problem, wide: bool) -> Vec<String> {
    let shared = match (&problem.dimension, &problem.value) {
        (Some(dimension), Some(value)) => format!("{dimension} {value}"),
        _ => String::new(),
    };
    let mut cells = vec![
        problem.pods.to_string(),
        problem.stuck.to_string(),
        problem.since.clone(),
        problem.cause.clone(),
        shared,
        problem.nodes.to_string(),
        problem.workloads.to_string(),
        problem.namespaces.to_string(),
    ];
    if wide {
        cells.extend([
            problem.message.clone().unwrap_or_default(),
            problem.next_command.clone(),
            problem.runbook.clone(),
        ]);
    }
    cells.iter().map(|text| cell(text)).collect()
}
