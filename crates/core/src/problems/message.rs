//! What Kubernetes says of most pods of a problem ([§13.6](crate::specification#s13-6)).

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::affected_pods::AffectedPods;
use crate::timestamp::Timestamp;

/// Pods that are told the same.
struct Told<'a> {
    pods: usize,
    newest: (Timestamp, &'a str),
}

/// The most frequent text, the newest of it; on a tie that which was said last. Texts that differ in digits, or
/// in the pod's name and UID, are one.
pub(super) fn most_frequent(ranks: &[u32], pods: &AffectedPods) -> Option<Arc<str>> {
    // By their hash, because in an outage each pod may be told something else.
    let hasher = DefaultHashBuilder::default();
    let mut texts: HashMap<u64, Told<'_>> = HashMap::new();
    for rank in ranks {
        let Some(message) = pods.message(*rank) else {
            continue;
        };
        let newest = (pods.get(*rank).last, message);
        let told = texts
            .entry(hasher.hash_one(without_own_parts(pods, *rank, message)))
            .or_insert(Told { pods: 0, newest });
        told.pods += 1;
        told.newest = told.newest.max(newest);
    }
    let most = texts
        .into_values()
        .max_by_key(|told| (told.pods, told.newest));
    most.map(|told| told.newest.1.into())
}

/// The text without what differs from pod to pod.
fn without_own_parts(pods: &AffectedPods, rank: u32, message: &str) -> String {
    let place = pods.get(rank).place;
    let (before, rest) = pods.found.name(place);
    let uid = pods.found.uid(place).map(|uid| uid.to_string());
    let mut text = without_word(message, &uid.unwrap_or_default());
    text = without_word(&text, &[before, rest].concat());
    text.retain(|character| !character.is_ascii_digit());
    text
}

/// `text` without `word`, where that is not part of a longer one.
fn without_word(text: &str, word: &str) -> String {
    let goes_on =
        |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || next == '-');
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(word).filter(|_| !word.is_empty()) {
        let last = before
            .chars()
            .next_back()
            .or_else(|| kept.chars().next_back());
        kept.push_str(before);
        if goes_on(last) || goes_on(after.chars().next()) {
            kept.push_str(word);
        }
        rest = after;
    }
    kept + rest
}
