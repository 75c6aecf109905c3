//! A second reading of how pods are weighed, grouped, ordered and stated ([§13.4](crate::specification#s13-4) to
//! [§13.6](crate::specification#s13-6)), from the specification alone: each rule as it stands there, of texts, without
//! any index. Faults that are put into it on purpose show that the cases tell each rule from its neighbours.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use crate::tests::{at, cause, on, pod, pulled, waits};
use podinit_core::lifecycle::{
    Cause, Milestone, MilestoneSource, Record, RecordedMilestone, Stage,
};
use podinit_core::pod::{Claims, Workload};

pub(super) const NOW: i64 = 10_000;
/// The dimensions in the order of 13.3 that these pods have.
const DIMENSIONS: [&str; 5] = ["image", "registry", "workload", "node", "namespace"];

/// What is wrong in a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// What explains S takes all of it
    TakesStrangers,
    /// What explains S leaves those without any value
    LeavesUnknown,
    /// What explains S is one of the five
    ExplainsCounts,
    /// At most five values stand out
    SixStandOut,
    /// n < 10
    NineAreEnough,
    TenAreTooFew,
    /// Which dimensions need n
    WorkloadNeedsOthers,
    NamespaceNeedsNone,
    /// Who refutes a lack of volumes or claims
    AllRefuteVolumes,
    AllRefuteClaims,
    ClaimsAreMixedUp,
    /// A tenth, rounded down, and 15 minutes at least
    RoundsUp,
    LeavesOutNone,
    LeavesOutFewest,
    MoreThanFifteen,
    /// Texts
    EachTextForItself,
    OldestText,
    /// Old pods and new ones
    OldTakeRefuted,
    NoneStandsStill,
}

/// Why a pod waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    Claim,
    Crash,
    Image,
    Volume,
}

impl Lack {
    pub(super) const ALL: [Self; 4] = [Self::Claim, Self::Crash, Self::Image, Self::Volume];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Crash => "crash",
            Self::Image => "image",
            Self::Volume => "volume",
        }
    }

    /// Waiting causes are those of pods that no node is to blame for.
    const fn is_waiting(self) -> bool {
        matches!(self, Self::Claim | Self::Volume)
    }
}

/// A pod, affected or not, as the generator makes it.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) image: u8,
    /// Not bound to a node, or without a controller, where there is none
    pub(super) node: Option<u8>,
    pub(super) workload: Option<u8>,
    pub(super) namespace: u8,
    /// Since when it is affected, and by what
    pub(super) affected: Option<(i64, Lack)>,
    /// When it became ready, whether it pulled its image, and what it claims
    pub(super) ready: i64,
    pub(super) is_pulled: bool,
    pub(super) claims: (bool, bool),
    /// What is said of it: which fault, and with which ids
    pub(super) said: (u8, u64),
}

impl Given {
    fn image(&self) -> String {
        format!("r{}.io/app{}", self.image % 2, self.image)
    }

    fn namespace(&self) -> String {
        format!("ns{}", self.namespace)
    }

    fn node(&self) -> Option<String> {
        self.node.map(|node| format!("node-{node}"))
    }

    /// Its value in a dimension.
    fn value(&self, dimension: &str) -> Option<String> {
        let lack = self.affected.map(|(_, lack)| lack);
        let (namespace, workload) = (self.namespace(), self.workload);
        match dimension {
            "image" => (!lack.is_some_and(Lack::is_waiting)).then(|| self.image()),
            "registry" => {
                matches!(lack, None | Some(Lack::Image)).then(|| format!("r{}.io", self.image % 2))
            }
            "workload" => workload.map(|name| format!("{namespace}/Deployment/w{name}")),
            "node" => self.node(),
            _ => Some(namespace),
        }
    }

    /// What Kubernetes says of the pod with a number, in three texts with what each pod has of its own.
    fn text(&self, number: usize) -> String {
        let (fault, ids) = self.said;
        let letters = char::from(b'a' + (ids % 6) as u8).to_string().repeat(3);
        let (node, namespace) = (self.node().unwrap_or_default(), self.namespace());
        match fault {
            0 => format!(
                "sandbox \"{ids:012x}{letters}\" of p{number}_{namespace}: no address after {}s",
                ids % 90
            ),
            1 => format!(
                "node {node}: dial tcp 10.0.{}.7:{}: refused",
                ids % 200,
                1_000 + ids % 9_000
            ),
            _ => format!(
                "volume {:08x}-0000-4000-8000-{ids:012x} at 02:42:{:02x}:ff:0a:b0 is gone",
                ids % (1 << 32),
                ids % 256
            ),
        }
    }

    pub(super) fn record(&self, number: usize) -> Record {
        let name = format!("p{number}");
        let mut record = pod(&name, &self.image());
        if let Some(node) = self.node() {
            record = on(record, &node);
        }
        record.pod.namespace = self.namespace().into();
        record.pod.workload = self.workload.map(|name| {
            let (kind, name) = ("Deployment".into(), format!("w{name}").into());
            std::sync::Arc::new(Workload { kind, name })
        });
        record.claims = Claims::new(self.claims.0, self.claims.1);
        let Some((since, lack)) = self.affected else {
            record.milestones = vec![RecordedMilestone {
                milestone: Milestone::Ready,
                time: Some(at(self.ready)),
                source: Some(MilestoneSource::Condition),
            }];
            return match self.is_pulled {
                true => pulled(record),
                false => record,
            };
        };
        let (stage, had) = match lack {
            Lack::Claim => (Stage::Unschedulable, Cause::Claim),
            Lack::Crash => (Stage::Containers, Cause::Crash),
            Lack::Image => (Stage::Containers, Cause::Image),
            Lack::Volume => (Stage::Unschedulable, Cause::Volume),
        };
        let mut causes = [cause(stage, had, since)];
        causes[0].container = (!lack.is_waiting()).then_some(0);
        record.message = Some(self.text(number).into());
        waits(record, since, &causes)
    }
}

/// A reading of the rules, right or with a fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading(pub(super) Option<Fault>);

/// What speaks for a value.
struct Weight {
    dimension: usize,
    value: String,
    a: u64,
    k: u64,
    h: u64,
    explains: bool,
    stands_out: bool,
}

/// A pod with its number.
type Pod<'a> = (usize, &'a Given);

/// A problem: its dimension and value, and its pods.
type Group<'a> = (Option<(usize, String)>, Vec<Pod<'a>>);

fn since(pod: &Pod<'_>) -> i64 {
    pod.1.affected.unwrap().0
}

fn is_old(pod: &Pod<'_>) -> bool {
    since(pod) <= NOW - 1_800
}

fn has(pod: &Pod<'_>, dimension: usize, value: &str) -> bool {
    pod.1.value(DIMENSIONS[dimension]).as_deref() == Some(value)
}

impl Reading {
    fn has(self, fault: Fault) -> bool {
        self.0 == Some(fault)
    }

    /// Whether a startup that has the value says that the value is not at fault, by what its pod needed.
    fn may_refute(self, one: &Given, lack: Lack, of_images: bool) -> bool {
        let (mut volume, mut claim) = one.claims;
        if self.has(Fault::ClaimsAreMixedUp) {
            std::mem::swap(&mut volume, &mut claim);
        }
        match lack {
            Lack::Volume => volume || self.has(Fault::AllRefuteVolumes),
            Lack::Claim => claim || self.has(Fault::AllRefuteClaims),
            Lack::Image if of_images => one.is_pulled,
            Lack::Image | Lack::Crash => true,
        }
    }

    /// 13.4.
    fn weigh(self, set: &[Pod<'_>], well: &[&Given], lack: Lack) -> Vec<Weight> {
        let mut all = Vec::new();
        let enough = match self.0 {
            Some(Fault::NineAreEnough) => 9,
            Some(Fault::TenAreTooFew) => 11,
            _ => 10,
        };
        for (place, dimension) in DIMENSIONS.into_iter().enumerate() {
            let values = set.iter().filter_map(|(_, one)| one.value(dimension));
            let values: BTreeSet<String> = values.collect();
            let needs_others = match dimension {
                "node" => true,
                "namespace" => !self.has(Fault::NamespaceNeedsNone),
                "workload" => self.has(Fault::WorkloadNeedsOthers),
                _ => false,
            };
            for value in values {
                let with = set.iter().filter(|pod| has(pod, place, &value));
                let with: Vec<&Pod<'_>> = with.collect();
                let mut times: Vec<i64> = with.iter().map(|pod| since(pod)).collect();
                times.sort_unstable();
                let median = times[times.len() / 2];
                let of_images = lack == Lack::Image && place < 2;
                let having =
                    || well.iter().filter(|one| one.value(dimension).as_ref() == Some(&value));
                let healthy = having()
                    .filter(|one| one.ready > median && self.may_refute(one, lack, of_images));
                let h = healthy.count() as u64;
                let (a, s) = (with.len() as u64, set.len() as u64);
                let (n, k) = (well.len() as u64, having().count() as u64);
                let images: BTreeSet<String> = with.iter().map(|(_, one)| one.image()).collect();
                let may = 2 * h <= a
                    && (dimension != "registry" || images.len() >= 3)
                    && (n >= enough || !needs_others);
                let times = |halves: u64| 2 * a * (n + 2) >= halves * s * (k + 1);
                let part = if lack.is_waiting() { 2 } else { 5 };
                all.push(Weight {
                    dimension: place,
                    explains: may && 10 * a >= 9 * s && (of_images || times(3)),
                    stands_out: may
                        && a >= 3
                        && part * a >= s
                        && (of_images && 2 * a >= s || times(8)),
                    value,
                    a,
                    k,
                    h,
                });
            }
        }
        all
    }

    /// 13.5, from 1 on.
    fn grouped<'a>(
        self,
        set: &[Pod<'a>],
        well: &[&Given],
        lack: Lack,
        is_old: bool,
    ) -> Vec<Group<'a>> {
        let (mut rest, mut found, mut standing_out) = (set.to_vec(), Vec::new(), 0);
        let most = if self.has(Fault::SixStandOut) { 6 } else { 5 };
        while !rest.is_empty() {
            let mut weights = self.weigh(&rest, well, lack);
            let at_fault = |dimension: usize| {
                let is_unrefuted =
                    |one: &Weight| !is_old || one.h == 0 || self.has(Fault::OldTakeRefuted);
                let fits =
                    |one: &Weight| one.dimension == dimension && one.explains && is_unrefuted(one);
                weights.iter().position(fits).filter(|_| lack == Lack::Image)
            };
            let taken = match at_fault(0).or_else(|| at_fault(1)) {
                Some(place) => weights.swap_remove(place),
                None => {
                    weights.retain(|one| one.explains || one.stands_out && standing_out < most);
                    // For other causes an image stands last.
                    let last = |one: &Weight| match lack != Lack::Image && one.dimension == 0 {
                        true => DIMENSIONS.len(),
                        false => one.dimension,
                    };
                    let s = rest.len() as u64;
                    weights.sort_by(|one, other| {
                        let covers = (other.a * (s + 4 * one.h)).cmp(&(one.a * (s + 4 * other.h)));
                        let tie = |one: &Weight| (one.k, last(one), one.value.clone());
                        covers.then_with(|| tie(one).cmp(&tie(other)))
                    });
                    match weights.into_iter().next() {
                        Some(first) => first,
                        None => break,
                    }
                }
            };
            if !taken.explains || self.has(Fault::ExplainsCounts) {
                standing_out += 1;
            }
            let dimension = DIMENSIONS[taken.dimension];
            let (with, without): (Vec<Pod<'a>>, Vec<Pod<'a>>) = rest.into_iter().partition(|pod| {
                let is_unknown =
                    pod.1.value(dimension).is_none() && !self.has(Fault::LeavesUnknown);
                has(pod, taken.dimension, &taken.value)
                    || taken.explains && (is_unknown || self.has(Fault::TakesStrangers))
            });
            found.push((Some((taken.dimension, taken.value)), with));
            rest = without;
        }
        if !rest.is_empty() {
            found.push((None, rest));
        }
        found
    }

    fn stands_still(self, pods: &[Pod<'_>]) -> bool {
        let old = pods.iter().filter(|pod| is_old(pod)).count();
        old * 10 >= pods.len() * 9 && !self.has(Fault::NoneStandsStill)
    }

    /// 13.6: since when, and how many pods are left out of that, and since when they are.
    fn since(self, pods: &[Pod<'_>]) -> (i64, Option<(usize, i64)>) {
        let mut times: Vec<i64> = pods.iter().map(since).collect();
        times.sort_unstable();
        let most = match self.0 {
            Some(Fault::RoundsUp) => times.len().div_ceil(10).min(times.len() - 1),
            Some(Fault::LeavesOutNone) => 0,
            _ => times.len() / 10,
        };
        let gap = if self.has(Fault::MoreThanFifteen) { 901 } else { 900 };
        let mut left_out: Vec<usize> =
            (1..=most).filter(|j| times[*j] - times[j - 1] >= gap).collect();
        if self.has(Fault::LeavesOutFewest) {
            left_out.truncate(1);
        }
        match left_out.last() {
            Some(j) => (times[*j], Some((*j, times[0]))),
            None => (times[0], None),
        }
    }

    /// 13.6: the text of most pods. The generator knows which are of one fault.
    fn text(self, pods: &[Pod<'_>]) -> String {
        let mut faults: BTreeMap<String, Vec<(i64, String)>> = BTreeMap::new();
        for pod in pods {
            let (number, given) = *pod;
            let text = given.text(number);
            let fault = match self.has(Fault::EachTextForItself) {
                true => text.clone(),
                false => given.said.0.to_string(),
            };
            faults.entry(fault).or_default().push((since(pod), text));
        }
        let all = faults.into_values().map(|mut texts| {
            texts.sort();
            let newest = texts.last().cloned();
            let shown =
                if self.has(Fault::OldestText) { texts.first().cloned() } else { newest.clone() };
            (texts.len(), newest, shown)
        });
        all.max().unwrap().2.unwrap().1
    }

    /// 13.5 and 13.6: each problem in a line.
    pub(super) fn read(self, given: &[Given]) -> Vec<String> {
        let well: Vec<&Given> = given.iter().filter(|one| one.affected.is_none()).collect();
        let mut stated = Vec::new();
        for lack in Lack::ALL {
            let of_cause = |pod: &Pod<'_>| pod.1.affected.is_some_and(|(_, other)| other == lack);
            let set: Vec<Pod<'_>> = given.iter().enumerate().filter(of_cause).collect();
            let (old, mut new): (Vec<Pod<'_>>, Vec<Pod<'_>>) = set.into_iter().partition(is_old);
            let (mut problems, mut rest): (Vec<Group<'_>>, Vec<Pod<'_>>) = (Vec::new(), Vec::new());
            for (shared, mut pods) in self.grouped(&old, &well, lack, true) {
                if let Some((dimension, value)) = &shared {
                    let (joined, others): (Vec<Pod<'_>>, Vec<Pod<'_>>) =
                        new.into_iter().partition(|pod| has(pod, *dimension, value));
                    pods.extend(joined);
                    new = others;
                }
                match shared.is_some() && self.stands_still(&pods) {
                    true => problems.push((shared, pods)),
                    false => rest.extend(pods),
                }
            }
            rest.extend(new);
            problems.extend(self.grouped(&rest, &well, lack, false));
            // A problem is its cause, dimension and value.
            let mut merged: Vec<Group<'_>> = Vec::new();
            for (shared, pods) in problems {
                match merged.iter_mut().find(|(other, _)| *other == shared) {
                    Some((_, others)) => others.extend(pods),
                    None => merged.push((shared, pods)),
                }
            }
            for (shared, pods) in merged {
                let (since, earlier) = self.since(&pods);
                let (dimension, value) = shared
                    .map_or_else(Default::default, |(dimension, value)| {
                        (DIMENSIONS[dimension].to_owned(), value)
                    });
                let is_still = pods.len() == 1 || self.stands_still(&pods);
                let order =
                    (is_still, std::cmp::Reverse(pods.len()), since, lack.name(), value.clone());
                let count = pods.len();
                let (earlier, text) = (told(earlier), self.text(&pods));
                let line = format!(
                    "{} {dimension} {value} {count} since {since}{earlier}: {text}",
                    lack.name()
                );
                stated.push((order, line));
            }
        }
        stated.sort();
        stated.into_iter().map(|(_, line)| line).collect()
    }
}

pub(super) fn told(earlier: Option<(usize, i64)>) -> String {
    earlier.map_or_else(String::new, |(pods, since)| format!(" ({pods} since {since})"))
}
