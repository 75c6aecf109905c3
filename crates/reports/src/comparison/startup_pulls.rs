//! The image pulls of a startup, as far as Events show them ([§9.3](crate::specification#s9-3),
//! [§15.2](crate::specification#s15-2)).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::spans::{TimeSpan, known_pulls, union};
use podinit_core::lifecycle::{Latency, Record, StartupImages};
use podinit_core::timestamp::Timestamp;

/// How long the images of a pod were pulled.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StartupPulls {
    /// Whether its images were there
    pub(super) images: StartupImages,
    /// The time in which any image was pulled; `None` where that is not known of each of them
    pub(super) all: Option<Latency>,
    by_registry: Box<[(Arc<str>, Latency)]>,
}

impl StartupPulls {
    pub(super) fn from_record(record: &Record) -> Self {
        let images = record.needed.images;
        let Some(pulls) = known_pulls(record) else {
            return Self { images, ..Self::default() };
        };
        let at_any_time = (Timestamp::EPOCH, Timestamp::from_nanos(i64::MAX));
        let length = |spans: &mut dyn Iterator<Item = TimeSpan>| {
            Latency::from_nanos(union(spans, at_any_time))
        };
        let registries: BTreeSet<&Arc<str>> =
            pulls.clone().map(|(pull, _)| &pull.registry).collect();
        let of = |registry: &Arc<str>| {
            let own = pulls.clone().filter(|(pull, _)| pull.registry == *registry);
            (Arc::clone(registry), length(&mut own.map(|(_, span)| span)))
        };
        let all = length(&mut pulls.clone().map(|(_, span)| span));
        Self { images, all: Some(all), by_registry: registries.into_iter().map(of).collect() }
    }

    /// The time in which images of this registry were pulled; `None` where none was.
    pub(super) fn from(&self, registry: &str) -> Option<Latency> {
        let mut all = self.by_registry.iter();
        all.find(|(own, _)| **own == *registry).map(|(_, took)| *took)
    }

    /// The registries that images were pulled from.
    pub(super) fn registries(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_registry.iter().map(|(registry, _)| registry)
    }
}
