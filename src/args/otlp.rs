//! Where startups are sent as traces.

use clap::Args;
use http::Uri;

use super::http_url::HttpUrl;
use crate::traces::{EXPECTED_ENDPOINT, SampleRatio};

/// Where startups are sent as traces, and how many.
#[derive(Args, Clone, Debug)]
pub struct OtlpArgs {
    /// Collector of traces over HTTP, such as http://localhost:4318: gets the sampled startups as
    /// OpenTelemetry traces [default: what OTEL_EXPORTER_OTLP_ENDPOINT names, else none]
    #[arg(long, value_name = "URL", value_parser = ENDPOINT)]
    pub otlp_endpoint: Option<Uri>,

    /// Share of startups to send as traces, from 0 to 1; all that missed an SLO are sent besides
    #[arg(
        long,
        value_name = "RATIO",
        default_value = "0.1",
        allow_negative_numbers = true
    )]
    pub otlp_sample_ratio: SampleRatio,
}

/// The values of `--otlp-endpoint`.
const ENDPOINT: HttpUrl = HttpUrl(EXPECTED_ENDPOINT);
