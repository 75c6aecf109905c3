//! A second reading of how pods are weighed, grouped, ordered and stated ([§13.4](crate::specification#s13-4) to
//! [§13.6](crate::specification#s13-6)), from the specification alone: each rule as it stands there, of texts, without
//! any index. Faults that are put into it on purpose show that the cases tell each rule from its neighbours.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use super::faults::{TextKind, Told};
use super::given::{Given, Lack};

pub(super) const NOW: i64 = 10_000;
/// The dimensions in the order of 13.3 that these pods have.
const DIMENSIONS: [&str; 5] = ["image", "registry", "workload", "node", "namespace"];
/// The place of the workload among them.
pub(super) const WORKLOAD: usize = 2;

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
    /// Several causes at one node
    TwoCausesAreSeveral,
    /// Which texts are of one kind
    EndsAreOfOneKind,
    /// Which kinds are one fault
    NothingLinks,
    OneLinks,
    ThreeLink,
    AThirdLinks,
    AnyPartLinks,
    TwoEndsStay,
    FourEndsStay,
    /// What is divided
    NothingIsDivided,
    SchedulerDivides,
    VolumesDivideNothing,
    NoPodIsLeftOver,
    TwoPodsMayBeLeftOver,
    AnyTenthMayBeLeftOver,
    AnyMajorityStays,
    /// Which faults are problems
    FourFaults,
    SixFaults,
    SinglesAreTold,
    SinglesAreLeft,
    FaultsHaveNoValue,
    /// What is quoted, and who is named
    AllPodsCount,
    AThirdIsNext,
    AnyIsNext,
    NamedByAgeAlone,
    /// Registries of a quarter
    RegistriesNeedAHalf,
    RegistriesOfSomeKinds,
    RegistriesMayShareAKind,
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
pub(super) type Pod<'a> = (usize, &'a Given);

/// A problem.
pub(super) struct Group<'a> {
    /// Its dimension and value
    pub(super) shared: Option<(usize, String)>,
    pub(super) pods: Vec<Pod<'a>>,
    /// Of how many faults it is, where it is what was left
    pub(super) left: Option<usize>,
}

impl<'a> Group<'a> {
    const fn new(shared: Option<(usize, String)>, pods: Vec<Pod<'a>>) -> Self {
        Self { shared, pods, left: None }
    }
}

pub(super) fn since(pod: &Pod<'_>) -> i64 {
    pod.1.affected.unwrap().0
}

fn is_old(pod: &Pod<'_>) -> bool {
    since(pod) <= NOW - 1_800
}

fn has(pod: &Pod<'_>, dimension: usize, value: &str) -> bool {
    pod.1.value(DIMENSIONS[dimension]).as_deref() == Some(value)
}

impl Reading {
    pub(super) fn has(self, fault: Fault) -> bool {
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
            Lack::Image | Lack::Crash | Lack::Resources => true,
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
                let is_of_its_own = of_images
                    && dimension == "registry"
                    && 4 * a >= s
                    && self.has_a_kind_of_its_own(&with, set);
                all.push(Weight {
                    dimension: place,
                    explains: may && 10 * a >= 9 * s && (of_images || times(3)),
                    stands_out: may
                        && a >= 3
                        && part * a >= s
                        && (of_images && 2 * a >= s || is_of_its_own || times(8)),
                    value,
                    a,
                    k,
                    h,
                });
            }
        }
        all
    }

    /// Whether what is said of the pods of a registry is of one kind, and of no other pod.
    fn has_a_kind_of_its_own(self, with: &[&Pod<'_>], set: &[Pod<'_>]) -> bool {
        let kinds: BTreeSet<TextKind> = with.iter().filter_map(|pod| self.kind(pod)).collect();
        let kind_of_others = |pod: &Pod<'_>| {
            let is_other = with.iter().all(|one| one.0 != pod.0);
            self.kind(pod).filter(|_| is_other)
        };
        let mut others = set.iter().filter_map(kind_of_others);
        let is_one =
            kinds.len() == 1 || !kinds.is_empty() && self.has(Fault::RegistriesOfSomeKinds);
        is_one
            && !self.has(Fault::RegistriesNeedAHalf)
            && (self.has(Fault::RegistriesMayShareAKind)
                || !others.any(|kind| kinds.contains(&kind)))
    }

    /// 13.5, from 1 on, before what is left without a value is divided.
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
            found.push(Group::new(Some((taken.dimension, taken.value)), with));
            rest = without;
        }
        if !rest.is_empty() {
            found.push(Group::new(None, rest));
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

    /// 13.5 and 13.6: each problem in a line.
    pub(super) fn read(self, given: &[Given]) -> Vec<String> {
        let well: Vec<&Given> = given.iter().filter(|one| one.affected.is_none()).collect();
        let mut all: Vec<(Lack, Group<'_>)> = Vec::new();
        for lack in Lack::ALL {
            let of_cause = |pod: &Pod<'_>| pod.1.affected.is_some_and(|(_, other)| other == lack);
            let set: Vec<Pod<'_>> = given.iter().enumerate().filter(of_cause).collect();
            let (old, mut new): (Vec<Pod<'_>>, Vec<Pod<'_>>) = set.into_iter().partition(is_old);
            let (mut problems, mut rest): (Vec<Group<'_>>, Vec<Pod<'_>>) = (Vec::new(), Vec::new());
            for Group { shared, mut pods, .. } in self.grouped(&old, &well, lack, true) {
                if let Some((dimension, value)) = &shared {
                    let (joined, others): (Vec<Pod<'_>>, Vec<Pod<'_>>) =
                        new.into_iter().partition(|pod| has(pod, *dimension, value));
                    pods.extend(joined);
                    new = others;
                }
                match shared.is_some() && self.stands_still(&pods) {
                    true => problems.push(Group::new(shared, pods)),
                    false => rest.extend(pods),
                }
            }
            rest.extend(new);
            for group in self.grouped(&rest, &well, lack, false) {
                match group.shared {
                    Some(_) => problems.push(group),
                    None => problems.extend(self.divided(group.pods, lack)),
                }
            }
            // A problem with a value is its cause, dimension and value.
            let mut merged: Vec<Group<'_>> = Vec::new();
            for group in problems {
                let is_same =
                    |other: &&mut Group<'_>| other.shared.is_some() && other.shared == group.shared;
                match merged.iter_mut().find(is_same) {
                    Some(other) => other.pods.extend(group.pods),
                    None => merged.push(group),
                }
            }
            all.extend(merged.into_iter().map(|group| (lack, group)));
        }
        let mut stated: Vec<_> = self.placed(all).iter().map(|one| self.stated(one)).collect();
        stated.sort();
        stated.into_iter().map(|(_, line)| line).collect()
    }

    /// A problem in its order, and in a line.
    fn stated(self, parts: &[(Lack, Group<'_>)]) -> (Order, String) {
        let pods: Vec<Pod<'_>> = parts.iter().flat_map(|(_, one)| one.pods.clone()).collect();
        let (since, earlier) = self.since(&pods);
        let stands = |pods: &[Pod<'_>]| pods.len() == 1 || self.stands_still(pods);
        let is_still = parts.iter().all(|(_, one)| stands(&one.pods));
        let (lack, most) = &parts[0];
        let mut told = self.told(&most.pods, most.left);
        let (mut causes, mut shared) = (lack.name().to_owned(), most.shared.clone());
        if parts.len() > 1 {
            told = Told { texts: pods.len(), next: None, reasons: 0, ..told };
            shared = parts.iter().find_map(|(_, one)| one.shared.clone().filter(is_node));
            causes = several(parts);
        }
        let (dimension, value) = shared.map_or_else(Default::default, |(dimension, value)| {
            (DIMENSIONS[dimension].to_owned(), value)
        });
        let order = (is_still, std::cmp::Reverse(pods.len()), since, lack.name(), value.clone());
        (order, line((&causes, &dimension, &value), pods.len(), since, earlier, told))
    }

    /// The problems, where those of three causes at one node are together ([§13.15](crate::specification#s13-15)): in
    /// each, those with most pods first.
    fn placed<'a>(self, mut all: Vec<(Lack, Group<'a>)>) -> Vec<Vec<(Lack, Group<'a>)>> {
        let nodes: BTreeSet<(usize, String)> =
            all.iter().filter_map(|(_, one)| one.shared.clone().filter(is_node)).collect();
        let mut placed = Vec::new();
        for node in nodes {
            let (mut there, others): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(_, one)| Self::is_at(one, &node));
            let stating = there.iter().filter(|(_, one)| one.shared.as_ref() == Some(&node));
            let stating = stating.count();
            // A pod or two of a cause are no sign.
            let pods_of = |lack: Lack| {
                let of_it = there.iter().filter(|(other, _)| *other == lack);
                of_it.map(|(_, one)| one.pods.len()).sum::<usize>()
            };
            let is_sign = |lack: &Lack| pods_of(*lack) >= 3;
            let causes: BTreeSet<Lack> =
                there.iter().map(|(lack, _)| *lack).filter(is_sign).collect();
            all = others;
            let least = if self.has(Fault::TwoCausesAreSeveral) { 2 } else { 3 };
            if causes.len() >= least && stating >= 2 {
                there.sort_by_key(|(lack, one)| {
                    (std::cmp::Reverse(one.pods.len()), self.since(&one.pods).0, lack.name())
                });
                placed.push(there);
            } else {
                all.extend(there);
            }
        }
        placed.extend(all.into_iter().map(|one| vec![one]));
        placed
    }

    fn is_at(one: &Group<'_>, node: &(usize, String)) -> bool {
        let there = one.pods.iter().filter(|pod| has(pod, node.0, &node.1)).count();
        match &one.shared {
            Some(shared) if shared == node => true,
            Some((dimension, _))
                if !["registry", "namespace"].contains(&DIMENSIONS[*dimension]) =>
            {
                false
            }
            _ => 10 * there >= 9 * one.pods.len() && there >= 3,
        }
    }
}

/// A problem in a line.
/// What problems are ordered by.
type Order = (bool, std::cmp::Reverse<usize>, i64, &'static str, String);

fn is_node((dimension, _): &(usize, String)) -> bool {
    DIMENSIONS[*dimension] == "node"
}

/// The causes of a problem that has several, each with its pods.
fn several(parts: &[(Lack, Group<'_>)]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (lack, one) in parts {
        match counts.iter_mut().find(|(name, _)| *name == lack.name()) {
            Some((_, pods)) => *pods += one.pods.len(),
            None => counts.push((lack.name(), one.pods.len())),
        }
    }
    counts.sort_by_key(|(_, pods)| std::cmp::Reverse(*pods));
    causes_line(counts.into_iter())
}

/// Causes with their pods.
pub(super) fn causes_line<'a>(causes: impl Iterator<Item = (&'a str, usize)>) -> String {
    causes.map(|(cause, pods)| format!("{cause}={pods}")).collect::<Vec<_>>().join("+")
}

pub(super) fn line(
    (cause, dimension, value): (&str, &str, &str),
    pods: usize,
    since: i64,
    earlier: Option<(usize, i64)>,
    told: Told,
) -> String {
    let earlier =
        earlier.map_or_else(String::new, |(pods, since)| format!(" ({pods} since {since})"));
    format!("{cause} {dimension} {value} {pods} since {since}{earlier}: {}", told.line())
}
