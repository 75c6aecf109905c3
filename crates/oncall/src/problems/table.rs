//! Problems for people.

use super::{Problem, Problems, lost_budgets, untold};
use crate::node_clocks;
use podinit_decode::rfc3339;
use podinit_text::document::{DocumentFormat, TerminalStyle, TextDocument};
use podinit_text::strangers_text::shown;
use podinit_text::table::{TextTable, cell};
use podinit_text::words::count;

const NARROW: [&str; 8] =
    ["PODS", "STUCK", "SINCE", "CAUSE", "SHARED", "NODES", "WORKLOADS", "NAMESPACES"];
/// How many problems that have ended the narrow table names, newest first.
const MOST_ENDED: usize = 5;

impl Problems {
    /// A sentence for each problem, and a table of their figures; with `wide`, a block for each instead.
    pub fn to_table(&self, wide: bool, style: TerminalStyle) -> String {
        let mut document = TextDocument::new(DocumentFormat::Text(style));
        match self.problems.is_empty() {
            true => document.sentence(&self.summary()),
            false if wide => {
                let blocks: Vec<String> = self.problems.iter().map(block).collect();
                document.paragraph(&blocks.join("\n\n"));
            }
            false => document.list(sentences(&self.problems)),
        }
        document.list(self.late_deliveries.iter().map(|late| late.sentence()));
        let clocks = untold(&self.clocks, &self.problems).map(node_clocks::sentence);
        document.list(clocks.map(|clock| shown(&clock).into_owned() + "."));
        if !self.problems.is_empty() {
            if !wide {
                document.table(&TextTable::new(&NARROW, self.problems.iter().map(cells)));
            }
            if self.not_compared > 0 {
                document.paragraph(&format!(
                    "{} of the pods have an image, workload, node or namespace that was not compared: there are too \
                     many different ones.",
                    self.not_compared
                ));
            }
        }
        let most = if wide { usize::MAX } else { MOST_ENDED };
        let (named, others) = self.ended.split_at(self.ended.len().min(most));
        if !named.is_empty() {
            let more = Some(others.len()).filter(|others| *others > 0);
            let more = more.map(|others| format!("… and {others} more, which -o wide lists"));
            let lines =
                ["Ended lately:".to_owned()].into_iter().chain(sentences(named)).chain(more);
            document.paragraph(&lines.collect::<Vec<_>>().join("\n"));
        }
        if self.crashing > 0 {
            let pods = count(self.crashing, "pod that had started is", "pods that had started are");
            document.paragraph(&format!("{pods} crashing now."));
        }
        document.finish()
    }

    /// One line: the worst problem. Without a problem it says which SLO lost its budget, if one did.
    pub fn summary(&self) -> String {
        match (self.problems.first(), self.time) {
            (Some(worst), _) => shown(&worst.sentence).into_owned(),
            (None, Some(now)) => match lost_budgets(&self.lost_budgets, now) {
                Some(lost) => format!("No problem now; {}.", shown(&lost)),
                None => "No problem among the pods that are starting up.".to_owned(),
            },
            (None, None) => "Nothing is known yet.".to_owned(),
        }
    }
}

fn sentences(problems: &[Problem]) -> impl Iterator<Item = String> {
    problems.iter().map(|problem| shown(&problem.sentence).into_owned())
}

/// All of a problem, one thing in a line.
fn block(problem: &Problem) -> String {
    let count = |number: usize| number.to_string();
    let pods: Vec<String> =
        problem.oldest.iter().map(|pod| format!("{}/{}", pod.namespace, pod.name)).collect();
    let lines = [
        ("pods", count(problem.pods)),
        ("stuck", count(problem.stuck)),
        ("since", rfc3339::format(problem.since)),
        ("cause", problem.cause.clone()),
        ("shared", shared(problem)),
        ("nodes", count(problem.nodes)),
        ("workloads", count(problem.workloads)),
        ("namespaces", count(problem.namespaces)),
        ("oldest", pods.join(", ")),
        ("says", problem.message.clone().unwrap_or_default()),
        ("next", problem.next_command.clone()),
        ("runbook", problem.runbook.clone()),
    ];
    let lines = lines.iter().filter(|(_, text)| !text.is_empty());
    let lines = lines.map(|(name, text)| format!("  {name:<11}{}", cell(text)));
    let sentence = shown(&problem.sentence).into_owned();
    [sentence].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

fn shared(problem: &Problem) -> String {
    match (&problem.dimension, &problem.value) {
        (Some(dimension), Some(value)) => format!("{dimension} {value}"),
        _ => String::new(),
    }
}

fn cells(problem: &Problem) -> Vec<String> {
    let cells = [
        problem.pods.to_string(),
        problem.stuck.to_string(),
        rfc3339::format(problem.since),
        problem.cause.clone(),
        shared(problem),
        problem.nodes.to_string(),
        problem.workloads.to_string(),
        problem.namespaces.to_string(),
    ];
    cells.iter().map(|text| cell(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: TerminalStyle = TerminalStyle { colour: false, width: 80 };

    #[test]
    fn what_was_not_compared_is_said() {
        let found =
            Problems { problems: vec![Problem::default()], not_compared: 3, ..Problems::default() };
        let said = "3 of the pods have an image, workload, node or namespace that was not compared: there are too many \
                    different ones.\n";
        assert!(found.to_table(false, PLAIN).ends_with(said));
        let none = Problems { not_compared: 0, ..found };
        assert!(!none.to_table(false, PLAIN).contains("compared"));
    }

    #[test]
    fn without_a_problem_it_says_which_slo_lost_its_budget() {
        let at = podinit_core::timestamp::Timestamp::from_seconds;
        let lost = crate::problems::LostBudget {
            slo: "scheduled-pod-ready".to_owned(),
            from: at(1_772_341_320),
            until: Some(at(1_772_342_040)),
            burn: 60.0,
        };
        let found = Problems {
            time: Some(at(1_772_343_000)),
            lost_budgets: vec![lost],
            ..Problems::default()
        };
        let said = "No problem now; scheduled-pod-ready lost its budget from 05:02 to 05:14.\n";
        assert_eq!(found.to_table(false, PLAIN), said);
        let broken = Problems { problems: vec![Problem::default()], ..found };
        assert!(!broken.to_table(false, PLAIN).contains("budget"));
    }

    #[test]
    fn wide_is_a_block_for_each_problem() {
        let problem = |pods| Problem {
            pods,
            cause: "image".to_owned(),
            sentence: format!("{pods} pods cannot pull."),
            message: Some("not found\nat all".to_owned()),
            next_command: "kubectl -n shop events --for pod/web".to_owned(),
            ..Problem::default()
        };
        let found = Problems { problems: vec![problem(7), problem(3)], ..Problems::default() };
        let wide = found.to_table(true, PLAIN);
        let blocks: Vec<&str> = wide.split("\n\n").collect();
        assert_eq!(blocks.len(), 2, "{wide}");
        assert!(blocks[1].starts_with("3 pods cannot pull.\n  pods       3\n"), "{wide}");
        assert!(
            blocks[1].contains("\n  next       kubectl -n shop events --for pod/web"),
            "{wide}"
        );
        assert!(!wide.contains("not found\nat all") && !wide.contains("PODS"), "{wide}");
    }

    #[test]
    fn the_narrow_table_names_five_that_have_ended_and_counts_the_others() {
        let ended =
            |number| Problem { sentence: format!("Problem {number}."), ..Problem::default() };
        let found = Problems { ended: (0..7).map(ended).collect(), ..Problems::default() };
        let narrow = found.to_table(false, PLAIN);
        assert!(narrow.contains("Problem 4.\n… and 2 more, which -o wide lists\n"));
        assert!(!narrow.contains("Problem 5."), "{narrow}");
        let wide = found.to_table(true, PLAIN);
        assert!(wide.contains("Problem 6.\n") && !wide.contains("more"), "{wide}");
    }
}
