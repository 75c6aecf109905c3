//! `--fail-on`: what ends a pipeline ([§15.5](crate::specification#s15-5)).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{Comparison, Verdict};
use podinit_core::lifecycle::{Interval, SloInterval};
use podinit_text::duration::PrometheusDuration;
use podinit_text::human_time::short_seconds;

/// A quantile of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantile {
    P50,
    P90,
    P99,
}

/// By how much a quantile may grow.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// Of its value before
    Percent(f64),
    Seconds(f64),
}

/// A rule such as `network:p99>+20%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    interval: SloInterval,
    quantile: Quantile,
    limit: Limit,
    text: String,
}

/// How a text has to look.
const FORM: &str = "expected INTERVAL:QUANTILE>+N% or INTERVAL:QUANTILE>+DURATION, such as network:p99>+20% or \
                    created_to_ready:p50>+2s; quantiles are p50, p90 and p99";

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || FORM.to_owned();
        let (interval, rest) = text.split_once(':').ok_or_else(malformed)?;
        let (quantile, limit) = rest.split_once(">+").ok_or_else(malformed)?;
        let interval = SloInterval::from_text(interval.trim()).ok_or_else(|| {
            let names: Vec<&str> = Interval::ALL.into_iter().map(Interval::as_str).collect();
            format!(
                "unknown interval; intervals are {}, and created_to_NAME and containers_started_to_NAME of a --milestone",
                names.join(", ")
            )
        })?;
        let quantile = match quantile.trim() {
            "p50" => Quantile::P50,
            "p90" => Quantile::P90,
            "p99" => Quantile::P99,
            _ => return Err(malformed()),
        };
        let limit = match limit.trim().strip_suffix('%') {
            Some(percent) => Limit::Percent(percent_of(percent).ok_or_else(malformed)?),
            None => {
                let duration: PrometheusDuration = limit.trim().parse().map_err(|_| malformed())?;
                Limit::Seconds(duration.as_millis() as f64 / 1e3)
            }
        };
        Ok(Self { interval, quantile, limit, text: text.to_owned() })
    }
}

/// A number of percent, 0 or more.
pub fn percent_of(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().parse().ok()?;
    (percent.is_finite() && percent >= 0.0).then_some(percent)
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a comparison says of a threshold. The texts are one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The quantile did not grow by more
    Kept,
    /// It did
    Exceeded(String),
    /// That cannot be told
    Unclear(String),
}

impl Threshold {
    /// The name of the milestone of your own that it is about, if it is about one.
    pub const fn milestone(&self) -> Option<&Arc<str>> {
        self.interval.milestone()
    }

    /// That no milestone has this name, in words.
    pub fn unknown_milestone(name: &str) -> String {
        format!("no milestone is named '{name}': give --milestone {name}=condition:TYPE")
    }

    /// Checks the row of all pods.
    pub fn check(&self, comparison: &Comparison) -> Checked {
        let mut rows = comparison.rows.iter();
        let Some(row) = rows.find(|row| row.interval == self.interval.text()) else {
            return Checked::Unclear(format!(
                "{self}: {} was observed for fewer than 5 pods on one side",
                self.interval.text()
            ));
        };
        if row.verdict == Verdict::Unclear {
            return Checked::Unclear(format!("{self}: {} is unclear", row.interval));
        }
        let quantile = match self.quantile {
            Quantile::P50 => Some((row.before.p50, row.p50.difference)),
            Quantile::P90 => Some((row.before.p90, row.p90.difference)),
            Quantile::P99 => row.before.p99.zip(row.p99_difference),
        };
        let Some((before, difference)) = quantile else {
            return Checked::Unclear(format!("{self}: p99 needs 100 pods on each side"));
        };
        let limit = match self.limit {
            Limit::Percent(percent) => percent / 100.0 * before,
            Limit::Seconds(seconds) => seconds,
        };
        match difference > limit {
            false => Checked::Kept,
            true => Checked::Exceeded(format!(
                "{self}: {} before, {} after ({})",
                short_seconds(before),
                short_seconds(before + difference),
                super::formatting::signed(difference)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_threshold_of_a_milestone_is_read() {
        let rule: Threshold = "created_to_model_loaded:p99>+20%".parse().unwrap();
        assert_eq!(rule.milestone().map(|name| &**name), Some("model_loaded"));
        let error = "scheduled_to_x:p50>+1s".parse::<Threshold>().unwrap_err();
        assert!(error.contains("created_to_NAME"), "{error}");
    }

    #[test]
    fn a_threshold_is_read() {
        let read = |text: &str| text.parse::<Threshold>();
        let rule = read("network:p99>+20%").unwrap();
        assert_eq!(
            (&*rule.interval.text(), rule.quantile, rule.limit),
            ("network", Quantile::P99, Limit::Percent(20.0))
        );
        let rule = read("created_to_ready:p50>+1m30s").unwrap();
        assert_eq!((rule.quantile, rule.limit), (Quantile::P50, Limit::Seconds(90.0)));
        for wrong in
            ["", "network", "network:p95>+1s", "network:p50>1s", "network:p50>+-1%", "net:p50>+1s"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
