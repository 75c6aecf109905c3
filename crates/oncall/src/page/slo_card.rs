//! An SLO in the strip of the page: the share that is good, the error budget that is left, and how fast it goes.

use std::time::Duration;

use super::history::{HOUR, OverviewHistory, SloWindow};
use crate::problems::MatchedPods;
use crate::unmatched_slos;
use podinit_core::lifecycle::{CustomStart, Interval, SloInterval, Stage, Step, UnmatchedSlo};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{SloDoc, SloFigures};
use podinit_text::human_time::seconds;
use podinit_text::words::{counted, thousands};

/// What "now" is where enough pods have started in it; otherwise it is the last hour.
const NOW: Duration = Duration::from_secs(300);
/// A rate of fewer pods says nothing: one bad pod of ten is ten times the budget of 99 %.
const ENOUGH_OF_RATE: u64 = 20;
/// The burn at which the shipped rules page by the shorter of their windows.
const PAGES: f64 = 6.0;

/// An SLO as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SloCard {
    pub name: String,
    /// `99% of pods within 30s (created_to_ready)`, and which pods do not count
    pub promise: String,
    /// `97.3 % of 1,240 pods`, or how many missed it where they are few
    pub good: String,
    /// What is left of the budget of all counted pods
    pub left: String,
    /// Whether anything is
    pub(super) has_budget: bool,
    /// How many times faster than allowed the budget is used, and over how long; on how many pods that stands
    pub burn: String,
    pub of: String,
    /// Pods in flight that it matches and that do not count yet, and why; empty where all do
    pub(super) uncounted: String,
    /// That it has matched no pod, or names a kind that none has had; empty otherwise
    pub unmatched: String,
    /// `calm`, `warn` or `bad`; `open` where it would be `calm`, but pods of a problem do not count yet, or none ever did
    pub level: &'static str,
}

/// What of the present an SLO does not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UncountedPresent<'a> {
    /// The pods that it matches
    pub pods: MatchedPods,
    pub unmatched: &'a [UnmatchedSlo],
}

impl SloCard {
    /// The card of an SLO as of `now`.
    pub(super) fn new(
        slo: &SloFigures,
        history: &OverviewHistory,
        present: UncountedPresent<'_>,
        now: Timestamp,
    ) -> Self {
        let SloDoc { rule, objective_ratio, .. } = &slo.doc;
        let budget = 1.0 - objective_ratio;
        let events = slo.good + slo.bad;
        // A share is stated once a single bad pod would not use up the whole budget.
        let is_enough = events as f64 * budget >= 1.0;
        let used = slo.bad as f64 / (events as f64 * budget).max(f64::MIN_POSITIVE);
        let share = decimals(slo.good as f64 / events.max(1) as f64 * 100.0);
        let window = |length| {
            history
                .slo_events((now, length), &rule.name, (slo.good, slo.bad))
                .filter(|window| window.good + window.bad >= ENOUGH_OF_RATE)
        };
        let burning = window(NOW).or_else(|| window(HOUR));
        let burn = burning.map(|SloWindow { good, bad, .. }| {
            bad as f64 / ((good + bad) as f64 * budget).max(f64::MIN_POSITIVE)
        });
        let before = stages_before(&rule.interval);
        let MatchedPods { in_flight, affected } = present.pods;
        let misses = before.iter().any(|stage| affected[*stage as usize] > 0);
        let unmatched = present.unmatched.iter().find(|one| one.slo == rule.name);
        let left_out = rule.selection.sentence().map(|left_out| format!(". {left_out}"));
        Self {
            name: rule.name.to_string(),
            promise: format!(
                "{} % of pods within {} ({}){}",
                decimals(objective_ratio * 100.0),
                seconds(rule.threshold.as_secs_f64()),
                rule.interval.text(),
                left_out.unwrap_or_default()
            ),
            good: match events {
                0 => "no pod yet".to_owned(),
                _ if !is_enough => {
                    format!("{} of {} pods missed it", thousands(slo.bad), thousands(events))
                }
                _ => format!("{share} % of {} pods", thousands(events)),
            },
            left: match is_enough {
                false => "too few pods".to_owned(),
                true if used >= 1.0 => "none".to_owned(),
                true => format!("{:.0} %", (1.0 - used) * 100.0),
            },
            has_budget: !is_enough || used < 1.0,
            burn: match burn.zip(burning) {
                None => "too few pods".to_owned(),
                Some((burn, window)) => format!("{burn:.1}× over {}", minutes(window.seconds)),
            },
            of: burning.map_or_else(String::new, |window| {
                format!("{} pods", thousands(window.good + window.bad))
            }),
            uncounted: uncounted(before, &in_flight),
            unmatched: unmatched.map_or_else(String::new, unmatched_slos::sentence),
            level: match burn {
                Some(burn) if burn >= PAGES => "bad",
                Some(burn) if burn > 1.0 => "warn",
                _ if is_enough && used >= 1.0 => "warn",
                _ if misses || unmatched.is_some() => "open",
                _ => "calm",
            },
        }
    }
}

/// In a pod that is in one of these stages, the interval of an SLO has not begun: it is neither good nor bad, however
/// long that lasts.
fn stages_before(interval: &SloInterval) -> &'static [Stage] {
    let first = match interval {
        SloInterval::Custom { from: CustomStart::ContainersStarted, .. } => Stage::Containers,
        SloInterval::Custom { from: CustomStart::Created, .. } => return &[],
        SloInterval::Standard(interval) => match interval {
            Interval::CreatedToReady => return &[],
            Interval::ScheduledToReady => Stage::Network,
            // Which of the two it is shows later.
            Interval::Stage(Stage::Unschedulable) => Stage::Scheduling,
            Interval::Stage(stage) => *stage,
            Interval::Step(Step::NodeLaunch | Step::NodeReady | Step::NodeJoin) => return &[],
            Interval::Step(step) => step.stage(),
        },
    };
    &Stage::ALL[..first as usize]
}

/// How many of the pods `in_flight` are in one of the stages `before`, and what they lack.
fn uncounted(before: &[Stage], in_flight: &[u64; Stage::ALL.len()]) -> String {
    let pods = |stages: &[Stage]| stages.iter().map(|stage| in_flight[*stage as usize]).sum();
    let has_node = |stage: &&Stage| **stage >= Stage::Network;
    let (late, early): (Vec<Stage>, Vec<Stage>) = before.iter().partition(has_node);
    let waits = match before.contains(&Stage::Scheduling) {
        true => ("has no node", "have no node"),
        false => ("has a scheduling gate", "have a scheduling gate"),
    };
    let parts: [(u64, (&str, &str)); 2] = [
        (pods(&early), waits),
        (pods(&late), ("has a node, but is not so far", "have a node, but are not so far")),
    ];
    let parts = parts.into_iter().filter(|(pods, _)| *pods > 0);
    let parts = parts.map(|(pods, (one, many))| {
        let what = if pods == 1 { one } else { many };
        format!("{} {what}", counted(pods as usize, "pod", "pods"))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// A length of time in minutes, or in seconds where it is shorter.
fn minutes(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        _ => format!("{} min", (seconds + 30) / 60),
    }
}

/// A number with at most two decimals, never rounded up to a promise that was not kept.
fn decimals(value: f64) -> String {
    let text = format!("{:.2}", (value * 100.0 + 1e-6).floor() / 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::history::HistorySample;
    use podinit_core::lifecycle::{Selection, SloRule};
    use podinit_expo::metrics::PodFigures;

    fn rule() -> SloRule {
        SloRule {
            name: "fast".into(),
            interval: Interval::CreatedToReady.into(),
            threshold: Duration::from_secs(30),
            ..SloRule::default()
        }
    }

    fn slo_of(rule: &SloRule, good: u64, bad: u64) -> SloFigures {
        SloFigures { doc: SloDoc::new(rule, 0.99, 2_592_000.0), good, bad }
    }

    fn slo(good: u64, bad: u64) -> SloFigures {
        slo_of(&rule(), good, bad)
    }

    /// The card of an SLO that had `before` so many seconds ago.
    fn card(ago: i64, before: (u64, u64), (good, bad): (u64, u64)) -> SloCard {
        let now = Timestamp::from_seconds(1_000_000);
        let mut history = OverviewHistory::default();
        let figures = PodFigures { slos: vec![slo(before.0, before.1)], ..PodFigures::default() };
        let at = now.plus_nanos(-ago * 1_000_000_000);
        history.add(HistorySample::new(at, &figures, &[]));
        SloCard::new(&slo(good, bad), &history, UncountedPresent::default(), now)
    }

    #[test]
    fn budget_and_burn_are_computed_from_events() {
        // 5 of 1,000 are half the budget of 1 %; 5 of 200 within a minute are 2.5 times as many as allowed.
        let found = card(60, (800, 0), (995, 5));
        assert_eq!(found.promise, "99 % of pods within 30s (created_to_ready)");
        assert_eq!((&*found.good, &*found.left), ("99.5 % of 1,000 pods", "50 %"));
        assert_eq!((&*found.burn, found.level), ("2.5× over 1 min", "warn"));
        assert_eq!(found.of, "200 pods");
        assert_eq!(card(60, (800, 0), (900, 100)).level, "bad");
        let spent = card(60, (0, 0), (0, 0));
        assert_eq!((&*spent.good, spent.level), ("no pod yet", "calm"));
    }

    #[test]
    fn a_promise_says_which_pods_do_not_count() {
        let selection = Selection { existing_capacity: true, present_images: false };
        let slo = slo_of(&SloRule { selection, ..rule() }, 0, 0);
        let now = Timestamp::from_seconds(1_000_000);
        assert_eq!(
            SloCard::new(&slo, &OverviewHistory::default(), UncountedPresent::default(), now)
                .promise,
            "99 % of pods within 30s (created_to_ready). Pods that waited for a new node do not count."
        );
    }

    #[test]
    fn pods_that_do_not_count_yet_are_said_and_no_problem_of_them_is_green() {
        let now = Timestamp::from_seconds(1_000_000);
        let found = |interval: Interval, affected: Stage| {
            let rule = SloRule { interval: interval.into(), ..rule() };
            let in_flight = [1, 71, 1_000, 5, 2, 9, 0];
            let mut pods = MatchedPods { in_flight, ..MatchedPods::default() };
            pods.affected[affected as usize] = 1;
            let present = UncountedPresent { pods, unmatched: &[] };
            let card =
                SloCard::new(&slo_of(&rule, 995, 0), &OverviewHistory::default(), present, now);
            (card.uncounted, card.level)
        };
        let no_node = "1,072 pods have no node";
        let network = Interval::Stage(Stage::Network);
        assert_eq!(found(network, Stage::Unschedulable), (no_node.to_owned(), "open"));
        let ready = Interval::ScheduledToReady;
        assert_eq!(found(ready, Stage::Network), (no_node.to_owned(), "calm"));
        let whole = Interval::CreatedToReady;
        assert_eq!(found(whole, Stage::Unschedulable), (String::new(), "calm"));
        let containers = format!("{no_node}, 7 pods have a node, but are not so far");
        assert_eq!(found(Interval::Stage(Stage::Containers), Stage::Network), (containers, "open"));
        let gated = "1 pod has a scheduling gate".to_owned();
        assert_eq!(found(Interval::Stage(Stage::Unschedulable), Stage::Gated), (gated, "open"));
    }

    #[test]
    fn an_slo_that_matches_nothing_is_not_green() {
        let now = Timestamp::from_seconds(1_000_000);
        let one = UnmatchedSlo { slo: "fast".into(), since: now, ..UnmatchedSlo::default() };
        let other = UnmatchedSlo { slo: "other".into(), ..one.clone() };
        let found = |unmatched: &UnmatchedSlo| {
            let unmatched = std::slice::from_ref(unmatched);
            let present = UncountedPresent { unmatched, ..UncountedPresent::default() };
            let card = SloCard::new(&slo(0, 0), &OverviewHistory::default(), present, now);
            (card.unmatched, card.level)
        };
        let none = "The SLO fast has matched no pod since 1970-01-12 13:46 UTC.".to_owned();
        assert_eq!(found(&one), (none, "open"));
        assert_eq!(found(&other), (String::new(), "calm"));
    }

    #[test]
    fn the_first_minutes_alarm_nobody() {
        let found = card(60, (0, 0), (0, 16));
        assert_eq!(found.good, "16 of 16 pods missed it");
        assert_eq!((&*found.left, &*found.burn), ("too few pods", "too few pods"));
        assert_eq!((&*found.of, found.level), ("", "calm"));
    }

    #[test]
    fn a_quiet_hour_is_judged_as_a_whole() {
        let found = card(3_000, (500, 0), (530, 1));
        assert_eq!((&*found.of, &*found.burn), ("31 pods", "3.2× over 50 min"));
        let none = card(300, (1_000, 0), (1_010, 0));
        assert_eq!((&*none.burn, none.level), ("too few pods", "calm"));
    }

    #[test]
    fn what_is_not_kept_is_not_rounded_up() {
        assert_eq!([99.999, 99.5, 100.0, 99.9].map(decimals), ["99.99", "99.5", "100", "99.9"]);
    }
}
