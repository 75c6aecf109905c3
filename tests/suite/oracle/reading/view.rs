//! What the snapshots of a pod, up to one of them, have shown: [§2](crate::specification#s2), and
//! the times of [§4](crate::specification#s4).

use super::Timestamps;
use super::evidence::Source;
use super::life::Folded;
use super::rules::{Rules, Showing};
use super::snapshot::{Condition, Snapshot};
use super::vocabulary::{Interval, Milestone, Traits};
use crate::oracle::instant::Nanos;

/// The snapshots of one life up to some point, the first one always among them.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) rules: &'a dyn Rules,
    pub(crate) timestamps: Timestamps,
    pub(crate) seen: &'a [Folded],
}

/// A milestone that has been reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latched {
    /// The snapshot that first showed it
    pub(crate) place: usize,
    /// The time that the API states for it, if it states one
    pub(crate) api: Option<Nanos>,
    /// The instant at which the watch delivered that snapshot
    pub(crate) o: Option<Nanos>,
}

impl View<'_> {
    pub(crate) fn traits(&self) -> Traits {
        let seen = |with: fn(&Snapshot) -> bool| self.seen.iter().any(|folded| with(&folded.pod));
        // What comes after Scheduled was reached says nothing about how it was reached.
        let scheduled = self.milestone(Milestone::Scheduled);
        let until = scheduled.map_or(self.seen.len() - 1, |scheduled| scheduled.place);
        Traits {
            gated: seen(|pod| pod.gated),
            unschedulable: self.seen[..=until].iter().any(|folded| folded.pod.is_unschedulable()),
            init_containers: seen(|pod| pod.has_init_containers),
            readiness_gates: seen(|pod| pod.has_readiness_gates),
        }
    }

    /// [§2](crate::specification#s2), and [§1](crate::specification#s1) for Scheduled.
    pub(crate) fn milestone(&self, milestone: Milestone) -> Option<Latched> {
        match milestone {
            Milestone::Created => Some(self.latched(0, self.seen[0].pod.created)),
            Milestone::Ungated => self.ungated(),
            Milestone::Scheduled => {
                let shown = self.shown(milestone);
                let implied = self.place_where_scheduled_is_implied();
                match (shown, implied) {
                    (Some(shown), Some(implied)) if shown.place <= implied => Some(shown),
                    (_, Some(implied)) => Some(self.latched(implied, None)),
                    (shown, None) => shown,
                }
            }
            Milestone::NetworkReady => {
                let network = self.network_ready()?;
                match self.shown(milestone) {
                    Some(shown) if network.source != Source::Event => Some(shown),
                    // What an Event shows has no part in the delivery of the watch of pods.
                    _ => Some(Latched { place: network.place, api: None, o: None }),
                }
            }
            Milestone::Acknowledged => self.first_stating(|pod| pod.started),
            Milestone::ContainersStarted => {
                self.first_stating(|pod| self.rules.evidence().containers_started(pod))
            }
            milestone => self.shown(milestone),
        }
    }

    /// When the milestone was reached, as `--timestamps` has it ([§4](crate::specification#s4)).
    /// The outer option says whether it was reached, the inner one whether its time is usable.
    pub(crate) fn time(&self, milestone: Milestone) -> Option<Option<Nanos>> {
        let latched = self.milestone(milestone)?;
        Some(match milestone {
            Milestone::Ungated => self.time_of_ungated(latched),
            Milestone::NetworkReady => self.network_ready()?.time,
            Milestone::Scheduled => self.time_of_scheduled()?,
            _ => match self.estimated(latched) {
                None if self.rules.takes_o_without_a_time(milestone, self.timestamps) => latched.o,
                time => time,
            },
        })
    }

    /// The time of what the API states ([§4](crate::specification#s4)).
    pub(crate) fn estimated(&self, latched: Latched) -> Option<Nanos> {
        match self.timestamps {
            Timestamps::Api => latched.api,
            Timestamps::Fused => latched.api.map(|t| self.rules.estimate(t, latched.o)),
        }
    }

    /// The time of a condition that a gate or a milestone of your own asks for ([§16.3](crate::specification#s16-3)).
    pub(crate) fn estimated_by_type(&self, latched: Latched) -> Option<Nanos> {
        let takes_o = self.timestamps == Timestamps::Fused
            && self.rules.named().takes_o_without_a_time(latched.place);
        self.estimated(latched).or(latched.o.filter(|_| takes_o))
    }

    /// [§3](crate::specification#s3), column "from": the later of the milestones there, once all
    /// are reached.
    pub(crate) fn start(&self, interval: Interval) -> Option<Option<Nanos>> {
        let milestones = self.rules.from(interval, self.traits());
        let times: Vec<Option<Nanos>> =
            milestones.into_iter().map(|milestone| self.begun(milestone)).collect::<Option<_>>()?;
        let usable: Option<Vec<Nanos>> = times.into_iter().collect();
        Some(usable.and_then(|times| times.into_iter().max()))
    }

    /// When what begins with a milestone begins.
    fn begun(&self, milestone: Milestone) -> Option<Option<Nanos>> {
        match milestone {
            Milestone::Scheduled => self.bound(),
            milestone => self.time(milestone),
        }
    }

    /// The condition types that state a milestone have stood in the status, with any status.
    pub(crate) fn a_type_stood(&self, milestone: Milestone) -> bool {
        let types = milestone.condition_types();
        let stood =
            |kind: &&str| self.seen.iter().any(|folded| folded.pod.condition(kind).is_some());
        types.is_empty() || types.iter().any(stood)
    }

    fn latched(&self, place: usize, api: Option<Nanos>) -> Latched {
        Latched { place, api, o: self.seen[place].o }
    }

    /// [§9.1](crate::specification#s9-1): the first snapshot in which a time stands.
    fn first_stating(&self, stated: impl Fn(&Snapshot) -> Option<Nanos>) -> Option<Latched> {
        let mut seen = self.seen.iter().enumerate();
        seen.find_map(|(place, folded)| {
            let api = stated(&folded.pod)?;
            Some(self.latched(place, Some(api)))
        })
    }

    fn condition<'p>(&self, milestone: Milestone, pod: &'p Snapshot) -> Option<&'p Condition> {
        match milestone {
            Milestone::NetworkReady => self.rules.network_condition(pod),
            milestone => pod.condition(milestone.condition_types().first()?),
        }
    }

    /// The snapshots that show the milestone's condition True.
    fn showing(&self, milestone: Milestone) -> Vec<Showing> {
        let showing = |(place, folded): (usize, &Folded)| {
            let condition = self.condition(milestone, &folded.pod)?;
            condition
                .is_true()
                .then_some(Showing { place, last_transition: condition.last_transition })
        };
        self.seen.iter().enumerate().filter_map(showing).collect()
    }

    /// The snapshots that show the condition of a type True.
    pub(crate) fn showing_type(&self, kind: &str) -> Vec<Showing> {
        let conditions = self.seen.iter().map(|folded| folded.pod.condition(kind)).enumerate();
        let showing = conditions.filter_map(|(place, condition)| {
            let held = condition.filter(|condition| condition.is_true())?;
            Some(Showing { place, last_transition: held.last_transition })
        });
        showing.collect()
    }

    pub(crate) fn shown(&self, milestone: Milestone) -> Option<Latched> {
        let latching = self.rules.latching(milestone, &self.showing(milestone))?;
        Some(self.latched(latching.place, latching.last_transition))
    }

    /// The first snapshot that shows a later milestone while none up to it shows PodScheduled=True.
    fn place_where_scheduled_is_implied(&self) -> Option<usize> {
        if !self.rules.scheduled_is_implied() {
            return None;
        }
        let later = [
            Milestone::NetworkReady,
            Milestone::Initialized,
            Milestone::ContainersReady,
            Milestone::Ready,
        ];
        let shown = later
            .into_iter()
            .flat_map(|milestone| self.showing(milestone))
            .map(|showing| showing.place);
        shown.chain(self.place_of_rejection()).min()
    }

    /// [§6.11](crate::specification#s6-11): "if its last snapshot does not say PodScheduled=True, Scheduled is reached
    /// with it".
    fn place_of_rejection(&self) -> Option<usize> {
        let mut outcomes = (self.seen.iter()).map(|folded| self.rules.outcome(&folded.pod));
        let place = outcomes.position(|outcome| outcome.is_some())?;
        let pod = &self.seen[place].pod;
        let target = pod.condition("DisruptionTarget");
        let is_rejected = self.rules.rejection_schedules()
            && self.rules.outcome(pod) == Some("failed")
            && self.rules.is_rejected(&self.seen[..=place])
            && !target.is_some_and(Condition::is_true)
            && !self.rules.causes().was_disrupted(pod);
        is_rejected.then_some(place)
    }

    /// The first snapshot without gates after one with gates.
    fn ungated(&self) -> Option<Latched> {
        let gated = self.seen.iter().position(|folded| folded.pod.gated)?;
        let freed = self.seen[gated..].iter().position(|folded| !folded.pod.gated)?;
        Some(self.latched(gated + freed, None))
    }

    /// "it is `o`, in `api` mode cut to the second; unknown without `o`. Where the snapshot that
    /// first shows it also shows Scheduled, it is the earlier of `o` and Scheduled."
    fn time_of_ungated(&self, ungated: Latched) -> Option<Nanos> {
        let o = match self.timestamps {
            Timestamps::Api => self.rules.ungated_in_api_mode(ungated.o?),
            Timestamps::Fused => ungated.o?,
        };
        let shows_scheduled = self.seen[ungated.place]
            .pod
            .condition("PodScheduled")
            .is_some_and(|condition| condition.is_true());
        match self.time(Milestone::Scheduled).flatten() {
            Some(scheduled) if shows_scheduled => Some(o.min(scheduled)),
            _ => Some(o),
        }
    }
}
