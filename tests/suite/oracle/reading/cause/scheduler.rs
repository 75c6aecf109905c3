//! [§10.1](crate::specification#s10-1): what the scheduler says.

use super::CauseRules;
use crate::oracle::reading::node::{NodeRules, SpecNodes};
use crate::oracle::reading::snapshot::{Condition, Snapshot};

/// One clause of the scheduler's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) nodes: u128,
    pub(crate) text: String,
}

/// The cause of a pod in `scheduling` or `unschedulable`.
pub(crate) fn cause(rules: &dyn CauseRules, pod: &Snapshot) -> &'static str {
    let condition = pod.condition("PodScheduled");
    if rules.waits_for_the_kubelet(pod) {
        return "acknowledge";
    }
    if pod.is_nominated && rules.is_binding(condition) {
        return "binding";
    }
    let Some(condition) = condition else {
        return "queue";
    };
    let is_false = condition.status == "False";
    if condition.is_true() || (is_false && condition.reason == "SchedulingGated") {
        "queue"
    } else if rules.is_gang(&condition.message) {
        "gang"
    } else if is_false && pod.is_nominated {
        "preempting"
    } else if is_false && condition.reason == "SchedulerError" {
        rules.failed_scheduler(&condition.message)
    } else {
        decided(rules, &condition.message)
    }
}

/// "set, PodScheduled=False with reason SchedulerError", or Unschedulable and a failed preemption
pub(crate) fn names_a_node_for_binding(condition: Option<&Condition>) -> bool {
    const KEPT: [&str; 3] = [
        "terminating pod on the nominated node",
        "workload aware preemption",
        "pod group preemption",
    ];
    let Some(condition) = condition else {
        return true;
    };
    let says = |text: &str| condition.message.contains(text);
    match (condition.status.as_str(), condition.reason.as_str()) {
        ("False", "SchedulerError") => true,
        ("False", "Unschedulable") => says(" preemption:") && !KEPT.into_iter().any(says),
        _ => false,
    }
}

/// "the numbers of clauses with the same cause are added", of `resources` "the greatest counts"
fn decided(rules: &dyn CauseRules, message: &str) -> &'static str {
    let mut clauses = clauses(rules, message);
    if clauses.iter().any(|clause| !rules.is_of_other_nodes(clause)) {
        clauses.retain(|clause| !rules.is_of_other_nodes(clause));
    }
    let mut sums: Vec<(&'static str, u128)> = Vec::new();
    for clause in &clauses {
        let cause = named(&clause.text);
        let known = sums.iter().position(|(known, _)| *known == cause);
        match known.filter(|_| rules.adds_up()) {
            Some(place) if cause == "resources" && !rules.adds_resources() => {
                sums[place].1 = sums[place].1.max(clause.nodes);
            }
            Some(place) => sums[place].1 += clause.nodes,
            None => sums.push((cause, clause.nodes)),
        }
    }
    rules.most(&sums).unwrap_or("other")
}

/// "such nodes were not meant for the pod"
pub(crate) fn is_of_other_nodes(clause: &Clause) -> bool {
    let text = clause.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match named(&clause.text) {
        "affinity" => says(&["node affinity", "nodeaffinity", "selector"]),
        "taint" if says(&["taint"]) => {
            let named = clause.text.split('{').nth(1).unwrap_or_default();
            let key = named.split([':', '}']).next().unwrap_or_default();
            !(key.starts_with("node.kubernetes.io/") || SpecNodes.is_startup_taint(key))
        }
        _ => false,
    }
}

/// "The clauses are what follows the first ` nodes are available: ` or ` nodes are unavailable: `"
pub(crate) fn clauses(rules: &dyn CauseRules, message: &str) -> Vec<Clause> {
    let message = rules.cut(message);
    let begins = |place: usize| -> Option<&str> {
        let rest = message.get(place..)?;
        rules.before_clauses().iter().find_map(|words| rest.strip_prefix(words))
    };
    let Some(counted) = (0..message.len()).find_map(begins) else {
        let text = message.to_owned();
        return vec![Clause { nodes: 0, text }];
    };
    let clause = |nodes, text: &str| Clause { nodes, text: text.to_owned() };
    if rules.is_one_clause(counted) {
        return vec![clause(0, counted)];
    }
    let mut clauses: Vec<Clause> = Vec::new();
    let lines: Vec<&str> = counted.split_inclusive('\n').collect();
    let mut joined = lines.first().map(|line| (*line).to_owned()).unwrap_or_default();
    for line in lines.iter().skip(1) {
        // "a clause may also end with `.`, spaces and a line break before a number"
        let ended = joined.trim_end_matches('\n').trim_end_matches(' ').strip_suffix('.');
        match ended.filter(|_| number(line).is_some()) {
            Some(ended) => joined = format!("{ended}, {line}"),
            None => joined.push_str(line),
        }
    }
    for part in joined.split(", ") {
        match (number(part), clauses.last_mut()) {
            (Some((nodes, text)), _) => clauses.push(clause(nodes, text)),
            // "other text belongs to the clause before it"
            (None, Some(before)) => before.text += &format!(", {part}"),
            (None, None) => clauses.push(clause(0, part)),
        }
    }
    clauses
}

/// "A number is digits and a space."
pub(crate) fn number(text: &str) -> Option<(u128, &str)> {
    let (digits, rest) = text.split_at(text.find(' ')?);
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
    is_number.then(|| (digits.parse().unwrap_or(u128::MAX >> 32), &rest[1..]))
}

/// "which contains, in any case, in this order"
pub(crate) fn named(clause: &str) -> &'static str {
    let clause = clause.to_lowercase();
    if clause.contains("quota") || clause.contains("queue") && !clause.contains("scheduling queue")
    {
        return "quota";
    }
    let names: [(&str, &[&str]); 6] = [
        (
            "resources",
            &[
                "insufficient",
                "too many pods",
                "resource fit failed",
                "pod number exceeded",
                "enough resources",
            ],
        ),
        ("taint", &["taint", "unschedulable"]),
        ("topology", &["topology spread"]),
        ("volume", &["volume", "pvc", "storage", "disk", "csi driver", "csinode"]),
        ("claim", &["claim", "device"]),
        ("affinity", &["affinity", "selector"]),
    ];
    let holds = |(_, words): &&(&str, &[&str])| words.iter().any(|word| clause.contains(word));
    names.iter().find(holds).map_or("other", |(name, _)| name)
}

#[test]
fn messages_of_schedulers_are_split_into_clauses() {
    use super::SpecCauses;
    let of = |message: &str| -> Vec<(u128, String)> {
        let clauses = clauses(&SpecCauses, message).into_iter();
        clauses.map(|clause| (clause.nodes, clause.text)).collect()
    };
    let expected = |clauses: &[(u128, &str)]| -> Vec<(u128, String)> {
        let owned = clauses.iter().map(|(nodes, text)| (*nodes, (*text).to_owned()));
        owned.collect()
    };
    assert_eq!(
        of("0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable. \
            preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."),
        expected(&[(2, "Insufficient cpu"), (3, "node(s) were unschedulable.")])
    );
    assert_eq!(
        of("0/6 nodes are available: 1 node(s) had taint {a: b}, that the pod didn't tolerate, 2 \
            Insufficient cpu, 3 node(s) no."),
        expected(&[
            (1, "node(s) had taint {a: b}, that the pod didn't tolerate"),
            (2, "Insufficient cpu"),
            (3, "node(s) no.")
        ])
    );
    assert_eq!(
        of("0/5 nodes are available: pod has unbound PersistentVolumeClaims, 3 x."),
        expected(&[(0, "pod has unbound PersistentVolumeClaims, 3 x.")])
    );
    assert_eq!(
        of("all nodes are unavailable: 3 x, 4 y. still not schedulable, 5 z"),
        expected(&[(3, "x"), (4, "y.")])
    );
    assert_eq!(
        of("no nodes available, 3 to schedule pods"),
        expected(&[(0, "no nodes available, 3 to schedule pods")])
    );
}
