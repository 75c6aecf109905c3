//! Figures of a comparison as people read them.

/// Seconds: `0.25 s`, `8.1 s`, `125 s`.
pub(super) fn seconds(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 0.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    match text {
        "-0" => "0 s".to_owned(),
        text => format!("{text} s"),
    }
}

/// Seconds with their sign: `+3.3 s`.
pub(super) fn signed(value: f64) -> String {
    let text = seconds(value);
    match text.starts_with('-') || text == "0 s" {
        true => text,
        false => format!("+{text}"),
    }
}

/// Both ends of an interval: `+2.9 to +3.8 s`.
pub(super) fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", signed(low).trim_end_matches(" s"), signed(high))
}

/// A share: `93 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A p-value: `0.03`, or that it is small.
pub(super) fn p_value(value: f64) -> String {
    match value < 0.001 {
        true => "< 0.001".to_owned(),
        false => format!("{value:.3}"),
    }
}

/// The name of an interval in a sentence.
pub(super) fn spoken(interval: &str) -> String {
    interval.replace('_', " ")
}

/// Names one after the other: `a`, `a and b`, `a, b and c`.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        for (value, text) in [
            (0.0, "0 s"),
            (0.25, "0.25 s"),
            (8.14, "8.1 s"),
            (12.0, "12 s"),
            (100.0, "100 s"),
            (-0.001, "0 s"),
        ] {
            assert_eq!(seconds(value), text);
        }
        assert_eq!(signed(3.3), "+3.3 s");
        assert_eq!(signed(-3.0), "-3 s");
        assert_eq!(range([-1.0, 2.5]), "-1 to +2.5 s");
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names), "a, b and c");
    }
}
