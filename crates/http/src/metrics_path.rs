//! The path of the metrics.

use std::fmt;
use std::str::FromStr;

/// The probes, which are always where Kubernetes looks for them.
pub(super) const PROBES: [&str; 3] = ["/livez", "/healthz", "/readyz"];

/// Where metrics are scraped: `/metrics`, or another path that is plain enough to be the same for every client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsPath(Box<str>);

impl Default for MetricsPath {
    fn default() -> Self {
        Self("/metrics".into())
    }
}

impl FromStr for MetricsPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_segment =
            |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(is_plain);
        let is_path = text.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_segment));
        if !is_path {
            return Err(
                "expected a path that begins with / and does not end with it, of letters, \
                        digits, -, ., _ and ~, such as /metrics or /podinit/metrics"
                    .to_owned(),
            );
        }
        if PROBES.contains(&text) {
            return Err(format!("{text} is a probe, choose another path"));
        }
        Ok(Self(text.into()))
    }
}

impl MetricsPath {
    /// The path, from its first slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path from the root of the server, without a slash before it.
    pub fn relative(&self) -> &str {
        self.0.trim_start_matches('/')
    }
}

impl fmt::Display for MetricsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_for_every_client() {
        assert_eq!("/metrics".parse(), Ok(MetricsPath::default()));
        for path in ["/podinit/metrics", "/m", "/a.b/~c_d-1", "/metrics.txt", "/livez/metrics"] {
            let parsed = path.parse::<MetricsPath>();
            assert_eq!(parsed.as_ref().map(MetricsPath::as_str), Ok(path));
        }
        for path in [
            "",
            "/",
            "metrics",
            "/metrics/",
            "//metrics",
            "/a//b",
            "/./a",
            "/a/..",
            "/a b",
            "/a?b",
            "/a#b",
            "/%6d",
            "/{a}",
            "/*a",
            "/ä",
            "http://a/metrics",
        ] {
            let why = path.parse::<MetricsPath>().err().unwrap_or_default();
            assert!(why.starts_with("expected a path that begins with /"), "{path}: {why}");
        }
        for probe in PROBES {
            let why = probe.parse::<MetricsPath>().err().unwrap_or_default();
            assert!(why.ends_with("is a probe, choose another path"), "{probe}: {why}");
        }
    }
}
