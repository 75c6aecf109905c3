//! Reads the text exposition format (0.0.4, and OpenMetrics 1.0 as far as it differs there) into
//! figures. Strict: what it cannot read fails the test.

use super::figures::{Exposition, bucket_label, series};

/// Every sample of the exposition; labels in alphabetical order, `le` as the oracle spells it.
pub(crate) fn parse(text: &str) -> Exposition {
    let mut samples = Exposition::new();
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = sample(line).unwrap_or_else(|| panic!("not a sample: {line}"));
        let before = samples.insert(name, value);
        assert!(before.is_none(), "a series stands twice: {line}");
    }
    samples
}

fn sample(line: &str) -> Option<(String, f64)> {
    let name_ends = line.find(['{', ' '])?;
    let name = &line[..name_ends];
    let (labels, rest) = match line[name_ends..].strip_prefix('{') {
        Some(labels) => read_labels(labels)?,
        None => (Vec::new(), &line[name_ends..]),
    };
    let value = number(rest.split_whitespace().next()?)?;
    let labels: Vec<(&str, &str)> =
        labels.iter().map(|(label, value)| (label.as_str(), value.as_str())).collect();
    Some((series(name, &labels), value))
}

/// The labels up to the closing brace, and what follows it.
fn read_labels(mut text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        text = text.trim_start_matches([',', ' ']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (label, rest) = text.split_once("=\"")?;
        let (value, rest) = read_quoted(rest)?;
        let value = match label {
            "le" => bucket_label(number(&value)?),
            _ => value,
        };
        labels.push((label.to_owned(), value));
        text = rest;
    }
}

fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                escaped => value.push(escaped),
            },
            letter => value.push(letter),
        }
    }
    None
}

fn number(text: &str) -> Option<f64> {
    match text {
        "+Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        text => text.parse().ok(),
    }
}

#[test]
fn both_text_formats_are_read() {
    let text = "# HELP a b\n# TYPE h histogram\n\
        h_bucket{stage=\"init\",namespace=\"a\",le=\"1.0\"} 2 # {pod=\"x\"} 0.5 17.0\n\
        h_bucket{le=\"+Inf\",namespace=\"a\",stage=\"init\"} 3\n\
        plain 1.5e3\nodd{text=\"a\\\"b}\\\\\"} 4 1700000000\n# EOF\n";
    let read = parse(text);
    let expected = [
        ("h_bucket{le=\"1\",namespace=\"a\",stage=\"init\"}", 2.0),
        ("h_bucket{le=\"+Inf\",namespace=\"a\",stage=\"init\"}", 3.0),
        ("plain", 1500.0),
        ("odd{text=\"a\"b}\\\"}", 4.0),
    ];
    assert_eq!(read.len(), expected.len());
    for (series, value) in expected {
        assert_eq!(read.get(series), Some(&value), "{series}");
    }
}
