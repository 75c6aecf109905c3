//! Rules on image pulls, by registry. Their metrics need `--evidence events`.
//!
//! Neither alert pages: a registry that keeps pods from starting in time is paged for by the SLOs, with
//! the cause `image` or `pull`. These say which registry it is.

use super::annotations;
use super::options::RenderOptions;
use super::promql::{self, NAMESPACE_LABELS, over_namespaces, quantile, series};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group, RecordingRule, Rule};
use podinit_text::duration::PrometheusDuration;

const WINDOW: PrometheusDuration = PrometheusDuration::from_minutes(30);

/// Pulls of fewer containers than this say little about a registry.
pub(super) const MIN_PULLS: u32 = 5;

/// Nine pulls in ten take longer than this from a slow registry, in seconds.
pub(super) const SLOW_SECONDS: u32 = 60;

/// A registry is slow if its pulls take this many times as long as they usually do, because big images
/// take long from any registry.
pub(super) const SLOW_TIMES: u32 = 3;

/// The share of pulls that fail of a registry that is failing.
pub(super) const FAILING_SHARE: f64 = 0.2;

/// The recorded number of images that were pulled or present, by `source` and `registry`.
pub(super) const IMAGES: &str = "job_registry_source:podinit_images:increase30m";

/// The recorded number of containers whose image could not be pulled, by `registry`.
pub(super) const FAILURES: &str = "job_registry:podinit_image_pull_failures:increase30m";

/// The recorded 90th percentile of pull durations, by `registry`.
pub(super) const DURATION: &str = "job_registry:podinit_image_pull_duration_seconds:p90_30m";

pub(super) fn group(options: &RenderOptions) -> Group {
    let job = &options.job;
    let increase = |record: &str, family| RecordingRule {
        record: record.to_owned(),
        expr: over_namespaces(&format!("increase({}[{WINDOW}])", series(family, job, ""))),
        labels: vec![],
    };
    let images = increase(IMAGES, "podinit_images_total");
    let failures = increase(FAILURES, "podinit_image_pull_failures_total");
    let family = "podinit_image_pull_duration_seconds";
    let quantile = quantile(0.9, family, job, NAMESPACE_LABELS, WINDOW);
    let duration = RecordingRule {
        record: DURATION.to_owned(),
        // Nothing is greater than NaN, the quantile where nothing was pulled.
        expr: format!("(\n{}\n) >= 0", promql::indented(&quantile)),
        labels: vec![],
    };
    let mut rules = Vec::from([images, failures, duration].map(Rule::Recording));
    rules.extend(alerts(job).map(|alert| alert.rule(options)));
    Group { name: "podinit-images".to_owned(), interval: None, rules }
}

pub(super) fn alerts(job: &str) -> [AlertRule; 2] {
    [slow(job), failing(job)]
}

fn pulled(job: &str) -> String {
    series(IMAGES, job, "source=\"pulled\"")
}

fn slow(job: &str) -> AlertRule {
    let now = series(DURATION, job, "");
    let pulled = pulled(job);
    AlertRule {
        name: "PodinitRegistrySlow",
        expr: format!(
            "{now} > {SLOW_SECONDS}\nand\n{now} > {SLOW_TIMES} * quantile_over_time(0.5, {now}[1d])\nand \
             ignoring (source)\n{pulled} >= {MIN_PULLS}"
        ),
        hold: Some(PrometheusDuration::from_minutes(5)),
        keep: None,
        severity: AlertSeverity::Warning,
        labels: vec![],
        summary: "A registry is much slower than usual.".to_owned(),
        description: format!(
            "One pull in ten from {{{{ $labels.registry }}}} took {{{{ $value | humanizeDuration }}}} or \
             more in the last {WINDOW}: more than {SLOW_TIMES} times the usual time. Waits in the \
             kubelet's queue do not count."
        ),
        command: None,
        dashboard: AlertDashboard::Images,
    }
}

fn failing(job: &str) -> AlertRule {
    let failed = series(FAILURES, job, "");
    let pulled = pulled(job);
    AlertRule {
        name: "PodinitRegistryFailing",
        expr: format!(
            "{failed} / ({failed} + ignoring (source) {pulled}) > {FAILING_SHARE}\nand\n\
             {failed} >= {MIN_PULLS}"
        ),
        hold: None,
        keep: Some(PrometheusDuration::from_minutes(10)),
        severity: AlertSeverity::Warning,
        labels: vec![],
        summary: "Pulls from a registry fail.".to_owned(),
        description: format!(
            "In the last {WINDOW} {{{{ $value | humanizePercentage }}}} of the containers that needed an \
             image from {{{{ $labels.registry }}}} could not pull it at least once.{}",
            // One image with a wrong tag is no fault of its registry.
            annotations::problem_of_pulls(job)
        ),
        command: None,
        dashboard: AlertDashboard::Images,
    }
}
