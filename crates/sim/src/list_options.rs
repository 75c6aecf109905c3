//! The query of a LIST or watch, and the rules that it has to keep.

use std::time::Duration;

use axum::extract::Query;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::object::{ObjectKey, ServedKind};
use super::selector::{Selector, ShardSelector};
use super::status::StatusFailure;

/// Where a list continues: what a continue token says, opaque to clients and bound to the version of the
/// list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Continuation {
    /// The version of the list; `None` continues at the newest one, inconsistently
    pub(super) version: Option<u64>,
    /// How many objects are left, where the part before has counted them
    pub(super) remaining: Option<usize>,
    /// The last key of the part before
    pub(super) after: ObjectKey,
}

impl Continuation {
    /// The token.
    pub(super) fn to_token(&self) -> String {
        // Strings and numbers: cannot fail.
        BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    /// Reads a token.
    pub(super) fn from_token(token: &str) -> Option<Self> {
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(token).ok()?).ok()
    }
}

/// `resourceVersion`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedVersion {
    /// Not given: the newest
    Newest,
    /// `0`: any version that the cache holds
    Any,
    /// This one, read as `resourceVersionMatch` says
    Version(u64),
}

/// `resourceVersionMatch`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedMatch {
    Exact,
    NotOlderThan,
}

/// A query that keeps the rules.
#[derive(Clone, Debug)]
pub(super) struct ListOptions {
    pub(super) watch: bool,
    pub(super) at: RequestedVersion,
    pub(super) matching: Option<RequestedMatch>,
    pub(super) limit: Option<usize>,
    pub(super) continuation: Option<Continuation>,
    pub(super) selector: Selector,
    /// `shardSelector`, which only some API servers know
    pub(super) shard_selector: Option<String>,
    /// The same where this one knows it
    pub(super) shard: Option<ShardSelector>,
    pub(super) bookmarks: bool,
    pub(super) initial_events: bool,
    pub(super) timeout: Option<Duration>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Parameters {
    watch: Option<String>,
    limit: Option<String>,
    r#continue: Option<String>,
    resource_version: Option<String>,
    resource_version_match: Option<String>,
    allow_watch_bookmarks: Option<String>,
    send_initial_events: Option<String>,
    timeout_seconds: Option<String>,
    label_selector: Option<String>,
    field_selector: Option<String>,
    shard_selector: Option<String>,
}

impl ListOptions {
    pub(super) fn parse(resource: ServedKind, uri: &http::Uri) -> Result<Self, StatusFailure> {
        let query = Query::<Parameters>::try_from_uri(uri)
            .map_err(|error| StatusFailure::bad_request(error.body_text()))?
            .0;
        let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let number = |value: &Option<String>, name: &str| match given(value) {
            Some(text) => match text.parse::<u64>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(StatusFailure::bad_request(format!("invalid {name}: \"{text}\""))),
            },
            None => Ok(None),
        };
        let watch = flag(&query.watch);
        let at = match number(&query.resource_version, "resourceVersion")? {
            None => RequestedVersion::Newest,
            Some(0) => RequestedVersion::Any,
            Some(version) => RequestedVersion::Version(version),
        };
        let matching = match given(&query.resource_version_match).as_deref() {
            None => None,
            Some("Exact") => Some(RequestedMatch::Exact),
            Some("NotOlderThan") => Some(RequestedMatch::NotOlderThan),
            Some(other) => {
                let unsupported = "resourceVersionMatch: Unsupported value";
                return Err(StatusFailure::invalid(format!("{unsupported}: \"{other}\"")));
            }
        };
        let continuation = given(&query.r#continue).filter(|_| !watch).map(|token| {
            let invalid = || StatusFailure::bad_request("continue key is not valid");
            Continuation::from_token(&token).ok_or_else(invalid)
        });
        let limit = number(&query.limit, "limit")?.filter(|limit| *limit > 0);
        let timeout = number(&query.timeout_seconds, "timeoutSeconds")?.filter(|limit| *limit > 0);
        let selector = Selector::parse(
            resource,
            query.label_selector.as_deref(),
            query.field_selector.as_deref(),
        )
        .map_err(StatusFailure::bad_request)?;
        let options = Self {
            watch,
            at,
            matching,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            continuation: continuation.transpose()?,
            selector,
            shard_selector: given(&query.shard_selector),
            shard: None,
            bookmarks: flag(&query.allow_watch_bookmarks),
            initial_events: flag(&query.send_initial_events),
            timeout: timeout.map(Duration::from_secs),
        };
        options.validate(query.send_initial_events.is_some())?;
        Ok(options)
    }

    /// Reads the shard selector, as an API server does that knows it.
    pub(super) fn know_shards(&mut self) -> Result<(), StatusFailure> {
        let shard = self.shard_selector.as_deref().map(ShardSelector::parse);
        self.shard = shard.transpose().map_err(StatusFailure::bad_request)?;
        Ok(())
    }

    fn validate(&self, initial_events_given: bool) -> Result<(), StatusFailure> {
        let rule_broken = if self.watch {
            match (initial_events_given, self.matching) {
                (true, Some(RequestedMatch::NotOlderThan)) | (false, None) => None,
                (true, _) => Some("sendInitialEvents requires resourceVersionMatch NotOlderThan"),
                (false, Some(_)) => {
                    Some("resourceVersionMatch is forbidden for watch without sendInitialEvents")
                }
            }
        } else if initial_events_given {
            Some("sendInitialEvents is forbidden for list")
        } else {
            match (self.matching, self.at) {
                (Some(_), _) if self.continuation.is_some() => {
                    Some("resourceVersionMatch is forbidden with continue")
                }
                (Some(_), RequestedVersion::Newest) => {
                    Some("resourceVersionMatch is forbidden without resourceVersion")
                }
                (Some(RequestedMatch::Exact), RequestedVersion::Any) => {
                    Some("resourceVersionMatch Exact is forbidden for resourceVersion 0")
                }
                _ => None,
            }
        };
        if let Some(rule) = rule_broken {
            return Err(StatusFailure::invalid(rule));
        }
        if self.continuation.is_some() && matches!(self.at, RequestedVersion::Version(_)) {
            let rule = "specifying resource version is not allowed when using continue";
            return Err(StatusFailure::bad_request(rule));
        }
        Ok(())
    }
}

/// As the API server reads booleans: everything but `false` and `0` is true.
fn flag(value: &Option<String>) -> bool {
    value.as_deref().is_some_and(|value| value != "false" && value != "0")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parse(query: &str) -> Result<ListOptions, u16> {
        let uri = format!("http://localhost/api/v1/pods?{query}").parse().unwrap();
        ListOptions::parse(ServedKind::Pods, &uri).map_err(|failure| failure.code)
    }

    #[test]
    fn rules_between_options_are_kept() {
        for (query, code) in [
            ("watch=true&resourceVersionMatch=NotOlderThan", 422),
            ("watch=true&sendInitialEvents=true", 422),
            ("sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 422),
            ("resourceVersionMatch=Exact", 422),
            ("resourceVersionMatch=Exact&resourceVersion=0", 422),
            ("resourceVersionMatch=Sometimes&resourceVersion=1", 422),
            ("resourceVersion=abc", 400),
            ("continue=nonsense", 400),
            ("labelSelector=a%20b", 400),
        ] {
            assert_eq!(parse(query).err(), Some(code), "{query}");
        }
    }

    #[test]
    fn tokens_round_trip_and_nonsense_is_refused() {
        for (version, remaining) in [(None, None), (Some(17), Some(3))] {
            let continuation =
                Continuation { version, remaining, after: ObjectKey::new("shop", "web-1") };
            let token = continuation.to_token();
            assert_eq!(Continuation::from_token(&token), Some(continuation));
        }
        for nonsense in ["", "zz", "7631", "é"] {
            assert_eq!(Continuation::from_token(nonsense), None);
        }
    }

    #[test]
    fn a_streamed_list_is_understood() {
        let options = parse(
            "&watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
             &allowWatchBookmarks=true&timeoutSeconds=290&resourceVersion=",
        )
        .unwrap();
        assert!(options.watch && options.initial_events && options.bookmarks);
        assert_eq!(options.at, RequestedVersion::Newest);
        assert_eq!(options.timeout, Some(Duration::from_secs(290)));
    }
}
