//! The page alerts of an SLO as the generated rules state it, read back from them: so it is
//! evaluated here with their numbers and not with some of this test's own.

use podinit_rules::{RenderOptions, render};
use podinit_slo::{Slo, SloFile};
use serde_json::Value;

use crate::support::samples::Samples;

/// The events of an SLO.
#[derive(Debug, Default)]
pub struct Events {
    pub good: Samples,
    pub bad: Samples,
}

/// The condition of a burn-rate alert.
#[derive(Debug, PartialEq)]
pub struct Page {
    /// How many times the budget
    pub factor: f64,
    /// The share of bad events that the objective allows
    pub budget: f64,
    /// In seconds
    pub long: f64,
    /// In seconds
    pub short: f64,
    /// How many bad events the long window must hold
    pub floor: f64,
}

impl Page {
    /// The condition of the alert of `slo` with the shortest windows.
    pub fn of(slo: &Slo) -> Self {
        let mut pages = Self::all_of(slo).into_iter();
        let by_the_hour = pages.find(|page| page.long == 3_600.0);
        by_the_hour.expect("the default rules page by the hour")
    }

    /// The conditions of all alerts of `slo` that page.
    pub fn all_of(slo: &Slo) -> Vec<Self> {
        let text = render(&SloFile::built_in(), &RenderOptions::default()).unwrap();
        let rules: Value = serde_saphyr::from_str(&text).unwrap();
        let groups = rules["groups"].as_array().unwrap();
        let pages =
            (groups.iter()).flat_map(|group| group["rules"].as_array().unwrap()).filter(|rule| {
                rule["alert"] == "PodinitSLOBudgetBurn"
                    && rule["labels"]["slo"] == *slo.rule.name
                    && rule["labels"]["severity"] == "critical"
            });
        pages
            .map(|rule| {
                assert_eq!(rule["for"], Value::Null, "nothing delays it");
                Self::read(rule["expr"].as_str().unwrap(), &slo.rule.name)
            })
            .collect()
    }

    /// Reads an expression, which must be of the form that [`Self::holds`] evaluates.
    fn read(expr: &str, slo: &str) -> Self {
        // The condition stands in front, in parentheses; what follows finds its cause.
        let (condition, _) = (expr.strip_prefix("(\n"))
            .and_then(|rest| rest.split_once("\n)"))
            .expect("a condition in parentheses");
        let lines: Vec<&str> = condition.lines().map(str::trim).collect();
        let [long, and, short, and_ignoring, floor] = lines[..] else {
            panic!("not five lines: {expr}");
        };
        assert_eq!((and, and_ignoring), ("and", "and ignoring (result)"));
        let matchers = format!("{{job=\"podinit\", slo=\"{slo}\"");
        let ratio = |line: &str| -> (f64, f64, f64) {
            let rest = line.strip_prefix("job_slo:podinit_slo_bad_per_events:ratio_increase");
            let (window, rest) = rest.unwrap().split_once(&matchers).unwrap();
            let most = rest.strip_prefix("} > ").unwrap();
            let (factor, budget) = most.split_once(" * ").unwrap();
            (seconds(window), factor.parse().unwrap(), budget.parse().unwrap())
        };
        let (long, factor, budget) = ratio(long);
        let (short, short_factor, short_budget) = ratio(short);
        assert_eq!((factor, budget), (short_factor, short_budget));
        let rest = floor.strip_prefix("job_slo_result:podinit_slo_events:increase");
        let (window, rest) = rest.unwrap().split_once(&matchers).unwrap();
        assert_eq!(seconds(window), long);
        let floor = rest.strip_prefix(", result=\"bad\"} >= ").unwrap();
        Self { factor, budget, long, short, floor: floor.parse().unwrap() }
    }

    /// Whether the alert's condition holds at the sample of `minute`.
    pub fn holds(&self, events: &Events, minute: usize) -> bool {
        let burns = |window| {
            let bad = events.bad.increase(minute, window);
            let good = events.good.increase(minute, window);
            (bad.zip(good)).is_some_and(|(bad, good)| {
                bad + good > 0.0 && bad / (bad + good) > self.factor * self.budget
            })
        };
        let bad = events.bad.increase(minute, self.long);
        burns(self.long) && burns(self.short) && bad.is_some_and(|bad| bad >= self.floor)
    }

    /// How many seconds after every pod has begun to miss its objective the condition holds, at the
    /// latest: `rate` of them come per second, did before, and are judged bad `deadline` seconds
    /// late. The long window holds `long` seconds of them at most, a share of which must be bad;
    /// it takes longer than the short one.
    pub fn holds_after(&self, rate: f64, deadline: f64) -> f64 {
        let share = self.factor * self.budget;
        deadline + (share * self.long).max(self.floor / rate)
    }
}

fn seconds(duration: &str) -> f64 {
    let duration: podinit_text::duration::PrometheusDuration = duration.parse().unwrap();
    duration.as_seconds() as f64
}
