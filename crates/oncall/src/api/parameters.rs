//! The parameters of a request.

use axum::extract::Query as QueryString;
use http::Uri;

use super::continue_token;
use crate::records::{EndToEndDuration, RecordFilter, RecordOrder, RecordQuery};
use crate::rollouts::RolloutFilter;
use podinit_core::label_value::LabelValue;

/// The limit of startups without the parameter `limit`.
const DEFAULT_LIMIT: usize = 100;
/// The greatest `limit`.
pub(crate) const MOST: usize = 500;

/// The parameters as they are written.
#[derive(Debug, Default)]
pub(crate) struct QueryParameters {
    filter: RecordFilter,
    limit: Option<usize>,
    sort: Option<RecordOrder>,
    next: Option<String>,
}

/// What is wrong with a request, in one line.
pub(crate) type ParameterFault = String;

impl QueryParameters {
    /// Reads the parameters of `uri`, of which only `allowed` ones may be there.
    pub(crate) fn read(uri: &Uri, allowed: &[&str]) -> Result<Self, ParameterFault> {
        let QueryString(pairs) = QueryString::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| "the parameters cannot be read".to_owned())?;
        let mut parameters = Self::default();
        for (key, value) in pairs {
            if !allowed.contains(&key.as_str()) {
                let known = allowed.join(", ");
                return Err(match known.is_empty() {
                    true => "this path has no parameters".to_owned(),
                    false => format!("there is no such parameter, try {known}"),
                });
            }
            parameters.set(&key, value)?;
        }
        Ok(parameters)
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), ParameterFault> {
        let filter = &mut self.filter;
        match key {
            "namespace" => filter.namespace = Some(value),
            "workload" => filter.workload = Some(value),
            "node" => filter.node = Some(value),
            "stage" => filter.stage = Some(named(key, &value)?),
            "cause" => filter.cause = Some(named(key, &value)?),
            "outcome" => filter.outcome = Some(named(key, &value)?),
            "sort" => self.sort = Some(sort(&value)?),
            "continue" => self.next = Some(value),
            "limit" => self.limit = Some(limit(&value)?),
            _ => {}
        }
        Ok(())
    }

    fn limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT)
    }

    /// The query for pods in flight.
    pub(super) fn in_flight(self, stuck: bool) -> Result<RecordQuery, ParameterFault> {
        let token = self.next.as_deref();
        Ok(RecordQuery::InFlight {
            limit: self.limit(),
            after: token
                .map(|token| continue_token::in_flight(token).ok_or_else(no_token))
                .transpose()?,
            filter: self.filter,
            stuck,
        })
    }

    /// The query for startups that have ended.
    pub(super) fn ended(self) -> Result<RecordQuery, ParameterFault> {
        let token = self.next.as_deref();
        Ok(RecordQuery::Ended {
            limit: self.limit(),
            after: token
                .map(|token| continue_token::ended(token).ok_or_else(no_token))
                .transpose()?,
            sort: self.sort.unwrap_or(RecordOrder::Newest),
            filter: self.filter,
        })
    }

    /// Which rollouts are asked for, and how many.
    pub(crate) fn rollouts(self) -> (RolloutFilter, usize) {
        let limit = self.limit();
        let RecordFilter { namespace, workload, .. } = self.filter;
        (RolloutFilter { namespace, workload }, limit)
    }
}

fn no_token() -> ParameterFault {
    "continue: expected what the page before gave".to_owned()
}

fn limit(value: &str) -> Result<usize, ParameterFault> {
    let limit = value.parse().ok().filter(|limit| (1..=MOST).contains(limit));
    limit.ok_or_else(|| format!("limit: expected a number from 1 to {MOST}"))
}

fn sort(value: &str) -> Result<RecordOrder, ParameterFault> {
    match value {
        "newest" => Ok(RecordOrder::Newest),
        "slowest" | "created_to_ready" => {
            Ok(RecordOrder::Slowest(EndToEndDuration::CreatedToReady))
        }
        "scheduled_to_ready" => Ok(RecordOrder::Slowest(EndToEndDuration::ScheduledToReady)),
        _ => {
            Err("sort: expected newest, slowest, created_to_ready or scheduled_to_ready".to_owned())
        }
    }
}

/// A value of a closed list. The fault does not repeat what the client sent.
fn named<T: LabelValue>(key: &str, text: &str) -> Result<T, ParameterFault> {
    T::from_text(text).ok_or_else(|| {
        let all: Vec<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
        format!("{key}: expected one of {}", all.join(", "))
    })
}
