//! The durations of milestones of your own ([§16.6](crate::specification#s16-6)).

use std::borrow::Cow;
use std::sync::Arc;

use super::durations::IntervalDurations;
use super::summary::IntervalSummary;
use podinit_core::lifecycle::{
    CustomInterval, CustomMilestone, CustomStart, CustomUnobservedReason, Latency,
    RecordedCustomMilestone, SloInterval,
};
use podinit_core::pod::MOST_OWN_MILESTONES;

/// One milestone.
struct OwnMilestone {
    name: Arc<str>,
    /// By [`CustomStart`]
    durations: [IntervalDurations; CustomStart::ALL.len()],
    /// How often the first of them was not observed
    unobserved: [u64; CustomUnobservedReason::ALL.len()],
}

impl OwnMilestone {
    fn new(name: &Arc<str>) -> Self {
        Self {
            name: Arc::clone(name),
            durations: Default::default(),
            unobserved: Default::default(),
        }
    }
}

/// All milestones: those that are configured, in their order, or those that records have, by name.
pub(super) struct OwnMilestones(Vec<OwnMilestone>);

/// The name of a duration.
fn interval(name: &Arc<str>, from: CustomStart) -> Cow<'static, str> {
    SloInterval::Custom { milestone: Arc::clone(name), from }.text()
}

impl OwnMilestones {
    /// Those that are configured.
    pub(super) fn new(configured: &[CustomMilestone]) -> Self {
        Self(configured.iter().map(|one| OwnMilestone::new(&one.name)).collect())
    }

    /// A duration of a pod was observed.
    pub(super) fn measured(&mut self, interval: CustomInterval, latency: Latency) {
        if let Some(found) = self.0.get_mut(usize::from(interval.milestone)) {
            found.durations[interval.from as usize].add(latency);
        }
    }

    /// A pod's duration from Created was not observed.
    pub(super) fn unobserved(&mut self, milestone: u8, reason: CustomUnobservedReason) {
        if let Some(found) = self.0.get_mut(usize::from(milestone)) {
            found.unobserved[reason as usize] += 1;
        }
    }

    /// Counts all that a record says of one.
    pub(super) fn add(&mut self, recorded: &RecordedCustomMilestone) {
        let Some(found) = self.milestone_mut(recorded) else { return };
        for from in CustomStart::ALL {
            if let Some(latency) = recorded.seconds(from) {
                found.durations[from as usize].add(latency);
            }
        }
        if let Some(reason) = recorded.unobserved.map(CustomUnobservedReason::from) {
            found.unobserved[reason as usize] += 1;
        }
    }

    /// The milestone of a record; `None` where its name is none, or where there are as many as there can be.
    fn milestone_mut(&mut self, recorded: &RecordedCustomMilestone) -> Option<&mut OwnMilestone> {
        let name = &recorded.milestone;
        let place = match self.0.iter().position(|one| one.name == *name) {
            Some(place) => place,
            None => {
                recorded.interval(CustomStart::Created)?;
                if self.0.len() >= MOST_OWN_MILESTONES {
                    return None;
                }
                let place = self.0.partition_point(|one| one.name < *name);
                self.0.insert(place, OwnMilestone::new(name));
                place
            }
        };
        self.0.get_mut(place)
    }

    /// Their rows.
    pub(super) fn summaries(&self) -> impl Iterator<Item = IntervalSummary> {
        self.0.iter().flat_map(|one| {
            let durations = CustomStart::ALL.into_iter().zip(&one.durations);
            durations.map(|(from, durations)| durations.summary(interval(&one.name, from)))
        })
    }

    /// What was not observed, why and how often.
    pub(super) fn unobserved_counts(
        &self,
    ) -> impl Iterator<Item = (Cow<'static, str>, &'static str, u64)> {
        self.0.iter().flat_map(|one| {
            let reasons = CustomUnobservedReason::ALL.into_iter().zip(one.unobserved);
            reasons.map(|(reason, count)| {
                (interval(&one.name, CustomStart::Created), reason.as_str(), count)
            })
        })
    }
}
