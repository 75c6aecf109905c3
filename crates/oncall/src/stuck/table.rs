//! The stuck pods as a table.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{StuckPod, StuckPods};
use podinit_text::human_time::seconds;
use podinit_text::strangers_text::shown;
use podinit_text::table::{TextTable, cell};

const NARROW: [&str; 8] = ["NAMESPACE", "POD", "STAGE", "WAIT", "LIMIT", "CAUSE", "NODE", "OWNER"];
const WIDE: [&str; 7] = ["CAPACITY", "IMAGE", "GATES", "MESSAGE", "REGISTRY", "UID", "NEXT"];

impl StuckPods {
    /// The table and a line that sums it up, or only the line if no pod is stuck. `wide` adds columns.
    pub fn to_table(&self, wide: bool, colour: bool) -> String {
        if self.pods.is_empty() {
            return self.summary() + "\n";
        }
        let mut head = NARROW.to_vec();
        if wide {
            head.extend(WIDE);
        }
        let rows = self.pods.iter().map(|pod| cells(pod, wide));
        TextTable::new(&head, rows).to_text(colour) + "\n" + &self.summary() + "\n"
    }

    /// What to run.
    fn next(&self) -> String {
        format!("run podinit problems{}", shown(&self.source))
    }

    /// How many pods are stuck, by cause, the most frequent one first. Where none is, how many problems there are.
    pub fn summary(&self) -> String {
        let mut counts = BTreeMap::<&str, usize>::new();
        for pod in &self.pods {
            *counts.entry(pod.waiting.cause().as_str()).or_default() += 1;
        }
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let causes = counts.iter().map(|(cause, count)| format!("{count} {}", cell(cause)));
        let causes = causes.collect::<Vec<_>>().join(", ");
        match (self.pods.len(), self.complete) {
            (0, _) => match self.problems.unwrap_or_default() {
                0 => "no pod is stuck".to_owned(),
                1 => format!("no pod is stuck, but there is 1 problem: {}", self.next()),
                more => {
                    format!("no pod is stuck, but there are {more} problems: {}", self.next())
                }
            },
            (count, true) => format!("{count} stuck: {causes}"),
            (count, false) => {
                format!("the first {count} stuck: {causes}; raise --limit to see more")
            }
        }
    }
}

fn cells(pod: &StuckPod, wide: bool) -> Vec<String> {
    let known = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let mut cells = vec![
        pod.namespace.to_string(),
        pod.name.to_string(),
        pod.waiting.stage().as_str().to_owned(),
        seconds(pod.wait_seconds),
        seconds(pod.limit_seconds),
        pod.waiting.cause().as_str().to_owned(),
        known(pod.node.as_deref()),
        known(pod.owner.as_deref()),
    ];
    if wide {
        let registries: Vec<&str> = pod.registries.iter().map(|one| &**one).collect();
        let capacity = pod.unschedulable.as_ref().map(|of| of.state.as_str());
        let gates: Vec<&str> = pod.gates.iter().map(|one| &*one.gate).collect();
        cells.extend([
            known(capacity),
            known(pod.image.as_deref()),
            gates.join(","),
            known(pod.message.as_deref()),
            registries.join(","),
            pod.uid.to_string(),
            pod.next_command.clone(),
        ]);
    }
    cells.iter().map(|text| cell(text)).collect()
}
