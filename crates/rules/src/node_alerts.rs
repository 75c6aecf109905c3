//! The alert on nodes that start and do not get free for pods. It needs nodes as evidence.

use super::options::RenderOptions;
use super::promql::{over_targets, series};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group};
use podinit_text::duration::PrometheusDuration;

/// The name of the alert.
pub(super) const NODES_LATE: &str = "PodinitNodesLate";

/// The nodes that started last, whether they are Ready, and their taints.
const NEWEST_NODES: &str = r#"kubectl get nodes --sort-by=.metadata.creationTimestamp -o custom-columns='NAME:.metadata.name,CREATED:.metadata.creationTimestamp,READY:.status.conditions[?(@.type=="Ready")].status,CORDONED:.spec.unschedulable,TAINTS:.spec.taints[*].key' | tail -n 20"#;

/// The alert in a group of its own.
pub(super) fn group(options: &RenderOptions) -> Group {
    Group {
        name: "podinit-nodes".to_owned(),
        interval: None,
        rules: vec![late(&options.job).rule(options)],
    }
}

/// Each shard counts the nodes of its own, so that their sum is that of the cluster.
pub(super) fn late(job: &str) -> AlertRule {
    let late = over_targets("sum", &series("podinit_late_nodes", job, ""));
    AlertRule {
        name: NODES_LATE,
        expr: format!("{late} > 0"),
        hold: Some(PrometheusDuration::from_minutes(5)),
        keep: None,
        severity: AlertSeverity::Warning,
        labels: vec![],
        summary: "New nodes do not become free for pods.".to_owned(),
        description: "{{ $value | printf \"%.0f\" }} nodes were created more than 15 minutes ago and still start: \
                      they are not Ready, they are cordoned, or they keep a startup taint. Pods that wait for \
                      new capacity do not start."
            .to_owned(),
        command: Some(NEWEST_NODES),
        dashboard: AlertDashboard::Capacity,
    }
}
