//! Milestones of your own ([§16.6](crate::specification#s16-6)).

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    CustomInterval, CustomMilestone, CustomMilestones, CustomStart, CustomUnobservedReason,
};
use podinit_instruments::{
    AnyText, Counter, ExpositionEncoder, FamilyHead, Histogram, SampleNumber, SavedFamilies,
    SavedHistogram, SavedSeries, computed_families, family_type,
};

family_type! {
    /// Histograms with the configured label set, for each duration of each milestone.
    pub(super) struct DurationsByMilestone = Histogram [AnyText, CustomStart] + LABEL_SET;
}

family_type! {
    /// Counters for each milestone and reason.
    struct CountersByMilestone = Counter [AnyText, CustomUnobservedReason];
}

computed_families! {
    /// The durations of milestones of your own, and what was not observed of them.
    pub(super) const CUSTOM_MILESTONE_FAMILIES {
        MILESTONE_DURATION: DurationsByMilestone =
            "podinit_milestone_duration_seconds", ["milestone", "from"], experimental, saved,
            "Time until a milestone of your own, from the creation of the pod or from the start of all its containers.";
        MILESTONE_UNOBSERVED: CountersByMilestone =
            "podinit_milestone_unobserved_total", ["milestone", "reason"], experimental, saved,
            "Pods of which a milestone of your own was not observed, by reason.";
    }
}

/// The histograms of one label set: by milestone, and of each by what begins the duration.
#[derive(Debug)]
pub(super) struct MilestoneDurations(Box<[Histogram]>);

impl MilestoneDurations {
    pub(super) fn new(milestones: &CustomMilestones) -> Self {
        let histograms = milestones.len() * CustomStart::ALL.len();
        Self((0..histograms).map(|_| Histogram::default()).collect())
    }

    pub(super) fn histogram(&self, interval: CustomInterval) -> Option<&Histogram> {
        let CustomInterval { milestone, from } = interval;
        self.0.get(usize::from(milestone) * CustomStart::ALL.len() + from as usize)
    }

    /// The histogram, if something was counted in it: there are no others in a scrape.
    pub(super) fn used(&self, interval: CustomInterval) -> Option<&Histogram> {
        self.histogram(interval).filter(|histogram| histogram.is_used())
    }

    pub(super) fn saved(&self) -> Vec<SavedHistogram> {
        self.0.iter().map(Histogram::saved).collect()
    }
}

/// What is counted of all pods.
#[derive(Debug, Default)]
pub(super) struct MilestoneCounts {
    pub(super) milestones: CustomMilestones,
    unobserved: Box<[[Counter; CustomUnobservedReason::ALL.len()]]>,
}

/// The durations of milestones as they are kept while no process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedMilestones {
    /// Their names and condition types
    pub milestones: Vec<CustomMilestone>,
    /// By label set, as [`SavedMetrics::durations`](super::saved::SavedMetrics::durations) has them: two of each milestone
    pub durations: Vec<Vec<SavedHistogram>>,
}

impl SavedMilestones {
    /// The saved histograms of a label set, each with the duration that it is of now; those of other milestones are left
    /// out.
    pub(super) fn of_set<'a>(
        &'a self,
        set: usize,
        now: &'a [CustomMilestone],
    ) -> impl Iterator<Item = (CustomInterval, &'a SavedHistogram)> {
        let saved = self.durations.get(set).into_iter().flatten();
        let places =
            self.milestones.iter().flat_map(|one| CustomStart::ALL.map(|from| (one, from)));
        places.zip(saved).filter_map(|((saved, from), histogram)| {
            let milestone = u8::try_from(now.iter().position(|one| one == saved)?).ok()?;
            Some((CustomInterval { milestone, from }, histogram))
        })
    }
}

impl MilestoneCounts {
    pub(super) fn new(milestones: CustomMilestones) -> Self {
        let unobserved = milestones.iter().map(|_| Default::default()).collect();
        Self { milestones, unobserved }
    }

    /// Counts a pod of which a milestone was not observed.
    pub(super) fn count_unobserved(&self, milestone: u8, reason: CustomUnobservedReason) {
        if let Some(counters) = self.unobserved.get(usize::from(milestone)) {
            counters[reason as usize].increment();
        }
    }

    /// Each duration, with its labels.
    pub(super) fn intervals(&self) -> impl Iterator<Item = (CustomInterval, &str)> {
        let numbered = (0..).zip(self.milestones.iter());
        numbered.flat_map(|(milestone, one)| {
            CustomStart::ALL.map(|from| (CustomInterval { milestone, from }, &*one.name))
        })
    }

    fn unobserved(&self) -> impl Iterator<Item = (&Arc<str>, CustomUnobservedReason, &Counter)> {
        let counted = self.milestones.iter().zip(&self.unobserved);
        counted.flat_map(|(one, counters)| {
            let reasons = CustomUnobservedReason::ALL.into_iter().zip(counters);
            reasons.map(|(reason, counter)| (&one.name, reason, counter))
        })
    }

    pub(super) fn collect_unobserved(&self, out: &mut dyn ExpositionEncoder) {
        if self.milestones.is_empty() {
            return;
        }
        out.family(FamilyHead::from(&MILESTONE_UNOBSERVED));
        for (name, reason, counter) in self.unobserved() {
            let labels = [("milestone", &**name), ("reason", reason.as_str())];
            out.number(&labels, SampleNumber::Integer(counter.get()));
        }
    }

    pub(super) fn save(&self, saved: &mut SavedFamilies) {
        let series = self.unobserved().map(|(name, reason, counter)| {
            let labels = vec![Cow::Owned(name.to_string()), Cow::Borrowed(reason.as_str())];
            SavedSeries::new(labels, counter.get())
        });
        saved.put(&MILESTONE_UNOBSERVED, series.collect());
    }

    /// Adds what was saved of milestones that there still are.
    pub(super) fn restore(&self, saved: &SavedFamilies) {
        for series in saved.series(&MILESTONE_UNOBSERVED) {
            if let [name, reason] = &*series.labels
                && let Some(reason) = CustomUnobservedReason::from_text(reason)
                && let Some(place) = self.milestones.iter().position(|one| *one.name == **name)
            {
                self.unobserved[place][reason.index()].add(series.value);
            }
        }
    }
}
