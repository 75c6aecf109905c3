//! The message of most pods of a problem ([§13.6](crate::specification#s13-6)).

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::affected_pods::AffectedPods;
use crate::skeleton::{skeleton, without_words};
use podinit_core::image_registry;
use podinit_core::timestamp::Timestamp;

/// Pods with the same message.
#[derive(Clone, Copy)]
struct MessageGroup<'a> {
    pods: usize,
    newest: (Timestamp, &'a str),
}

/// The messages of pods, where texts that differ only in names of the pods are one.
#[derive(Default)]
struct MessageTexts<'a> {
    told: Vec<MessageGroup<'a>>,
    /// For each group the one that stands for it: itself, or an equal one
    same: Vec<usize>,
    /// The group of each form of a text, by its hash, because in an outage each pod may have another text
    by_form: HashMap<u64, usize>,
    hasher: DefaultHashBuilder,
}

/// The newest text of the most frequent message; on a tie, of the message that came last. `None` without messages.
pub(super) fn most_frequent(ranks: &[u32], pods: &AffectedPods) -> Option<Arc<str>> {
    let mut texts = MessageTexts::default();
    for rank in ranks {
        if let Some(message) = pods.message(*rank) {
            let newest = (pods.get(*rank).last, message);
            texts.add(MessageGroup { pods: 1, newest }, &forms(pods, *rank, message));
        }
    }
    let most = texts.told.into_iter();
    let most = most.max_by_key(|told| (told.pods, told.newest));
    most.map(|told| told.newest.1.into())
}

/// The text with and without the pod's own names and its image. A word that is the name of one pod, or of its
/// namespace, may be a plain word in the message of another.
fn forms(pods: &AffectedPods, rank: u32, message: &str) -> Vec<String> {
    let place = pods.get(rank).place;
    let (before, rest) = pods.found.name(place);
    let name = [before, rest].concat();
    let uid = pods.found.uid(place).map(|uid| uid.to_string());
    let node = pods.found.node(place).map_or("", |node| &**node);
    let uid = uid.unwrap_or_default();
    let mut own = without_words(message, &[&uid, &name, node]);
    if let Some(image) = pods.image(rank) {
        own = without_image(&own, image);
    }
    let bare = without_words(&own, &[pods.found.namespace(place)]);
    let mut forms = vec![skeleton(message)];
    forms.extend((own != message).then(|| skeleton(&own)));
    forms.extend((bare != own).then(|| skeleton(&bare)));
    forms
}

/// The text without an image, as runtimes and registries write it: its registry stays.
fn without_image(text: &str, image: &str) -> String {
    let (repository, tag) = image_registry::repository(image);
    let tag = tag.unwrap_or("latest");
    let long = match repository.contains('/') {
        true => repository.to_owned(),
        false => format!("library/{repository}"),
    };
    let [long_tagged, tagged] = [&long, repository].map(|name| format!("{name}:{tag}"));
    without_words(text, &[&long_tagged, &tagged, &long, repository, tag])
}

impl<'a> MessageTexts<'a> {
    /// Adds the message of a pod in these forms. It joins all groups that have one of them.
    fn add(&mut self, told: MessageGroup<'a>, forms: &[String]) {
        let mut into = self.told.len();
        self.told.push(told);
        self.same.push(into);
        for form in forms {
            let hash = self.hasher.hash_one(form);
            let known = *self.by_form.entry(hash).or_insert(into);
            into = self.join(known, into);
        }
    }

    /// Joins two groups, and returns the one that stands for both.
    fn join(&mut self, one: usize, other: usize) -> usize {
        let (one, other) = (self.first(one), self.first(other));
        if one != other {
            let MessageGroup { pods, newest } = self.told[other];
            let told = &mut self.told[one];
            told.pods += pods;
            told.newest = told.newest.max(newest);
            self.told[other].pods = 0;
            self.same[other] = one;
        }
        one
    }

    fn first(&mut self, mut one: usize) -> usize {
        while self.same[one] != one {
            // This shortens the way for later searches.
            self.same[one] = self.same[self.same[one]];
            one = self.same[one];
        }
        one
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
