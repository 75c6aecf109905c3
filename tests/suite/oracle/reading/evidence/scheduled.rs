//! [§4.8](crate::specification#s4-8): when the scheduler bound a pod, by its own Event.

use super::View;
use crate::oracle::instant::Nanos;
use crate::oracle::reading::Timestamps;
use crate::oracle::reading::vocabulary::Milestone;

/// Where an Event was delivered, and its time.
type Told = (usize, Nanos);

impl View<'_> {
    /// Scheduled, by its condition or by an Event that was delivered before.
    pub(in crate::oracle::reading) fn time_of_scheduled(&self) -> Option<Option<Nanos>> {
        let latched = self.milestone(Milestone::Scheduled)?;
        let rules = self.rules.evidence();
        Some(self.estimated(latched).map(|estimate| {
            let (before, _) = self.told_by_scheduler(latched.place);
            let told = before.first().map(|(_, at)| *at);
            told.filter(|told| rules.sharpens(*told, estimate)).unwrap_or(estimate)
        }))
    }

    /// Scheduled as what begins with it has it: "one that is delivered later moves the beginning […] as long as
    /// none of these intervals has ended"
    pub(crate) fn bound(&self) -> Option<Option<Nanos>> {
        let latched = self.milestone(Milestone::Scheduled)?;
        let time = self.time_of_scheduled()?;
        let Some(estimate) = self.estimated(latched).filter(|estimate| Some(*estimate) == time)
        else {
            return Some(time);
        };
        let rules = self.rules.evidence();
        let (before, after) = self.told_by_scheduler(latched.place);
        if before.first().is_some_and(|(_, told)| rules.sharpens(*told, estimate)) {
            return Some(time);
        }
        let ended = [
            self.network_latched().map(|network| network.place),
            self.milestone(Milestone::Acknowledged).map(|acknowledged| acknowledged.place),
            self.milestone(Milestone::Ready).map(|ready| ready.place),
        ];
        let ended = ended.into_iter().flatten().min();
        let mut sharper = after.into_iter().filter(|(place, told)| {
            rules.sharpens(*told, estimate) && rules.is_in_time(*place, ended)
        });
        Some(Some(sharper.next().map_or(estimate, |(_, told)| told)))
    }

    /// What schedulers have told before and after a place.
    fn told_by_scheduler(&self, scheduled: usize) -> (Vec<Told>, Vec<Told>) {
        let rules = self.rules.evidence();
        let delivered = self.seen.iter().enumerate();
        let told = delivered.filter_map(|(place, folded)| {
            let at = rules.binding(folded.event.as_ref()?)?;
            (rules.sharpens_in(self.timestamps)).then_some((place, at))
        });
        told.partition(|(place, _)| *place < scheduled)
    }
}

/// Whether times are sharpened.
pub(super) fn is_fused(timestamps: Timestamps) -> bool {
    timestamps == Timestamps::Fused
}
