//! [§10.1](crate::specification#s10-1): what the scheduler says.

use super::{CauseRules, others_are_bound};
use crate::oracle::reading::kube_event::KubeEvent;
use crate::oracle::reading::node::{NodeRules, SpecNodes};
use crate::oracle::reading::snapshot::Condition;
use crate::oracle::reading::startup::Startup;

/// One clause of the scheduler's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) nodes: u128,
    pub(crate) text: String,
}

/// The cause of a pod in `scheduling` or `unschedulable`, with the snapshot or Event at a place.
pub(crate) fn cause(startup: &Startup<'_>, place: usize) -> &'static str {
    let rules = startup.rules.causes();
    let pod = &startup.life.folded[place].pod;
    let condition = pod.condition("PodScheduled");
    if rules.waits_for_the_kubelet(pod) {
        return "acknowledge";
    }
    if pod.is_nominated && rules.is_binding(condition) {
        return "binding";
    }
    let Some(condition) = condition else {
        return by_event(startup, place).unwrap_or("queue");
    };
    let is_false = condition.status == "False";
    if condition.is_true() || (is_false && condition.reason == "SchedulingGated") {
        "queue"
    } else if is_gang(rules, &condition.message) {
        "gang"
    } else if is_false && pod.is_nominated {
        "preempting"
    } else if is_false && condition.reason == "SchedulerError" {
        rules.failed_scheduler(&condition.message)
    } else {
        decided(rules, &condition.message, others_are_bound(startup, place))
    }
}

/// "In place of `queue`, a FailedScheduling Event gives text and cause while the pod has no condition PodScheduled"
fn by_event(startup: &Startup<'_>, place: usize) -> Option<&'static str> {
    let rules = startup.rules.causes();
    let seen = startup.life.folded[..=place].iter().enumerate();
    let untold = seen.rev().take_while(|(_, one)| one.pod.condition("PodScheduled").is_none());
    let heard: Vec<(usize, &KubeEvent)> =
        untold.filter_map(|(place, one)| Some((place, one.event.as_ref()?))).collect();
    let (place, event) = *heard.iter().find(|(_, event)| rules.is_of_scheduler(event))?;
    Some(match is_gang(rules, &event.message) {
        true => "gang",
        false => decided(rules, &event.message, others_are_bound(startup, place)),
    })
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

/// "whose words […], unless they stand before what is cut off, and a clause with a number is of `resources`"
fn is_gang(rules: &dyn CauseRules, message: &str) -> bool {
    let own = rules.cut(message);
    let has_clauses = rules.before_clauses().iter().any(|words| own.contains(words));
    let mut clauses = clauses(rules, message).into_iter();
    let lacks = clauses.any(|clause| named(&clause.text) == "resources");
    let has_no_room = rules.is_gang(own) && has_clauses && lacks;
    rules.is_gang(message) && (!has_no_room || rules.is_gang_without_room())
}

/// "the numbers of clauses with the same cause are added", of `resources` "the greatest counts"
fn decided(rules: &dyn CauseRules, message: &str, others_are_bound: bool) -> &'static str {
    let mut clauses = clauses(rules, message);
    let leaves_out = |clauses: &mut Vec<Clause>, is_out: &dyn Fn(&Clause) -> bool| {
        if !clauses.iter().all(is_out) {
            clauses.retain(|clause| !is_out(clause));
        }
    };
    leaves_out(&mut clauses, &|clause| rules.is_named_before(clause));
    leaves_out(&mut clauses, &|clause| rules.is_of_control_plane(clause));
    let is_early = |clause: &Clause| {
        let is_named = rules.is_named_before(clause) || rules.is_of_control_plane(clause);
        is_named || rules.is_of_other_nodes(clause) || rules.is_fault(clause)
    };
    let has_later = !clauses.iter().all(is_early);
    let has_fault = clauses.iter().any(|clause| rules.is_fault(clause));
    if has_later || has_fault && rules.trusts_others(others_are_bound) {
        leaves_out(&mut clauses, &|clause| rules.is_of_other_nodes(clause));
    }
    let most = |cause: &str| {
        let of_cause = clauses.iter().filter(|clause| named(&clause.text) == cause);
        of_cause.map(|clause| clause.nodes).max()
    };
    if let (false, Some(taint), Some(affinity)) = (has_later, most("taint"), most("affinity")) {
        return rules.of_both(taint, affinity);
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

/// "Clauses of selectors or node affinity, and of taints that are no fault"
pub(crate) fn is_of_other_nodes(clause: &Clause) -> bool {
    let text = clause.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match named(&clause.text) {
        _ if is_named_before(clause) || is_of_control_plane(clause) => false,
        "affinity" => says(&["node affinity", "nodeaffinity", "selector"]),
        "taint" => !is_fault(clause),
        _ => false,
    }
}

/// "cordons and taints of faults"
pub(crate) fn is_fault(clause: &Clause) -> bool {
    let key = taint(clause);
    let is_cordon = !clause.text.to_lowercase().contains("taint");
    named(&clause.text) == "taint"
        && (is_cordon || key.starts_with("node.kubernetes.io/") || SpecNodes.is_startup_taint(key))
}

/// "didn't satisfy plugin(s) ["
pub(crate) fn is_named_before(clause: &Clause) -> bool {
    clause.text.to_lowercase().contains("didn't satisfy plugin(s) [")
}

/// "taints whose key is [...]"
pub(crate) fn is_of_control_plane(clause: &Clause) -> bool {
    let roles = ["control-plane", "master", "controlplane", "etcd"];
    let mut keys = roles.iter().map(|role| format!("node-role.kubernetes.io/{role}"));
    named(&clause.text) == "taint" && keys.any(|key| key == taint(clause))
}

/// The key of the taint that is named; empty for none.
fn taint(clause: &Clause) -> &str {
    let named = clause.text.split('{').nth(1).unwrap_or_default();
    named.split([':', '}']).next().unwrap_or_default().trim()
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
