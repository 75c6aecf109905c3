//! The card of an SLO: how much of its error budget is gone, and how fast it goes.

use super::history::History;
use crate::metrics::SloFigures;
use crate::text::human_time::seconds;
use podinit_core::timestamp::Timestamp;

/// An SLO as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SloCard {
    pub name: String,
    /// `99% of pods within 30s (created_to_ready)`
    pub promise: String,
    pub good: u64,
    pub bad: u64,
    /// The share of good events in percent; empty before the first event
    pub good_percent: String,
    /// How much of the budget the counted events have used, in percent
    pub budget_used: String,
    /// The width of the budget's bar, at most 100
    pub bar: u64,
    /// How many times faster than allowed the budget was used within the last hour
    pub burn: String,
    pub is_burning: bool,
}

impl SloCard {
    /// The card of an SLO as of `now`.
    pub(super) fn new(slo: &SloFigures, history: &History, now: Timestamp) -> Self {
        let budget = 1.0 - slo.objective_ratio;
        let used = times_budget(slo.good, slo.bad, budget);
        let (good, bad) = history.slo_events(now, &slo.name, slo.good, slo.bad);
        let burn = times_budget(good, bad, budget);
        let events = slo.good + slo.bad;
        let none = || "no events".to_owned();
        let good_share = slo.good as f64 / events.max(1) as f64;
        Self {
            name: slo.name.to_string(),
            promise: format!(
                "{}% within {} ({})",
                decimals(slo.objective_ratio * 100.0),
                seconds(slo.threshold_seconds),
                slo.interval.as_str()
            ),
            good: slo.good,
            bad: slo.bad,
            good_percent: match events {
                0 => none(),
                _ => format!("{}%", decimals(good_share * 100.0)),
            },
            budget_used: used.map_or_else(none, |used| format!("{:.0}%", used * 100.0)),
            bar: (used.unwrap_or(0.0) * 100.0).clamp(0.0, 100.0).round() as u64,
            burn: burn.map_or_else(none, |burn| format!("{burn:.1}×")),
            is_burning: burn.is_some_and(|burn| burn > 1.0),
        }
    }
}

/// The share of bad events as a multiple of the budget; `None` without events.
fn times_budget(good: u64, bad: u64, budget: f64) -> Option<f64> {
    let events = good + bad;
    (events > 0).then(|| bad as f64 / events as f64 / budget)
}

/// A number with at most three decimals.
fn decimals(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::page::history::Sample;
    use crate::metrics::Figures;
    use podinit_core::lifecycle::Interval;

    #[test]
    fn budget_and_burn_are_computed_from_events() {
        let slo = |good, bad| SloFigures {
            name: "fast".into(),
            objective_ratio: 0.99,
            interval: Interval::CreatedToReady,
            threshold_seconds: 30.0,
            good,
            bad,
        };
        let now = Timestamp::from_seconds(1_000_000);
        let mut history = History::default();
        let before = Figures {
            slos: vec![slo(800, 0)],
            ..Figures::default()
        };
        history.add(Sample::new(now.plus_nanos(-60_000_000_000), &before));
        // 5 of 1,000 are half the budget of 1 %; 5 of 200 within the hour are 2.5 times as many as allowed.
        let card = SloCard::new(&slo(995, 5), &history, now);
        assert_eq!(card.promise, "99% within 30s (created_to_ready)");
        assert_eq!((&*card.good_percent, &*card.budget_used), ("99.5%", "50%"));
        assert_eq!((&*card.burn, card.is_burning, card.bar), ("2.5×", true, 50));
        let none = SloCard::new(&slo(0, 0), &History::default(), now);
        assert_eq!(
            (&*none.budget_used, &*none.burn),
            ("no events", "no events")
        );
    }
}
