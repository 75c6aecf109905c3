//! `http_server_config` and `rate_limit`.

use std::sync::Arc;
use std::time::Duration;

use http::header::{
    CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS, X_XSS_PROTECTION,
};

use serde::Deserialize;
use serde_saphyr::Spanned;

use podinit_config::FileFault;
use podinit_config::yaml::SpecifiedSetting;
use podinit_text::duration::{FORMS, PrometheusDuration};

const MAX_BURST: u32 = 1_000_000;

/// An additional header of every response.
pub(crate) type ResponseHeader = (HeaderName, HeaderValue);

/// A token bucket: `burst` requests at once, and one more for each `interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateLimit {
    /// Above 0
    pub interval: Duration,
    /// Above 0
    pub burst: u32,
}

/// `http_server_config` as it is written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct HttpForm {
    http2: SpecifiedSetting<Spanned<bool>>,
    headers: SpecifiedSetting<HeadersForm>,
}

/// The headers that can be set.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HeadersForm {
    #[serde(rename = "Content-Security-Policy")]
    content_security_policy: SpecifiedSetting<Spanned<String>>,
    #[serde(rename = "X-Frame-Options")]
    x_frame_options: SpecifiedSetting<Spanned<String>>,
    #[serde(rename = "X-Content-Type-Options")]
    x_content_type_options: SpecifiedSetting<Spanned<String>>,
    #[serde(rename = "X-XSS-Protection")]
    x_xss_protection: SpecifiedSetting<Spanned<String>>,
    #[serde(rename = "Strict-Transport-Security")]
    strict_transport_security: SpecifiedSetting<Spanned<String>>,
}

/// `rate_limit` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateLimitForm {
    interval: Spanned<String>,
    #[serde(default)]
    burst: SpecifiedSetting<Spanned<u32>>,
}

impl HttpForm {
    /// The headers. Blank ones are not set.
    pub(super) fn headers(&self) -> Result<Arc<[ResponseHeader]>, FileFault> {
        if let Some(Spanned { value: true, referenced, .. }) = self.http2.0 {
            let why = "http2 is not supported: podinit speaks HTTP/1.1; leave it out, or set it to \
                       false";
            return Err(FileFault::at(referenced, why));
        }
        let Some(form) = &self.headers.0 else {
            return Ok(Arc::default());
        };
        // With the values of those that have only some.
        let all: [(_, _, &[&str]); 5] = [
            (CONTENT_SECURITY_POLICY, &form.content_security_policy, &[]),
            (X_FRAME_OPTIONS, &form.x_frame_options, &["deny", "sameorigin"]),
            (X_CONTENT_TYPE_OPTIONS, &form.x_content_type_options, &["nosniff"]),
            (X_XSS_PROTECTION, &form.x_xss_protection, &[]),
            (STRICT_TRANSPORT_SECURITY, &form.strict_transport_security, &[]),
        ];
        let mut headers = Vec::new();
        for (name, given, allowed) in all {
            let Some(Spanned { value: text, referenced, .. }) = &given.0 else {
                continue;
            };
            if text.is_empty() {
                continue;
            }
            if !allowed.is_empty() && !allowed.contains(&&**text) {
                let why = format!("must be {}", allowed.join(" or "));
                return Err(FileFault::at(*referenced, why));
            }
            let value = HeaderValue::from_str(text).map_err(|_| {
                FileFault::at(*referenced, "has characters that no header can have")
            })?;
            headers.push((name, value));
        }
        Ok(headers.into())
    }
}

/// `rate_limit`; `None` where its interval is 0, which turns it off.
pub(super) fn rate_limit(form: &Spanned<RateLimitForm>) -> Result<Option<RateLimit>, FileFault> {
    let RateLimitForm { interval, burst } = &form.value;
    let parsed = match &*interval.value {
        "0" => Ok(PrometheusDuration::from_millis(0)),
        text => text.parse(),
    };
    let parsed: PrometheusDuration = parsed.map_err(|_| {
        let why = format!("interval must be a duration, written as {FORMS}, or 0 for no limit");
        FileFault::at(interval.referenced, why)
    })?;
    let interval = Duration::from_millis(parsed.as_millis());
    let burst = match &burst.0 {
        None => 0,
        Some(Spanned { value, .. }) if *value <= MAX_BURST => *value,
        Some(Spanned { referenced, .. }) => {
            let why = format!("burst must be a whole number from 1 to {MAX_BURST}");
            return Err(FileFault::at(*referenced, why));
        }
    };
    if interval.is_zero() {
        return Ok(None);
    }
    if burst == 0 {
        let why =
            "rate_limit needs a burst of at least 1; otherwise every request would be refused";
        return Err(FileFault::at(form.referenced, why));
    }
    Ok(Some(RateLimit { interval, burst }))
}
