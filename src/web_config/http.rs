//! `http_server_config` and `rate_limit`.

use std::sync::Arc;
use std::time::Duration;

use http::header::{
    CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS, X_XSS_PROTECTION,
};

use crate::config_file::yaml::{Fault, Node, Section, Value};
use crate::slo::duration::{FORMS, SloDuration};

/// An additional header of every response.
pub type Header = (HeaderName, HeaderValue);

/// A token bucket: `burst` requests at once, and one more for each `interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Above 0
    pub interval: Duration,
    /// Above 0
    pub burst: u32,
}

/// The headers that can be set, and the values of those that have only some.
const HEADERS: [(&str, HeaderName, &[&str]); 5] = [
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY, &[]),
    ("X-Frame-Options", X_FRAME_OPTIONS, &["deny", "sameorigin"]),
    ("X-Content-Type-Options", X_CONTENT_TYPE_OPTIONS, &["nosniff"]),
    ("X-XSS-Protection", X_XSS_PROTECTION, &[]),
    ("Strict-Transport-Security", STRICT_TRANSPORT_SECURITY, &[]),
];

/// The headers of `http_server_config`. Blank ones are not set.
pub(super) fn headers(root: &Section<'_>, node: &Node) -> Result<Arc<[Header]>, Fault> {
    let section = root.inner("http_server_config", node, &["http2", "headers"])?;
    if let Some(node) = section.get("http2")
        && section.truth("http2", node)?
    {
        let why = "is not supported: podinit speaks HTTP/1.1; leave it out, or set it to false";
        return Err(section.fault("http2", node, why));
    }
    let Some(node) = section.get("headers") else {
        return Ok(Arc::default());
    };
    let section = section.inner("headers", node, &HEADERS.map(|(key, ..)| key))?;
    let mut headers = Vec::new();
    for (key, name, allowed) in HEADERS {
        let Some(node) = section.get(key) else {
            continue;
        };
        let value = section.text(key, node, |text| {
            if text.is_empty() {
                Ok(None)
            } else if !allowed.is_empty() && !allowed.contains(&text) {
                Err(format!("must be {}", allowed.join(" or ")))
            } else {
                let value = HeaderValue::from_str(text).map(Some);
                value.map_err(|_| "has characters that no header can have".to_owned())
            }
        })?;
        headers.extend(value.map(|value| (name, value)));
    }
    Ok(headers.into())
}

/// `rate_limit`; `None` where its interval is 0, which turns it off.
pub(super) fn rate_limit(root: &Section<'_>, node: &Node) -> Result<Option<RateLimit>, Fault> {
    let section = root.inner("rate_limit", node, &["interval", "burst"])?;
    let node = section.need("interval")?;
    let is_zero = match &node.value {
        Value::Number(number) => *number == 0.0,
        Value::Text(text) => text == "0",
        _ => false,
    };
    let interval = if is_zero {
        Duration::ZERO
    } else {
        let why = || format!("must be a duration, written as {FORMS}, or 0 for no limit");
        let parse = |text: &str| text.parse::<SloDuration>().map_err(|_| why());
        match &node.value {
            Value::Text(_) => {
                Duration::from_millis(section.text("interval", node, parse)?.as_millis())
            }
            _ => return Err(section.fault("interval", node, why())),
        }
    };
    let burst = match section.get("burst") {
        None => 0,
        Some(node) => match &node.value {
            Value::Number(number) if number.fract() == 0.0 && (0.0..=1e6).contains(number) => {
                *number as u32
            }
            _ => {
                let why = "must be a whole number from 1 to 1000000";
                return Err(section.fault("burst", node, why));
            }
        },
    };
    if interval.is_zero() {
        return Ok(None);
    }
    if burst == 0 {
        let why = "needs a burst of at least 1; otherwise every request would be refused";
        return Err(root.fault("rate_limit", node, why));
    }
    Ok(Some(RateLimit { interval, burst }))
}
