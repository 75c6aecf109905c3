//! The expressions that panels share.

/// What every selector begins with: the targets that are chosen at the head of the dashboard.
const CHOSEN: &str = r#"cluster=~"$cluster", job=~"$job", instance=~"$instance""#;

/// A range that fits the width of the panel and the scrape interval.
pub(super) const RATE: &str = "$__rate_interval";
/// The whole time that the dashboard shows.
pub(super) const SHOWN: &str = "$__range";

fn matchers(more: &str) -> String {
    match more {
        "" => CHOSEN.to_owned(),
        more => format!("{CHOSEN}, {more}"),
    }
}

/// The series of the chosen targets.
pub(super) fn series(metric: &str, more: &str) -> String {
    format!("{metric}{{{}}}", matchers(more))
}

/// How much a counter grew in `range`.
pub(super) fn increase(metric: &str, more: &str, range: &str) -> String {
    format!("increase({}[{range}])", series(metric, more))
}

/// How much a counter grew in `range`, summed by labels.
pub(super) fn increase_by(by: &str, metric: &str, more: &str, range: &str) -> String {
    format!("sum by ({by}) ({})", increase(metric, more, range))
}

/// How much a counter grows per second, summed by labels; all of it without.
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

/// The greatest value of a gauge by labels: several exporters of one cluster say the same.
pub(super) fn max_by(by: &str, metric: &str, more: &str) -> String {
    format!("max by ({by}) ({})", series(metric, more))
}

/// A histogram, its family and the matchers that choose its series.
///
/// The variable `histogram` says which form is read: it is `_bucket` for the classic one and `()`,
/// which matches the empty text, for the native one. `sum by (le)` serves both.
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

    /// How many were observed in `range`, by labels. Reads whichever form there is.
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

/// The duration of a stage.
pub(super) const fn stages(matchers: &str) -> Histogram<'_> {
    Histogram {
        family: "podinit_stage_duration_seconds",
        matchers,
    }
}

/// The share of bad pods among those that an SLO judged in `range`.
pub(super) fn bad_ratio(range: &str) -> String {
    let events = |more| increase_by("slo", "podinit_slo_events_total", more, range);
    format!(
        "{}\n/\n({} > 0)",
        events(r#"slo=~"$slo", result="bad""#),
        events(r#"slo=~"$slo""#)
    )
}

/// How much of the error budget `range` used, as a multiple of what the objective allows for it.
pub(super) fn burn_rate(range: &str) -> String {
    let objective = max_by("slo", "podinit_slo_objective_ratio", r#"slo=~"$slo""#);
    format!("(\n{}\n)\n/\n(1 - {objective})", bad_ratio(range))
}
