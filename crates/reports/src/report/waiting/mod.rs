//! What waiting costs ([§8.11](crate::specification#s8-11)): how much of all startup time each stage and cause took, and
//! what startups could have gained at most.
//!
//! ```text
//! Record ─▶ Account (when it was where, and why) ─┬▶ stages and causes, images, workloads
//!                                                 └▶ Without (what could have been saved at most) ─▶ quantiles
//! ```

mod account;
#[cfg(test)]
mod account_tests;
mod bounds;
#[cfg(test)]
mod bounds_tests;
mod costs;
#[cfg(test)]
mod fixtures;
mod probe_wait;
mod summary;
mod tables;

use std::collections::BTreeMap;

use account::{AccountState, WaitingAccount, WaitingPlace};
use bounds::StartupBounds;
use costs::{CostsByName, SplitNanoseconds};
use podinit_core::lifecycle::Record;
use podinit_core::pod::Workload;
use podinit_core::timestamp::Timestamp;
pub use summary::Saving;
pub(super) use summary::WaitingReport;
use summary::{NamedCost, PlaceTotals, WaitingImage, WaitingStartups, WaitingWorkload};
pub(super) use tables::{AT_MOST, WAITING, WaitingSection};

/// Adds up what startups cost.
pub(super) struct WaitingCosts {
    waiters: [WaitingStartups; AccountState::ALL.len()],
    not_counted: u64,
    /// Nanoseconds of startups that became ready, and of the others
    places: BTreeMap<WaitingPlace, SplitNanoseconds>,
    bounds: StartupBounds,
    images: CostsByName<WaitingImage>,
    workloads: CostsByName<WaitingWorkload>,
}

impl WaitingCosts {
    pub(super) fn new() -> Self {
        Self {
            waiters: Default::default(),
            not_counted: 0,
            places: BTreeMap::new(),
            bounds: StartupBounds::default(),
            images: CostsByName::default(),
            workloads: CostsByName::default(),
        }
    }

    /// Adds a startup. One in flight lasts until `now`. `knows_probes` says whether a pod without probes has none.
    pub(super) fn add(&mut self, record: &Record, now: Option<Timestamp>, knows_probes: bool) {
        let account = match WaitingAccount::from_record(record, now) {
            Ok(Some(account)) => account,
            Ok(None) => return,
            Err(_) => return self.leave_out(),
        };
        let (whole, is_ready) = (account.nanos(), account.state == AccountState::Ready);
        let waiters = &mut self.waiters[account.state as usize];
        waiters.pods += 1;
        waiters.nanos += u128::from(whole);
        for (place, nanos) in account.places() {
            self.places.entry(place).or_default()[usize::from(!is_ready)] += u128::from(nanos);
        }
        for (image, nanos) in account.images(record) {
            self.images.add(WaitingImage { image: image.to_string() }, nanos, is_ready);
        }
        self.workloads.add(workload(record), whole, is_ready);
        if is_ready {
            self.bounds.add(record, &account, knows_probes);
        }
    }

    /// A startup is not counted: nothing says when it was.
    pub(super) fn leave_out(&mut self) {
        self.not_counted += 1;
    }

    /// What it amounts to; `None` of no startups.
    pub(super) fn report(self) -> Option<WaitingReport> {
        let [ready, in_flight, ended] = self.waiters;
        let (images, more_images) = self.images.into_dearest();
        let (workloads, more_workloads) = self.workloads.into_dearest();
        let is_of_ready = ready.pods > 0;
        let places = PlaceTotals::new(&self.places, is_of_ready);
        (ready.pods + in_flight.pods + ended.pods > 0).then(|| WaitingReport {
            shares_of: if is_of_ready { "ready" } else { "not_ready" },
            ready: ready.summary(),
            in_flight: in_flight.summary(),
            ended_otherwise: ended.summary(),
            not_counted: self.not_counted,
            stages: places.stages(),
            bounds: self.bounds.summary(),
            images: images.into_iter().map(NamedCost::from_cost).collect(),
            more_images,
            workloads: workloads.into_iter().map(NamedCost::from_cost).collect(),
            more_workloads,
        })
    }
}

/// Pods without an owner have nothing in common but that.
fn workload(record: &Record) -> WaitingWorkload {
    let owner = record.pod.workload.as_deref();
    WaitingWorkload {
        namespace: record.pod.namespace.to_string(),
        workload_type: Workload::type_of(owner.map_or("Pod", |owner| &owner.kind)),
        workload: owner.map(|owner| owner.name.to_string()),
    }
}
