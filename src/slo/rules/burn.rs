//! Alerts on how fast an error budget burns, by the SRE workbook: a long window says that it
//! matters, a short one that it still goes on.
//!
//! **Low traffic.** One late pod among five is a burn of 20 at an objective of 99 %, and means
//! nothing. So the long window must hold at least [`FLOOR`] bad pods. Where an objective of 99 % is
//! met exactly, five of 34 pods an hour (the most of which five are 14.4 %) are bad by chance in 22
//! of a million hours: one false page in five years. With a floor of three it would be one in six
//! weeks. Where bad pods are no coincidence but replicas of one broken workload, no floor helps:
//! choose the namespaces of the SLO. What the floor hides, a handful of pods that never arrive
//! where few are started, the alerts on stuck pods see: they have none.

use super::model::{Alert, Dashboard, Group, Severity};
use super::options::RenderOptions;
use super::promql::{number, over_targets, promise, series};
use super::recording::{bad_ratio, events};
use super::windows::{Burn, WINDOWS};
use crate::slo::Slo;
use crate::slo::duration::SloDuration;

/// How many bad pods the long window must hold.
pub(super) const FLOOR: u32 = 5;

/// For how long an alert outlives its cause. Pods are started now and then: a short window without
/// any is no recovery yet.
pub(super) const KEEP: SloDuration = SloDuration::from_minutes(10);

/// The name of the alerts on burn rates.
pub(super) const BUDGET_BURN: &str = "PodinitSLOBudgetBurn";
/// The name of the alert on rules that the exporter does not know.
pub(super) const RULES_OUTDATED: &str = "PodinitSLORulesOutdated";

/// The alerts of one SLO.
pub(super) fn group(slo: &Slo, options: &RenderOptions) -> Group {
    let job = &options.job;
    let burns = WINDOWS.iter().map(|burn| alert(slo, burn, job));
    let alerts = burns.chain([outdated(slo, job)]);
    Group {
        name: format!("podinit-slo-{}", slo.rule.name),
        interval: None,
        rules: alerts.map(|alert| alert.rule(options)).collect(),
    }
}

pub(super) fn alert(slo: &Slo, burn: &Burn, job: &str) -> Alert {
    let Burn {
        factor,
        long,
        short,
        severity,
    } = *burn;
    let name = &slo.rule.name;
    let matcher = format!("slo=\"{name}\"");
    let ratio = |window| series(&bad_ratio(window), job, &matcher);
    let bad = series(&events(long), job, &format!("{matcher}, result=\"bad\""));
    let most = format!("{} * {}", number(factor), number(slo.budget_ratio()));
    let millis = slo.window.as_millis() as f64 / factor;
    let lasts = SloDuration::from_minutes((millis / 60_000.0).round() as u64);
    Alert {
        name: BUDGET_BURN,
        expr: format!(
            "{} > {most}\nand\n{} > {most}\nand ignoring (result)\n{bad} >= {FLOOR}",
            ratio(long),
            ratio(short),
        ),
        hold: None,
        keep: Some(KEEP),
        severity,
        labels: vec![
            ("slo", name.to_string()),
            ("long_window", long.to_string()),
            ("short_window", short.to_string()),
        ],
        summary: format!(
            "Pods miss {}: the error budget of {name} burns.",
            promise(slo)
        ),
        description: format!(
            "{{{{ $value | humanizePercentage }}}} of the pods of the last {long} missed {}; the \
             objective is {} % over {}. At {} times the budget's rate, which is exceeded, all of \
             it is gone in {lasts}.",
            promise(slo),
            number(slo.objective_percent),
            slo.window,
            number(factor),
        ),
        dashboard: Dashboard::Overview,
    }
}

/// An exporter that runs with another SLO file than the rules were written from counts events for
/// other names or thresholds, and the alerts above would be silent about it.
pub(super) fn outdated(slo: &Slo, job: &str) -> Alert {
    let name = &slo.rule.name;
    let own = |metric| series(metric, job, &format!("slo=\"{name}\""));
    let up = series("up", job, "");
    let objective = own("podinit_slo_objective_ratio");
    let threshold = own("podinit_slo_threshold_seconds");
    let inner = format!(
        "{up} == 1\nunless ignoring (slo) (\n  abs({objective} - {}) < 1e-9\n  and\n  \
         abs({threshold} - {}) < 1e-6\n)",
        number(slo.objective_ratio()),
        number(slo.threshold_seconds()),
    );
    Alert {
        name: RULES_OUTDATED,
        expr: over_targets("max", &inner),
        hold: Some(SloDuration::from_minutes(30)),
        keep: None,
        severity: Severity::Warning,
        labels: vec![("slo", name.to_string())],
        summary: format!("The rules for {name} do not belong to the exporter's SLO file."),
        description: format!(
            "An exporter of {{{{ $labels.job }}}} is up, but has no SLO {name} with an objective \
             of {} % and {}. The alerts of {name} judge something else, or nothing.",
            number(slo.objective_percent),
            promise(slo),
        ),
        dashboard: Dashboard::Health,
    }
}
