//! Recording rules: how many pods were good and bad in each window, and which share was bad.
//!
//! One rule serves every SLO, and each range of raw samples is read once. The share is absent, not
//! NaN or 0, in a window without events.

use super::model::{Group, RecordingRule, Rule};
use super::promql::{self, number, over_targets, over_targets_and, series};
use super::windows::WINDOWS;
use crate::slo::Slo;
use crate::slo::duration::SloDuration;

const EVENTS: &str = "podinit_slo_events_total";

/// The most rules in a group; rulers of several tenants allow no more by default.
const MAX_RULES: usize = 20;

/// The share of the error budget that is left, by `slo` and `window`: below 0 when it is overspent.
pub(super) const BUDGET: &str = "job_slo:podinit_slo_error_budget:remaining_ratio";

/// The name of the events, by `slo` and `result`, in a window.
pub(super) fn events(window: SloDuration) -> String {
    format!("job_slo_result:podinit_slo_events:increase{window}")
}

/// The name of the share of bad events, by `slo`, in a window.
pub(super) fn bad_ratio(window: SloDuration) -> String {
    format!("job_slo:podinit_slo_bad_per_events:ratio_increase{window}")
}

/// The windows of the burn-rate alerts.
pub(super) fn windows(job: &str) -> Group {
    let mut windows: Vec<SloDuration> = WINDOWS
        .iter()
        .flat_map(|burn| [burn.short, burn.long])
        .collect();
    windows.sort_unstable();
    windows.dedup();
    let rules = windows.into_iter().flat_map(|window| {
        let raw = series(EVENTS, job, "");
        let events = RecordingRule {
            record: events(window),
            expr: over_targets("sum", &format!("increase({raw}[{window}])")),
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
    Group {
        name: "podinit-slo-windows".to_owned(),
        interval: None,
        rules: rules.collect(),
    }
}

/// The error budgets. They change slowly and read long ranges, hence a group with an interval of
/// its own.
pub(super) fn budgets(slos: &[Slo], job: &str) -> Vec<Group> {
    let groups = slos.chunks(MAX_RULES).zip(1..);
    let group = |(slos, number): (&[Slo], usize)| Group {
        name: match number {
            1 => "podinit-slo-budgets".to_owned(),
            number => format!("podinit-slo-budgets-{number}"),
        },
        interval: Some(SloDuration::from_minutes(5)),
        rules: slos
            .iter()
            .map(|slo| Rule::Recording(budget(slo, job)))
            .collect(),
    };
    groups.map(group).collect()
}

fn budget(slo: &Slo, job: &str) -> RecordingRule {
    let (name, window) = (&slo.rule.name, slo.window);
    let increase = |matchers: String| {
        let raw = series(EVENTS, job, &matchers);
        let sum = over_targets_and("sum", "result", &format!("increase({raw}[{window}])"));
        promql::indented(&sum)
    };
    let bad = increase(format!("slo=\"{name}\", result=\"bad\""));
    let all = increase(format!("slo=\"{name}\""));
    let budget = number(slo.budget_ratio());
    RecordingRule {
        record: BUDGET.to_owned(),
        expr: format!(
            "1 - (\n{bad}\n  /\n  (\n{}\n  > 0)\n) / {budget}",
            promql::indented(&all)
        ),
        labels: vec![("slo", name.to_string()), ("window", window.to_string())],
    }
}
