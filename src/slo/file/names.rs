//! The names that an SLO file contains: of SLOs, intervals, namespaces and kinds of workloads.

use std::sync::Arc;

use crate::config_file::yaml::nearest;
use podinit_core::lifecycle::Interval;

/// The name of an SLO: short, and safe wherever a label value is used (PromQL, URLs, file names).
pub(super) fn slo_name(text: &str) -> Result<Arc<str>, String> {
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let bytes = text.as_bytes();
    let is_valid = (1..=63).contains(&bytes.len()) && bytes.iter().all(inner);
    if is_valid && edge(bytes.first()) && edge(bytes.last()) {
        Ok(Arc::from(text))
    } else {
        Err(format!(
            "must be 1 to 63 letters, digits and inner hyphens, underscores or dots, is {text:?}"
        ))
    }
}

/// The name of a namespace: a DNS label (RFC 1123).
pub(super) fn namespace<T: for<'a> From<&'a str>>(text: &str) -> Result<T, String> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_valid = (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if is_valid {
        Ok(T::from(text))
    } else {
        Err(format!(
            "must be 1 to 63 lower-case letters, digits and inner hyphens, is {text:?}"
        ))
    }
}

pub(super) fn kind(text: &str) -> Result<Box<str>, String> {
    let is_valid = (1..=63).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_valid {
        Ok(text.into())
    } else {
        Err(format!("must be a kind such as StatefulSet, is {text:?}"))
    }
}

pub(super) fn interval(text: &str) -> Result<Interval, String> {
    // No SLO names a step of nodes ([§14.6](crate::specification#s14-6)).
    let all = &Interval::ALL[..Interval::WITHOUT_NODES];
    let found = all.iter().copied().find(|known| known.as_str() == text);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|known| known.as_str()).collect();
        match nearest(text, &known) {
            Some(near) => format!("unknown interval {text:?}; did you mean {near}?"),
            None => format!("unknown interval {text:?}; known are {}", known.join(", ")),
        }
    })
}
