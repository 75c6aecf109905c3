//! A second reading of what is told of several faults at once: which texts are of one kind, what is one fault, how a
//! problem is divided, and what is quoted ([§13.5](crate::specification#s13-5),
//! [§13.6](crate::specification#s13-6)).
#![allow(clippy::unwrap_used)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::given::{Given, Lack, says_nothing, says_only_the_end};
use super::reading::{Fault, Group, Pod, Reading, WORKLOAD, since};

/// A kind of text: which one, and of texts that say only how a container ended, within what.
pub(super) type TextKind = (u8, Option<String>);

/// A text: its kind, and the names in it.
type Text = (u8, Option<String>, Vec<&'static str>);

/// What is told of the pods of a problem.
pub(super) struct Told {
    /// The text that is quoted, and how many pods have it
    pub(super) quoted: Option<(String, usize)>,
    /// How many pods have any text
    pub(super) texts: usize,
    pub(super) next: Option<(String, usize)>,
    /// How many faults there are in what is left
    pub(super) reasons: usize,
    /// The pods that are named
    pub(super) named: Vec<String>,
}

impl Told {
    /// It in a line, as far as it must be said.
    pub(super) fn line(self) -> String {
        let is_part = |with: usize| 10 * with < 9 * self.texts;
        let next = self.next.map_or_else(String::new, |(text, with)| format!(", {text} ({with})"));
        let quoted = match self.quoted {
            Some((text, with)) if is_part(with) => format!("{text} ({with} of {})", self.texts),
            Some((text, _)) => text,
            None if self.reasons > 1 => format!("for {} different reasons", self.reasons),
            None => "no reason".to_owned(),
        };
        format!("{quoted}{next}, such as {}", self.named.join(" "))
    }
}

/// The order of [§13.6](crate::specification#s13-6): who has waited longest, then by namespace and name.
fn order(pod: &Pod<'_>) -> (i64, String, String) {
    (since(pod), pod.1.namespace(), Given::name(pod.0))
}

fn first<'a>(pods: &[Pod<'a>]) -> Pod<'a> {
    *pods.iter().min_by_key(|pod| order(pod)).unwrap()
}

impl Reading {
    /// Of which kind the text of a pod is, if it has one.
    pub(super) fn kind(self, pod: &Pod<'_>) -> Option<TextKind> {
        let (number, given) = *pod;
        let (kind, _) = given.said.filter(|(kind, _)| !says_nothing(*kind))?;
        let within = match self.0 {
            Some(Fault::EachTextForItself) => given.text(number),
            Some(Fault::EndsAreOfOneKind) => None,
            // A pod without a workload is in none with others.
            _ if says_only_the_end(kind) => {
                given.value("workload").or_else(|| Some(Given::name(number)))
            }
            _ => None,
        };
        Some((kind, within))
    }

    /// The kinds of texts that a workload links: it has each with at least two of its pods, and a quarter of those
    /// that have a text.
    fn linked(self, of_workload: &[&Pod<'_>]) -> BTreeSet<TextKind> {
        let mut counts: BTreeMap<TextKind, usize> = BTreeMap::new();
        for kind in of_workload.iter().filter_map(|pod| self.kind(pod)) {
            *counts.entry(kind).or_default() += 1;
        }
        let texts: usize = counts.values().sum();
        let least = match self.0 {
            Some(Fault::OneLinks) => 1,
            Some(Fault::ThreeLink) => 3,
            _ => 2,
        };
        let part = match self.0 {
            Some(Fault::AnyPartLinks) => texts,
            Some(Fault::AThirdLinks) => 3,
            _ => 4,
        };
        let links = |count: usize| count >= least && part * count >= texts;
        counts.retain(|_, count| links(*count) && !self.has(Fault::NothingLinks));
        counts.into_keys().collect()
    }

    /// The faults of pods: what is linked directly, or by others.
    pub(super) fn faults<'a>(self, pods: &[Pod<'a>]) -> Vec<Vec<Pod<'a>>> {
        let kinds: BTreeSet<TextKind> = pods.iter().filter_map(|pod| self.kind(pod)).collect();
        let mut sets: Vec<BTreeSet<TextKind>> =
            kinds.into_iter().map(|kind| BTreeSet::from([kind])).collect();
        let workloads: BTreeSet<String> =
            pods.iter().filter_map(|pod| pod.1.value("workload")).collect();
        for workload in workloads {
            let of_it =
                pods.iter().filter(|pod| pod.1.value("workload").as_ref() == Some(&workload));
            let linked = self.linked(&of_it.collect::<Vec<_>>());
            let is_linked = |set: &BTreeSet<TextKind>| !set.is_disjoint(&linked);
            let (joined, others): (Vec<_>, Vec<_>) = sets.into_iter().partition(is_linked);
            sets = others;
            sets.extend((!joined.is_empty()).then(|| joined.into_iter().flatten().collect()));
        }
        let of = |set: BTreeSet<TextKind>| {
            let has = |pod: &&Pod<'a>| self.kind(pod).is_some_and(|kind| set.contains(&kind));
            pods.iter().filter(has).copied().collect()
        };
        let faults = sets.into_iter().map(of);
        let says_only_the_end =
            |fault: &Vec<Pod<'a>>| fault.iter().all(|pod| says_only_the_end(pod.1.said.unwrap().0));
        let (ends, mut faults): (Vec<_>, Vec<_>) = faults.partition(says_only_the_end);
        let most = match self.0 {
            Some(Fault::TwoEndsStay) => 2,
            Some(Fault::FourEndsStay) => 4,
            _ => 3,
        };
        match ends.len() > most {
            true => faults.push(ends.concat()),
            false => faults.extend(ends),
        }
        faults
    }

    /// Whether a problem without a value stays as it is.
    fn stays(self, faults: &[Vec<Pod<'_>>], lack: Lack) -> bool {
        let divides = match self.0 {
            Some(Fault::SchedulerDivides) => true,
            Some(Fault::VolumesDivideNothing) => !lack.is_waiting(),
            _ => lack != Lack::Resources,
        };
        let texts: usize = faults.iter().map(Vec::len).sum();
        let most = faults.iter().map(Vec::len).max().unwrap_or(0);
        let exception = match self.0 {
            Some(Fault::NoPodIsLeftOver) => 0,
            Some(Fault::TwoPodsMayBeLeftOver) => 2,
            Some(Fault::AnyTenthMayBeLeftOver) => texts,
            _ => 1,
        };
        let is_enough = match self.0 {
            Some(Fault::AnyMajorityStays) => true,
            _ => 10 * most >= 9 * texts,
        };
        !divides || is_enough && texts - most <= exception
    }

    /// The problems that a problem without a value is divided into.
    pub(super) fn divided<'a>(self, pods: Vec<Pod<'a>>, lack: Lack) -> Vec<Group<'a>> {
        let mut faults = self.faults(&pods);
        if self.stays(&faults, lack) || self.has(Fault::NothingIsDivided) {
            return vec![Group { shared: None, pods, left: None }];
        }
        let all = faults.len();
        faults.sort_by_key(|fault| (Reverse(fault.len()), order(&first(fault))));
        let most = match self.0 {
            Some(Fault::FourFaults) => 4,
            Some(Fault::SixFaults) => 6,
            _ => 5,
        };
        let is_told = |fault: &Vec<Pod<'_>>| match self.0 {
            Some(Fault::SinglesAreTold) => true,
            Some(Fault::SinglesAreLeft) => fault.len() > 1,
            _ => fault.len() > 1 || all <= 5,
        };
        let mut left = faults.split_off(most.min(all));
        let (told, few): (Vec<_>, Vec<_>) = faults.into_iter().partition(is_told);
        left.extend(few);
        let reasons = left.len();
        let mut rest = left.concat();
        rest.extend(pods.into_iter().filter(|pod| self.kind(pod).is_none()));
        let problem = |pods: Vec<Pod<'a>>| {
            let workload = pods[0].1.value("workload");
            let is_shared = pods.iter().all(|pod| pod.1.value("workload") == workload);
            let workload = workload.filter(|_| is_shared && !self.has(Fault::FaultsHaveNoValue));
            Group { shared: workload.map(|workload| (WORKLOAD, workload)), pods, left: None }
        };
        let mut groups: Vec<Group<'a>> = told.into_iter().map(problem).collect();
        groups.extend((!rest.is_empty()).then_some(Group {
            shared: None,
            pods: rest,
            left: Some(reasons),
        }));
        groups
    }

    /// What is told of the pods of a problem; `left` of what was left, with the number of its faults.
    pub(super) fn told(self, pods: &[Pod<'_>], left: Option<usize>) -> Told {
        // How a container ended is the same text in each workload.
        let text_of = |pod: &Pod<'_>| {
            let (kind, within) = self.kind(pod)?;
            Some((kind, within.filter(|_| self.has(Fault::EachTextForItself)), pod.1.named()))
        };
        let mut kinds: BTreeMap<Text, Vec<(i64, String)>> = BTreeMap::new();
        // A text without a reason counts as none, and is shown where there is no other.
        let shown_alone = |pod: &Pod<'_>| {
            let (kind, _) = pod.1.said?;
            Some((kind, None, pod.1.named()))
        };
        let has_reasons = pods.iter().any(|pod| self.kind(pod).is_some());
        let text_of = |pod: &Pod<'_>| if has_reasons { text_of(pod) } else { shown_alone(pod) };
        for pod in pods {
            if let Some(kind) = text_of(pod) {
                let text = pod.1.text(pod.0).unwrap();
                kinds.entry(kind).or_default().push((since(pod), text));
            }
        }
        let texts = match self.0 {
            Some(Fault::AllPodsCount) => pods.len(),
            _ if has_reasons => kinds.values().map(Vec::len).sum(),
            _ => 0,
        };
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        for (_, texts) in &mut kinds {
            texts.sort();
        }
        kinds.sort_by_key(|(_, texts)| Reverse((texts.len(), texts.last().cloned())));
        if left.is_some() {
            kinds.clear();
        }
        let shown = |texts: &[(i64, String)]| {
            let shown = if self.has(Fault::OldestText) { texts.first() } else { texts.last() };
            (shown.unwrap().1.clone(), texts.len())
        };
        let quoted = kinds.first().map(|(kind, texts)| (kind.clone(), shown(texts)));
        let part = match self.0 {
            Some(Fault::AThirdIsNext) => 3,
            Some(Fault::AnyIsNext) => texts,
            _ => 4,
        };
        let is_part = |(_, (_, with)): &(Text, (String, usize))| 10 * with < 9 * texts;
        let next = kinds.get(1).filter(|_| quoted.as_ref().is_some_and(is_part));
        let next = next.map(|(_, texts)| shown(texts)).filter(|(_, with)| part * with >= texts);
        let quoted_kind = quoted.as_ref().map(|(kind, _)| kind);
        let is_named = |pod: &&Pod<'_>| {
            quoted_kind.is_none_or(|kind| text_of(pod).as_ref() == Some(kind))
                || self.has(Fault::NamedByAgeAlone)
        };
        let mut named: Vec<&Pod<'_>> = pods.iter().filter(is_named).collect();
        named.sort_by_key(|pod| order(pod));
        named.truncate(3);
        Told {
            quoted: quoted.map(|(_, quoted)| quoted),
            texts,
            next,
            reasons: left.unwrap_or_default(),
            named: named.into_iter().map(|pod| Given::name(pod.0)).collect(),
        }
    }
}
