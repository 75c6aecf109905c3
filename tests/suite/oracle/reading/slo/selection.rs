//! [§6.10](crate::specification#s6-10): an SLO about startups on existing capacity, or with present images.

use super::{Decided, Pursuit, SloEvent};
use crate::oracle::reading::startup::Startup;

/// When something is so: with the delivery at a place, or after it and before the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    With(usize),
    /// With it, but after all that the delivery settles otherwise
    WithAfterAll(usize),
    After(usize),
}

impl When {
    /// Whether what happens with a delivery is too late for it.
    fn is_before(self, delivery: usize) -> bool {
        match self {
            Self::With(place) | Self::WithAfterAll(place) | Self::After(place) => place < delivery,
        }
    }

    fn is_with_or_before(self, delivery: usize) -> bool {
        self.is_before(delivery) || self == Self::With(delivery)
    }
}

/// What one condition of the selection makes of a startup that has come as far as some place.
fn standing(is_asked: bool, value: Option<&str>, wanted: &str) -> Option<bool> {
    match is_asked {
        true => value.map(|value| value == wanted),
        false => Some(true),
    }
}

impl Pursuit<'_> {
    /// For each of the two conditions whether it is met by then, as far as it is known.
    fn conditions(&self, place: usize) -> [(&'static str, Option<bool>); 2] {
        let rules = self.rules();
        let capacity = capacity_at(self.startup, place);
        let images = self.startup.images_at(place);
        let images = (images != "unknown").then_some(images);
        let [by_capacity, by_images] = rules.selects_by(self.slo);
        [
            ("capacity", standing(by_capacity, capacity, "existing")),
            ("images", standing(by_images, images, "present")),
        ]
    }

    /// What becomes of the event that the pod would have if every startup counted.
    pub(super) fn selected(&self, event: Option<(When, Decided)>) -> Option<Decided> {
        let rules = self.rules();
        let excluded = |reason| Some(Decided { event: SloEvent::Excluded(reason), blamed: None });
        let is_excluded =
            event.is_some_and(|(_, decided)| matches!(decided.event, SloEvent::Excluded(_)));
        let last = self.startup.last_of_startup();
        for place in 0..=last {
            // "An exclusion by 6.4 does not wait": the first one is the event.
            if let Some((when, decided)) = event
                && is_excluded
                && when.is_with_or_before(place)
            {
                return Some(decided);
            }
            let conditions = self.conditions(place);
            let unmet = conditions.iter().find(|(_, met)| *met == Some(false));
            if let Some((reason, _)) = unmet {
                // "is excluded as soon as that is known"
                return excluded(*reason);
            }
            if conditions.iter().all(|(_, met)| *met == Some(true)) {
                return event.map(|(_, decided)| decided);
            }
        }
        // "What is not known when the startup ends is not selected", also of a pod that is followed then.
        let conditions = self.conditions(last);
        if let (Some(_), Some((reason, _))) =
            (self.ready(), conditions.iter().find(|(_, met)| met.is_none()))
            && rules.leaves_out_what_is_never_known()
        {
            return excluded(*reason);
        }
        let (_, decided) = event?;
        if is_excluded || !rules.holds_until_known() {
            return Some(decided);
        }
        // "What is not known when the startup ends is not selected."
        self.startup.end()?;
        let unknown = conditions.iter().find(|(_, met)| met.is_none())?;
        match rules.leaves_out_what_is_never_known() {
            true => excluded(unknown.0),
            false => Some(decided),
        }
    }
}

impl Pursuit<'_> {
    /// Whether the startup is known to be selected with the delivery at a place.
    pub(super) fn is_selected(&self, place: usize) -> bool {
        self.conditions(place).iter().all(|(_, met)| *met == Some(true))
    }
}

/// "capacity is known once Scheduled is latched"
fn capacity_at(startup: &Startup<'_>, place: usize) -> Option<&'static str> {
    let is_latched = startup.scheduled().is_some_and(|scheduled| scheduled <= place);
    is_latched.then(|| startup.capacity())
}
