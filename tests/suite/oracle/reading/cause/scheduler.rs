//! [§10.1](crate::specification#s10-1): what the scheduler says.

use super::CauseRules;
use crate::oracle::reading::snapshot::Snapshot;

/// One clause of the scheduler's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) nodes: u64,
    pub(crate) text: String,
}

/// The cause of a pod in `scheduling` or `unschedulable`.
pub(crate) fn cause(rules: &dyn CauseRules, pod: &Snapshot) -> &'static str {
    let Some(condition) = pod.condition("PodScheduled") else {
        return "queue";
    };
    let is_false = condition.status == "False";
    let message = condition.message.to_lowercase();
    let names_a_group = ["pod group", "podgroup", "gang"]
        .iter()
        .any(|name| message.contains(name));
    if condition.is_true() || (is_false && condition.reason == "SchedulingGated") {
        "queue"
    } else if pod.has_scheduling_group && names_a_group {
        "gang"
    } else if is_false && pod.is_nominated {
        "preempting"
    } else if is_false && condition.reason == "SchedulerError" {
        "scheduler_error"
    } else {
        let clauses = clauses(rules, &condition.message);
        rules
            .most(&clauses)
            .map_or("other", |clause| named(&clause.text))
    }
}

/// "`0/N nodes are available: n CLAUSE, n CLAUSE. preemption: …` (cut at ` preemption:` […]; a
/// message of another form is one clause)"
pub(crate) fn clauses(rules: &dyn CauseRules, message: &str) -> Vec<Clause> {
    let cut = rules.cut(message);
    let one = || {
        vec![Clause {
            nodes: 0,
            text: cut.to_owned(),
        }]
    };
    let Some(rest) = cut.strip_prefix("0/") else {
        return one();
    };
    let Some((all, rest)) = rest.split_once(" nodes are available: ") else {
        return one();
    };
    let Some(all) = number(all) else { return one() };
    let clause = |part: &str| match part.split_once(' ').map(|(n, text)| (number(n), text)) {
        Some((Some(nodes), text)) => Clause {
            nodes,
            text: text.to_owned(),
        },
        _ => Clause {
            nodes: rules.nodes_without_number(all),
            text: part.to_owned(),
        },
    };
    rest.split(", ").map(clause).collect()
}

fn number(digits: &str) -> Option<u64> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok())?
}

/// "which contains, in any case, in this order"
pub(crate) fn named(clause: &str) -> &'static str {
    let clause = clause.to_lowercase();
    let names: [(&str, &[&str]); 6] = [
        ("resources", &["insufficient", "too many pods"]),
        ("taint", &["taint", "unschedulable"]),
        ("topology", &["topology spread"]),
        ("volume", &["volume", "pvc", "storage", "disk"]),
        ("claim", &["claim", "device"]),
        ("affinity", &["affinity", "selector"]),
    ];
    let holds = |(_, words): &&(&str, &[&str])| words.iter().any(|word| clause.contains(word));
    names.iter().find(holds).map_or("other", |(name, _)| name)
}

#[test]
fn messages_of_schedulers_are_split_into_clauses() {
    use super::SpecCauses;
    let of = |message: &str| -> Vec<(u64, String)> {
        let clauses = clauses(&SpecCauses, message).into_iter();
        clauses.map(|clause| (clause.nodes, clause.text)).collect()
    };
    let expected = |clauses: &[(u64, &str)]| -> Vec<(u64, String)> {
        let owned = clauses
            .iter()
            .map(|(nodes, text)| (*nodes, (*text).to_owned()));
        owned.collect()
    };
    assert_eq!(
        of(
            "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable. \
            preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."
        ),
        expected(&[(2, "Insufficient cpu"), (3, "node(s) were unschedulable.")])
    );
    assert_eq!(
        of("0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims."),
        expected(&[(5, "pod has unbound immediate PersistentVolumeClaims.")])
    );
    assert_eq!(
        of("no nodes available to schedule pods"),
        expected(&[(0, "no nodes available to schedule pods")])
    );
}
