//! Recording rules of SLOs: how many pods were good and bad in each window, the ratio of bad pods, why
//! the bad ones waited, and the error budget that remains.
//!
//! One rule of a window covers the events of every SLO, so that Prometheus reads each range of raw samples once. In a
//! window without events the ratio is absent, not NaN or 0.
//! The burn rates that alerts watch for have their windows here.

use super::promql::{self, NAMESPACE_LABELS, number, over_namespaces, over_targets_and, series};
use super::rule_file::{AlertSeverity, Group, RecordingRule, Rule};
use podinit_slo::Slo;
use podinit_text::duration::PrometheusDuration;

const EVENTS: &str = "podinit_slo_events_total";
const BAD_CAUSES: &str = "podinit_slo_bad_causes_total";

/// The most rules in a group: the default limit of Mimir's ruler.
const MAX_RULES: usize = 20;

/// The recorded share of the error budget that remains, by `slo` and `window`: below 0 when it is
/// overspent.
pub(super) const BUDGET: &str = "job_slo:podinit_slo_error_budget:remaining_ratio";

/// The name of the recorded increase of events in a window, by `slo` and `result`.
pub(super) fn events(window: PrometheusDuration) -> String {
    format!("job_slo_result:podinit_slo_events:increase{window}")
}

/// The name of the recorded ratio of bad events in a window, by `slo`.
pub(super) fn bad_ratio(window: PrometheusDuration) -> String {
    format!("job_slo:podinit_slo_bad_per_events:ratio_increase{window}")
}

/// The name of the recorded increase of bad events in a window, by `slo` and `cause`.
pub(super) fn bad_causes(window: PrometheusDuration) -> String {
    format!("job_slo_cause:podinit_slo_bad_causes:increase{window}")
}

/// The rules for the windows of the burn-rate alerts.
pub(super) fn windows(job: &str) -> Group {
    let mut windows: Vec<PrometheusDuration> =
        BURN_RATES.iter().flat_map(|rate| [rate.short, rate.long]).collect();
    windows.sort_unstable();
    windows.dedup();
    let rules = windows.into_iter().flat_map(|window| {
        let raw = series(EVENTS, job, "");
        let events = RecordingRule {
            record: events(window),
            expr: over_namespaces(&format!("increase({raw}[{window}])")),
            labels: vec![],
        };
        let all = series(&events.record, job, "");
        let bad = series(&events.record, job, "result=\"bad\"");
        let ratio = RecordingRule {
            record: bad_ratio(window),
            expr: format!("sum without (result) ({bad})\n/\n(sum without (result) ({all}) > 0)"),
            labels: vec![],
        };
        [Rule::Recording(events), Rule::Recording(ratio)]
    });
    Group { name: "podinit-slo-windows".to_owned(), interval: None, rules: rules.collect() }
}

/// The rules for the causes in the short windows, those that decide what an alert of the SLO says. They stand in the group
/// of its alerts. Prometheus evaluates each group at a time of its own, also amid another one; the rules of one group have an
/// order. An alert must not know that pods are bad before it knows why.
pub(super) fn causes(slo: &Slo, job: &str) -> impl Iterator<Item = Rule> {
    let name = slo.rule.name.to_string();
    let raw = series(BAD_CAUSES, job, &format!("slo=\"{name}\""));
    let labels = format!("{NAMESPACE_LABELS}, stage");
    BURN_RATES.iter().map(move |BurnRate { short, .. }| {
        Rule::Recording(RecordingRule {
            record: bad_causes(*short),
            expr: over_targets_and("sum", &labels, &format!("increase({raw}[{short}])")),
            // The series have it too; two rules with the same labels would look like a duplicate.
            labels: vec![("slo", name.clone())],
        })
    })
}

/// The rules for error budgets. These change slowly and read long ranges, so they have a longer evaluation
/// interval.
pub(super) fn budgets(slos: &[Slo], job: &str) -> Vec<Group> {
    let groups = slos.chunks(MAX_RULES).zip(1..);
    let group = |(slos, number): (&[Slo], usize)| Group {
        name: match number {
            1 => "podinit-slo-budgets".to_owned(),
            number => format!("podinit-slo-budgets-{number}"),
        },
        interval: Some(PrometheusDuration::from_minutes(5)),
        rules: slos.iter().map(|slo| Rule::Recording(budget(slo, job))).collect(),
    };
    groups.map(group).collect()
}

fn budget(slo: &Slo, job: &str) -> RecordingRule {
    let (name, window) = (&slo.rule.name, slo.window);
    let increase = |matchers: String| {
        let raw = series(EVENTS, job, &matchers);
        let sum = over_targets_and(
            "sum",
            &format!("{NAMESPACE_LABELS}, result"),
            &format!("increase({raw}[{window}])"),
        );
        promql::indented(&sum)
    };
    let bad = increase(format!("slo=\"{name}\", result=\"bad\""));
    let all = increase(format!("slo=\"{name}\""));
    let budget = number(slo.budget_ratio());
    RecordingRule {
        record: BUDGET.to_owned(),
        expr: format!("1 - (\n{bad}\n  /\n  (\n{}\n  > 0)\n) / {budget}", promql::indented(&all)),
        labels: vec![("slo", name.to_string()), ("window", window.to_string())],
    }
}

/// A burn rate that fires an alert when both windows exceed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurnRate {
    /// How many times faster than the objective allows the error budget is spent
    pub(super) factor: f64,
    pub(super) long: PrometheusDuration,
    pub(super) short: PrometheusDuration,
    pub(super) severity: AlertSeverity,
}

/// The burn rates and windows of the SRE workbook.
pub(super) const BURN_RATES: [BurnRate; 4] = [
    BurnRate {
        factor: 14.4,
        long: PrometheusDuration::from_hours(1),
        short: PrometheusDuration::from_minutes(5),
        severity: AlertSeverity::Critical,
    },
    BurnRate {
        factor: 6.0,
        long: PrometheusDuration::from_hours(6),
        short: PrometheusDuration::from_minutes(30),
        severity: AlertSeverity::Critical,
    },
    BurnRate {
        factor: 3.0,
        long: PrometheusDuration::from_days(1),
        short: PrometheusDuration::from_hours(2),
        severity: AlertSeverity::Warning,
    },
    BurnRate {
        factor: 1.0,
        long: PrometheusDuration::from_days(3),
        short: PrometheusDuration::from_hours(6),
        severity: AlertSeverity::Warning,
    },
];
