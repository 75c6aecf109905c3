//! PromQL expressions that panels share.

/// The matchers of every selector: the targets that the user selects.
const CHOSEN: &str = r#"cluster=~"$cluster", job=~"$job", instance=~"$instance""#;

/// A range that fits the resolution of the panel and the scrape interval.
pub(super) const RATE: &str = "$__rate_interval";
/// The selected time range.
pub(super) const SHOWN: &str = "$__range";

fn matchers(more: &str) -> String {
    match more {
        "" => CHOSEN.to_owned(),
        more => format!("{CHOSEN}, {more}"),
    }
}

/// The series of the selected targets.
pub(super) fn series(metric: &str, more: &str) -> String {
    format!("{metric}{{{}}}", matchers(more))
}

/// The increase of a counter in `range`.
pub(super) fn increase(metric: &str, more: &str, range: &str) -> String {
    format!("increase({}[{range}])", series(metric, more))
}

/// The increase of a counter in `range`, summed by labels.
pub(super) fn increase_by(by: &str, metric: &str, more: &str, range: &str) -> String {
    format!("sum by ({by}) ({})", increase(metric, more, range))
}

/// The rate of a counter, summed by labels, or in total without labels.
pub(super) fn rate_by(by: &str, metric: &str, more: &str) -> String {
    let rate = format!("rate({}[{RATE}])", series(metric, more));
    match by {
        "" => format!("sum({rate})"),
        by => format!("sum by ({by}) ({rate})"),
    }
}

/// A gauge summed by labels.
pub(super) fn sum_by(by: &str, metric: &str, more: &str) -> String {
    format!("sum by ({by}) ({})", series(metric, more))
}

/// The maximum of a gauge by labels: several exporters of one cluster expose the same value.
pub(super) fn max_by(by: &str, metric: &str, more: &str) -> String {
    format!("max by ({by}) ({})", series(metric, more))
}

/// At most ten lines: a label may have hundreds of values.
pub(super) fn top(expr: &str) -> String {
    format!("topk(10, {expr})")
}

/// A histogram: its family and the matchers of its series.
///
/// The variable `histogram` selects the form: `_bucket` for classic histograms; for native ones `()`, which
/// matches the empty string. `sum by (le)` works for both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Histogram<'a> {
    pub(super) family: &'a str,
    pub(super) matchers: &'a str,
}

impl Histogram<'_> {
    /// The distribution in `range`, by labels.
    pub(super) fn distribution(&self, by: &str, range: &str) -> String {
        let comma = if by.is_empty() { "" } else { ", " };
        format!(
            "sum by (le{comma}{by}) (increase({{__name__=~\"{}$histogram\", {}}}[{range}]))",
            self.family,
            matchers(self.matchers),
        )
    }

    /// A quantile of the distribution in `range`, by labels.
    pub(super) fn quantile(&self, quantile: &str, by: &str, range: &str) -> String {
        let distribution = self.distribution(by, range);
        format!("histogram_quantile({quantile}, {distribution})")
    }

    /// The number of observations in `range`, by labels, from whichever form exists.
    pub(super) fn count(&self, by: &str, range: &str) -> String {
        self.part("count", by, range)
    }

    /// The mean in `range`, by labels.
    pub(super) fn mean(&self, by: &str, range: &str) -> String {
        let (sum, count) = (self.part("sum", by, range), self.part("count", by, range));
        format!("(\n  {sum}\n)\n/\n(\n  ({count}) > 0\n)")
    }

    fn part(&self, part: &str, by: &str, range: &str) -> String {
        let native = increase(self.family, self.matchers, range);
        let classic = increase_by(by, &format!("{}_{part}", self.family), self.matchers, range);
        format!("histogram_{part}(sum by ({by}) ({native}))\nor\n{classic}")
    }
}

/// The durations of stages.
pub(super) const fn stages(matchers: &str) -> Histogram<'_> {
    Histogram { family: "podinit_stage_duration_seconds", matchers }
}

/// The durations of steps.
pub(super) const fn steps(matchers: &str) -> Histogram<'_> {
    Histogram { family: "podinit_step_duration_seconds", matchers }
}

/// The ratio of bad pods to all pods that an SLO judged in `range`.
pub(super) fn bad_ratio(range: &str) -> String {
    let events = |more| increase_by("slo", "podinit_slo_events_total", more, range);
    format!("{}\n/\n({} > 0)", events(r#"slo=~"$slo", result="bad""#), events(r#"slo=~"$slo""#))
}

/// The burn rate in `range`: the error budget spent, as a multiple of what the objective allows.
pub(super) fn burn_rate(range: &str) -> String {
    let objective = max_by("slo", "podinit_slo_objective_ratio", r#"slo=~"$slo""#);
    format!("(\n{}\n)\n/\n(1 - {objective})", bad_ratio(range))
}
