//! The query of a LIST or watch, and the rules that it has to keep.

use std::time::Duration;

use serde::Deserialize;

use super::continuation::Continuation;
use super::resource::Resource;
use super::selector::Selector;
use super::shard_selector::ShardSelector;
use super::status::Failure;

/// `resourceVersion`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Not given: the newest
    Newest,
    /// `0`: any version that the cache holds
    Any,
    /// This one, read as `resourceVersionMatch` says
    Version(u64),
}

/// `resourceVersionMatch`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Exact,
    NotOlderThan,
}

/// A query that keeps the rules.
#[derive(Clone, Debug)]
pub(super) struct ListOptions {
    pub(super) watch: bool,
    pub(super) at: At,
    pub(super) matching: Option<Match>,
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
struct Query {
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
    pub(super) fn parse(resource: Resource, uri: &http::Uri) -> Result<Self, Failure> {
        let query = axum::extract::Query::<Query>::try_from_uri(uri)
            .map_err(|error| Failure::bad_request(error.body_text()))?
            .0;
        let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let watch = flag(&query.watch);
        let at = match given(&query.resource_version).as_deref() {
            None => At::Newest,
            Some("0") => At::Any,
            Some(text) => At::Version(number(text, "resourceVersion")?),
        };
        let matching = match given(&query.resource_version_match).as_deref() {
            None => None,
            Some("Exact") => Some(Match::Exact),
            Some("NotOlderThan") => Some(Match::NotOlderThan),
            Some(other) => {
                return Err(Failure::invalid(format!(
                    "resourceVersionMatch: Unsupported value: \"{other}\""
                )));
            }
        };
        let continuation = match given(&query.r#continue) {
            Some(token) if !watch => Some(
                Continuation::from_token(&token)
                    .ok_or_else(|| Failure::bad_request("continue key is not valid"))?,
            ),
            _ => None,
        };
        let limit = match given(&query.limit) {
            Some(text) => Some(number(&text, "limit")? as usize).filter(|limit| *limit > 0),
            None => None,
        };
        let timeout = match given(&query.timeout_seconds) {
            Some(text) => Some(Duration::from_secs(number(&text, "timeoutSeconds")?)),
            None => None,
        };
        let selector = Selector::parse(
            resource,
            query.label_selector.as_deref(),
            query.field_selector.as_deref(),
        )
        .map_err(Failure::bad_request)?;
        let options = Self {
            watch,
            at,
            matching,
            limit,
            continuation,
            selector,
            shard_selector: given(&query.shard_selector),
            shard: None,
            bookmarks: flag(&query.allow_watch_bookmarks),
            initial_events: flag(&query.send_initial_events),
            timeout: timeout.filter(|timeout| !timeout.is_zero()),
        };
        options.validate(query.send_initial_events.is_some())?;
        Ok(options)
    }

    /// Reads the shard selector, as an API server does that knows it.
    pub(super) fn know_shards(&mut self) -> Result<(), Failure> {
        let shard = self.shard_selector.as_deref().map(ShardSelector::parse);
        self.shard = shard.transpose().map_err(Failure::bad_request)?;
        Ok(())
    }

    fn validate(&self, initial_events_given: bool) -> Result<(), Failure> {
        let rule_broken = if self.watch {
            match (initial_events_given, self.matching) {
                (true, Some(Match::NotOlderThan)) | (false, None) => None,
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
                (Some(_), At::Newest) => {
                    Some("resourceVersionMatch is forbidden without resourceVersion")
                }
                (Some(Match::Exact), At::Any) => {
                    Some("resourceVersionMatch Exact is forbidden for resourceVersion 0")
                }
                _ => None,
            }
        };
        if let Some(rule) = rule_broken {
            return Err(Failure::invalid(rule));
        }
        if self.continuation.is_some() && matches!(self.at, At::Version(_)) {
            let rule = "specifying resource version is not allowed when using continue";
            return Err(Failure::bad_request(rule));
        }
        Ok(())
    }
}

/// As the API server reads booleans: everything but `false` and `0` is true.
fn flag(value: &Option<String>) -> bool {
    value
        .as_deref()
        .is_some_and(|value| value != "false" && value != "0")
}

fn number(text: &str, name: &str) -> Result<u64, Failure> {
    text.parse()
        .map_err(|_| Failure::bad_request(format!("invalid {name}: \"{text}\"")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parse(query: &str) -> Result<ListOptions, u16> {
        let uri = format!("http://localhost/api/v1/pods?{query}")
            .parse()
            .unwrap();
        ListOptions::parse(Resource::Pods, &uri).map_err(|failure| failure.code.as_u16())
    }

    #[test]
    fn rules_between_options_are_kept() {
        for (query, code) in [
            ("watch=true&resourceVersionMatch=NotOlderThan", 422),
            ("watch=true&sendInitialEvents=true", 422),
            (
                "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                422,
            ),
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
    fn a_streamed_list_is_understood() {
        let options = parse(
            "&watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
             &allowWatchBookmarks=true&timeoutSeconds=290&resourceVersion=",
        )
        .unwrap();
        assert!(options.watch && options.initial_events && options.bookmarks);
        assert_eq!(options.at, At::Newest);
        assert_eq!(options.timeout, Some(Duration::from_secs(290)));
    }
}
