//! The intervals of one startup, from the versions of the pod that were shown until its end.

use podinit_core::lifecycle::{Outcome, UnobservedReason};
use podinit_core::timestamp::NANOS_PER_SECOND;

use crate::proof::expected::{Expected, Length, Times};
use crate::proof::facts::{
    CONTAINERS, INITIALIZED, MILESTONES, NETWORK, Nature, READY, SCHEDULED, Shows,
};
use crate::proof::seen::How;
use crate::proof::tally::INTERVALS;

/// Milestones as intervals need them; a reached one has the position of the version that shows it.
#[derive(Clone, Copy, Debug)]
struct Mark {
    position: usize,
    /// `None` is not known by the API
    second: Option<i64>,
}

const GATED: usize = 0;
const SCHEDULING: usize = 1;
const UNSCHEDULABLE: usize = 2;
const WHOLE: [usize; 2] = [7, 8];

/// The first version that shows something, and the second in which it was reached: the one that the version
/// states, unless it was shown more than a second before that ([§4.3](crate::specification#s4-3)).
fn first(shown: &[(&Shows, How)], stated: impl Fn(&Shows) -> Option<i64>) -> Option<Mark> {
    let seconds = shown.iter().map(|(shows, how)| Some(not_ahead(stated(shows)?, *how)));
    let mut seconds = seconds.enumerate();
    let of_it = seconds.find_map(|(position, second)| second.map(|second| (position, second)));
    of_it.map(|(position, second)| Mark { position, second: Some(second) })
}

/// The second in which the estimate of a stated one lies, of what was shown so.
fn not_ahead(stated: i64, how: How) -> i64 {
    match how {
        How::Event(at) if stated * NANOS_PER_SECOND - at > NANOS_PER_SECOND => {
            at.div_euclid(NANOS_PER_SECOND)
        }
        _ => stated,
    }
}

/// When an Event latches NetworkReady, if one does: the first, unless a version has shown the condition
/// before, and not before Scheduled.
fn evidence(
    shown: &[(&Shows, How)],
    scheduled: Option<Mark>,
    condition: Option<Mark>,
) -> Option<Mark> {
    let mut shown = shown.iter().enumerate();
    let (position, second) = shown.find_map(|(position, (_, how))| match how {
        How::KubeEvent(second) => Some((position, *second)),
        _ => None,
    })?;
    let scheduled = scheduled?;
    let position = position.max(scheduled.position);
    let mark =
        Mark { position, second: Some(scheduled.second.map_or(second, |at| at.max(second))) };
    let is_first = condition.is_none_or(|condition| position <= condition.position);
    is_first.then_some(mark)
}

/// The versions up to the end of the startup, and the milestones that they show.
pub struct Startup<'a> {
    nature: &'a Nature,
    shown: &'a [(&'a Shows, How)],
    adopted: bool,
    marks: [Option<Mark>; MILESTONES],
    /// An Event showed the network as ready first
    by_event: bool,
    acknowledged: Option<Mark>,
    containers_started: Option<Mark>,
    gated: bool,
    ungated: Option<Mark>,
    unschedulable: bool,
}

impl<'a> Startup<'a> {
    pub fn of(nature: &'a Nature, shown: &'a [(&'a Shows, How)], adopted: bool) -> Self {
        let mut marks: [Option<Mark>; MILESTONES] =
            std::array::from_fn(|milestone| first(shown, |shows| shows.reached(milestone)));
        // PodScheduled may never be True; a later milestone then says that it was, but not when.
        let implied = marks[NETWORK..].iter().flatten().map(|mark| mark.position).min();
        if let Some(position) = implied
            && marks[SCHEDULED].is_none_or(|mark| mark.position > position)
        {
            marks[SCHEDULED] = Some(Mark { position, second: None });
        }
        let scheduled = marks[SCHEDULED];
        let evidence = evidence(shown, scheduled, marks[NETWORK]);
        if evidence.is_some() {
            marks[NETWORK] = evidence;
        } else if let Some(network) = &mut marks[NETWORK] {
            // The kubelet may set the condition late: a container has started with the network ready.
            let start = shown[network.position].0.first_start;
            let earliest = [network.second, start].into_iter().flatten().min();
            let scheduled = scheduled.filter(|mark| mark.position <= network.position);
            network.second = earliest.max(scheduled.and_then(|mark| mark.second));
        }
        let gated_at = shown.iter().position(|(shows, _)| shows.gated);
        let ungated = gated_at.and_then(|gated_at| {
            let after = shown[gated_at..].iter().position(|(shows, _)| !shows.gated)?;
            Some(Mark { position: gated_at + after, second: None })
        });
        let until = marks[SCHEDULED].map_or(shown.len() - 1, |mark| mark.position);
        Self {
            nature,
            shown,
            adopted,
            marks,
            by_event: evidence.is_some(),
            acknowledged: first(shown, |shows| shows.started),
            containers_started: first(shown, |shows| shows.all_started),
            gated: gated_at.is_some(),
            ungated,
            unschedulable: shown[..=until].iter().any(|(shows, _)| shows.unschedulable),
        }
    }

    /// By interval: whether it applies, where it begins and where it ends.
    fn intervals(&self) -> [(bool, Option<Mark>, Option<Mark>); INTERVALS] {
        let created = Some(Mark { position: 0, second: Some(self.nature.created) });
        let [scheduled, network, initialized, containers, ready] = self.marks;
        let eligible = if self.gated { self.ungated } else { created };
        let prepared = match (self.nature.has_init, network, initialized) {
            (false, network, _) => network,
            (true, Some(one), Some(other)) => Some(Mark {
                position: one.position.max(other.position),
                second: one.second.max(other.second),
            }),
            _ => None,
        };
        [
            (self.gated, created, self.ungated),
            (!self.unschedulable, eligible, scheduled),
            (self.unschedulable, eligible, scheduled),
            (true, scheduled, network),
            (self.nature.has_init, network, initialized),
            (true, prepared, containers),
            (self.nature.readiness_gated, containers, ready),
            (true, scheduled, ready),
            (true, created, ready),
            (true, scheduled, self.acknowledged),
            (true, self.acknowledged, network),
            (true, prepared, self.containers_started),
            (true, self.containers_started, containers),
        ]
    }

    /// By source: how often the network became ready while it was watched.
    fn network(&self) -> [Times; 3] {
        let [condition, container, event] = [
            [Times::ONCE, Times::default(), Times::default()],
            [Times::default(), Times::ONCE, Times::default()],
            [Times::default(), Times::default(), Times::ONCE],
        ];
        let Some(network) = self.marks[NETWORK] else {
            return Default::default();
        };
        if self.adopted && network.position == 0 {
            return Default::default();
        }
        if self.by_event {
            return event;
        }
        let (shows, how) = self.shown[network.position];
        let since = shows.reached(NETWORK).map(|since| not_ahead(since, how));
        match (since, shows.first_start) {
            (Some(since), Some(start)) if start < since => container,
            // Within a second the arrival of the event decides.
            (Some(since), Some(start)) if start == since => {
                [Times::PERHAPS, Times::PERHAPS, Times::default()]
            }
            _ => condition,
        }
    }

    pub fn state(&self, expected: &mut Expected) {
        expected.network = self.network();
        let over = matches!(expected.outcome, Some(Outcome::Ready | Outcome::Completed));
        for (index, (applies, from, to)) in self.intervals().into_iter().enumerate() {
            if !applies {
                continue;
            }
            let is_whole = WHOLE.contains(&index);
            let mut unobserved = |reason: UnobservedReason, times| {
                if !is_whole {
                    expected.unobserved[index][reason as usize] = times;
                }
            };
            match (from, to) {
                // It had ended before anybody looked.
                (_, Some(to)) if self.adopted && to.position == 0 && !is_whole => {
                    unobserved(UnobservedReason::Preexisting, Times::ONCE);
                }
                (Some(from), Some(to)) => {
                    let (measured, unusable) = self.judged(index, from, to);
                    expected.measured[index] = measured;
                    unobserved(UnobservedReason::Time, unusable);
                    expected.lengths[index] = Some(Length {
                        seconds: from.second.zip(to.second).map(|(from, to)| to - from),
                        shown: match self.shown[to.position].1 {
                            How::Event(at) => Some(at),
                            How::FirstList | How::List | How::KubeEvent(_) => None,
                        },
                        began: from.second,
                        lacked: self.lacked(index),
                    });
                }
                _ if over && self.types_stood(index) => {
                    unobserved(UnobservedReason::NotSeen, Times::ONCE);
                }
                _ if over => unobserved(UnobservedReason::ConditionAbsent, Times::ONCE),
                _ => {}
            }
        }
    }

    /// Whether an interval is measured, and whether its time is unusable.
    ///
    /// An estimate lies within its second, see [`first`]. So an interval of -1 s by the API is
    /// between -2 s and 0, and the specification draws the line at -1 s.
    fn judged(&self, index: usize, from: Mark, to: Mark) -> (Times, Times) {
        let eligible = [SCHEDULING, UNSCHEDULABLE].contains(&index) && self.gated;
        if index == GATED || eligible {
            // The end of the gates has no API time. By a list it is unknown.
            let ungated = self.ungated.map(|mark| self.shown[mark.position].1);
            let known = matches!(ungated, Some(How::Event(_)));
            let usable = known && (index == GATED || to.second.is_some());
            return match usable {
                true => (Times::PERHAPS, Times::PERHAPS),
                false => (Times::default(), Times::ONCE),
            };
        }
        match from.second.zip(to.second).map(|(from, to)| to - from) {
            None | Some(..-1) => (Times::default(), Times::ONCE),
            Some(-1) => (Times::PERHAPS, Times::PERHAPS),
            Some(_) => (Times::ONCE, Times::default()),
        }
    }

    /// The milestones that an interval waits for and that a condition states.
    fn needs(&self, index: usize) -> &'static [usize] {
        match index {
            GATED => &[],
            SCHEDULING | UNSCHEDULABLE => &[SCHEDULED],
            3 => &[SCHEDULED, NETWORK],
            4 => &[NETWORK, INITIALIZED],
            5 if self.nature.has_init => &[NETWORK, INITIALIZED, CONTAINERS],
            5 => &[NETWORK, CONTAINERS],
            6 => &[CONTAINERS, READY],
            7 => &[SCHEDULED, READY],
            8 => &[READY],
            9 => &[SCHEDULED],
            10 => &[NETWORK],
            11 if self.nature.has_init => &[NETWORK, INITIALIZED],
            11 => &[NETWORK],
            _ => &[CONTAINERS],
        }
    }

    /// Whether a kubelet has written a status without a condition that the interval waits for, as
    /// one does that is too old and is replaced later.
    fn lacked(&self, index: usize) -> bool {
        let lacks = |shows: &Shows| {
            let mut needs = self.needs(index).iter();
            needs.any(|milestone| shows.milestone(*milestone).is_none())
        };
        (self.shown.iter()).any(|(shows, _)| shows.started.is_some() && lacks(shows))
    }

    /// Whether every condition that the stage waits for ever stood in the status.
    fn types_stood(&self, index: usize) -> bool {
        let stood = |milestone: &usize| {
            let of_it = |(shows, _): &(&Shows, How)| shows.milestone(*milestone).is_some();
            self.shown.iter().any(of_it)
        };
        self.needs(index).iter().all(stood)
    }
}
