//! Counts, shares and lists in words.

use std::fmt::Display;

/// `1 pod`, `2 pods`.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, one: &str, many: &str) -> String {
    let what = if number == N::from(1) { one } else { many };
    format!("{number} {what}")
}

/// `1 pod`, `2,331 pods`: a count where thousands are set apart.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    let what = if number == 1 { one } else { many };
    format!("{} {what}", thousands(number))
}

/// A whole number that is not negative, with its thousands set apart: `2,331`.
pub fn thousands(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share: `93 %`, and `< 1 %` of what is too little to be rounded.
pub fn percent(share: f64) -> String {
    match share > 0.0 && share < 0.005 {
        true => "< 1 %".to_owned(),
        false => format!("{:.0} %", share * 100.0),
    }
}

/// A difference of shares in percentage points, with its sign: `+29 pp`, `-0.3 pp`.
pub fn points(difference: f64) -> String {
    let points = difference * 100.0;
    let decimals = usize::from(points.abs() < 9.95);
    match format!("{points:+.decimals$}").trim_end_matches(".0") {
        "+0" | "-0" => "0 pp".to_owned(),
        text => format!("{text} pp"),
    }
}

/// Names one after the other: `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// With its first letter large, where that is one of ASCII.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_from_many() {
        assert_eq!([0, 1, 2].map(|pods| count(pods, "pod", "pods")), ["0 pods", "1 pod", "2 pods"]);
    }

    #[test]
    fn thousands_are_set_apart() {
        let texts = [0, 999, 1_000, 2_331, 1_234_567].map(thousands);
        assert_eq!(texts, ["0", "999", "1,000", "2,331", "1,234,567"]);
        let texts = [1, 10_000].map(|pods| counted(pods, "pod", "pods"));
        assert_eq!(texts, ["1 pod", "10,000 pods"]);
    }

    #[test]
    fn a_share_that_is_not_nothing_is_not_said_to_be_nothing() {
        let texts = [0.0, 0.004, 0.006, 0.93, -0.2].map(percent);
        assert_eq!(texts, ["0 %", "< 1 %", "1 %", "93 %", "-20 %"]);
    }

    #[test]
    fn a_difference_of_shares_is_in_points() {
        let texts = [0.0, 0.291, -0.003, 0.01, -0.0001].map(points);
        assert_eq!(texts, ["0 pp", "+29 pp", "-0.3 pp", "+1 pp", "0 pp"]);
    }

    #[test]
    fn the_last_name_stands_behind_and() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names), "a, b and c");
        assert_eq!([listed(&names[..2]), listed(&names[..1])], ["a and b", "a"]);
    }
}
