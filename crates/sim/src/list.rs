//! Answers a LIST.

use bytes::Bytes;

use super::faults::FaultModes;
use super::list_options::{Continuation, ListOptions, RequestedMatch, RequestedVersion};
use super::object::{ObjectKey, ObjectPage, ServedKind, StoredObject};
use super::status::StatusFailure;
use super::store::ObjectStore;

/// The body of the answer, in parts.
pub(super) fn list(
    resource: ServedKind,
    store: &ObjectStore,
    namespace: Option<&str>,
    options: &ListOptions,
    modes: FaultModes,
) -> Result<Vec<Bytes>, StatusFailure> {
    let start = namespace.map(|namespace| ObjectKey::new(namespace, ""));
    let (version, after) = match &options.continuation {
        Some(continuation) => (continuation.version, Some(&continuation.after)),
        None => (version_of(store, options, modes)?, start.as_ref()),
    };
    // A list at any version that the cache holds is served whole.
    let limit = options.limit.filter(|_| options.at != RequestedVersion::Any);
    let matches = |object: &StoredObject| selects(namespace, options, object);
    let counted = (options.continuation.as_ref()).and_then(|continuation| continuation.remaining);
    let page = store.page(version, after, limit, counted.is_none(), matches);
    let mut page = page.map_err(|too_old| match &options.continuation {
        Some(continuation) => expired(continuation),
        None => too_old.into(),
    })?;
    if let Some(counted) = counted {
        page.remaining = counted.saturating_sub(page.objects.len());
    }
    Ok(body(resource, &page, options))
}

/// The answer to a continue token that is too old.
pub(super) fn expired(continuation: &Continuation) -> StatusFailure {
    let resume = Continuation { version: None, remaining: None, after: continuation.after.clone() };
    StatusFailure::continue_expired(resume.to_token())
}

/// Whether a request for `namespace` and with `options` is about `object`.
pub(super) fn selects(
    namespace: Option<&str>,
    options: &ListOptions,
    object: &StoredObject,
) -> bool {
    let key = &object.key;
    namespace.is_none_or(|namespace| namespace == key.namespace)
        && (options.selector).matches(key, &object.selectable)
        && (options.shard.as_ref()).is_none_or(|shard| shard.matches(&object.json))
}

/// The version at which the list is served; `None` is the newest.
fn version_of(
    store: &ObjectStore,
    options: &ListOptions,
    modes: FaultModes,
) -> Result<Option<u64>, StatusFailure> {
    let newest = store.version();
    let cached = (modes.list_lag > 0).then(|| newest.saturating_sub(modes.list_lag));
    match (options.at, options.matching) {
        (RequestedVersion::Newest, _) => Ok(None),
        (RequestedVersion::Any, _) => Ok(cached),
        (RequestedVersion::Version(version), _) if version > newest => {
            Err(StatusFailure::too_large(version, newest))
        }
        (RequestedVersion::Version(version), Some(RequestedMatch::Exact)) => Ok(Some(version)),
        // Older than the parameter `resourceVersionMatch` is the rule that a version with a limit
        // is exact.
        (RequestedVersion::Version(version), None) if options.limit.is_some() => Ok(Some(version)),
        // The cache waits until it is as fresh as it is asked to be.
        (RequestedVersion::Version(version), _) => Ok(cached.map(|cached| cached.max(version))),
    }
}

fn body(resource: ServedKind, page: &ObjectPage, options: &ListOptions) -> Vec<Bytes> {
    let names = resource.names();
    let mut head = format!(
        r#"{{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}""#,
        names.kind,
        names.api_version(),
        page.version,
    );
    if let (true, Some(last)) = (page.more, page.objects.last()) {
        let continuation = Continuation {
            version: Some(page.version),
            remaining: Some(page.remaining),
            after: last.key.clone(),
        };
        // A token needs no escaping.
        head += &format!(r#","continue":"{}""#, continuation.to_token());
        if options.selector.is_empty() && options.shard.is_none() {
            head += &format!(r#","remainingItemCount":{}"#, page.remaining);
        }
    }
    if let Some(shard) = &options.shard {
        head += &format!(r#","shardInfo":{{"selector":"{}"}}"#, shard.as_str());
    }
    head += r#"},"items":["#;
    let mut parts = Vec::with_capacity(2 * page.objects.len() + 2);
    parts.push(Bytes::from(head));
    for (index, object) in page.objects.iter().enumerate() {
        if index > 0 {
            parts.push(Bytes::from_static(b","));
        }
        parts.push(object.json.clone());
    }
    parts.push(Bytes::from_static(b"]}\n"));
    parts
}
