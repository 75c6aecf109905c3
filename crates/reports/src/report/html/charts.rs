//! Drawings as SVG. They hold numbers and class names only, nothing from a recording.

use std::fmt::Write;

/// A part of a bar: its class, where it begins and how long it is, in thousandths of the bar.
pub(super) struct Part {
    pub class: &'static str,
    pub begin: f64,
    pub length: f64,
}

/// A bar of parts, as wide as its place. Writing to a `String` cannot fail, here as below.
pub(super) fn bar(parts: &[Part]) -> String {
    let mut svg = String::from(
        r#"<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">"#,
    );
    for Part { class, begin, length } in parts {
        // What is too short to be seen is drawn all the same.
        let length = length.max(2.0);
        let _ = write!(
            svg,
            r#"<rect class="{class}" x="{begin:.1}" width="{length:.1}" height="10"/>"#
        );
    }
    svg + "</svg>"
}

/// The size of a distribution in its own units, and what is left of it for the axes.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 120.0;
const LEFT: f64 = 40.0;
const BOTTOM: f64 = 20.0;
/// Steps of a distribution that are nearer to each other than this are drawn as one.
const NEAR: f64 = 1.0;

/// The least time on the axis; what is shorter, such as 0 s, stands at its left end.
const LEAST: f64 = 0.1;

/// An empirical distribution over sorted seconds: the share of pods that took at most so long, on a
/// logarithmic axis up to `most`.
pub(super) fn distribution(sorted: &[f64], most: f64, class: &str) -> String {
    distributions(&[(sorted, class)], most)
}

/// [`distribution`] of several, laid over each other: the values of each, and its class.
pub(crate) fn distributions(lines: &[(&[f64], &str)], most: f64) -> String {
    let decades = (most.max(LEAST * 10.0) / LEAST).log10().ceil();
    let x = |value: f64| {
        let place = (value.max(LEAST) / LEAST).log10() / decades;
        LEFT + place * (WIDTH - LEFT - 6.0)
    };
    let y = |share: f64| 6.0 + (1.0 - share) * (HEIGHT - BOTTOM - 6.0);
    let mut svg = format!(r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">"#);
    for decade in 0..=decades as i32 {
        let value = LEAST * 10f64.powi(decade);
        let (at, foot) = (x(value), HEIGHT - BOTTOM);
        let _ = write!(svg, r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="6" y2="{foot}"/>"#);
        let anchor = if f64::from(decade) == decades { "end" } else { "middle" };
        let _ = write!(
            svg,
            r#"<text x="{at:.1}" y="{:.0}" text-anchor="{anchor}">{}</text>"#,
            HEIGHT - 4.0,
            axis(value)
        );
    }
    for share in [0.0, 0.5, 0.9, 1.0] {
        let at = y(share);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{LEFT}" x2="{:.0}" y1="{at:.1}" y2="{at:.1}"/>"#,
            WIDTH - 6.0
        );
        // There is no room for a text between 90 % and 100 %.
        if share != 0.9 {
            let _ = write!(
                svg,
                r#"<text x="{:.0}" y="{:.1}" text-anchor="end">{:.0} %</text>"#,
                LEFT - 3.0,
                at + 4.0,
                share * 100.0
            );
        }
    }
    for (sorted, class) in lines {
        let _ = write!(svg, r#"<path class="line {class}" d="M{LEFT} {:.1}"#, y(0.0));
        let mut drawn = f64::NEG_INFINITY;
        let count = sorted.len();
        for (index, value) in sorted.iter().enumerate() {
            let is_last_of_value = sorted.get(index + 1).is_none_or(|next| next > value);
            let at = x(*value);
            let is_last = index + 1 == count;
            if is_last || (is_last_of_value && at - drawn >= NEAR) {
                let share = (index + 1) as f64 / count as f64;
                let _ = write!(svg, "H{at:.1}V{:.1}", y(share));
                drawn = at;
            }
        }
        svg.push_str(r#""/>"#);
    }
    svg + "</svg>"
}

/// A power of ten of seconds.
fn axis(value: f64) -> String {
    match value {
        value if value < 1.0 => format!("{value:.1} s"),
        value if value < 9_999.0 => format!("{value:.0} s"),
        value => format!("{:.0} ks", value / 1_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_rises_from_nothing_to_all_and_stays_small() {
        let values: Vec<f64> = (0..5_000).map(f64::from).collect();
        let svg = distribution(&values, 5_000.0, "network");
        assert!(svg.contains("V6.0\"/>"), "{svg}");
        assert!(svg.len() < 12_000, "{}", svg.len());
        let one = distribution(&[0.0], 0.0, "init");
        assert!(one.contains("H40.0V6.0"), "{one}");
    }

    #[test]
    fn a_short_part_can_be_seen() {
        let part = Part { class: "network", begin: 10.0, length: 0.1 };
        assert!(bar(&[part]).contains(r#"x="10.0" width="2.0""#));
    }
}
