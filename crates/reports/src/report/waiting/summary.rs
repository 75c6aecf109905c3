//! What the section says, whatever the format of the report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::account::WaitingPlace;
use super::costs::{SplitNanoseconds, WaitingCost};
use podinit_core::lifecycle::{Cause, Stage};

/// What waiting costs. Hours are pod-hours; quantiles are in seconds, to the millisecond.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitingReport {
    /// Of which startups all shares are: `ready`, or `not_ready` where none became ready
    pub shares_of: &'static str,
    /// Those that became ready
    pub ready: StartupCost,
    /// Those that are in flight
    pub in_flight: StartupCost,
    /// Those that ended without being ready
    pub ended_otherwise: StartupCost,
    /// How many more startups there are whose beginning or end is not known
    pub not_counted: u64,
    /// By stage in the order of a startup, at last what lies in none; without those that took no time
    pub stages: Vec<StageCost>,
    /// What startups that became ready could have gained at most
    pub bounds: Vec<Saving>,
    /// The ten images for which pods waited longest
    pub(crate) images: Vec<NamedCost<WaitingImage>>,
    /// How many more images pods waited for
    pub(super) more_images: usize,
    /// The ten workloads whose pods waited longest
    pub(crate) workloads: Vec<NamedCost<WaitingWorkload>>,
    /// How many more workloads there are
    pub(super) more_workloads: usize,
}

/// How long some startups took together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StartupCost {
    pub pods: u64,
    pub pod_hours: f64,
}

/// How long pods were in a stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageCost {
    /// `None` is the time in which no stage was observed
    pub stage: Option<&'static str>,
    /// Of startups that became ready
    pub pod_hours: f64,
    /// Of those in flight, and of those that ended otherwise
    pub not_ready_pod_hours: f64,
    /// The share of all pod-hours of the startups that `shares_of` names, 0 to 1
    pub share: f64,
    /// By cause, the one with the largest share of either kind of startups first
    pub causes: Vec<CauseCost>,
}

/// How long pods waited in a stage for one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseCost {
    /// `None` is not known: podinit had not seen the pod yet, or the record holds only later causes
    pub cause: Option<&'static str>,
    /// Of startups that became ready
    pub pod_hours: f64,
    /// Of those in flight, and of those that ended otherwise
    pub not_ready_pod_hours: f64,
    /// The share of all pod-hours of the startups that `shares_of` names, 0 to 1
    pub share: f64,
    /// The larger of its shares of both kinds of startups
    #[serde(skip)]
    pub(super) largest_share: f64,
}

/// What startups could have gained at most without one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saving {
    /// `images_present`, `no_wait_for_node`, `init_at_once` or `probed_every_second`
    pub without: &'static str,
    /// Of how many startups it is known. The figures are of these alone
    pub known: u64,
    /// How many startups became ready
    pub of: u64,
    /// The median from Created to Ready, as it was
    pub p50: Option<f64>,
    /// The 99th percentile; `None` of fewer than 100 startups
    pub p99: Option<f64>,
    /// What the median would have been at least
    pub(super) p50_at_least: Option<f64>,
    /// What the 99th percentile would have been at least
    pub(super) p99_at_least: Option<f64>,
    pub saves_at_most: SavesAtMost,
}

/// Upper bounds of what startups could have gained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SavesAtMost {
    /// By so much the median could have been shorter at most
    pub p50: Option<f64>,
    /// By so much the 99th percentile could have been shorter at most
    pub p99: Option<f64>,
    /// All startups together
    pub pod_hours: f64,
}

/// How long the pods with one name waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct NamedCost<N> {
    #[serde(flatten)]
    pub name: N,
    /// Those that became ready
    pub pods: u64,
    pub pod_hours: f64,
    pub(super) not_ready_pods: u64,
    pub not_ready_pod_hours: f64,
}

/// An image that pods waited for: until it was pulled, or while it could not be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct WaitingImage {
    pub image: String,
}

/// A workload whose pods took time to start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct WaitingWorkload {
    pub namespace: String,
    /// The kind of the owner in small letters; `pod` of pods without one
    pub(crate) workload_type: String,
    /// `None` is all pods of the namespace without an owner
    pub workload: Option<String>,
}

impl<N> NamedCost<N> {
    pub(super) fn from_cost((name, cost): (N, WaitingCost)) -> Self {
        let WaitingCost { pods: [pods, not_ready_pods], nanos } = cost;
        let [pod_hours, not_ready_pod_hours] = nanos.map(hours);
        Self { name, pods, pod_hours, not_ready_pods, not_ready_pod_hours }
    }
}

/// Startups that are being added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WaitingStartups {
    pub(super) pods: u64,
    pub(super) nanos: u128,
}

impl WaitingStartups {
    pub(super) fn summary(self) -> StartupCost {
        StartupCost { pods: self.pods, pod_hours: hours(self.nanos) }
    }
}

/// Pod-hours of nanoseconds.
fn hours(nanos: u128) -> f64 {
    nanos as f64 / 3.6e12
}

/// How long pods were where, in nanoseconds.
pub(super) struct PlaceTotals<'a> {
    places: &'a BTreeMap<WaitingPlace, SplitNanoseconds>,
    all: SplitNanoseconds,
    is_of_ready: bool,
}

/// Nanoseconds of both kinds of startups together, each by itself.
fn sum<'a>(all: impl Iterator<Item = &'a SplitNanoseconds>) -> SplitNanoseconds {
    all.fold(SplitNanoseconds::default(), |[ready, others], [one, other]| {
        [ready + one, others + other]
    })
}

impl<'a> PlaceTotals<'a> {
    pub(super) fn new(
        places: &'a BTreeMap<WaitingPlace, SplitNanoseconds>,
        is_of_ready: bool,
    ) -> Self {
        Self { places, all: sum(places.values()), is_of_ready }
    }

    /// The shares of both kinds of startups.
    fn shares(&self, [ready, others]: SplitNanoseconds) -> [f64; 2] {
        let share = |nanos: u128, all: u128| nanos as f64 / all.max(1) as f64;
        [share(ready, self.all[0]), share(others, self.all[1])]
    }

    fn share(&self, nanos: SplitNanoseconds) -> f64 {
        self.shares(nanos)[usize::from(!self.is_of_ready)]
    }

    pub(super) fn stages(&self) -> Vec<StageCost> {
        let stages = Stage::ALL.into_iter().map(Some).chain([None]);
        let stages = stages.map(|stage| {
            let of_stage = self.places.iter().filter(|((one, _), _)| *one == stage);
            let nanos = sum(of_stage.clone().map(|(_, nanos)| nanos));
            let causes = of_stage.map(|((_, cause), nanos)| self.cause(*cause, *nanos));
            let mut causes: Vec<_> = causes.filter(|_| stage.is_some()).collect();
            causes.sort_by(|one, other| other.largest_share.total_cmp(&one.largest_share));
            let [pod_hours, not_ready_pod_hours] = nanos.map(hours);
            let stage = stage.map(Stage::as_str);
            StageCost { stage, pod_hours, not_ready_pod_hours, share: self.share(nanos), causes }
        });
        stages.filter(|stage| stage.pod_hours + stage.not_ready_pod_hours > 0.0).collect()
    }

    fn cause(&self, cause: Option<Cause>, nanos: SplitNanoseconds) -> CauseCost {
        let [pod_hours, not_ready_pod_hours] = nanos.map(hours);
        let [one, other] = self.shares(nanos);
        CauseCost {
            cause: cause.map(Cause::as_str),
            pod_hours,
            not_ready_pod_hours,
            share: self.share(nanos),
            largest_share: one.max(other),
        }
    }
}
