//! The instant of an answer from a recording ([§8.7](crate::specification#s8-7)): a lone list does not say when it was
//! made.

use std::time::Duration;

use super::created;
use super::question::PodQuestion;
use super::tracked::TrackedPods;
use podinit_core::dimension::Dimension;
use podinit_core::timestamp::Timestamp;
use podinit_problems::OverTime;
use podinit_recordings::reader::RecordingMade;
use podinit_recordings::replay::LoneList;
use podinit_text::human_time::{at_least, since};
use podinit_text::words::count;

/// A list on standard input is of now if its newest time is at most this old ...
const OF_TODAY: Duration = Duration::from_secs(24 * 3_600);
/// ... or at most this old if nodes state it: kubelets do so at least every 5 minutes.
const OF_NODES: Duration = Duration::from_secs(10 * 60);
/// How far apart two instants are before an answer names both.
const APART: Duration = Duration::from_secs(5 * 60);

/// An instant that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// The present
    Now,
    /// The newest time that the list states
    Newest,
    At(Timestamp),
}

/// What is known of when a recording was made.
#[derive(Clone, Copy, Debug)]
pub struct RecordingTime {
    /// What is asked for
    pub asked: Option<AsOf>,
    pub now: Timestamp,
    pub made: RecordingMade,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoInstant {
    /// The recording states no time
    #[error(
        "the recording states no usable time, so that there is no answer; give --as-of now or a time"
    )]
    NoTime,
    #[error("--as-of is of a list; this recording has a watch, and is of its end")]
    Watched,
    #[error("--as-of lies before the newest time of the list, {newest}")]
    TooEarly { newest: String },
}

impl NoInstant {
    /// Whether another option would give an answer.
    pub const fn is_misuse(&self) -> bool {
        !matches!(self, Self::NoTime)
    }
}

/// The instant that was not taken.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OtherInstant {
    /// An earlier one, with the answer then
    Newest(AsOfAnswer),
    /// A later one, and how to ask for it
    Later { at: Timestamp, words: String, flag: String },
}

/// A cause, what its pods share, and how many they are.
type CauseCount = (&'static str, Option<(Dimension, String)>, usize);

/// The figures of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AsOfAnswer {
    /// The pods of each problem by cause and value, or of each cause
    told: Vec<CauseCount>,
    /// The number of pods
    pods: usize,
    /// Since when the first of them waits
    first: Option<Timestamp>,
}

/// The instant of a recording, and the other one if an answer names it too. `newest` is its newest time. `list` has the
/// times of a lone list.
pub(super) fn instant(
    newest: Option<Timestamp>,
    list: Option<LoneList>,
    making: RecordingTime,
) -> Result<(Timestamp, Option<Timestamp>), NoInstant> {
    let RecordingTime { asked, now, made } = making;
    let newest = newest.filter(|newest| *newest > Timestamp::EPOCH);
    let newest = newest.ok_or(NoInstant::NoTime)?;
    let at = match (asked, list) {
        (None | Some(AsOf::Newest), None) | (Some(AsOf::Newest), Some(_)) => newest,
        (Some(_), None) => return Err(NoInstant::Watched),
        (None, Some(list)) => return Ok(by_default(newest, list, now, made)),
        (Some(AsOf::Now), Some(_)) => newest.max(now),
        (Some(AsOf::At(at)), Some(_)) => at,
    };
    match at < newest {
        true => Err(NoInstant::TooEarly { newest: podinit_core::rfc3339::format(newest) }),
        false => Ok((at, None)),
    }
}

fn by_default(
    newest: Timestamp,
    list: LoneList,
    now: Timestamp,
    made: RecordingMade,
) -> (Timestamp, Option<Timestamp>) {
    if list.is_observed {
        return (newest, None);
    }
    let by_nodes = list.heartbeat.is_some_and(|heartbeat| heartbeat.plus(APART) >= newest);
    let youth = if by_nodes { OF_NODES } else { OF_TODAY };
    let is_of_now = made.is_input && now <= newest.plus(youth);
    let last = if made.is_input { now } else { made.modified.unwrap_or(newest) };
    let far = |other: &Timestamp| *other >= newest.plus(APART);
    match is_of_now {
        true => (now.max(newest), Some(newest).filter(|_| far(&now))),
        false => (newest, Some(last).filter(far)),
    }
}

/// The other instant, of a recording that stands at its newest time.
pub(super) fn other(
    tracked: &TrackedPods,
    at: Timestamp,
    other: Timestamp,
    now: Timestamp,
) -> OtherInstant {
    if other < at {
        return OtherInstant::Newest(AsOfAnswer::from_tracked(tracked));
    }
    let is_now = now < other.plus(APART);
    let time = podinit_core::rfc3339::format(other.truncate_to_second());
    match is_now {
        true => {
            OtherInstant::Later { at: other, words: "of now".to_owned(), flag: "now".to_owned() }
        }
        false => OtherInstant::Later { at: other, words: format!("of {time}"), flag: time },
    }
}

impl OtherInstant {
    /// One line that the answer at this instant differs; `None` where it is the same.
    pub(super) fn line(self, tracked: &mut TrackedPods) -> Option<String> {
        let taken = AsOfAnswer::from_tracked(tracked);
        let (words, flag, other) = match self {
            Self::Newest(other) => ("older".to_owned(), "newest".to_owned(), other),
            Self::Later { at, words, flag } => {
                tracked.move_to(at);
                (words, flag, AsOfAnswer::from_tracked(tracked))
            }
        };
        let has_waited = flag != "newest";
        let is_same = taken.told == other.told && tracked.question.target().is_none();
        if is_same || (taken.pods, other.pods) == (0, 0) {
            return None;
        }
        let now = tracked.tracker.accounted_time()?;
        let told = other.in_words(&tracked.question, has_waited.then_some(now));
        Some(format!("If this list is {words}, {told}: say --as-of {flag}"))
    }
}

impl AsOfAnswer {
    /// The figures of the pods as they are.
    fn from_tracked(tracked: &TrackedPods) -> Self {
        let mut answer = Self::default();
        match &tracked.question {
            PodQuestion::Problems | PodQuestion::Rollouts(_) => {
                let found = tracked.found(&mut OverTime::default());
                let problems = found.iter().flat_map(|found| &found.problems);
                for (problem, _) in problems.filter(|(one, _)| one.kind.holds_pods()) {
                    let shared = problem.shared.as_ref();
                    let shared = shared.map(|(kind, value)| (*kind, value.to_string()));
                    answer.told.push((problem.cause.as_str(), shared, problem.pods));
                    answer.pods += problem.pods;
                    answer.first = earliest(answer.first, problem.since);
                }
            }
            question => {
                for (_, pod) in tracked.tracker.in_flight_after(None) {
                    let counts = match question {
                        PodQuestion::Stuck(_) => pod.is_stuck(),
                        question => question.target().is_none_or(|one| one.fits(pod.pod())),
                    };
                    if counts {
                        answer.pods += 1;
                        answer.first = earliest(answer.first, created(&pod.record()).0);
                    }
                }
                answer.told.push(("", None, answer.pods));
            }
        }
        answer
    }

    /// How many pods wait, and for how long by `now`.
    fn in_words(&self, question: &PodQuestion, now: Option<Timestamp>) -> String {
        if self.pods == 0 {
            return match question {
                PodQuestion::Stuck(_) => "no pod is stuck".to_owned(),
                _ => "no pod waits".to_owned(),
            };
        }
        let pods = count(self.pods, "pod", "pods");
        let took = self.first.zip(now).map(|(first, now)| at_least(since(first, now) as u32));
        // 1h0m is 1h.
        let took = took.map(|took| match took.strip_suffix("h0m").or(took.strip_suffix("m0s")) {
            Some(whole) => took[..=whole.len()].to_owned(),
            None => took,
        });
        match (took, self.pods) {
            (Some(took), 1) => format!("{pods} has waited for {took}"),
            (Some(took), _) => format!("{pods} have waited for {took}"),
            (None, 1) => format!("{pods} waits"),
            (None, _) => format!("{pods} wait"),
        }
    }
}

fn earliest(first: Option<Timestamp>, other: Timestamp) -> Option<Timestamp> {
    Some(first.map_or(other, |first| first.min(other)))
}

#[cfg(test)]
#[path = "as_of_tests.rs"]
mod tests;
