//! Alerts on pods that have been in one stage for so long that they are unlikely to leave it without
//! help, by stage and cause.
//!
//! The exporter counts them ([`SloFile::stuck_after`] says when). One stuck pod is enough, even if no
//! other pod starts, so none of these alerts pages.
//!
//! - A container that crashes again and again changes its pod's cause with each restart: for moments it is
//!   pulled, made, at its end, or running without being ready. So the rules take the mean over a quarter of an hour, and
//!   such causes must hold more than a tenth as many pods of the stage as `crash` does. The kubelet backs
//!   off for five minutes, so a container may run for half a minute before each crash.
//! - A pod that nobody mends is no news after a day. So the alert asks for more stuck pods than there
//!   were at the least within a day: a pod that is stuck for ever fires it for a day, and does not hide
//!   the next one.
//! - Exporters that are not in sync are left out, because they do not know which pods still exist.

use super::annotations::{ALERTS_CAUSE, UNREADY_PODS, counted_namespaces};
use super::options::RenderOptions;
use super::promql::{over_namespaces, series};
use super::rule_file::{Alert, Dashboard, Group, RecordingRule, Rule, Severity};
use crate::lifecycle::Stage;
use crate::slo::SloFile;

/// The name of the alerts.
pub(super) const PODS_STUCK: &str = "PodinitPodsStuck";

/// The recorded number of stuck pods, by `stage` and `cause`.
pub(super) const STUCK: &str = "job_stage_cause:podinit_stuck_pods:sum";

/// The same, as the mean over a quarter of an hour.
pub(super) const MEAN_STUCK: &str = "job_stage_cause:podinit_stuck_pods:avg15m";

/// What an alert says of a stage.
struct Text {
    summary: &'static str,
    /// Lists the pods in the stage
    command: &'static str,
}

const fn text(stage: Stage) -> Text {
    match stage {
        Stage::Gated => Text {
            summary: "Pods wait for their scheduling gates.",
            command: r#"kubectl get pods -A -o json | jq -r '.items[] | select(.spec.schedulingGates) | [.metadata.namespace, .metadata.name, .spec.schedulingGates[].name] | @tsv'"#,
        },
        Stage::Scheduling => Text {
            summary: "Pods wait for their scheduler.",
            command: UNBOUND_PODS,
        },
        Stage::Unschedulable => Text {
            summary: "Pods fit on no node.",
            command: UNBOUND_PODS,
        },
        Stage::Network => Text {
            summary: "Scheduled pods get no sandbox with a network.",
            command: r#"kubectl get pods -A -o json | jq -r '.items[] | select(.spec.nodeName and .status.phase == "Pending") | select(any(.status.conditions[]?; .type == "PodReadyToStartContainers" and .status == "True") | not) | [.spec.nodeName, .metadata.namespace, .metadata.name] | @tsv' | sort"#,
        },
        Stage::Init => Text {
            summary: "Pods do not get through their init containers.",
            command: "kubectl get pods -A | grep -E ' (Init:|PodInitializing)'",
        },
        Stage::Containers => Text {
            summary: "Containers of pods do not become ready.",
            command: UNREADY_PODS,
        },
        Stage::Readiness => Text {
            summary: "Pods wait for their readiness gates.",
            command: r#"kubectl get pods -A -o wide | awk '{split($NF, n, "/")} $NF ~ "^[0-9]+/" && n[1] != n[2]'"#,
        },
    }
}

const UNBOUND_PODS: &str = r#"kubectl get pods -A --field-selector spec.nodeName= -o custom-columns='NAMESPACE:.metadata.namespace,NAME:.metadata.name,WHY:.status.conditions[?(@.type=="PodScheduled")].message'"#;

/// The recorded counts, and an alert for each stage.
pub(super) fn group(file: &SloFile, options: &RenderOptions) -> Group {
    let job = &options.job;
    let (stuck, synced) = (
        series("podinit_stuck_pods", job, ""),
        series("podinit_synced", job, ""),
    );
    let in_sync = format!(
        "{stuck}\nand ignoring (stage, cause, namespace, exported_namespace)\n({synced} == 1)"
    );
    let recorded = |record: &str, expr: String| {
        Rule::Recording(RecordingRule {
            record: record.to_owned(),
            expr,
            labels: vec![],
        })
    };
    let mean = format!("avg_over_time({}[15m])", series(STUCK, job, ""));
    let mut rules = vec![
        recorded(STUCK, over_namespaces(&in_sync)),
        recorded(MEAN_STUCK, mean),
    ];
    rules.extend(Stage::ALL.map(|stage| alert(stage, file, job).rule(options)));
    Group {
        name: "podinit-stuck-pods".to_owned(),
        interval: None,
        rules,
    }
}

pub(super) fn alert(stage: Stage, file: &SloFile, job: &str) -> Alert {
    let Text { summary, command } = text(stage);
    let matcher = format!("stage=\"{}\"", stage.as_str());
    let stuck = series(MEAN_STUCK, job, &matcher);
    let raw = series(
        "podinit_stuck_pods",
        job,
        &format!("{matcher}, cause=\"{ALERTS_CAUSE}\""),
    );
    let name = stage.as_str();
    let mut expr = format!("{stuck}\n> 0.5 + 1.25 * min_over_time({stuck}[1d])");
    if matches!(stage, Stage::Init | Stage::Containers) {
        let of_causes = |cause| series(MEAN_STUCK, job, &format!("{matcher}, {cause}"));
        let between = of_causes("cause=~\"create|exited|probe|pull|run\"");
        let crash = of_causes("cause=\"crash\"");
        expr += &format!("\nunless\n{between} <= ignoring (cause) group_left () 0.1 * {crash}");
    }
    let age = file.stuck_after(stage);
    Alert {
        name: PODS_STUCK,
        expr,
        hold: None,
        keep: None,
        severity: Severity::Warning,
        // The expression has it too; two rules with the same labels would look like a duplicate.
        labels: vec![("stage", name.to_owned())],
        summary: summary.to_owned(),
        description: format!(
            "{{{{ $value | printf \"%.0f\" }}}} pods have been in the stage {name} for more than {age}, \
             with the cause {{{{ $labels.cause }}}}; within a day before there were fewer.{}",
            counted_namespaces(&raw, job)
        ),
        command: Some(command),
        dashboard: Dashboard::Stuck,
    }
}
