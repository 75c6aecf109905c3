//! The machine's clock, corrected by the dates of the API server's answers.
//!
//! podinit compares its observations with times that the cluster states, so the clock that counts
//! is the cluster's. The machine's is usually as good (NTP keeps both) and far finer than a `Date`
//! header, which is truncated to the second; but it may be wrong, or be set. Hence:
//!
//! - Between two answers, time is the last time plus what has passed by a clock that cannot be set
//!   and that runs while the machine sleeps (`CLOCK_BOOTTIME`).
//! - Each answer that took less than two seconds bounds the cluster's time: it lies between the
//!   date and the date plus one second plus the time that the answer took. While the machine's
//!   clock is within two seconds of these bounds, it is followed, even where NTP slews it.
//! - When it is not, podinit keeps its own time within the bounds until the machine's clock is right
//!   again. The limits for leaving the machine's clock and for returning to it are more than a second
//!   apart, the precision of a date, so that a clock at the limit does not flap with each answer.
//!
//! Where no answer has a date, as behind proxies that drop it, nothing corrects the machine's clock, and the page says
//! that it is not checked ([§4.9](crate::specification#s4-9)). An observer passes the `Date` of each answer to the clock.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use http::Request;
use http::header::{DATE, HeaderMap};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;

use super::clock::{ClockCorrections, ClockReading, DeliveryClock, SystemClock};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Answers that took this long or longer are not used: they bound the time too loosely.
const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// The machine's clock is followed while it is at most this many seconds outside the bounds.
pub const KEPT_SECONDS: u32 = 2;

const KEEP_NANOS: i64 = KEPT_SECONDS as i64 * NANOS_PER_SECOND;

/// It is followed again when it is at most this far outside the bounds.
const RETURN_NANOS: i64 = NANOS_PER_SECOND / 4;

/// A change of more than this is counted and logged.
const STEP_NANOS: i64 = NANOS_PER_SECOND;

/// Reads the machine's clock, which can be set.
type WallClock = dyn Fn() -> Timestamp + Send + Sync;
/// Reads a clock that cannot be set: the time since some moment.
type ElapsedClock = dyn Fn() -> Duration + Send + Sync;

/// The best estimate of the cluster's time. See the module.
pub struct ApiServerClock {
    wall: Box<WallClock>,
    elapsed: Box<ElapsedClock>,
    state: Mutex<ClockState>,
}

#[derive(Clone, Copy, Debug)]
struct ClockState {
    /// The time of day when the elapsed time was zero
    origin: Timestamp,
    /// Whether the machine's clock is followed
    follows_machine: bool,
    /// What was added to the machine's clock after the last answer, in nanoseconds
    correction: i64,
    steps: u64,
    jumps: u64,
    /// A date has bounded the time
    checked: bool,
}

/// What an answer with a date proves: the time is between these.
#[derive(Clone, Copy, Debug)]
struct TimeBounds {
    earliest: Timestamp,
    latest: Timestamp,
    /// The best guess
    likely: Timestamp,
}

impl TimeBounds {
    /// How far outside the bounds `at` is, in nanoseconds; 0 inside.
    fn distance(self, at: Timestamp) -> i64 {
        at.nanos_since(self.nearest(at)).saturating_abs()
    }

    /// The time within the bounds that is nearest to `at`.
    fn nearest(self, at: Timestamp) -> Timestamp {
        at.clamp(self.earliest, self.latest)
    }
}

impl ApiServerClock {
    /// A clock that follows the machine's while that is right.
    pub fn from_machine() -> Self {
        Self::new(|| SystemClock.now(), since_boot)
    }

    /// A clock made of two: `wall` reads the time of day and can be set, `elapsed` reads the time
    /// since some moment and cannot.
    pub fn new(
        wall: impl Fn() -> Timestamp + Send + Sync + 'static,
        elapsed: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        let state = ClockState {
            origin: wall().plus_nanos(-nanos(elapsed())),
            follows_machine: true,
            correction: 0,
            steps: 0,
            jumps: 0,
            checked: false,
        };
        Self { wall: Box::new(wall), elapsed: Box::new(elapsed), state: Mutex::new(state) }
    }

    /// An answer with this `date` has just arrived. Its request was sent at `sent` (by
    /// [`DeliveryClock::elapsed`]).
    pub(super) fn observe_date(&self, sent: Duration, date: Timestamp) {
        let elapsed = (self.elapsed)();
        let took = elapsed.saturating_sub(sent);
        if took >= LONGEST_ANSWER {
            return;
        }
        let mut state = self.state.lock();
        state.checked = true;
        let width = NANOS_PER_SECOND + nanos(took);
        let bounds = TimeBounds {
            earliest: date,
            latest: date.plus_nanos(width),
            likely: date.plus_nanos(width / 2),
        };
        let before = *state;
        state.adjust(bounds, elapsed, (self.wall)());
        if state.steps != before.steps {
            state.log_step(before);
        }
    }
}

impl DeliveryClock for ApiServerClock {
    fn read(&self) -> ClockReading {
        // Read under the lock, so that the times of two readers are in the order of their readings.
        let state = self.state.lock();
        ClockReading { now: state.at((self.elapsed)()), jumps: state.jumps }
    }

    fn elapsed(&self) -> Duration {
        (self.elapsed)()
    }

    fn corrections(&self) -> ClockCorrections {
        let state = self.state.lock();
        let now = state.at((self.elapsed)());
        let correction = now.nanos_since((self.wall)());
        ClockCorrections {
            steps: state.steps,
            seconds: correction as f64 / NANOS_PER_SECOND as f64,
            unchecked: !state.checked,
        }
    }
}

impl ClockState {
    fn at(&self, elapsed: Duration) -> Timestamp {
        self.origin.plus_nanos(nanos(elapsed))
    }

    /// Moves the time at `elapsed` into `bounds`, or to `wall`, the machine's, where that is right.
    fn adjust(&mut self, bounds: TimeBounds, elapsed: Duration, wall: Timestamp) {
        let before = self.at(elapsed);
        let tolerance = if self.follows_machine { KEEP_NANOS } else { RETURN_NANOS };
        self.follows_machine = bounds.distance(wall) <= tolerance;
        let now = if self.follows_machine {
            wall
        } else if bounds.distance(before) <= KEEP_NANOS {
            bounds.nearest(before)
        } else {
            bounds.likely
        };
        let moved = now.nanos_since(before);
        let correction = now.nanos_since(wall);
        let changed = correction.saturating_sub(self.correction);
        self.origin = self.origin.plus_nanos(moved);
        self.correction = correction;
        self.jumps += u64::from(moved.saturating_abs() > STEP_NANOS);
        self.steps +=
            u64::from(moved.saturating_abs() > STEP_NANOS || changed.saturating_abs() > STEP_NANOS);
    }

    fn log_step(&self, before: Self) {
        let seconds = |nanos: i64| nanos as f64 / NANOS_PER_SECOND as f64;
        let (correction, was) = (seconds(self.correction), seconds(before.correction));
        if self.correction.saturating_abs() > STEP_NANOS {
            tracing::warn!(
                correction,
                was,
                "the machine's clock differs from the API server's; podinit corrects it"
            );
        } else {
            tracing::info!(
                correction,
                was,
                "the machine's clock agrees with the API server's again"
            );
        }
    }
}

impl fmt::Debug for ApiServerClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiServerClock").field("state", &self.state.lock()).finish_non_exhaustive()
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// The time since the machine booted, including sleep.
fn since_boot() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let at = clock_gettime(CLOCK);
    let whole = u64::try_from(at.tv_sec).unwrap_or_default();
    Duration::new(whole, u32::try_from(at.tv_nsec).unwrap_or_default())
}

/// 1971-01-01T00:00:00Z. A server whose clock says an earlier time was never set.
const FIRST_SENSIBLE_DATE: Duration = Duration::from_secs(31_536_000);

/// A client that sends requests through `client`, and passes the dates of all answers to `clock`.
pub(super) fn observing_dates(client: Client, clock: Arc<ApiServerClock>) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, clock) = (client.clone(), Arc::clone(&clock));
        async move {
            let sent = clock.elapsed();
            let response = client.send(request).await?;
            if let Some(date) = date_of(response.headers()) {
                clock.observe_date(sent, date);
            }
            Ok::<_, kube::Error>(response)
        }
    });
    Client::new(service, namespace)
}

/// The second that the `Date` of an answer states. `None` where there is none, or none in the
/// preferred format of RFC 9110, section 5.6.7 (`Sun, 06 Nov 1994 08:49:37 GMT`): no API server
/// writes the obsolete ones.
pub fn date_of(headers: &HeaderMap) -> Option<Timestamp> {
    let text = headers.get(DATE)?.to_str().ok()?;
    let date = httpdate::parse_http_date(text).ok()?;
    // The parser also takes obsolete formats and days such as 31 February.
    if httpdate::fmt_http_date(date) != text {
        return None;
    }
    let since_epoch = date.duration_since(UNIX_EPOCH).ok()?;
    let seconds = i64::try_from(since_epoch.as_secs()).ok()?;
    (since_epoch >= FIRST_SENSIBLE_DATE).then(|| Timestamp::from_seconds(seconds))
}

#[cfg(test)]
#[path = "api_server_clock_tests.rs"]
mod tests;

#[cfg(test)]
mod date_observer_tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_date_is_read_or_refused() {
        let at = |text: &str| {
            let headers = [(DATE, text.parse().unwrap())].into_iter().collect();
            date_of(&headers).map(Timestamp::as_nanos)
        };
        assert_eq!(at("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_000_000_000));
        assert_eq!(at("Thu, 01 Jan 2026 00:00:00 GMT"), Some(1_767_225_600_000_000_000));
        for nonsense in [
            "",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Thu, 01 Jan 1970 00:00:07 GMT",
        ] {
            assert_eq!(at(nonsense), None, "{nonsense}");
        }
        assert_eq!(date_of(&HeaderMap::new()), None);
    }
}
