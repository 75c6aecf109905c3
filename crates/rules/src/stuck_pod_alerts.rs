//! Alerts on pods that have been in one stage for so long that they are unlikely to leave it without
//! help, by stage and cause.
//!
//! The exporter counts them ([`SloFile::stuck_after`] says when). One stuck pod is enough, even if no
//! other pod starts, so none of these alerts pages.
//!
//! - A container that crashes again and again changes its pod's cause with each restart: for moments it is
//!   pulled, made, at its end, or running without being ready. So the rules take the mean over a quarter of an hour, and
//!   such causes must hold more than a tenth as many pods of the stage as `crash` does. The kubelet backs
//!   off for five minutes, so a container may run for half a minute before each crash. How many pods have
//!   one of these causes does not change with a restart: where that number has not risen, a cause must
//!   rise by more than a quarter.
//! - An abandoned pod is no news after a day, and must not hide the next one. So [`PODS_STUCK`]
//!   asks for one pod more than the lowest number of stuck pods in the last day. Where nothing is known from
//!   before that day, none was stuck: pods that are stuck at the first scrape fire it too.
//! - Nor is it forgotten: [`STILL_STUCK`] goes on for as long as pods are stuck, with a lower severity.
//! - Exporters that are not in sync are left out, because they do not know which pods still exist. While a
//!   shard is out of sync or missing, and until it has left the mean, the least number is not taken: its
//!   pods would look like new ones when it is back.

use super::annotations::{
    OF_ALERTS_STAGE, UNREADY_PODS, counted_namespaces, of_alerts_cause, problem_of_cause,
};
use super::exporter_alerts::some_in_sync;
use super::options::RenderOptions;
use super::promql::{
    NAMESPACE_LABELS, TARGET_LABELS, over_namespaces, over_targets_and, series, shards,
};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group, RecordingRule, Rule};
use podinit_core::lifecycle::Stage;
use podinit_slo::SloFile;
use podinit_text::duration::PrometheusDuration;

/// The name of the alerts on pods that are newly stuck.
pub(super) const PODS_STUCK: &str = "PodinitPodsStuck";

/// The recorded number of stuck pods, by `stage` and `cause`.
pub(super) const STUCK: &str = "job_stage_cause:podinit_stuck_pods:sum";

/// The same, as the mean over a quarter of an hour.
pub(super) const MEAN_STUCK: &str = "job_stage_cause:podinit_stuck_pods:avg15m";

/// The name of the alert on pods that have been stuck for a day.
pub(super) const STILL_STUCK: &str = "PodinitPodsStillStuck";

/// The recorded number of shards, while not all of them have been in sync for two minutes.
const UNSETTLED: &str = "job:podinit_total_shards:unsettled";

/// [`MEAN_STUCK`] where all shards have been in sync for as long as the mean looks back.
const SETTLED: &str = "job_stage_cause:podinit_stuck_pods:settled15m";

/// The least of [`SETTLED`] within a day; absent where nothing is known from before that day.
const LEAST: &str = "job_stage_cause:podinit_stuck_pods:min1d";

/// [`SETTLED`] summed over [`CRASHING`].
const SETTLED_CRASHING: &str = "job_stage:podinit_stuck_pods:settled15m";

/// The least of [`SETTLED_CRASHING`] within a day.
const LEAST_CRASHING: &str = "job_stage:podinit_stuck_pods:min1d";

/// The causes between which a pod changes that crashes again and again.
const CRASHING: &str = "cause=~\"crash|create|exited|probe|pull|run\"";

/// Those of them that it has between its crashes.
const BETWEEN: &str = "cause=~\"create|exited|probe|pull|run\"";

/// For how long the alerts outlive their expression: the mean is too low for as long after a shard was
/// restarted.
const KEEP: PrometheusDuration = PrometheusDuration::from_minutes(15);

/// What an alert says of a stage.
struct StageAlertText {
    summary: &'static str,
    /// Lists the pods in the stage
    command: &'static str,
}

const fn text(stage: Stage) -> StageAlertText {
    match stage {
        Stage::Gated => StageAlertText {
            summary: "Pods wait for their scheduling gates.",
            command: r#"kubectl get pods -A -o json | jq -r '.items[] | select(.spec.schedulingGates) | [.metadata.namespace, .metadata.name, .spec.schedulingGates[].name] | @tsv'"#,
        },
        Stage::Scheduling => {
            StageAlertText { summary: "Pods wait for their scheduler.", command: UNBOUND_PODS }
        }
        Stage::Unschedulable => {
            StageAlertText { summary: "Pods fit on no node.", command: UNBOUND_PODS }
        }
        Stage::Network => StageAlertText {
            summary: "Scheduled pods get no sandbox with a network.",
            command: r#"kubectl get pods -A -o json | jq -r '.items[] | select(.spec.nodeName and .status.phase == "Pending") | select(any(.status.conditions[]?; .type == "PodReadyToStartContainers" and .status == "True") | not) | [.spec.nodeName, .metadata.namespace, .metadata.name] | @tsv' | sort"#,
        },
        Stage::Init => StageAlertText {
            summary: "Pods do not get through their init containers.",
            command: "kubectl get pods -A | grep -E ' (Init:|PodInitializing)'",
        },
        Stage::Containers => StageAlertText {
            summary: "Containers of pods do not become ready.",
            command: UNREADY_PODS,
        },
        Stage::Readiness => StageAlertText {
            summary: "Pods wait for their readiness gates.",
            command: r#"kubectl get pods -A -o wide | awk '{split($NF, n, "/")} $NF ~ "^[0-9]+/" && n[1] != n[2]'"#,
        },
    }
}

const UNBOUND_PODS: &str = r#"kubectl get pods -A --field-selector spec.nodeName= -o custom-columns='NAMESPACE:.metadata.namespace,NAME:.metadata.name,WHY:.status.conditions[?(@.type=="PodScheduled")].message'"#;

/// The recorded counts, and an alert for each stage.
pub(super) fn group(file: &SloFile, options: &RenderOptions) -> Group {
    let job = &options.job;
    let (stuck, synced) =
        (series("podinit_stuck_pods", job, ""), series("podinit_synced", job, ""));
    let in_sync = format!(
        "{stuck}\nand ignoring (stage, cause, namespace, exported_namespace)\n({synced} == 1 or {})",
        some_in_sync(job)
    );
    let recorded = |record: &str, expr: String| {
        Rule::Recording(RecordingRule { record: record.to_owned(), expr, labels: vec![] })
    };
    let mean = format!("avg_over_time({}[15m])", series(STUCK, job, ""));
    let settled = format!(
        "{}\nunless ignoring (stage, cause)\npresent_over_time({}[15m])",
        series(MEAN_STUCK, job, ""),
        series(UNSETTLED, job, "")
    );
    let least = |record| {
        let settled = series(record, job, "");
        format!("min_over_time({settled}[1d])\nand\npresent_over_time({settled}[1d] offset 1d)")
    };
    let crashing = format!("stage=~\"containers|init\", {CRASHING}");
    let crashing = format!("sum without (cause) ({})", series(SETTLED, job, &crashing));
    let mut rules = vec![
        recorded(STUCK, over_namespaces(&in_sync)),
        recorded(MEAN_STUCK, mean),
        recorded(UNSETTLED, unsettled(job)),
        recorded(SETTLED, settled),
        recorded(LEAST, least(SETTLED)),
        recorded(SETTLED_CRASHING, crashing),
        recorded(LEAST_CRASHING, least(SETTLED_CRASHING)),
    ];
    rules.extend(Stage::ALL.map(|stage| alert(stage, file, job).rule(options)));
    rules.push(still_stuck(job).rule(options));
    Group { name: "podinit-stuck-pods".to_owned(), interval: None, rules }
}

/// How many shards there are, unless as many have been in sync for two minutes.
fn unsettled(job: &str) -> String {
    let ordinal = series("podinit_shard_ordinal", job, "");
    let synced = series("podinit_synced", job, "");
    let all = over_targets_and("max", NAMESPACE_LABELS, &series("podinit_total_shards", job, ""));
    let in_sync = format!("{ordinal}\nand ({synced} == 1)\nand ({synced} offset 2m == 1)");
    let some_in_sync =
        format!("{ordinal}\nand ignoring ({NAMESPACE_LABELS}) ({})", some_in_sync(job));
    let in_sync = format!("{in_sync}\nor\n{some_in_sync}");
    let in_sync = shards(&format!("{TARGET_LABELS}, {NAMESPACE_LABELS}"), &in_sync);
    format!("{all}\nunless\n{in_sync}\n>= {all}")
}

/// What pods do between their crashes, as a part of an expression that leaves it out.
fn between_crashes(job: &str, matchers: &str) -> String {
    let of_causes = |cause| series(MEAN_STUCK, job, &format!("{matchers}{cause}"));
    format!(
        "unless\n{} <= ignoring (cause) group_left () 0.1 * {}",
        of_causes(BETWEEN),
        of_causes("cause=\"crash\"")
    )
}

/// The reminder of pods that [`alert`] no longer tells of. One of the two always does.
pub(super) fn still_stuck(job: &str) -> AlertRule {
    let (stuck, least) = (series(MEAN_STUCK, job, ""), series(LEAST, job, ""));
    let raw = of_alerts_cause("podinit_stuck_pods", job, OF_ALERTS_STAGE);
    AlertRule {
        name: STILL_STUCK,
        expr: format!("{stuck} > 0.5\nand\n{least} >= 0.5\n{}", between_crashes(job, "")),
        hold: None,
        keep: Some(KEEP),
        severity: AlertSeverity::Info,
        labels: vec![],
        summary: "Pods have been stuck for more than a day.".to_owned(),
        description: format!(
            "{{{{ $value | printf \"%.0f\" }}}} pods are stuck in the stage {{{{ $labels.stage }}}} with the \
             cause {{{{ $labels.cause }}}}, and at least one has been at any time in the last day.{}{}",
            problem_of_cause(job),
            counted_namespaces(&raw, job)
        ),
        command: Some("podinit stuck"),
        dashboard: AlertDashboard::Stuck,
    }
}

/// The alert on pods that are newly stuck in a stage.
pub(super) fn alert(stage: Stage, file: &SloFile, job: &str) -> AlertRule {
    let StageAlertText { summary, command } = text(stage);
    let matcher = format!("stage=\"{}\"", stage.as_str());
    let stuck = series(MEAN_STUCK, job, &matcher);
    let raw = of_alerts_cause("podinit_stuck_pods", job, &matcher);
    let name = stage.as_str();
    let least = series(LEAST, job, &matcher);
    let mut expr = format!("{stuck} > 0.5\nunless\n{stuck} <= 0.5 + {least}");
    if matches!(stage, Stage::Init | Stage::Containers) {
        let crashing = format!("{matcher}, {CRASHING}");
        let now = series(MEAN_STUCK, job, &crashing);
        expr += &format!(
            "\n{}\nunless (\n  {now} <= 0.5 + 1.25 * {}\n  and ignoring (cause)\n  sum without (cause) \
             ({now}) <= 0.5 + {}\n)",
            between_crashes(job, &format!("{matcher}, ")),
            series(LEAST, job, &crashing),
            series(LEAST_CRASHING, job, &matcher),
        );
    }
    let age = file.stuck_after(stage);
    AlertRule {
        name: PODS_STUCK,
        expr,
        hold: None,
        keep: Some(KEEP),
        severity: AlertSeverity::Warning,
        // The expression has it too; two rules with the same labels would look like a duplicate.
        labels: vec![("stage", name.to_owned())],
        summary: summary.to_owned(),
        description: format!(
            "{{{{ $value | printf \"%.0f\" }}}} pods have been in the stage {name} for more than {age}, \
             with the cause {{{{ $labels.cause }}}}: more than the lowest number in the last day.{}{}",
            problem_of_cause(job),
            counted_namespaces(&raw, job)
        ),
        command: Some(command),
        dashboard: AlertDashboard::Stuck,
    }
}
