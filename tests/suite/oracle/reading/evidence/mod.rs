//! [§9.2](crate::specification#s9-2): since when the network was ready.

pub(crate) mod pull;
mod rules;
mod scheduled;
pub(crate) mod sli;
pub(crate) mod tally;

pub(crate) use pull::Found;
pub(crate) use rules::{EvidenceRules, SpecEvidence};

use super::kube_event::KubeEvent;
use super::view::View;
use super::vocabulary::Milestone;
use crate::oracle::instant::Nanos;

/// [§9.2](crate::specification#s9-2): "what gave the time before it was raised"
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Condition,
    Container,
    Event,
}

impl Source {
    pub(crate) const ALL: [Self; 3] = [Self::Condition, Self::Container, Self::Event];

    /// The label value `source`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Condition => "condition",
            Self::Container => "container",
            Self::Event => "event",
        }
    }
}

/// How NetworkReady was latched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetworkReady {
    /// The snapshot or Event that latched it
    pub(crate) place: usize,
    pub(crate) time: Option<Nanos>,
    pub(crate) source: Source,
}

impl View<'_> {
    /// "latched by what is delivered first: a snapshot whose condition is True, or, with events,
    /// event evidence"
    pub(crate) fn network_ready(&self) -> Option<NetworkReady> {
        let latched = self.network_latched()?;
        let scheduled = self.bound().flatten();
        let time = latched.time.map(|time| self.rules.evidence().raised(time, scheduled));
        Some(NetworkReady { time, ..latched })
    }

    /// The same, before the time is raised to that of Scheduled.
    fn network_latched(&self) -> Option<NetworkReady> {
        let rules = self.rules.evidence();
        let by_condition = self.shown(Milestone::NetworkReady);
        let scheduled = self.milestone(Milestone::Scheduled);
        let evidence = self.evidence().into_iter().next();
        let by_event = evidence.and_then(|(place, event)| {
            let place = rules.latches_at(place, scheduled.map(|scheduled| scheduled.place))?;
            Some((place, event))
        });
        let (place, time, source) = match (by_condition, by_event) {
            (Some(condition), Some((place, event)))
                if rules.event_comes_first(place, condition.place) =>
            {
                (place, rules.time_of(event, self.timestamps), Source::Event)
            }
            (Some(condition), _) => {
                let stated = self.estimated(condition);
                let (time, source) = rules.earliest(stated, self.earliest_start(condition.place));
                (condition.place, time, source)
            }
            (None, Some((place, event))) => {
                (place, rules.time_of(event, self.timestamps), Source::Event)
            }
            (None, None) => return None,
        };
        Some(NetworkReady { place, time, source })
    }

    /// The evidence that was delivered, with its places.
    fn evidence(&self) -> Vec<(usize, &KubeEvent)> {
        let rules = self.rules.evidence();
        let delivered = self.seen.iter().enumerate();
        let events = delivered.filter_map(|(place, folded)| {
            let event = folded.event.as_ref()?;
            let is_evidence = rules.is_evidence(event, &folded.pod) && event.first.is_some();
            is_evidence.then_some((place, event))
        });
        events.collect()
    }

    /// "the earliest start of a container or init container in that snapshot"
    fn earliest_start(&self, place: usize) -> Option<Nanos> {
        let rules = self.rules.evidence();
        let containers = self.seen[place].pod.containers.iter();
        let starts = containers.filter_map(|container| rules.start_of(container));
        let earliest = starts.min()?;
        Some(rules.time_of_start(earliest, self.timestamps))
    }
}
