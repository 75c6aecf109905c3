//! The pods that start well, with which the affected ones are compared
//! ([§13.4](crate::specification#s13-4)).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::values::{self, Dimension, Names};
use crate::image_registry;
use crate::lifecycle::{Cause, Milestone, Record, RecordedImage};
use crate::timestamp::Timestamp;

/// Pods in flight that no cause affects, and startups that ended as ready.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// How many there are
    count: usize,
    /// By what they have
    values: HashMap<(Dimension, Arc<str>), Having>,
}

/// Those that have a value.
#[derive(Debug, Default)]
struct Having {
    count: usize,
    /// When those became ready that did
    ready: Vec<Timestamp>,
    /// When those did that pulled an image with the value
    ready_with_pull: Vec<Timestamp>,
}

impl Others {
    /// A startup that ended as ready.
    pub(super) fn add_ready(&mut self, record: &Record, names: &mut Names) {
        self.add(record, names);
        let Some(ready) = record.reached(Milestone::Ready) else {
            return;
        };
        for key in having(record, names) {
            self.values.entry(key).or_default().ready.push(ready);
        }
        for key in pulled(record, names) {
            self.values
                .entry(key)
                .or_default()
                .ready_with_pull
                .push(ready);
        }
    }

    /// A pod in flight.
    pub(super) fn add(&mut self, record: &Record, names: &mut Names) {
        self.count += 1;
        for key in having(record, names) {
            self.values.entry(key).or_default().count += 1;
        }
    }

    /// *n*: how many there are.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// *k*: how many have the value.
    pub(super) fn with(&self, dimension: Dimension, value: &Arc<str>) -> usize {
        self.having(dimension, value)
            .map_or(0, |having| having.count)
    }

    /// *h*: how many that have the value became ready after `median`, of those that pulled an image with it
    /// where the cause is about images.
    pub(super) fn healthy(
        &self,
        cause: Cause,
        dimension: Dimension,
        value: &Arc<str>,
        median: Timestamp,
    ) -> usize {
        let of_images = is_of_images(cause, dimension);
        self.having(dimension, value).map_or(0, |having| {
            let ready = if of_images {
                &having.ready_with_pull
            } else {
                &having.ready
            };
            ready.iter().filter(|ready| **ready > median).count()
        })
    }

    fn having(&self, dimension: Dimension, value: &Arc<str>) -> Option<&Having> {
        self.values.get(&(dimension, Arc::clone(value)))
    }
}

/// Whether an image or a registry is held to be at fault for a pull.
pub(super) const fn is_of_images(cause: Cause, dimension: Dimension) -> bool {
    matches!(cause, Cause::Image | Cause::Pull)
        && matches!(dimension, Dimension::Image | Dimension::Registry)
}

/// What a pod has; an image or a registry if any of its containers does.
fn having(record: &Record, names: &mut Names) -> BTreeSet<(Dimension, Arc<str>)> {
    let images = record
        .containers
        .iter()
        .filter_map(|one| one.image.as_ref());
    let mut found: BTreeSet<_> = images.flat_map(|image| keys(image, names)).collect();
    let shared = values::shared_by_all(record, names);
    found.extend(
        shared
            .all()
            .map(|(dimension, value)| (dimension, Arc::clone(value))),
    );
    found
}

/// The images that a pod pulled, and their registries.
fn pulled(record: &Record, names: &mut Names) -> BTreeSet<(Dimension, Arc<str>)> {
    let was_pulled = |image: &RecordedImage| matches!(image, RecordedImage::Pulled { .. });
    let pulls = record.pulls.iter().filter(|pull| was_pulled(&pull.image));
    let images = pulls.filter_map(|pull| {
        let mut containers = record.containers.iter();
        let of_pull = containers.find(|one| one.name == pull.container && one.kind == pull.kind);
        of_pull?.image.as_ref()
    });
    images.flat_map(|image| keys(image, names)).collect()
}

fn keys(image: &Arc<str>, names: &mut Names) -> [(Dimension, Arc<str>); 2] {
    let registry = names.shared(image_registry::of(image));
    [
        (Dimension::Image, names.shared(image)),
        (Dimension::Registry, registry),
    ]
}
