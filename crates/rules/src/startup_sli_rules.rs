//! Rules on Kubernetes' official pod startup SLI ([§9.4](crate::specification#s9-4)). Its metric needs
//! `--evidence events`.

use super::options::RenderOptions;
use super::promql::{self, NAMESPACE_LABELS, POD_LABELS, observations, quantile, series};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group, RecordingRule, Rule};
use podinit_text::duration::PrometheusDuration;

const FAMILY: &str = "podinit_pod_start_sli_duration_seconds";
const WINDOW: PrometheusDuration = PrometheusDuration::from_hours(1);

/// What Kubernetes promises for the 99th percentile, in seconds.
pub(super) const PROMISED_SECONDS: u32 = 5;

/// The 99th percentile of fewer pods is the time of one pod.
pub(super) const MIN_PODS: u32 = 100;

/// The recorded 99th percentile.
pub(super) const P99: &str = "job:podinit_pod_start_sli_duration_seconds:p99_1h";

/// The recorded number of pods that it is the 99th percentile of.
pub(super) const PODS: &str = "job:podinit_pod_start_sli_duration_seconds:count_1h";

pub(super) fn group(options: &RenderOptions) -> Group {
    let job = &options.job;
    let without = format!("{NAMESPACE_LABELS}, {POD_LABELS}");
    let quantile = quantile(0.99, FAMILY, job, &without, WINDOW);
    let recorded = |record: &str, expr: String| {
        Rule::Recording(RecordingRule { record: record.to_owned(), expr, labels: vec![] })
    };
    let rules = vec![
        // Nothing is greater than NaN, the quantile where no pod started.
        recorded(P99, format!("(\n{}\n) >= 0", promql::indented(&quantile))),
        recorded(PODS, observations(FAMILY, job, &without, WINDOW)),
        alert(job).rule(options),
    ];
    Group { name: "podinit-startup-sli".to_owned(), interval: None, rules }
}

pub(super) fn alert(job: &str) -> AlertRule {
    let (p99, pods) = (series(P99, job, ""), series(PODS, job, ""));
    AlertRule {
        name: "PodinitStartupSLIHigh",
        expr: format!("{p99} > {PROMISED_SECONDS}\nand\n{pods} >= {MIN_PODS}"),
        hold: Some(PrometheusDuration::from_minutes(15)),
        keep: None,
        severity: AlertSeverity::Warning,
        labels: vec![],
        summary: "Pods start more slowly than Kubernetes promises.".to_owned(),
        description: format!(
            "The 99th percentile of the pod startup SLI over {WINDOW} is {{{{ $value | humanizeDuration \
             }}}}: from creation until all containers have started. It counts schedulable, stateless pods, \
             without image pulls and init containers. Kubernetes promises {PROMISED_SECONDS}s."
        ),
        command: None,
        dashboard: AlertDashboard::Images,
    }
}
