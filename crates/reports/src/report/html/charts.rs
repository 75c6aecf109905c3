//! Drawings as SVG. They hold numbers and class names only, nothing from a recording.

use std::fmt::Write;

use podinit_core::quantile::ExactDistribution;

/// A part of a bar: its class, where it begins and how long it is, in thousandths of the bar.
pub(super) struct BarPart {
    pub class: &'static str,
    pub begin: f64,
    pub length: f64,
}

/// A bar of parts, as wide as its place. Writing to a `String` cannot fail, here as below.
pub(super) fn bar(parts: &[BarPart]) -> String {
    let mut svg = String::from(
        r#"<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">"#,
    );
    for BarPart { class, begin, length } in parts {
        // What is too short to be seen is drawn all the same.
        let length = length.max(2.0);
        let _ = write!(
            svg,
            r#"<rect class="{class}" x="{begin:.1}" width="{length:.1}" height="10"/>"#
        );
    }
    svg + "</svg>"
}

/// A logarithmic axis of times.
pub(crate) struct LogAxis {
    most: f64,
}

/// The least time on the axis; what is shorter, such as 0 s, stands at its left end.
const LEAST: f64 = 0.1;
/// The times that have a line and a text, in seconds.
const TICKS: [(f64, &str); 9] = [
    (LEAST, "0.1s"),
    (1.0, "1s"),
    (10.0, "10s"),
    (60.0, "1m"),
    (600.0, "10m"),
    (3_600.0, "1h"),
    (36_000.0, "10h"),
    (360_000.0, "100h"),
    (3_600_000.0, "1000h"),
];
/// The height of what a line of [`LogAxis::ranges`] is drawn in.
const LINE: f64 = 10.0;

impl LogAxis {
    /// Of these distributions, at least to 10 s.
    pub(crate) fn from_distributions<'a>(all: impl Iterator<Item = &'a ExactDistribution>) -> Self {
        let most = all.filter_map(|durations| durations.at(100)).fold(0.0, f64::max);
        let tick = TICKS[2..].iter().find(|(tick, _)| *tick >= most);
        Self { most: tick.unwrap_or(&TICKS[TICKS.len() - 1]).0 }
    }

    /// Where a time stands, in thousandths of the axis.
    fn place(&self, value: f64) -> f64 {
        let value = value.clamp(LEAST, self.most);
        (value / LEAST).ln() / (self.most / LEAST).ln() * 1_000.0
    }

    /// Each tick: its place in percent of the axis, and its text.
    pub(crate) fn ticks(&self) -> Vec<(String, &'static str)> {
        let ticks = TICKS.iter().filter(|(tick, _)| *tick <= self.most);
        ticks.map(|(tick, text)| (format!("{:.1}", self.place(*tick) / 10.0), *text)).collect()
    }

    /// A line for each distribution with its class, one below the other: thin from the shortest to the longest, thick
    /// from the median to the 90th percentile.
    pub(crate) fn ranges(&self, lines: &[(&ExactDistribution, &str)]) -> String {
        let height = LINE * lines.len() as f64;
        let mut svg = format!(
            r#"<svg class="range" viewBox="0 0 1000 {height}" preserveAspectRatio="none" aria-hidden="true">"#
        );
        for (tick, _) in TICKS.iter().filter(|(tick, _)| *tick <= self.most) {
            let at = self.place(*tick).min(999.0);
            let _ = write!(svg, r#"<rect class="grid" x="{at:.1}" width="1" height="{height}"/>"#);
        }
        for (number, (durations, class)) in lines.iter().enumerate() {
            let top = LINE * number as f64;
            let parts = [(0, 100, top + 4.0, 2.0), (50, 90, top + 1.0, 8.0)];
            for (from, to, y, height) in parts {
                let ends = [from, to].map(|percent| durations.at(percent).map(|at| self.place(at)));
                let [Some(begin), Some(end)] = ends else {
                    continue;
                };
                // What is too short to be seen is drawn all the same, and not beyond the end.
                let begin = begin.min(996.0);
                let length = (end - begin).max(4.0);
                let _ = write!(
                    svg,
                    r#"<rect class="{class}" x="{begin:.1}" y="{y}" width="{length:.1}" height="{height}"/>"#
                );
            }
        }
        svg + "</svg>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_quantiles_on_the_axis() {
        let nanos =
            |second: u64| podinit_core::lifecycle::Latency::from_nanos(second * 1_000_000_000);
        let durations: ExactDistribution = (1..=60).map(nanos).collect();
        let axis = LogAxis::from_distributions([&durations].into_iter());
        let texts: Vec<_> = axis.ticks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["0.1s", "1s", "10s", "1m"]);
        assert_eq!((axis.place(0.0), axis.place(60.0), axis.place(99.0)), (0.0, 1_000.0, 1_000.0));
        let svg = axis.ranges(&[(&durations, "before"), (&durations, "after")]);
        assert_eq!(svg.matches(r#"class="before""#).count(), 2, "{svg}");
        let [from, to] = [30.0, 54.0].map(|second| axis.place(second));
        let thick = format!(r#"class="after" x="{from:.1}" y="11" width="{:.1}""#, to - from);
        assert!(svg.contains(&thick), "{svg}");
    }

    #[test]
    fn a_short_part_can_be_seen() {
        let part = BarPart { class: "network", begin: 10.0, length: 0.1 };
        assert!(bar(&[part]).contains(r#"x="10.0" width="2.0""#));
    }
}
