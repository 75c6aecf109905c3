//! What must have been counted of a pod, by the versions that the program received: the rules of the
//! specification ([§2](crate::specification#s2) to [§6](crate::specification#s6), [§9.1](crate::specification#s9-1) and
//! [§9.2](crate::specification#s9-2)) as statements about
//! all of these versions at once. There is no state machine here, and no code of the tracker.

use podinit_core::lifecycle::Outcome;

use crate::proof::facts::{NETWORK, Nature, READY, Shows, returns};
use crate::proof::history::History;
use crate::proof::kube_events::Says;
use crate::proof::seen::{Gone, How, Seen};
use crate::proof::startup::Startup;
use crate::proof::tally::INTERVALS;

/// A number of times: exactly so often, or once or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub least: u32,
    pub most: u32,
}

impl Times {
    pub const ONCE: Self = Self { least: 1, most: 1 };
    pub const PERHAPS: Self = Self { least: 0, most: 1 };
}

/// An interval whose two ends were seen: its length in whole seconds, as the API states them.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// `None` where one of its ends has no API time
    pub seconds: Option<i64>,
    /// The nanosecond at which an event first showed its end; `None` for a list
    pub shown: Option<i64>,
    /// When it began by the API
    pub began: Option<i64>,
    /// A condition that it waits for was once absent from what a kubelet had written
    pub lacked: bool,
}

/// What must have been counted of one pod.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    pub discovered: bool,
    pub outcome: Option<Outcome>,
    /// By interval, in the order of `Interval::ALL`
    pub measured: [Times; INTERVALS],
    pub lengths: [Option<Length>; INTERVALS],
    /// By interval and reason; end-to-end durations have none
    pub unobserved: [[Times; 4]; INTERVALS],
    pub returns: [u32; 4],
    /// Its startup was not, or not wholly, watched
    pub from_before: bool,
    /// By source: how often its network became ready
    pub network: [Times; 3],
    /// What Events said of it while it was in flight
    pub heard: Vec<Says>,
}

/// What must have been counted of the pod.
pub fn of(history: &History, nature: &Nature, seen: &Seen) -> Expected {
    let mut expected = Expected::default();
    if !seen.is_known() {
        return expected;
    }
    expected.discovered = true;
    let shown: Vec<(&Shows, How)> =
        (seen.versions.iter()).map(|(place, how)| (&history.version(*place).shows, *how)).collect();
    let first = shown[0].0;
    if nature.mirror {
        expected.from_before = true;
        expected.outcome = Some(Outcome::Static);
        return expected;
    }
    // What was known of a pod went with its deletion, though a backup may bring it back.
    let mut since = 0;
    for until in seen.revived.iter().copied().chain([shown.len()]) {
        let restored = seen.restored.map(|restored| restored.saturating_sub(since));
        let versions = shown[since..until].iter().map(|(shows, _)| *shows);
        let again = returns(versions, restored);
        for (count, again) in expected.returns.iter_mut().zip(&again[NETWORK..]) {
            *count += again;
        }
        since = until;
    }
    let listed_first = shown[0].1 == How::FirstList;
    if listed_first && had_started_up(first) {
        expected.from_before = true;
        expected.outcome = Some(Outcome::Preexisting);
        return expected;
    }
    expected.from_before = listed_first;
    let watched = &shown[..seen.ended.map_or(shown.len(), |(_, versions)| versions)];
    let end =
        watched.iter().position(|(shows, _)| shows.reached(READY).is_some() || shows.is_over());
    let until = end.unwrap_or(watched.len() - 1);
    let last = watched[until].0;
    let ran = watched[..=until].iter().any(|(shows, _)| shows.ran);
    expected.outcome = match (end, seen.ended.map(|(gone, _)| gone)) {
        (Some(_), _) if last.reached(READY).is_some() => Some(Outcome::Ready),
        (Some(_), _) if last.succeeded => Some(Outcome::Completed),
        (None, Some(Gone::Moved)) => Some(Outcome::Moved),
        (Some(_), _) | (None, Some(_)) if last.disrupted => Some(Outcome::Disrupted),
        (Some(_), _) if last.bound && !ran => Some(Outcome::Rejected),
        (Some(_), _) => Some(Outcome::Failed),
        (None, Some(Gone::Deleted)) => Some(Outcome::Deleted),
        (None, Some(Gone::Absent)) => Some(Outcome::Vanished),
        (None, None) => None,
    };
    // An Event after the end of the startup says nothing.
    let in_flight = until + usize::from(end.is_none());
    let heard = seen.events.iter().filter(|(shown, _)| *shown <= in_flight);
    expected.heard = heard.map(|(_, says)| *says).collect();
    let shown = with_events(&watched[..=until], &seen.events, in_flight);
    Startup::of(nature, &shown, listed_first).state(&mut expected);
    expected
}

/// The versions, and between them the Events that showed the network as ready, with the version before.
fn with_events<'a>(
    shown: &[(&'a Shows, How)],
    events: &[(usize, Says)],
    in_flight: usize,
) -> Vec<(&'a Shows, How)> {
    let mut all = Vec::new();
    for (number, version) in shown.iter().enumerate() {
        all.push(*version);
        let here =
            events.iter().filter(|(before, _)| *before == number + 1 && *before <= in_flight);
        let seconds = here.filter_map(|(_, says)| says.network);
        all.extend(seconds.map(|second| (version.0, How::KubeEvent(second))));
    }
    all
}

/// [§5.2](crate::specification#s5-2).
pub fn had_started_up(first: &Shows) -> bool {
    let ready_before = match (first.milestone(READY), first.started) {
        (Some((false, since)), Some(started)) => since - started > 5,
        _ => false,
    };
    first.reached(READY).is_some() || first.is_over() || ready_before
}
