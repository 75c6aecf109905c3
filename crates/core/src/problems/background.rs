//! How many of those that start well have a value ([§13.4](crate::specification#s13-4)): counted for the values that
//! are looked at, and no others ([§13.8](crate::specification#s13-8)).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::others::{BecameReady, Other, Others};
use super::values::{Dimension, Values};
use crate::image_registry;
use crate::lifecycle::Cause;
use crate::timestamp::Timestamp;

/// What affected pods are compared with.
#[derive(Debug)]
pub(super) struct Background {
    count: usize,
    /// By dimension, the values that are looked at
    values: [HashMap<Arc<str>, Having>; Dimension::ALL.len()],
}

/// Those that have a value.
#[derive(Clone, Debug, Default)]
struct Having {
    count: usize,
    /// When those became ready that did
    ready: Vec<Timestamp>,
    /// When those did that pulled an image with the value
    ready_with_pull: Vec<Timestamp>,
    /// When those ended that completed, which are not counted
    completed: Vec<Timestamp>,
}

impl Background {
    /// Counts who among `others` has a value that is looked at: one that is among those of an affected pod.
    pub(super) fn new<'a>(others: &Others, affected: impl Iterator<Item = &'a Values>) -> Self {
        let mut background = Self {
            count: others.count(),
            values: Default::default(),
        };
        for (dimension, value) in affected.flat_map(Values::all) {
            let looked_at = &mut background.values[dimension as usize];
            if !looked_at.contains_key(value) {
                looked_at.insert(Arc::clone(value), Having::default());
            }
        }
        for other in others.iter() {
            background.add(other);
        }
        for (ended, other) in others.completed() {
            background.add_completed(*ended, other);
        }
        background
    }

    /// *n*: how many there are.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// *k*: how many have the value.
    pub(super) fn with(&self, dimension: Dimension, value: &str) -> usize {
        self.having(dimension, value)
            .map_or(0, |having| having.count)
    }

    /// *h*: how many that have the value became ready after `median`, of those that pulled an image with it
    /// where the cause is about images; and, where they count, how many completed after it.
    pub(super) fn healthy(
        &self,
        cause: Cause,
        (dimension, value): (Dimension, &str),
        median: Timestamp,
        counts_completed: bool,
    ) -> usize {
        let of_images = is_of_images(cause, dimension);
        self.having(dimension, value).map_or(0, |having| {
            let ready = if of_images {
                &having.ready_with_pull
            } else {
                &having.ready
            };
            let completed = having.completed.iter().filter(|_| counts_completed);
            let ends = ready.iter().chain(completed);
            ends.filter(|at| **at > median).count()
        })
    }

    fn having(&self, dimension: Dimension, value: &str) -> Option<&Having> {
        self.values[dimension as usize].get(value)
    }

    fn add(&mut self, other: &Other) {
        let ready = other.ready.as_deref();
        for (dimension, value) in other.values.all() {
            self.add_one(dimension, value, ready);
        }
        for (dimension, value) in of_images(&other.images) {
            self.add_one(dimension, value, ready);
        }
        let Some(BecameReady { at, pulled }) = ready else {
            return;
        };
        for (dimension, value) in of_images(pulled) {
            if let Some(having) = self.values[dimension as usize].get_mut(value) {
                having.ready_with_pull.push(*at);
            }
        }
    }

    fn add_completed(&mut self, ended: Timestamp, other: &Other) {
        let values = other
            .values
            .all()
            .map(|(dimension, value)| (dimension, &**value));
        for (dimension, value) in values.chain(of_images(&other.images)) {
            if let Some(having) = self.values[dimension as usize].get_mut(value) {
                having.completed.push(ended);
            }
        }
    }

    fn add_one(&mut self, dimension: Dimension, value: &str, ready: Option<&BecameReady>) {
        if let Some(having) = self.values[dimension as usize].get_mut(value) {
            having.count += 1;
            having.ready.extend(ready.map(|ready| ready.at));
        }
    }
}

/// Whether an image or a registry is held to be at fault for a pull.
pub(super) const fn is_of_images(cause: Cause, dimension: Dimension) -> bool {
    matches!(cause, Cause::Image | Cause::Pull)
        && matches!(dimension, Dimension::Image | Dimension::Registry)
}

/// The images and their registries, each once.
fn of_images(images: &[Arc<str>]) -> BTreeSet<(Dimension, &str)> {
    let both = |image| {
        [
            (Dimension::Image, image),
            (Dimension::Registry, image_registry::of(image)),
        ]
    };
    images.iter().flat_map(|image| both(&**image)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use crate::lifecycle::{Milestone, MilestoneSource, Record, RecordedMilestone};
    use crate::problems::tests::{at, on, pod, pulled, with_image};
    use crate::problems::values::{self, Names};

    /// A startup that became ready at a second, if one is given: on a node, with two images, pulled or not.
    type Start = (u8, (u8, u8), bool, Option<i64>);

    /// Whether a startup completed, at its second.
    fn completes((_, (_, other), ..): &Start) -> bool {
        *other == 5
    }

    fn record((node, (one, other), is_pulled, ready): Start) -> Record {
        let image = |number: u8| format!("r{}.io/app{number}", number % 3);
        let record = with_image(pod("a", &image(one)), &image(other));
        let mut record = on(record, &format!("n{node}"));
        let reached = ready.map(|second| RecordedMilestone {
            milestone: Milestone::Ready,
            time: Some(at(second)),
            source: Some(MilestoneSource::Condition),
        });
        record.milestones.extend(reached);
        match is_pulled {
            true => pulled(record),
            false => record,
        }
    }

    /// The texts of the images of a record that count.
    fn images(record: &Record, pulled_only: bool) -> Vec<String> {
        // Only the first container pulls.
        let most = match (pulled_only, record.pulls.is_empty()) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        };
        let images = record.containers.iter().take(most);
        images
            .map(|one| one.image.as_deref().unwrap().to_owned())
            .collect()
    }

    fn has(record: &Record, dimension: Dimension, value: &str, pulled_only: bool) -> bool {
        let mut images = images(record, pulled_only).into_iter();
        match dimension {
            Dimension::Image => images.any(|image| image == value),
            Dimension::Registry => images.any(|image| image.split('/').next() == Some(value)),
            Dimension::Node => record.pod.node.as_deref() == Some(value),
            Dimension::Namespace => &*record.pod.namespace == value,
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn it_counts_what_is_looked_at_and_nothing_else(
            starts in prop::collection::vec(
                (0..4_u8, (0..6_u8, 0..6_u8), any::<bool>(), prop::option::of(0..100_i64)), 0..40),
            affected in (0..4_u8, 0..6_u8),
            median in 0..100_i64,
        ) {
            let (mut others, mut names) = (Others::default(), Names::default());
            let (mut records, mut completed) = (Vec::new(), Vec::new());
            for start in &starts {
                let record = record(*start);
                match start.3 {
                    Some(second) if completes(start) => {
                        others.add_completed(&record, at(second), &mut names);
                        completed.push((second, record));
                        continue;
                    }
                    None => others.add(&record, &mut names),
                    Some(_) => others.add_ready(&record, &mut names),
                }
                records.push(record);
            }
            let waits = record((affected.0, (affected.1, affected.1), false, None));
            let values = values::of(&waits, Cause::Image, Some(0), &mut names);
            let background = Background::new(&others, [&values].into_iter());
            prop_assert_eq!(background.count(), records.len());
            let looked_at: usize = background.values.iter().map(HashMap::len).sum();
            prop_assert_eq!(looked_at, values.all().count());
            for (dimension, value) in values.all() {
                let having = records.iter().filter(|one| has(one, dimension, value, false));
                prop_assert_eq!(background.with(dimension, value), having.count());
                for cause in [Cause::Image, Cause::Crash] {
                    let of_pulls = is_of_images(cause, dimension);
                    let well = records.iter().filter(|one| {
                        let ready = one.reached(Milestone::Ready);
                        ready.is_some_and(|ready| ready > at(median)) && has(one, dimension, value, of_pulls)
                    });
                    let well = well.count();
                    let done = completed.iter().filter(|(second, one)| {
                        *second > median && has(one, dimension, value, false)
                    });
                    let value = (dimension, &**value);
                    prop_assert_eq!(background.healthy(cause, value, at(median), false), well);
                    let with_completed = background.healthy(cause, value, at(median), true);
                    prop_assert_eq!(with_completed, well + done.count());
                }
            }
        }
    }
}
