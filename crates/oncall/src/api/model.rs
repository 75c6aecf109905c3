//! The documents of the API around records. podinit reads them, too: `stuck` and `explain` ask a running exporter.
//!
//! Times are RFC 3339 in UTC, durations seconds. What is not known is left out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::continue_token;
use crate::freshness::Freshness;
use crate::records::QueryAnswer;
use podinit_core::lifecycle::Record;
use podinit_core::timestamp::Timestamp;

/// A page of /api/v1/stuck, /api/v1/inflight and /api/v1/startups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "page")]
pub struct Page<T> {
    /// Up to which instant everything was accounted for; left out before the first delivery
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Whether the exporter knows the present: every watch is in sync
    #[serde(default)]
    #[schemars(required)]
    pub fresh: bool,
    #[schemars(with = "Freshness")]
    pub freshness: Option<Freshness>,
    pub items: Vec<T>,
    /// The parameter `continue` of the next page; left out on the last one
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What is known of the startup of one pod: a record.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "startup")]
pub struct ApiStartup<'a> {
    #[serde(flatten)]
    pub record: &'a Record,
    /// The pod labels that --pod-label chooses, as far as the pod has them
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<&'a str, &'a str>,
}

/// What is answered instead of a document, with status 4xx or 5xx.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "failure")]
pub struct ApiFailure {
    /// One line that says what is wrong
    pub error: String,
}

impl<'a> ApiStartup<'a> {
    /// The document of a record. `label_keys` are the keys of the chosen pod labels.
    pub fn from_record(record: &'a Record, label_keys: &'a [String]) -> Self {
        let labels = label_keys.iter().zip(record.pod.pod_labels.iter());
        let labels = labels.filter(|(_, value)| !value.is_empty());
        let labels = labels.map(|(key, value)| (&**key, &**value)).collect();
        Self { record, labels }
    }
}

impl<'a> Page<ApiStartup<'a>> {
    /// The page with an answer that can be trusted so far. `label_keys` are the keys of the chosen pod labels.
    pub fn from_answer(
        answer: &'a QueryAnswer,
        label_keys: &'a [String],
        freshness: Freshness,
    ) -> Self {
        let records = answer.records.iter();
        Self {
            time: answer.now,
            fresh: freshness.is_fresh(),
            freshness: Some(freshness),
            items: records.map(|record| ApiStartup::from_record(record, label_keys)).collect(),
            next: answer.next.map(continue_token::write),
        }
    }
}
