//! The alert on pods that kubelets reject. They have ended, so that no stuck pod tells of them.

use super::annotations;
use super::options::RenderOptions;
use super::promql::{over_targets_and, series};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group};
use podinit_text::duration::PrometheusDuration;

/// The name of the alert.
pub(super) const STARTUPS_REJECTED: &str = "PodinitStartupsRejected";

/// As many as make a problem within as long a time ([§13.10](crate::specification#s13-10)).
pub(super) const MIN_PODS: u32 = 3;
const WINDOW: PrometheusDuration = PrometheusDuration::from_minutes(10);

/// The pods that failed, each with its node and the kubelet's reason.
const FAILED_PODS: &str = "kubectl get pods -A --field-selector status.phase=Failed -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,NODE:.spec.nodeName,REASON:.status.reason,MESSAGE:.status.message";

/// The alert in a group of its own.
pub(super) fn group(options: &RenderOptions) -> Group {
    Group {
        name: "podinit-rejected".to_owned(),
        interval: None,
        rules: vec![rejected(&options.job).rule(options)],
    }
}

pub(super) fn rejected(job: &str) -> AlertRule {
    let ended = series("podinit_pods_finished_total", job, "outcome=\"rejected\"");
    let sum = over_targets_and("sum", "outcome", &format!("increase({ended}[{WINDOW}])"));
    AlertRule {
        name: STARTUPS_REJECTED,
        expr: format!("{sum} >= {MIN_PODS}"),
        hold: None,
        keep: Some(PrometheusDuration::from_minutes(10)),
        severity: AlertSeverity::Warning,
        labels: vec![],
        summary: "Kubelets reject pods.".to_owned(),
        description: format!(
            "In the last {WINDOW} kubelets rejected {{{{ $value | printf \"%.0f\" }}}} pods before a container \
             started. Their controllers make new ones, which may be rejected too.{}",
            annotations::problem_of_rejected(job)
        ),
        command: Some(FAILED_PODS),
        dashboard: AlertDashboard::Stuck,
    }
}
