//! Which SLOs lost their error budget in the last hour, and when.

use std::time::Duration;

use super::history::{HOUR, OverviewHistory};
use crate::problems::LostBudget;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::SloFigures;

/// Fewer bad startups have lost nothing: the shipped alerts take as many.
const LEAST_BAD: u64 = 5;
/// Losses with less than this between them are one.
const APART: Duration = Duration::from_secs(300);
/// A loss lasts while its last bad startup is no older.
const LASTS: Duration = Duration::from_secs(120);

/// A time in which an SLO lost its budget.
#[derive(Clone, Copy, Debug)]
struct Loss {
    from: Timestamp,
    until: Timestamp,
    bad: u64,
}

impl OverviewHistory {
    /// The SLOs of `slos` that lost their budget in the hour before `now`, those first that lost it fastest.
    pub(crate) fn lost_budgets(&self, now: Timestamp, slos: &[SloFigures]) -> Vec<LostBudget> {
        let mut lost: Vec<LostBudget> =
            slos.iter().filter_map(|slo| self.lost_budget(now, slo)).collect();
        lost.sort_by(|one, other| other.burn.total_cmp(&one.burn));
        lost
    }

    fn lost_budget(&self, now: Timestamp, slo: &SloFigures) -> Option<LostBudget> {
        let (name, budget) = (&slo.doc.rule.name, 1.0 - slo.doc.objective_ratio);
        let hour = self.slo_events((now, HOUR), name, (slo.good, slo.bad))?;
        let allowed = (hour.good + hour.bad) as f64 * budget;
        if hour.bad < LEAST_BAD || hour.bad as f64 <= allowed {
            return None;
        }
        let known = self.slo_counts(name).filter(|(at, ..)| at.plus(HOUR) >= now);
        let known: Vec<_> = known.chain([(now, slo.good, slo.bad)]).collect();
        let mut losses = Vec::<Loss>::new();
        for pair in known.windows(2) {
            let [(from, good, bad), (until, later_good, later_bad)] = *pair else { continue };
            let bad = later_bad.saturating_sub(bad);
            let events = later_good.saturating_sub(good) + bad;
            if bad as f64 <= events as f64 * budget {
                continue;
            }
            match losses.last_mut() {
                Some(last) if last.until.plus(APART) > from => {
                    last.until = until;
                    last.bad += bad;
                }
                _ => losses.push(Loss { from, until, bad }),
            }
        }
        let loss = losses.into_iter().max_by_key(|loss| loss.bad)?;
        Some(LostBudget {
            slo: name.to_string(),
            from: loss.from,
            until: Some(loss.until).filter(|until| until.plus(LASTS) < now),
            burn: hour.bad as f64 / allowed.max(f64::MIN_POSITIVE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::history::HistorySample;
    use podinit_core::lifecycle::SloRule;
    use podinit_expo::metrics::{PodFigures, SloDoc};

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + 60 * minute)
    }

    fn slo(name: &str, good: u64, bad: u64) -> SloFigures {
        let rule = SloRule { name: name.into(), ..SloRule::default() };
        SloFigures { doc: SloDoc::new(&rule, 0.99, 2_592_000.0), good, bad }
    }

    /// What SLOs lost by a minute, each with how many were bad in each minute from the beginning on, of a hundred.
    fn lost(now: i64, slos: &[(&str, &dyn Fn(i64) -> u64)]) -> Vec<LostBudget> {
        let mut history = OverviewHistory::default();
        let mut figures: Vec<SloFigures> = slos.iter().map(|(name, _)| slo(name, 0, 0)).collect();
        for minute in 0..=now {
            for (figures, (_, bad)) in figures.iter_mut().zip(slos).filter(|_| minute > 0) {
                figures.bad += bad(minute);
                figures.good += 100 - bad(minute);
            }
            let pods = PodFigures { slos: figures.clone(), ..PodFigures::default() };
            history.add(HistorySample::new(at(minute), &pods, &[]));
        }
        history.lost_budgets(at(now), &figures)
    }

    fn told(lost: &[LostBudget]) -> Vec<(&str, Timestamp, Option<Timestamp>)> {
        lost.iter().map(|one| (&*one.slo, one.from, one.until)).collect()
    }

    /// Of an outage in these minutes.
    fn outage(first: i64, last: i64, bad: u64) -> impl Fn(i64) -> u64 {
        move |minute| if (first..=last).contains(&minute) { bad } else { 0 }
    }

    #[test]
    fn an_outage_that_is_over_is_dated_until_an_hour_after_it() {
        let over = outage(11, 20, 50);
        assert_eq!(told(&lost(40, &[("fast", &over)])), [("fast", at(10), Some(at(20)))]);
        assert_eq!(told(&lost(75, &[("fast", &over)])), [("fast", at(15), Some(at(20)))]);
        assert_eq!(told(&lost(81, &[("fast", &over)])), []);
        // It lasts for two minutes more.
        assert_eq!(told(&lost(22, &[("fast", &over)])), [("fast", at(10), None)]);
        assert_eq!(told(&lost(10, &[("fast", &over)])), []);
    }

    #[test]
    fn single_bad_startups_lose_nothing_and_move_no_time() {
        let single = |minute: i64| u64::from(minute % 2 == 0);
        assert_eq!(told(&lost(59, &[("fast", &single)])), []);
        let mixed = |minute: i64| match minute {
            2 => 2,
            21..=22 | 26..=30 => 40,
            _ => 0,
        };
        assert_eq!(told(&lost(50, &[("fast", &mixed)])), [("fast", at(20), Some(at(30)))]);
        // A hundred are too few for a promise of 99 % to be broken by four.
        assert_eq!(told(&lost(5, &[("fast", &outage(1, 1, 4))])), []);
    }

    #[test]
    fn the_one_that_lost_most_comes_first() {
        let (small, large) = (outage(5, 9, 20), outage(5, 9, 70));
        let lost = lost(30, &[("a", &small), ("b", &large), ("c", &outage(1, 0, 0))]);
        assert_eq!(told(&lost).iter().map(|one| one.0).collect::<Vec<_>>(), ["b", "a"]);
        // 350 of 3,000, where 30 are allowed.
        assert!((lost[0].burn - 350.0 / 30.0).abs() < 1e-9, "{lost:?}");
    }
}
