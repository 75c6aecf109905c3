//! The alert on rollouts that do not go on because of their pods.

use super::options::RenderOptions;
use super::promql::{over_targets, series};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group};

/// The name of the alert.
pub(super) const ROLLOUT_STUCK: &str = "PodinitRolloutStuck";

/// The alert in a group of its own.
pub(super) fn group(options: &RenderOptions) -> Group {
    Group {
        name: "podinit-rollouts".to_owned(),
        interval: None,
        rules: vec![stuck(&options.job).rule(options)],
    }
}

/// The exporter waits for 10 minutes before it counts one ([§17.5](crate::specification#s17-5)). One of several exporters
/// suffices, which all see the same.
pub(super) fn stuck(job: &str) -> AlertRule {
    let stuck = over_targets("max", &series("podinit_rollouts_stuck", job, ""));
    AlertRule {
        name: ROLLOUT_STUCK,
        expr: format!("{stuck} > 0"),
        hold: None,
        keep: None,
        severity: AlertSeverity::Warning,
        labels: vec![],
        summary: "A rollout does not go on.".to_owned(),
        description: "{{ $value | printf \"%.0f\" }} rollouts wait for pods of the new revision that do not start or are \
                      not ready. For 10 minutes none of these has become ready. podinit rollouts says which and why."
            .to_owned(),
        command: Some("podinit rollouts"),
        dashboard: AlertDashboard::Stuck,
    }
}
