//! How many of the pods that start well have a value ([§13.4](crate::specification#s13-4)), for the considered values
//! only ([§13.8](crate::specification#s13-8)).

use super::others::{BecameReady, UnaffectedPod, UnaffectedPods};
use super::values::{ByDimension, ConsideredValues};
use podinit_core::dimension::{Dimension, PodValues};
use podinit_core::lifecycle::Cause;
use podinit_core::pod::Claims;
use podinit_core::timestamp::Timestamp;

/// What affected pods are compared with.
#[derive(Debug)]
pub(super) struct ProblemBackground<'a> {
    count: usize,
    looked_at: &'a ConsideredValues,
    /// By dimension and number, the pods that have a considered value
    having: ByDimension<Vec<ValueHolders>>,
}

/// The pods that start well and have a value.
#[derive(Clone, Debug, Default)]
struct ValueHolders {
    count: usize,
    /// When pods with the value became ready
    ready: Vec<EndedClaim>,
    /// When pods that pulled an image with the value became ready
    ready_with_pull: Vec<EndedClaim>,
    /// When pods with the value completed; *k* leaves these out
    completed: Vec<EndedClaim>,
}

/// When a startup ended, and what its pod claimed.
#[derive(Clone, Copy, Debug)]
struct EndedClaim {
    at: Timestamp,
    claims: Claims,
}

impl EndedClaim {
    /// Whether it needed what pods with `cause` lack. A pod that does not need a thing does not refute that it is
    /// broken.
    const fn refutes(self, cause: Cause) -> bool {
        match cause {
            Cause::Volume => self.claims.has_volume(),
            Cause::Claim => self.claims.has_resource(),
            _ => true,
        }
    }
}

impl<'a> ProblemBackground<'a> {
    /// Counts the pods of `others` that have a considered value.
    pub(super) fn new(others: &UnaffectedPods, looked_at: &'a ConsideredValues) -> Self {
        let mut background = Self { count: others.count(), looked_at, having: looked_at.table() };
        for other in others.iter() {
            background.add(other);
        }
        for (ended, other) in others.completed() {
            background.add_completed(*ended, other);
        }
        background
    }

    /// *n*: the number of pods.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// *k*: how many have the value.
    pub(super) fn with(&self, dimension: Dimension, value: u16) -> usize {
        self.having(dimension, value).count
    }

    /// *h*: how many that have the value became ready after `median`, of those that pulled an image with it
    /// where the cause is about images, or that needed what is lacking; and, where they count, how many completed after
    /// it.
    pub(super) fn healthy(
        &self,
        cause: Cause,
        (dimension, value): (Dimension, u16),
        median: Timestamp,
        counts_completed: bool,
    ) -> usize {
        let having = self.having(dimension, value);
        let ready =
            if is_of_images(cause, dimension) { &having.ready_with_pull } else { &having.ready };
        let completed = having.completed.iter().filter(|_| counts_completed);
        let ends = ready.iter().chain(completed);
        let refutes = |one: &&EndedClaim| one.at > median && one.refutes(cause);
        ends.filter(refutes).count()
    }

    fn having(&self, dimension: Dimension, value: u16) -> &ValueHolders {
        &self.having[dimension as usize][usize::from(value)]
    }

    fn having_mut(&mut self, dimension: Dimension, value: &str) -> Option<&mut ValueHolders> {
        let number = self.looked_at.number(dimension, value)?;
        self.having[dimension as usize].get_mut(usize::from(number))
    }

    fn add(&mut self, other: &UnaffectedPod) {
        let (ready, claims) = (other.ready.as_deref(), other.claims);
        let ended = ready.map(|ready| EndedClaim { at: ready.at, claims });
        for (dimension, value) in other.has().all() {
            if let Some(having) = self.having_mut(dimension, &value) {
                having.count += 1;
                having.ready.extend(ended);
            }
        }
        let Some(BecameReady { at, pulled }) = ready else {
            return;
        };
        let pulled = PodValues { images: pulled, ..PodValues::default() };
        for dimension in [Dimension::Image, Dimension::Registry] {
            for value in pulled.values(dimension) {
                if let Some(having) = self.having_mut(dimension, &value) {
                    having.ready_with_pull.push(EndedClaim { at: *at, claims });
                }
            }
        }
    }

    fn add_completed(&mut self, at: Timestamp, other: &UnaffectedPod) {
        let claims = other.claims;
        for (dimension, value) in other.has().all() {
            if let Some(having) = self.having_mut(dimension, &value) {
                having.completed.push(EndedClaim { at, claims });
            }
        }
    }
}

/// Whether an image or a registry is held to be at fault for a pull.
pub(super) const fn is_of_images(cause: Cause, dimension: Dimension) -> bool {
    cause.is_of_pulls() && matches!(dimension, Dimension::Image | Dimension::Registry)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use crate::tests::{at, on, pod, pulled, with_image};
    use crate::values::FrequentValues;
    use podinit_core::lifecycle::{Milestone, MilestoneSource, Record, RecordedMilestone};

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
        images.map(|one| one.image.as_deref().unwrap().to_owned()).collect()
    }

    fn has_value(record: &Record, dimension: Dimension, value: &str, pulled_only: bool) -> bool {
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
            let mut others = UnaffectedPods::default();
            let (mut records, mut completed) = (Vec::new(), Vec::new());
            for start in &starts {
                let record = record(*start);
                match start.3 {
                    Some(second) if completes(start) => {
                        others.add_completed(&record, at(second));
                        completed.push((second, record));
                        continue;
                    }
                    None => others.add(&record),
                    Some(_) => others.add_ready(&record),
                }
                records.push(record);
            }
            let waits = record((affected.0, (affected.1, affected.1), false, None));
            let has = PodValues {
                namespace: &waits.pod.namespace,
                node: waits.pod.node.as_deref(),
                images: waits.containers[0].image.as_slice(),
                ..PodValues::default()
            };
            let mut looked_at = ConsideredValues::default();
            let mut frequent = FrequentValues::default();
            frequent.add(has.all());
            looked_at.take(frequent);
            let background = ProblemBackground::new(&others, &looked_at);
            prop_assert_eq!(background.count(), records.len());
            prop_assert_eq!(has.all().count(), 4);
            for (dimension, text) in has.all() {
                let value = looked_at.number(dimension, &text).unwrap();
                let having = records.iter().filter(|one| has_value(one, dimension, &text, false));
                prop_assert_eq!(background.with(dimension, value), having.count());
                for cause in [Cause::Image, Cause::Crash] {
                    let of_pulls = is_of_images(cause, dimension);
                    let well = records.iter().filter(|one| {
                        let ready = one.reached(Milestone::Ready);
                        ready.is_some_and(|ready| ready > at(median)) && has_value(one, dimension, &text, of_pulls)
                    });
                    let well = well.count();
                    let done = completed.iter().filter(|(second, one)| {
                        *second > median && has_value(one, dimension, &text, false)
                    });
                    let value = (dimension, value);
                    prop_assert_eq!(background.healthy(cause, value, at(median), false), well);
                    let with_completed = background.healthy(cause, value, at(median), true);
                    prop_assert_eq!(with_completed, well + done.count());
                }
            }
        }
    }
}
