//! `--fail-on`: what ends a pipeline ([§15.5](crate::specification#s15-5)).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;

use super::formatting::{seconds, signed};
use super::not_started::{NOT_STARTED, NotStarted};
use super::{Comparison, StartVerdict, Verdict};
use podinit_core::label_value::LabelValue;
use podinit_core::label_values;
use podinit_core::lifecycle::{Interval, SloInterval};
use podinit_text::duration::PrometheusDuration;
use podinit_text::words::points;

label_values! {
    /// A quantile of a row.
    enum ThresholdQuantile {
        P50 => "p50",
        P90 => "p90",
        P99 => "p99",
    }
}

/// By how much a quantile may grow.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ThresholdLimit {
    /// Of its value before
    Percent(f64),
    Seconds(f64),
}

/// What may grow.
#[derive(Clone, Debug, PartialEq)]
enum ThresholdMeasure {
    /// A quantile of an interval
    Quantile { interval: SloInterval, quantile: ThresholdQuantile, limit: ThresholdLimit },
    /// The share of pods that do not start, by so many percentage points
    NotStarted { points: f64 },
}

/// A rule such as `network:p99>+20%` or `not_started>+5%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    measure: ThresholdMeasure,
    text: String,
}

/// How a text has to look.
const FORM: &str = "expected INTERVAL:QUANTILE>+N% or INTERVAL:QUANTILE>+DURATION, such as network:p99>+20% or \
                    created_to_ready:p50>+0.5s, or not_started>+N% in percentage points; quantiles are p50, p90 and p99";

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || FORM.to_owned();
        if let Some((NOT_STARTED, points)) =
            text.split_once(">+").map(|(what, points)| (what.trim(), points))
        {
            let points = points.trim().strip_suffix('%').and_then(percent_of);
            let points = points.ok_or_else(malformed)?;
            return Ok(Self {
                measure: ThresholdMeasure::NotStarted { points },
                text: text.to_owned(),
            });
        }
        let (interval, rest) = text.split_once(':').ok_or_else(malformed)?;
        let (quantile, limit) = rest.split_once(">+").ok_or_else(malformed)?;
        let interval = SloInterval::from_text(interval.trim()).ok_or_else(|| {
            let names: Vec<&str> = Interval::ALL.into_iter().map(Interval::as_str).collect();
            format!(
                "unknown interval; intervals are {}, and created_to_NAME and containers_started_to_NAME of a --milestone",
                names.join(", ")
            )
        })?;
        let quantile = ThresholdQuantile::from_text(quantile.trim()).ok_or_else(malformed)?;
        let limit = match limit.trim().strip_suffix('%') {
            Some(percent) => ThresholdLimit::Percent(percent_of(percent).ok_or_else(malformed)?),
            None => ThresholdLimit::Seconds(seconds_of(limit.trim()).ok_or_else(malformed)?),
        };
        let measure = ThresholdMeasure::Quantile { interval, quantile, limit };
        Ok(Self { measure, text: text.to_owned() })
    }
}

/// A duration in seconds: `1m30s`, `500ms`, or `0.5s`.
fn seconds_of(text: &str) -> Option<f64> {
    let duration = text.parse::<PrometheusDuration>().ok();
    let whole = duration.map(|duration| duration.as_millis() as f64 / 1e3);
    whole.or_else(|| percent_of(text.strip_suffix('s')?))
}

/// A number, 0 or more, such as one of percent.
pub fn percent_of(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().parse().ok()?;
    (percent.is_finite() && percent >= 0.0).then_some(percent)
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

label_values! {
    /// Whether a rule was kept.
    pub enum ThresholdResult {
        /// It did not grow by more
        Kept => "kept",
        /// It did
        Exceeded => "exceeded",
        /// That cannot be told
        Unclear => "unclear",
    }
}

/// What a comparison says of a rule ([§15.5](crate::specification#s15-5)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThresholdCheck {
    /// The rule as it was given
    pub rule: String,
    pub result: ThresholdResult,
    /// The rule and the figures, or why it cannot be told
    pub text: String,
}

impl Threshold {
    /// The name of the milestone of your own that it is about, if it is about one.
    pub const fn milestone(&self) -> Option<&Arc<str>> {
        match &self.measure {
            ThresholdMeasure::Quantile { interval, .. } => interval.milestone(),
            ThresholdMeasure::NotStarted { .. } => None,
        }
    }

    /// Whether it is about the pods that do not start.
    pub const fn is_of_starts(&self) -> bool {
        matches!(self.measure, ThresholdMeasure::NotStarted { .. })
    }

    /// That no milestone has this name, in words.
    pub fn unknown_milestone(name: &str) -> String {
        format!("no milestone is named '{name}': give --milestone {name}=condition:TYPE")
    }

    /// Checks the row that answers: that of the matched pods where the mix of the others changed.
    pub fn check(&self, comparison: &Comparison) -> ThresholdCheck {
        let (result, what) = match &self.measure {
            ThresholdMeasure::NotStarted { points } => {
                check_starts(comparison.not_started.as_ref(), *points)
            }
            ThresholdMeasure::Quantile { interval, quantile, limit } => {
                check_quantile(comparison, interval, *quantile, *limit)
            }
        };
        ThresholdCheck { rule: self.text.clone(), result, text: format!("{self}: {what}") }
    }
}

/// A result, and what it is found from.
type Checked = (ThresholdResult, String);

const fn unclear(why: String) -> Checked {
    (ThresholdResult::Unclear, why)
}

fn check_starts(starts: Option<&NotStarted>, limit: f64) -> Checked {
    let Some(starts) = starts else {
        return unclear("on one side no pod tells".to_owned());
    };
    let (limit, [_, high]) = (limit / 100.0, starts.interval);
    if starts.verdict == StartVerdict::Unclear && high > limit {
        return unclear(format!("{NOT_STARTED} is unclear"));
    }
    let is_exceeded = starts.verdict == StartVerdict::Worse && starts.difference > limit;
    let (before, after) = (starts.before.pods, starts.after.pods);
    let figures = format!("{before} before, {after} after ({})", points(starts.difference));
    (result_of(is_exceeded), figures)
}

fn check_quantile(
    comparison: &Comparison,
    interval: &SloInterval,
    quantile: ThresholdQuantile,
    limit: ThresholdLimit,
) -> Checked {
    let name = interval.text();
    let Some(row) = comparison.answering().iter().find(|row| row.interval == name) else {
        return unclear(format!("{name} was observed for fewer than 5 pods on one side"));
    };
    if row.verdict == Verdict::Unclear {
        return unclear(format!("{name} is unclear"));
    }
    let quantile = match quantile {
        ThresholdQuantile::P50 => Some((row.before.p50, row.p50.difference)),
        ThresholdQuantile::P90 => Some((row.before.p90, row.p90.difference)),
        ThresholdQuantile::P99 => row.before.p99.zip(row.p99_difference),
    };
    let Some((before, difference)) = quantile else {
        return unclear("p99 needs 100 pods on each side".to_owned());
    };
    let limit = match limit {
        ThresholdLimit::Percent(percent) => percent / 100.0 * before,
        ThresholdLimit::Seconds(seconds) => seconds,
    };
    let (earlier, later) = (seconds(before), seconds(before + difference));
    let figures = format!("{earlier} before, {later} after ({})", signed(difference));
    (result_of(difference > limit), figures)
}

const fn result_of(is_exceeded: bool) -> ThresholdResult {
    match is_exceeded {
        true => ThresholdResult::Exceeded,
        false => ThresholdResult::Kept,
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
        let read = |text: &str| text.parse::<Threshold>().map(|rule| rule.measure);
        let of = |interval: &str, quantile, limit| ThresholdMeasure::Quantile {
            interval: SloInterval::from_text(interval).unwrap(),
            quantile,
            limit,
        };
        for (text, measure) in [
            (
                "network:p99>+20%",
                of("network", ThresholdQuantile::P99, ThresholdLimit::Percent(20.0)),
            ),
            (
                "created_to_ready:p50>+1m30s",
                of("created_to_ready", ThresholdQuantile::P50, ThresholdLimit::Seconds(90.0)),
            ),
            (
                "network:p50>+0.5s",
                of("network", ThresholdQuantile::P50, ThresholdLimit::Seconds(0.5)),
            ),
            (
                "network:p50>+250ms",
                of("network", ThresholdQuantile::P50, ThresholdLimit::Seconds(0.25)),
            ),
            ("not_started>+5%", ThresholdMeasure::NotStarted { points: 5.0 }),
            ("not_started >+ 0.5%", ThresholdMeasure::NotStarted { points: 0.5 }),
        ] {
            assert_eq!(read(text), Ok(measure), "{text}");
        }
        for wrong in [
            "",
            "network",
            "network:p95>+1s",
            "network:p50>1s",
            "network:p50>+-1%",
            "network:p50>+-1s",
            "net:p50>+1s",
            "not_started>+5s",
            "not_started:p50>+5%",
            "not_started>5%",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
