//! Where families come from: everything exposed implements [`FamilySource`], whoever counts it.

use std::sync::Arc;

use super::exposition::encoder::{Encoder, Head, Label, Number};
use super::families::{
    BUILD_INFO, CLOCK_ANOMALIES, CREATED_TO_READY, DISCOVERED, EVICTED, FINISHED, FamilyDoc,
    INFLIGHT, LABEL_VALUES_DROPPED, LAST_CONTACT_AGE, OBSERVATION_GAP, OLDEST_INFLIGHT, REENTRIES,
    REFUSED, RELISTS, REMEMBERED, SCHEDULED_TO_READY, STAGE_DURATION, SYNCED, UNOBSERVED,
    WATCH_DELIVERY, WATCH_ERRORS, WATCH_EVENTS,
};
use super::histogram::Snapshot;
use super::store::{SeriesSet, Store};
use crate::lifecycle::{
    AnomalyKind, EvictedState, Interval, Milestone, Outcome, RefusalReason, Stage, UnobservedReason,
};
use crate::watch::stats::{EventType, RelistReason, WatchErrorReason, WatchStats};

/// Gives its families to a scrape, each whole and always in the same order. Must not make anybody
/// wait who counts.
pub trait FamilySource: Send + Sync {
    /// Writes the families with their present values.
    fn collect(&self, out: &mut dyn Encoder);
}

/// The counters of the watch, which keeps them itself. Each list holds every value of its label,
/// always in the same order.
pub trait WatchSource: Send + Sync {
    /// Events by `type`
    fn events(&self) -> Vec<(&'static str, u64)>;
    /// Faults by `reason`
    fn errors(&self) -> Vec<(&'static str, u64)>;
    /// Lists by `reason`
    fn relists(&self) -> Vec<(&'static str, u64)>;
    /// Whether the watch is in sync
    fn synced(&self) -> bool;
    /// Seconds since the API server was last heard, by the list-watch that has waited longest;
    /// `None` before the first contact
    fn last_contact_age_seconds(&self) -> Option<f64>;
}

/// Writes a family of numbers with one label.
pub(super) fn by_label<'a>(
    out: &mut dyn Encoder,
    family: &FamilyDoc,
    values: impl IntoIterator<Item = (&'a str, Number)>,
) {
    out.family(Head::from(family));
    for (value, number) in values {
        let labels = family.labels.iter().map(|name| (*name, value));
        out.number(&labels.collect::<Vec<Label<'_>>>(), number);
    }
}

/// Writes a family of one number without labels.
pub(super) fn single(out: &mut dyn Encoder, family: &FamilyDoc, number: u64) {
    out.family(Head::from(family));
    out.number(&[], Number::Integer(number));
}

pub(super) fn integers<'a>(
    values: impl IntoIterator<Item = (&'a str, u64)>,
) -> impl Iterator<Item = (&'a str, Number)> {
    let values = values.into_iter();
    values.map(|(value, number)| (value, Number::Integer(number)))
}

impl<S: FamilySource> FamilySource for Arc<S> {
    fn collect(&self, out: &mut dyn Encoder) {
        self.as_ref().collect(out);
    }
}

impl FamilySource for Store {
    fn collect(&self, out: &mut dyn Encoder) {
        self.collect_durations(out);
        self.collect_books(out);
        self.collect_irregularities(out);
        out.family(Head::from(&WATCH_DELIVERY));
        out.histogram(&[], &self.delivery.snapshot());
        by_label(out, &LABEL_VALUES_DROPPED, integers(self.dropped()));
        out.family(Head::from(&OBSERVATION_GAP));
        out.number(&[], Number::Float(self.gaps.get() as f64 / 1e9));
        self.collect_cap(out);
    }
}

impl Store {
    fn collect_durations(&self, out: &mut dyn Encoder) {
        let sets = self.sorted_sets();
        let mut buffer = Snapshot::default();
        out.family(Head::from(&STAGE_DURATION));
        for stage in Stage::ALL {
            let labels = [("stage", stage.as_str())];
            self.collect_interval(out, &sets, Interval::Stage(stage), &labels, &mut buffer);
        }
        out.family(Head::from(&SCHEDULED_TO_READY));
        self.collect_interval(out, &sets, Interval::ScheduledToReady, &[], &mut buffer);
        out.family(Head::from(&CREATED_TO_READY));
        self.collect_interval(out, &sets, Interval::CreatedToReady, &[], &mut buffer);
    }

    fn collect_interval<'a>(
        &'a self,
        out: &mut dyn Encoder,
        sets: &[&'a SeriesSet],
        interval: Interval,
        first: &[Label<'a>],
        buffer: &mut Snapshot,
    ) {
        let mut labels: Vec<Label<'a>> = Vec::with_capacity(first.len() + self.labels.len());
        for set in sets {
            labels.clear();
            labels.extend_from_slice(first);
            let names = self.labels.iter().map(String::as_str);
            labels.extend(names.zip(set.values.iter().map(AsRef::as_ref)));
            set.interval(interval).read_into(buffer);
            out.histogram(&labels, buffer);
        }
    }

    /// The families that add up come from one balance.
    fn collect_books(&self, out: &mut dyn Encoder) {
        let balance = self.books.balance();
        let stages = Stage::ALL.map(Stage::as_str);
        by_label(
            out,
            &INFLIGHT,
            integers(stages.into_iter().zip(balance.in_flight)),
        );
        let oldest = stages.into_iter().zip(&self.oldest);
        by_label(
            out,
            &OLDEST_INFLIGHT,
            oldest.filter_map(|(stage, oldest)| {
                Some((stage, Number::Float(oldest.get()?.as_seconds_f64())))
            }),
        );
        single(out, &DISCOVERED, balance.discovered);
        let outcomes = Outcome::ALL.map(Outcome::as_str);
        by_label(
            out,
            &FINISHED,
            integers(outcomes.into_iter().zip(balance.finished)),
        );
    }

    /// What the cap on remembered pods has done.
    fn collect_cap(&self, out: &mut dyn Encoder) {
        single(out, &REMEMBERED, self.remembered.get());
        let states = EvictedState::ALL.map(EvictedState::as_str);
        let evicted = self.evicted.each_ref().map(|count| count.get());
        by_label(out, &EVICTED, integers(states.into_iter().zip(evicted)));
        let reasons = RefusalReason::ALL.map(RefusalReason::as_str);
        let refused = self.refused.each_ref().map(|count| count.get());
        by_label(out, &REFUSED, integers(reasons.into_iter().zip(refused)));
    }

    fn collect_irregularities(&self, out: &mut dyn Encoder) {
        out.family(Head::from(&UNOBSERVED));
        for (stage, reasons) in Stage::ALL.into_iter().zip(&self.unobserved) {
            for (reason, count) in UnobservedReason::ALL.into_iter().zip(reasons) {
                let labels = [("stage", stage.as_str()), ("reason", reason.as_str())];
                out.number(&labels, Number::Integer(count.get()));
            }
        }
        let milestones = Milestone::REENTERABLE.map(Milestone::as_str);
        let reentries = self.reentries.each_ref().map(|count| count.get());
        by_label(
            out,
            &REENTRIES,
            integers(milestones.into_iter().zip(reentries)),
        );
        let kinds = AnomalyKind::ALL.map(AnomalyKind::as_str);
        let anomalies = self.anomalies.each_ref().map(|count| count.get());
        by_label(
            out,
            &CLOCK_ANOMALIES,
            integers(kinds.into_iter().zip(anomalies)),
        );
    }
}

impl WatchSource for WatchStats {
    fn events(&self) -> Vec<(&'static str, u64)> {
        EventType::ALL
            .map(|kind| (kind.as_str(), self.events(kind)))
            .into()
    }

    fn errors(&self) -> Vec<(&'static str, u64)> {
        WatchErrorReason::ALL
            .map(|reason| (reason.as_str(), self.errors(reason)))
            .into()
    }

    fn relists(&self) -> Vec<(&'static str, u64)> {
        RelistReason::ALL
            .map(|reason| (reason.as_str(), self.relists(reason)))
            .into()
    }

    fn synced(&self) -> bool {
        self.synced()
    }

    fn last_contact_age_seconds(&self) -> Option<f64> {
        let age = self.last_contact_age()?;
        Some(age.as_secs_f64())
    }
}

/// The families of the watch.
pub(super) struct WatchFamilies(pub(super) Arc<dyn WatchSource>);

impl FamilySource for WatchFamilies {
    fn collect(&self, out: &mut dyn Encoder) {
        let Self(watch) = self;
        by_label(out, &WATCH_EVENTS, integers(watch.events()));
        by_label(out, &WATCH_ERRORS, integers(watch.errors()));
        by_label(out, &RELISTS, integers(watch.relists()));
        single(out, &SYNCED, watch.synced().into());
        out.family(Head::from(&LAST_CONTACT_AGE));
        if let Some(seconds) = watch.last_contact_age_seconds() {
            out.number(&[], Number::Float(seconds));
        }
    }
}

/// Says which podinit this is.
#[derive(Debug)]
pub(super) struct BuildInfo;

impl BuildInfo {
    /// The source revision, given to the build as `PODINIT_REVISION`.
    const REVISION: &str = match option_env!("PODINIT_REVISION") {
        Some(revision) => revision,
        None => "unknown",
    };
}

impl FamilySource for BuildInfo {
    fn collect(&self, out: &mut dyn Encoder) {
        let labels = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("revision", Self::REVISION),
        ];
        out.family(Head::from(&BUILD_INFO));
        out.number(&labels, Number::Integer(1));
    }
}
