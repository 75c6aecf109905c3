//! The alerts of one SLO. Those on its error budget follow the SRE workbook: a burn rate must be
//! exceeded over a long window, so that it matters, and over a short one, so that it still lasts.
//!
//! **Low traffic.** At an objective of 99 %, one late pod in five is a burn rate of 20, and means
//! nothing. So the long window must also contain at least [`MIN_BAD_PODS`] bad pods. If an objective
//! of 99 % is met exactly, five of 34 pods an hour (the most pods of which five are 14.4 %) are bad
//! by chance in 22 of a million hours: one false page in five years. With a minimum of three it would
//! be one in six weeks. If bad pods are replicas of one broken workload rather than chance, no minimum
//! helps: choose the namespaces of the SLO. What the minimum hides, a handful of pods that never
//! become ready where few start, the alerts on stuck pods show: they have no minimum.
//!
//! **Causes.** The label `cause` routes the alert: the cause of at least half of the short window's bad
//! pods, or [`SEVERAL`] ([§6.14](crate::specification#s6-14)). What fails now counts: the long window may hold an older fault with another cause.
//! Shares are of the recorded causes alone, which have one time. Of two causes with half each, one is named.

use super::annotations::{
    UNREADY_PODS, counted_causes, counted_namespaces, of_alerts_cluster, problem_in_brackets,
};
use super::options::RenderOptions;
use super::promql::{self, left_out, number, over_targets, promise, series};
use super::recording_rules::{BURN_RATES, BurnRate, bad_causes, bad_ratio, causes, events};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group};
use podinit_slo::Slo;
use podinit_text::duration::PrometheusDuration;

/// The least number of bad pods in the long window.
pub(super) const MIN_BAD_PODS: u32 = 5;

/// How long an alert keeps firing. A short window in which no pod started is not yet a recovery.
pub(super) const KEEP_FIRING_FOR: PrometheusDuration = PrometheusDuration::from_minutes(10);

/// The label `cause` of an alert on pods of which no cause has half.
pub(super) const SEVERAL: &str = "several";

/// The share from which a cause is the alert's: half, less what sums of increases are rounded by.
const MAIN_SHARE: f64 = 0.4999;

/// The name of the alerts on burn rates.
pub(super) const BUDGET_BURN: &str = "PodinitSLOBudgetBurn";
/// The name of the alert on rules that do not match the exporter's SLO file.
pub(super) const RULES_OUTDATED: &str = "PodinitSLORulesOutdated";

/// The alerts of one SLO, behind what they read of its causes.
pub(super) fn group(slo: &Slo, options: &RenderOptions) -> Group {
    let job = &options.job;
    let rates = BURN_RATES.iter().map(|rate| budget_burn(slo, rate, job));
    let alerts = rates.chain([outdated(slo, job)]);
    Group {
        name: format!("podinit-slo-{}", slo.rule.name),
        interval: None,
        rules: causes(slo, job).chain(alerts.map(|alert| alert.rule(options))).collect(),
    }
}

/// The alert on one burn rate.
pub(super) fn budget_burn(slo: &Slo, rate: &BurnRate, job: &str) -> AlertRule {
    let BurnRate { factor, long, short, severity } = *rate;
    let name = &slo.rule.name;
    let matcher = format!("slo=\"{name}\"");
    let ratio = |window| series(&bad_ratio(window), job, &matcher);
    let bad = series(&events(long), job, &format!("{matcher}, result=\"bad\""));
    let most = format!("{} * {}", number(factor), number(slo.budget_ratio()));
    let raw = of_alerts_cluster("podinit_slo_bad_causes_total", job, &matcher);
    let increase = format!("increase({raw}[{short}])");
    let millis = slo.window.as_millis() as f64 / factor;
    let lasts = PrometheusDuration::from_minutes((millis / 60_000.0).round() as u64);
    let burns = promql::indented(&format!(
        "{} > {most}\nand\n{} > {most}\nand ignoring (result)\n{bad} >= {MIN_BAD_PODS}",
        ratio(long),
        ratio(short),
    ));
    let recorded = series(&bad_causes(short), job, &matcher);
    let share = format!(
        "topk without (cause) (1, {recorded})\n  / ignoring (cause) group_left ()\n  sum without (cause) ({recorded})"
    );
    AlertRule {
        name: BUDGET_BURN,
        expr: format!(
            "(\n{burns}\n)\n* ignoring (cause) group_right () (\n  {share} >= bool {MAIN_SHARE} == 1\n)\nor\n\
             label_replace((\n{burns}\n), \"cause\", \"{SEVERAL}\", \"\", \"\")\n\
             unless ignoring (cause) (\n  {share} >= {MAIN_SHARE}\n)"
        ),
        hold: None,
        keep: Some(KEEP_FIRING_FOR),
        severity,
        labels: vec![
            ("slo", name.to_string()),
            ("interval", slo.rule.interval.text().into_owned()),
            ("long_window", long.to_string()),
            ("short_window", short.to_string()),
        ],
        summary: format!(
            "Pods miss {}{}: the error budget of {name} is burning.",
            promise(slo),
            problem_in_brackets(job)
        ),
        description: format!(
            "{{{{ $value | humanizePercentage }}}} of the pods of the last {long} missed {}; the \
             objective is {} % over {}. The burn rate is above {}, at which the whole error budget \
             is spent in {lasts}.{}{}{}",
            promise(slo),
            number(slo.objective_percent),
            slo.window,
            number(factor),
            left_out(slo),
            counted_causes(&of_alerts_cluster(&bad_causes(short), job, &matcher), short),
            counted_namespaces(&increase, job),
        ),
        command: Some(UNREADY_PODS),
        dashboard: AlertDashboard::Overview,
    }
}

/// The alert on an exporter whose SLO file differs from the one that the rules were generated from.
/// Such an exporter counts events for other names or thresholds, and the burn-rate alerts would not
/// show it.
pub(super) fn outdated(slo: &Slo, job: &str) -> AlertRule {
    let name = &slo.rule.name;
    let own = |metric| series(metric, job, &format!("slo=\"{name}\""));
    let up = series("up", job, "");
    let objective = own("podinit_slo_objective_ratio");
    let threshold = own("podinit_slo_threshold_seconds");
    let window = own("podinit_slo_window_seconds");
    let inner = format!(
        "{up} == 1\nunless ignoring (slo) (\n  abs({objective} - {}) < 1e-9\n  and ignoring (interval)\n  \
         abs({threshold} - {}) < 1e-6\n  and ignoring (interval)\n  {window} == {}\n)",
        number(slo.objective_ratio()),
        number(slo.threshold_seconds()),
        number(slo.window_seconds()),
    );
    AlertRule {
        name: RULES_OUTDATED,
        expr: over_targets("max", &inner),
        hold: Some(PrometheusDuration::from_minutes(30)),
        keep: None,
        severity: AlertSeverity::Warning,
        labels: vec![("slo", name.to_string())],
        summary: format!("The rules for {name} do not match the exporter's SLO file."),
        description: format!(
            "An exporter of {{{{ $labels.job }}}} is up, but has no SLO {name} with an objective \
             of {} % and {} over {}. The alerts of {name} watch something else, or nothing.",
            number(slo.objective_percent),
            promise(slo),
            slo.window,
        ),
        command: None,
        dashboard: AlertDashboard::Health,
    }
}
