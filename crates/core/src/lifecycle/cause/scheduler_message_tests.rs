use super::*;

fn cause_of(clauses: &str) -> Cause {
    cause_in(&format!("0/5 nodes are available: {clauses}."))
}

fn cause_in(message: &str) -> Cause {
    cause(message, false)
}

#[test]
fn the_nodes_of_a_cause_are_added_up_but_those_that_lack_resources() {
    for (clauses, expected) in [
        // A node that lacks both is named twice.
        ("3 node(s) were unschedulable, 2 Insufficient cpu, 2 Insufficient memory", Cause::Taint),
        (
            "2 node(s) were unschedulable, 2 Insufficient cpu, 3 Insufficient memory",
            Cause::Resources,
        ),
        (
            "3 Insufficient cpu, 2 node(s) had no available disk, 2 node(s) exceed max volume count",
            Cause::Volume,
        ),
        // On a tie the cause whose first clause comes first.
        ("2 Insufficient cpu, 3 node(s) were unschedulable, 3 Too many pods", Cause::Resources),
        ("99999999999999999999 Insufficient cpu, 9 node(s) were unschedulable", Cause::Resources),
        ("1 x, 2y Insufficient cpu", Cause::Resources),
        ("2 x,3 node(s) were unschedulable", Cause::Taint),
    ] {
        assert_eq!(cause_of(clauses), expected, "{clauses}");
    }
}

/// Nodes that fail taints or node affinity are asked for nothing else, and were mostly not meant for the pod.
#[test]
fn nodes_that_were_not_meant_for_the_pod_do_not_count_beside_others() {
    for (clauses, expected) in [
        ("1 Insufficient cpu, 9 node(s) had untolerated taint(s)", Cause::Resources),
        (
            "1 Insufficient cpu, 9 node(s) had untolerated taint {nvidia.com/gpu: present}",
            Cause::Resources,
        ),
        (
            "1 Insufficient cpu, 9 node(s) didn't match Pod's node affinity/selector",
            Cause::Resources,
        ),
        // Until 1.23 the clause of a taint has a comma.
        (
            "3 node(s) had taint {a: b}, that the pod didn't tolerate, 2 Insufficient cpu",
            Cause::Resources,
        ),
        // Nodes that are not well, or have not started, were meant for it.
        (
            "1 Insufficient cpu, 9 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }",
            Cause::Taint,
        ),
        (
            "1 Insufficient cpu, 9 node(s) had untolerated taint {node.cilium.io/agent-not-ready: }",
            Cause::Taint,
        ),
        (
            "1 Insufficient cpu, 9 node(s) had untolerated taint {karpenter.sh/unregistered: }",
            Cause::Taint,
        ),
        ("1 Insufficient cpu, 9 node(s) were unschedulable", Cause::Taint),
        // Affinity between pods is asked last.
        ("1 Insufficient cpu, 9 node(s) didn't match pod anti-affinity rules", Cause::Affinity),
        // With no others they decide.
        (
            "1 node(s) had untolerated taint(s), 9 node(s) didn't match Pod's node affinity/selector",
            Cause::Affinity,
        ),
        (
            "9 node(s) had untolerated taint(s), 1 node(s) didn't match Pod's node affinity/selector",
            Cause::Taint,
        ),
        ("1 node(s) didn't have free ports, 9 node(s) had untolerated taint(s)", Cause::Other),
        (
            "1 node(s) had volume node affinity conflict, 9 node(s) had untolerated taint(s)",
            Cause::Volume,
        ),
    ] {
        assert_eq!(cause_of(clauses), expected, "{clauses}");
    }
}

#[test]
fn other_schedulers_and_queues_are_understood() {
    for (message, expected) in [
        (
            "no nodes with enough resources were found: 1 node(s) didn't match Pod's node affinity/selector. \n20 \
             node(s) didn't have enough resources: GPUs.",
            Cause::Resources,
        ),
        (
            "no nodes with enough resources were found: 5 node(s) were unschedulable. \n2 node(s) didn't have enough \
             resources: CPU.",
            Cause::Taint,
        ),
        ("0/3 nodes are unavailable: 3 node(s) resource fit failed.", Cause::Resources),
        ("0/3 nodes are unavailable: 3 node(s) pod number exceeded.", Cause::Resources),
        (
            "0/8 nodes are available: Pod shop/web is rejected in PreFilter because ElasticQuota shop is more than Max. \
             preemption: 0/8 nodes are available",
            Cause::Quota,
        ),
        ("queue resource quota insufficient: insufficient cpu", Cause::Quota),
        ("Request does not fit in queue 'root.shop': requested cpu 9", Cause::Quota),
        ("waiting in the scheduling queue", Cause::Other),
        (
            "0/2 nodes are available: 2 CSI driver ebs.csi.aws.com is not installed on the node.",
            Cause::Volume,
        ),
        ("0/2 nodes are available: 2 CSINode not found.", Cause::Volume),
    ] {
        assert_eq!(cause_in(message), expected, "{message}");
    }
}

#[test]
fn what_is_said_of_nodes_begins_with_what_decides() {
    let said = |message: &str| said_of_nodes(message, cause_in(message));
    let message = "0/7 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 3 Insufficient memory, \
                   3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/7 nodes";
    assert_eq!(said(message).as_deref(), Some("3 Insufficient memory"));
    // Of nodes that were meant for the pod, all is said.
    let ports = "0/7 nodes are available: 1 node(s) didn't have free ports, 2 node(s) had untolerated taint(s), \
                 4 Insufficient memory.";
    assert_eq!(
        said(ports).as_deref(),
        Some("4 Insufficient memory, 1 node(s) didn't have free ports")
    );
    let of_others = "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.";
    assert_eq!(
        said(of_others).as_deref(),
        Some("4 node(s) didn't match Pod's node affinity/selector")
    );
    let many = format!(
        "0/9 nodes are available: {}1 Insufficient cpu.",
        "2 node(s) were unschedulable in a pool, ".repeat(9)
    );
    let many = said(&many).unwrap_or_default();
    assert!(many.ends_with(", …") && many.len() <= 160, "{many}");
    assert_eq!(said("running PreBind plugin: timeout"), None);
}

#[test]
fn what_postfilter_plugins_say_does_not_count() {
    for end in [
        "preemption: 0/5 nodes are available: 5 Insufficient cpu.",
        "no new claims to deallocate, preemption: 0/5 nodes are available: 5 Insufficient cpu.",
        "still not schedulable, preemption: 5 Insufficient cpu",
        "deallocation of ResourceClaim completed, 9 Insufficient cpu",
        "deletion of ResourceClaim x, 9 Insufficient cpu",
    ] {
        let message = format!("0/5 nodes are available: 1 node(s) were unschedulable. {end}");
        assert_eq!(cause_in(&message), Cause::Taint, "{end}");
        let message = format!("0/5 nodes are available: 5 node(s) didn't have free ports. {end}");
        assert_eq!(cause_in(&message), Cause::Other, "{end}");
        assert_eq!(cause_in(&format!("nothing. {end}")), Cause::Other, "{end}");
    }
}

#[test]
fn the_words_are_searched_in_their_order_and_in_any_case() {
    for (clause, expected) in [
        ("INSUFFICIENT storage", Cause::Resources),
        ("had taint {device: x}", Cause::Taint),
        ("Topology Spread and volume", Cause::Topology),
        ("volume node affinity conflict", Cause::Volume),
        ("bound to non-existent PVC", Cause::Volume),
        ("no available disk", Cause::Volume),
        ("cannot allocate all claims for the selector", Cause::Claim),
        ("no such DEVICE class", Cause::Claim),
        ("didn't match Pod's node affinity/selector", Cause::Affinity),
        ("didn't have free ports", Cause::Other),
    ] {
        assert_eq!(cause_of(&format!("1 {clause}")), expected, "{clause}");
    }
}

#[test]
fn a_pod_group_is_named_anywhere_and_in_any_case() {
    for message in [
        "the Pod Group is small",
        "PodGroup a",
        "gAnG",
        "optimistic rejection: less than 3 Sibling pods",
        "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining",
    ] {
        assert!(is_of_pod_group(message), "{message}");
    }
    assert!(!is_of_pod_group("a group of pods") && !is_of_pod_group(""));
}

/// The words of Volcano: `TaskSchedulingReason` in `pkg/scheduler/api/job_info.go`.
#[test]
fn a_gang_waits_for_its_others_unless_nodes_lack_resources() {
    let not_ready = "pod group is not ready, 6 Pending, 6 minAvailable; Pending: 3 Schedulable, 3 Unschedulable. \
                     Origin reason is eval-6: 0/3 nodes are unavailable: ";
    let lacks = format!("{not_ready}1 node(s) pod number exceeded, 2 node(s) resource fit failed.");
    for (message, waits) in [
        ("Pod ml/eval-2 can possibly be assigned to node-2, once minAvailable is satisfied", true),
        ("Pod ml/eval-2 can possibly be assgined to node-2", true),
        ("2 tasks in minMember are missing", true),
        (format!("{not_ready}3 node(s) had untolerated taint(s).").as_str(), true),
        (lacks.as_str(), false),
        ("minAvailable is not satisfied, resource fit failed", true),
        // What is said of preemption does not count nodes.
        (
            "0/1 nodes are available: 1 Too many pods. preemption: pod group preemption found victims",
            true,
        ),
    ] {
        assert_eq!(is_of_pod_group(message), waits, "{message}");
    }
    assert_eq!(cause_in(&lacks), Cause::Resources);
}

const SELECTOR: &str = "node(s) didn't match Pod's node affinity/selector";
const CORDONED: &str = "node(s) were unschedulable";
const UNREACHABLE: &str = "node(s) had untolerated taint {node.kubernetes.io/unreachable: }";

/// Each with the cause, and what is said of it: first where no other pod of the revision is known to be bound, then where
/// one is.
#[test]
fn selectors_beside_faults_count_by_their_nodes_unless_others_are_bound() {
    let both = |message: &str| {
        let of = |others: bool| {
            let meant = of_meant_nodes(message).filter(|_| others);
            let kept = meant.as_deref().unwrap_or(message);
            let cause = cause(message, others);
            (cause, said_of_nodes(kept, cause).unwrap_or_default(), names_several_faults(kept))
        };
        [of(false), of(true)]
    };
    let (affinity, taint) = (Cause::Affinity, Cause::Taint);
    let of_both = |cause, said: String| (cause, said, true);
    let of_one = |cause, said: String| (cause, said, false);
    let batch = "node(s) had untolerated taint {dedicated: batch}";
    for (clauses, unknown, bound) in [
        (
            format!("1 {CORDONED}, 3 {SELECTOR}"),
            of_both(affinity, format!("3 {SELECTOR}, 1 {CORDONED}")),
            of_one(taint, format!("1 {CORDONED}")),
        ),
        (
            format!("2 {SELECTOR}, 2 {CORDONED}"),
            of_both(taint, format!("2 {CORDONED}, 2 {SELECTOR}")),
            of_one(taint, format!("2 {CORDONED}")),
        ),
        (
            format!("1 {UNREACHABLE}, 39 {SELECTOR}"),
            of_both(affinity, format!("39 {SELECTOR}, 1 {UNREACHABLE}")),
            of_one(taint, format!("1 {UNREACHABLE}")),
        ),
        (
            format!("2 {UNREACHABLE}, 2 {CORDONED}, 3 {SELECTOR}"),
            of_both(affinity, format!("3 {SELECTOR}, 2 {UNREACHABLE}, 2 {CORDONED}")),
            of_one(taint, format!("2 {UNREACHABLE}, 2 {CORDONED}")),
        ),
        (
            format!("3 {batch}, 1 {CORDONED}"),
            of_one(taint, format!("3 {batch}, 1 {CORDONED}")),
            of_one(taint, format!("1 {CORDONED}")),
        ),
        // Without a fault, the numbers decide in either case.
        (
            format!("3 node(s) had untolerated taint(s), 5 {SELECTOR}"),
            of_both(affinity, format!("5 {SELECTOR}, 3 node(s) had untolerated taint(s)")),
            of_both(affinity, format!("5 {SELECTOR}, 3 node(s) had untolerated taint(s)")),
        ),
        (
            format!("5 {batch}, 5 {SELECTOR}"),
            of_both(taint, format!("5 {batch}, 5 {SELECTOR}")),
            of_both(taint, format!("5 {batch}, 5 {SELECTOR}")),
        ),
        // A later filter leaves them out.
        (
            format!("8 {SELECTOR}, 1 {UNREACHABLE}, 2 node(s) didn't have free ports"),
            of_one(Cause::Other, format!("2 node(s) didn't have free ports, 1 {UNREACHABLE}")),
            of_one(Cause::Other, format!("2 node(s) didn't have free ports, 1 {UNREACHABLE}")),
        ),
    ] {
        for end in ["", " preemption: 0/9 nodes are available: 9 Preemption is not helpful."] {
            let message = format!("0/9 nodes are available: {clauses}.{end}");
            assert_eq!(both(&message), [unknown.clone(), bound.clone()], "{message}");
            assert_eq!(depends_on_others(&message), unknown != bound, "{message}");
        }
    }
    assert_eq!(
        of_meant_nodes(&format!(
            "0/4 nodes are available: 1 {CORDONED}, 3 {SELECTOR}. preemption: x"
        )),
        Some(format!("0/4 nodes are available: 1 {CORDONED}, … preemption: x"))
    );
}

#[test]
fn control_planes_and_nodes_of_other_daemons_count_only_alone() {
    let control = "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }";
    let master =
        "node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate";
    let named = "node(s) didn't satisfy plugin(s) [NodeAffinity]";
    for (clauses, expected) in [
        (format!("3 {control}, 1 Insufficient cpu"), "1 Insufficient cpu"),
        (
            format!("3 {control}, 1 {SELECTOR}"),
            "1 node(s) didn't match Pod's node affinity/selector",
        ),
        (format!("3 {master}, 1 {CORDONED}"), "1 node(s) were unschedulable"),
        (
            format!("3 {control}, 1 node(s) had untolerated taint(s)"),
            "1 node(s) had untolerated taint(s)",
        ),
        (
            format!("1 {control}"),
            "1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }",
        ),
        // The pod of a DaemonSet: its own node is that of the control plane.
        (
            format!("1 {control}, 4 {named}"),
            "1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }",
        ),
        (format!("1 Insufficient memory, 4 {named}"), "1 Insufficient memory"),
        (format!("1 {CORDONED}, 4 {named}"), "1 node(s) were unschedulable"),
        // A volume is on a cordoned node.
        (
            format!("1 {CORDONED}, 4 node(s) didn't satisfy plugin(s) [VolumeBinding]"),
            "1 node(s) were unschedulable",
        ),
        (format!("5 {named}"), "5 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    ] {
        let message = format!("0/9 nodes are available: {clauses}.");
        let said = said_of_nodes(&message, cause_in(&message));
        assert_eq!(said.as_deref(), Some(expected), "{message}");
        assert!(!names_several_faults(&message));
    }
}

#[test]
fn the_clause_of_most_nodes_is_said_first() {
    let message = "0/30 nodes are available: 1 node(s) had volume node affinity conflict, 18 Insufficient cpu, 2 Too \
                   many pods, 21 Insufficient memory, 8 node(s) had untolerated taint {a: b}.";
    assert_eq!(
        said_of_nodes(message, cause_in(message)).as_deref(),
        Some(
            "21 Insufficient memory, 18 Insufficient cpu, 2 Too many pods, 1 node(s) had volume node affinity conflict"
        )
    );
}

/// The rows of the table in `docs/causes.md`: the text of a reason, and its cause.
fn documented() -> impl Iterator<Item = (&'static str, &'static str)> {
    let page = include_str!("../../../../../docs/causes.md");
    let (_, table) = page.split_once("| reason | cause |").unwrap_or_default();
    table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [reason, cause] = *cells else {
            return None;
        };
        Some((reason.strip_prefix("| `")?.strip_suffix('`')?, cause))
    })
}

#[test]
fn the_reasons_of_every_version_have_the_documented_causes() {
    let mut rows = 0;
    for (reason, documented) in documented() {
        let cause = cause_of(&format!("3 {reason}"));
        assert_eq!(format!("`{}` |", cause.as_str()), documented, "{reason}");
        rows += 1;
    }
    assert!(rows > 20, "only {rows} rows were read");
}

proptest::proptest! {
    /// Any text has a cause, and what follows the preemption changes nothing.
    #[test]
    fn any_message_has_a_cause(message in ".{0,80}", tail in ".{0,40}") {
        proptest::prop_assume!(!message.contains(" preemption:"));
        let with_tail = format!("{message} preemption:{tail}");
        proptest::prop_assert_eq!(cause_in(&message), cause_in(&with_tail));
    }
}
