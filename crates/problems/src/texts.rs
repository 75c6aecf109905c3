//! What is said of the affected pods, and of which kind it is ([§13.6](crate::specification#s13-6)).

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::affected_pods::AffectedPods;
use super::blocks::NONE;
use super::reason::reason;
use super::skeleton::{skeleton, without_words};
use super::text_kind::{codes, is_only_end, kind_form, text_form, without_restarts, without_urls};
use podinit_core::image_registry;
use podinit_core::lifecycle::Cause;
use podinit_core::timestamp::Timestamp;

/// The kind of a text, as a hash: the same in each finding of a process.
pub(super) type TextKind = u64;

/// Stands for no kind.
const NO_KIND: TextKind = TextKind::MAX;
/// So many texts are kept with their forms while pods are read.
const MOST_KEPT: usize = 1_000;

/// What is said of the affected pods of a finding: texts that differ only in what is of one pod are one.
#[derive(Debug, Default)]
pub(super) struct FaultTexts {
    texts: Vec<FaultText>,
    /// By rank, the number of the text
    of: Vec<u32>,
    /// By rank, the kind of the text, or of the fault that it is one of; [`NO_KIND`] without one
    kinds: Vec<TextKind>,
}

/// A text that is said of some pods.
#[derive(Clone, Copy, Debug)]
struct FaultText {
    /// Of which kind its reason is; `None` where it gives none
    kind: Option<TextKind>,
    /// It says only how a container ended
    is_only_end: bool,
}

/// How many of some pods have which text.
#[derive(Debug)]
pub(super) struct QuotedText {
    /// The one that most of them have
    pub number: u32,
    /// The newest of it
    pub text: Arc<str>,
    /// How many have it
    pub pods: usize,
    /// How many pods have a text with a reason
    pub told: usize,
    /// The next one, if a quarter has it where fewer than nine tenths have the first
    pub next: Option<(Arc<str>, usize)>,
}

impl FaultTexts {
    /// The texts of all affected pods, each cause by itself.
    pub(super) fn new<'a>(
        by_cause: impl Iterator<Item = &'a Vec<u32>>,
        pods: &AffectedPods,
    ) -> Self {
        let count = pods.ranks().len();
        let mut all =
            Self { texts: Vec::new(), of: vec![NONE; count], kinds: vec![NO_KIND; count] };
        for ranks in by_cause {
            all.add(ranks, pods);
        }
        all
    }

    fn add(&mut self, ranks: &[u32], pods: &AffectedPods) {
        let mut joining = JoinedTexts::default();
        // Which text each of these pods has.
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for rank in ranks {
            if let Some(message) = pods.message(*rank) {
                joined.push((*rank, joining.add(*rank, message, pods)));
            }
        }
        joining.join_reasons(pods);
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for (rank, position) in joined {
            let first = joining.first(position);
            let number = *numbers.entry(first).or_insert_with(|| {
                self.texts.push(FaultText::new(joining.newest[first as usize].1, pods));
                self.texts.len() as u32 - 1
            });
            self.of[rank as usize] = number;
            let kind = self.texts[number as usize].kind_of(rank, pods);
            self.kinds[rank as usize] = kind.unwrap_or(NO_KIND);
        }
    }

    /// The kind of the text of a pod, or of the fault that it is one of; `None` where nothing gives a reason.
    pub(super) fn kind(&self, rank: u32) -> Option<TextKind> {
        Some(self.kinds[rank as usize]).filter(|kind| *kind != NO_KIND)
    }

    /// Takes the text of a pod for one of the fault that `kind` stands for.
    pub(super) fn set_kind(&mut self, rank: u32, kind: TextKind) {
        self.kinds[rank as usize] = kind;
    }

    /// Whether the text of a pod says only how a container ended.
    pub(super) fn is_only_end(&self, rank: u32) -> bool {
        let text = self.texts.get(self.of[rank as usize] as usize);
        text.is_some_and(|text| text.is_only_end)
    }

    /// Whether a pod has the text of a number.
    pub(super) fn has(&self, rank: u32, number: u32) -> bool {
        self.of[rank as usize] == number
    }

    /// The text to quote of these pods; `None` if none has any. One without a reason is quoted only where there is no
    /// other.
    pub(super) fn quoted(&self, ranks: &[u32], pods: &AffectedPods) -> Option<QuotedText> {
        // How many have a text, and the newest of it.
        let mut counts: HashMap<u32, (usize, (Timestamp, &Arc<str>))> = HashMap::new();
        for rank in ranks {
            if let Some(message) = pods.message(*rank) {
                let newest = (pods.get(*rank).last, message);
                let counted = counts.entry(self.of[*rank as usize]).or_insert((0, newest));
                *counted = (counted.0 + 1, counted.1.max(newest));
            }
        }
        let mut texts: Vec<_> = counts
            .into_iter()
            .map(|(number, (pods, newest))| (self.has_reason(number), pods, newest, number))
            .collect();
        texts.sort_unstable_by(|one, other| other.cmp(one));
        let told = texts.iter().filter(|text| text.0).map(|text| text.1).sum();
        let (_, pods, (_, text), number) = *texts.first()?;
        let next = texts.get(1).filter(|text| text.0 && 4 * text.1 >= told);
        let next = next.filter(|_| 10 * pods < 9 * told);
        let next = next.map(|(_, pods, (_, text), _)| (Arc::clone(text), *pods));
        Some(QuotedText { number, text: Arc::clone(text), pods, told, next })
    }

    fn has_reason(&self, number: u32) -> bool {
        self.texts.get(number as usize).is_some_and(|text| text.kind.is_some())
    }

    /// How many different faults these pods have.
    pub(super) fn faults(&self, ranks: &[u32]) -> usize {
        let mut kinds: Vec<TextKind> = ranks.iter().filter_map(|rank| self.kind(*rank)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len()
    }
}

impl FaultText {
    /// The text of the pod with this rank.
    fn new(rank: u32, pods: &AffectedPods) -> Self {
        let (text, cause) = (pods.message(rank), pods.get(rank).cause);
        let reason = text.and_then(|text| reason(cause, text));
        let reason = reason.map(|reason| without_restarts(&reason));
        let kind = reason.as_ref().map(|reason| {
            let form = kind_form(&without_own(pods, rank, reason));
            let mut hasher = DefaultHasher::new();
            form.hash(&mut hasher);
            hasher.finish()
        });
        let is_only_end = cause == Cause::Crash && reason.as_deref().is_some_and(is_only_end);
        Self { kind, is_only_end }
    }

    /// Its kind where it is said of a pod. How a container ended is of one kind only within a workload.
    fn kind_of(&self, rank: u32, pods: &AffectedPods) -> Option<TextKind> {
        let kind = self.kind?;
        if !self.is_only_end {
            return Some(kind);
        }
        let place = pods.get(rank).place;
        let mut hasher = DefaultHasher::new();
        (kind, pods.found.namespace(place)).hash(&mut hasher);
        match pods.found.workload(place) {
            Some(workload) => workload.hash(&mut hasher),
            None => pods.found.name(place).hash(&mut hasher),
        }
        Some(hasher.finish())
    }
}

/// Texts while those are joined that are one.
#[derive(Default)]
struct JoinedTexts {
    /// The newest text of each set, and the rank of its pod
    newest: Vec<(Timestamp, u32)>,
    /// For each set the one that stands for it: itself, or an equal one
    same: Vec<u32>,
    /// The hash of each text as it is, and its codes, by the number of the message
    by_message: HashMap<u32, (u64, String)>,
    /// The set of each form of a text, by its hash, because in an outage each pod may have another text
    by_form: HashMap<u64, u32>,
    hasher: DefaultHashBuilder,
}

impl JoinedTexts {
    /// Adds the text of a pod in its forms: with and without the pod's own names and its image. A word that is the name of
    /// one pod, or of its namespace, may be a plain word in the message of another. It joins all sets that have one of them.
    fn add(&mut self, rank: u32, message: &Arc<str>, pods: &AffectedPods) -> u32 {
        let pod = pods.get(rank);
        let newest = (pod.last, rank);
        // Many pods may have one text.
        let (form, codes) = match self.by_message.get(&pod.message) {
            Some((form, codes)) => (*form, codes.clone()),
            None => {
                let codes = codes(message);
                let form = self.hash(&skeleton(message), &codes);
                if self.by_message.len() < MOST_KEPT {
                    self.by_message.insert(pod.message, (form, codes.clone()));
                }
                (form, codes)
            }
        };
        let mut into = self.number(form, newest);
        let own = without_own(pods, rank, message);
        if own != **message {
            let own = self.hash(&skeleton(&own), &codes);
            into = self.also(own, into);
        }
        let bare = without_words(&own, &[pods.found.namespace(pod.place)]);
        if bare != own {
            let bare = self.hash(&skeleton(&bare), &codes);
            into = self.also(bare, into);
        }
        let known = &mut self.newest[into as usize];
        *known = newest.max(*known);
        into
    }

    fn hash(&self, form: &str, codes: &str) -> u64 {
        self.hasher.hash_one((form, codes))
    }

    /// The set that has this form.
    fn number(&mut self, form: u64, newest: (Timestamp, u32)) -> u32 {
        if let Some(known) = self.by_form.get(&form) {
            return self.first(*known);
        }
        let one = self.newest.len() as u32;
        self.newest.push(newest);
        self.same.push(one);
        self.by_form.insert(form, one);
        one
    }

    /// The set `one`, which has this form too.
    fn also(&mut self, form: u64, one: u32) -> u32 {
        let known = *self.by_form.entry(form).or_insert(one);
        self.join(known, one)
    }

    /// Joins texts that give the same reason: layers around it are no difference, and neither are URLs in it.
    fn join_reasons(&mut self, pods: &AffectedPods) {
        let mut by_reason: HashMap<u64, u32> = HashMap::new();
        for one in 0..self.same.len() as u32 {
            if self.first(one) != one {
                continue;
            }
            let (_, rank) = self.newest[one as usize];
            let reason = pods.message(rank).and_then(|text| reason(pods.get(rank).cause, text));
            if let Some(reason) = reason {
                let own = without_own(pods, rank, &without_restarts(&reason));
                let form = text_form(&without_urls(&own));
                let known = *by_reason.entry(self.hasher.hash_one(form)).or_insert(one);
                self.join(known, one);
            }
        }
    }

    /// Joins two sets, and returns the one that stands for both.
    fn join(&mut self, one: u32, other: u32) -> u32 {
        let (one, other) = (self.first(one), self.first(other));
        if one != other {
            let newest = self.newest[other as usize];
            let known = &mut self.newest[one as usize];
            *known = newest.max(*known);
            self.same[other as usize] = one;
        }
        one
    }

    fn first(&mut self, mut one: u32) -> u32 {
        while self.same[one as usize] != one {
            // This shortens the way for later searches.
            let next = self.same[self.same[one as usize] as usize];
            self.same[one as usize] = next;
            one = next;
        }
        one
    }
}

/// The text without the pod's UID, name, node and image.
fn without_own(pods: &AffectedPods, rank: u32, text: &str) -> String {
    let place = pods.get(rank).place;
    let (before, rest) = pods.found.name(place);
    let name = [before, rest].concat();
    let uid = pods.found.uid(place).map(|uid| uid.to_string());
    let node = pods.found.node(place).map_or("", |node| &**node);
    let uid = uid.unwrap_or_default();
    let own = without_words(text, &[&uid, &name, node]);
    match pods.image(rank) {
        Some(image) => without_image(&own, image),
        None => own,
    }
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

#[cfg(test)]
#[path = "texts_tests.rs"]
mod tests;
