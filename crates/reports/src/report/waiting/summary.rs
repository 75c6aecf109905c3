//! What the section says, whatever the format of the report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::WorkloadName;
use super::account::Place;
use super::costs::Cost;
use podinit_core::lifecycle::{Cause, Stage};

/// What waiting costs. Hours are pod-hours; quantiles are in seconds, to the millisecond.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitingReport {
    /// How long all startups took together: to ready, to another end, or so far
    pub pod_hours: f64,
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
    pub images: Vec<ImageCost>,
    /// How many more images pods waited for
    pub more_images: usize,
    /// The ten workloads whose pods waited longest
    pub workloads: Vec<WorkloadCost>,
    /// How many more workloads there are
    pub more_workloads: usize,
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
    pub pod_hours: f64,
    /// The share of all pod-hours, 0 to 1
    pub share: f64,
    /// By cause, the longest first
    pub causes: Vec<CauseCost>,
}

/// How long pods waited in a stage for one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseCost {
    /// `None` is not known: podinit had not seen the pod yet, or the record holds only later causes
    pub cause: Option<&'static str>,
    pub pod_hours: f64,
    /// The share of all pod-hours, 0 to 1
    pub share: f64,
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
    pub p50_at_least: Option<f64>,
    /// What the 99th percentile would have been at least
    pub p99_at_least: Option<f64>,
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

/// How long pods waited for one image: until it was pulled, or while it could not be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImageCost {
    pub image: String,
    pub pods: u64,
    pub pod_hours: f64,
}

/// How long the pods of one workload took to start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadCost {
    pub namespace: String,
    /// The kind of the owner in small letters; `pod` of pods without one
    pub workload_type: String,
    /// `None` is all pods of the namespace without an owner
    pub workload: Option<String>,
    pub pods: u64,
    pub pod_hours: f64,
}

impl ImageCost {
    pub(super) fn of((image, cost): (String, Cost)) -> Self {
        Self { image, pods: cost.pods, pod_hours: hours(cost.nanos) }
    }
}

impl WorkloadCost {
    pub(super) fn of(((namespace, workload_type, workload), cost): (WorkloadName, Cost)) -> Self {
        let pod_hours = hours(cost.nanos);
        Self { namespace, workload_type, workload, pods: cost.pods, pod_hours }
    }
}

/// Startups that are being added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiters {
    pub(super) pods: u64,
    pub(super) nanos: u128,
}

impl Waiters {
    pub(super) fn summary(self) -> StartupCost {
        StartupCost { pods: self.pods, pod_hours: hours(self.nanos) }
    }
}

/// Pod-hours of nanoseconds.
fn hours(nanos: u128) -> f64 {
    nanos as f64 / 3.6e12
}

/// How long pods were where, in nanoseconds.
pub(super) struct Places<'a> {
    places: &'a BTreeMap<Place, u128>,
    all: u128,
}

impl<'a> Places<'a> {
    pub(super) fn of(places: &'a BTreeMap<Place, u128>) -> Self {
        Self { places, all: places.values().sum() }
    }

    pub(super) fn hours(&self) -> f64 {
        hours(self.all)
    }

    fn share(&self, nanos: u128) -> f64 {
        nanos as f64 / self.all.max(1) as f64
    }

    pub(super) fn stages(&self) -> Vec<StageCost> {
        let stages = Stage::ALL.into_iter().map(Some).chain([None]);
        let stages = stages.map(|stage| {
            let of_stage = self.places.iter().filter(|((one, _), _)| *one == stage);
            let nanos = of_stage.clone().map(|(_, nanos)| *nanos).sum();
            let causes = of_stage.map(|((_, cause), nanos)| self.cause(*cause, *nanos));
            let mut causes: Vec<_> = causes.filter(|_| stage.is_some()).collect();
            causes.sort_by(|one, other| other.pod_hours.total_cmp(&one.pod_hours));
            StageCost {
                stage: stage.map(Stage::as_str),
                pod_hours: hours(nanos),
                share: self.share(nanos),
                causes,
            }
        });
        stages.filter(|stage| stage.pod_hours > 0.0).collect()
    }

    fn cause(&self, cause: Option<Cause>, nanos: u128) -> CauseCost {
        let cause = cause.map(Cause::as_str);
        CauseCost { cause, pod_hours: hours(nanos), share: self.share(nanos) }
    }
}
