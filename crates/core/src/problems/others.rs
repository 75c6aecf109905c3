//! The pods that start well, with which the affected ones are compared
//! ([§13.4](crate::specification#s13-4)).

use std::sync::Arc;

use super::values::{self, Names, Values};
use crate::lifecycle::{Milestone, Record, RecordedImage};
use crate::timestamp::Timestamp;

/// Pods in flight that no cause affects, and startups that ended as ready or completed. What they have is counted only
/// once it is known which values are looked at ([§13.8](crate::specification#s13-8)).
#[derive(Debug, Default)]
pub(super) struct Others {
    well: Vec<Other>,
    /// Those that completed, with their end in place of Ready ([§13.10](crate::specification#s13-10))
    completed: Vec<(Timestamp, Other)>,
}

/// What one of them has.
#[derive(Debug)]
pub(super) struct Other {
    /// All but images and registries
    pub values: Values,
    /// The images of its containers
    pub images: Box<[Arc<str>]>,
    /// If it is known when it became ready
    pub ready: Option<Box<BecameReady>>,
}

/// A startup that ended as ready.
#[derive(Debug)]
pub(super) struct BecameReady {
    pub at: Timestamp,
    /// The images that it pulled
    pub pulled: Box<[Arc<str>]>,
}

impl Others {
    /// A startup that ended as ready.
    pub(super) fn add_ready(&mut self, record: &Record, names: &mut Names) {
        let ready = record.reached(Milestone::Ready).map(|at| {
            let pulled = pulled(record);
            Box::new(BecameReady { at, pulled })
        });
        self.well.push(Other {
            ready,
            ..Other::of(record, names)
        });
    }

    /// A startup that completed at `at`.
    pub(super) fn add_completed(&mut self, record: &Record, at: Timestamp, names: &mut Names) {
        self.completed.push((at, Other::of(record, names)));
    }

    /// A pod in flight.
    pub(super) fn add(&mut self, record: &Record, names: &mut Names) {
        self.well.push(Other::of(record, names));
    }

    /// *n*: how many there are.
    pub(super) const fn count(&self) -> usize {
        self.well.len()
    }

    /// Each of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Other> {
        self.well.iter()
    }

    /// Those that completed, each with its end.
    pub(super) fn completed(&self) -> impl Iterator<Item = &(Timestamp, Other)> {
        self.completed.iter()
    }
}

impl Other {
    fn of(record: &Record, names: &mut Names) -> Self {
        let images = record.containers.iter();
        Self {
            values: values::shared_by_all(record, names),
            images: images.filter_map(|one| one.image.clone()).collect(),
            ready: None,
        }
    }
}

/// The images that a pod pulled.
fn pulled(record: &Record) -> Box<[Arc<str>]> {
    let was_pulled = |image: &RecordedImage| matches!(image, RecordedImage::Pulled { .. });
    let pulls = record.pulls.iter().filter(|pull| was_pulled(&pull.image));
    let images = pulls.filter_map(|pull| {
        let mut containers = record.containers.iter();
        let of_pull = containers.find(|one| one.name == pull.container && one.init == pull.init);
        of_pull?.image.clone()
    });
    images.collect()
}
