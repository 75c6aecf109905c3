//! `--api-encoding`: the encoding in which the API server is asked for objects.

use clap::ValueEnum;

use podinit_decode::Encoding;

/// The encodings. `--help` shows what is said of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApiEncoding {
    /// Protobuf, and JSON from an API server that has none: cheaper for both sides
    Protobuf,
    /// JSON
    Json,
}

impl From<ApiEncoding> for Encoding {
    fn from(encoding: ApiEncoding) -> Self {
        match encoding {
            ApiEncoding::Protobuf => Self::Protobuf,
            ApiEncoding::Json => Self::Json,
        }
    }
}
