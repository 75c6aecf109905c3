//! The time by which deliveries are accounted for. It detects when time did not pass evenly: the
//! process was stopped, the machine slept, or the clock was corrected. No deadline passes at such a
//! time until what happened meanwhile has been delivered.

use std::time::Duration;

use tokio::time::Instant;

use podinit_core::lifecycle::{Delivery, Observer, Tracker};
use podinit_core::timestamp::Timestamp;
use podinit_kube::cluster::clock::{ClockReading, DeliveryClock};
use podinit_kube::watch::stats::WatchStats;

/// The loop ticks at least so often while a figure can change without a delivery.
const TICK: Duration = Duration::from_secs(1);

/// The loop ticks at least so often while none can ([`Tracker::is_quiet`]).
const QUIET_TICK: Duration = Duration::from_secs(10);

/// A tick that comes later by this means that the process did not run.
const STALL: Duration = Duration::from_millis(1_500);

/// When the API server was last heard longer ago than this, the watch says nothing about the
/// present. The API server ends quiet watches, and sends a bookmark before, more often than this.
const FRESH: Duration = Duration::from_secs(30);

/// How time passed since the last reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimePassed {
    Evenly,
    /// The process did not run until this time
    Stalled(Timestamp),
    /// The clock jumped to this time. How much time has passed is unknown.
    Jumped(Timestamp),
}

impl TimePassed {
    fn apply(self, tracker: &mut Tracker) {
        match self {
            Self::Evenly => {}
            Self::Stalled(now) => tracker.catch_up(now),
            Self::Jumped(now) => tracker.set_time(now),
        }
    }
}

/// Keeps the time of the loop that accounts for deliveries.
#[derive(Debug)]
pub struct AccountingClock {
    /// The latest reading of the clock
    reading: ClockReading,
    /// When the loop is to tick next, by [`DeliveryClock::elapsed`]
    next_tick: Duration,
    /// The same by the clock
    tick_due: Timestamp,
    /// When time last stalled or jumped: deadlines pass only after the API server has been heard
    /// since
    disturbed: Option<Instant>,
}

impl AccountingClock {
    /// Starts the time of `tracker`. A restored tracker may be ahead, if the clock was wrong when it
    /// was saved.
    pub fn start(clock: &dyn DeliveryClock, tracker: &mut Tracker) -> Self {
        let this = Self::new(clock);
        if tracker.is_ahead_of(this.reading.now) {
            tracker.set_time(this.reading.now);
        }
        this
    }

    /// To be called at every tick of the loop.
    pub fn tick(&mut self, clock: &dyn DeliveryClock, tracker: &mut Tracker) {
        self.since_tick(clock).apply(tracker);
    }

    /// To be called when deliveries have been received, before the first of them is accounted for.
    pub fn receive(&mut self, clock: &dyn DeliveryClock, tracker: &mut Tracker) {
        self.read(clock).apply(tracker);
    }

    /// To be called for each delivery that was received. Nothing arrives in the future: a delivery with a
    /// later time was stamped before the clock jumped back.
    pub fn stamp(&self, delivery: &mut Delivery) {
        let present = self.reading.now;
        delivery.now = present.min(delivery.now);
        delivery.observed = delivery.observed.map(|observed| present.min(observed));
    }

    /// Lets deadlines pass up to the time of the last tick, once everything delivered has been
    /// accounted for. Does nothing while the API server has not been heard for a while: after a
    /// stall, what happened meanwhile has to be delivered first.
    pub fn let_deadlines_pass(
        &self,
        stats: &WatchStats,
        tracker: &mut Tracker,
        sink: &mut impl Observer,
    ) {
        let heard = stats.last_contact().map(Instant::from_std);
        if heard.is_some_and(|heard| self.is_fresh(heard)) {
            tracker.advance(self.reading.now, sink);
        }
    }

    /// Plans the next tick, for when the next deadline passes, and says how long it is until then. A deadline that has
    /// passed waits for its source, which the next tick finds out.
    pub fn plan_tick(&mut self, clock: &dyn DeliveryClock, tracker: &Tracker) -> Duration {
        let longest = if tracker.is_quiet() { QUIET_TICK } else { TICK };
        let nanos = tracker.next_deadline().map(|due| due.nanos_since(self.reading.now));
        // It passes strictly after its instant.
        let due = nanos.and_then(|nanos| u64::try_from(nanos).ok());
        let due = due.map(|nanos| Duration::from_nanos(nanos.saturating_add(1)));
        let wait = due.map_or(longest, |due| due.min(longest));
        self.next_tick = clock.elapsed() + wait;
        self.tick_due = self.reading.now.plus(wait);
        wait
    }

    /// Whether the next tick is due sooner than it is planned, after a delivery.
    pub fn is_due_sooner(&self, tracker: &Tracker) -> bool {
        let planned = self.tick_due;
        planned > self.reading.now.plus(TICK) && !tracker.is_quiet()
            || tracker.next_deadline().is_some_and(|due| self.reading.now <= due && due < planned)
    }

    fn new(clock: &dyn DeliveryClock) -> Self {
        let reading = clock.read();
        Self { reading, next_tick: clock.elapsed() + TICK, tick_due: reading.now, disturbed: None }
    }

    /// How time has passed since the last tick.
    fn since_tick(&mut self, clock: &dyn DeliveryClock) -> TimePassed {
        let elapsed = clock.elapsed();
        let stalled = elapsed.saturating_sub(self.next_tick) > STALL;
        self.next_tick = elapsed + TICK;
        match self.read(clock) {
            TimePassed::Evenly if stalled => {
                self.disturbed = Some(Instant::now());
                TimePassed::Stalled(self.reading.now)
            }
            passed => passed,
        }
    }

    /// Reads the clock and says whether it has jumped since the last reading. The reading is the
    /// only source of times until the next one, so that no jump goes unnoticed.
    fn read(&mut self, clock: &dyn DeliveryClock) -> TimePassed {
        let before = std::mem::replace(&mut self.reading, clock.read());
        if self.reading.jumps == before.jumps {
            return TimePassed::Evenly;
        }
        self.disturbed = Some(Instant::now());
        TimePassed::Jumped(self.reading.now)
    }

    /// Whether deadlines may pass when every source heard the API server at `heard` or later: not
    /// long ago, and after the last disturbance.
    fn is_fresh(&self, heard: Instant) -> bool {
        heard.elapsed() < FRESH && self.disturbed.is_none_or(|at| heard > at)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::slos::ExporterSlos;
    use podinit_core::lifecycle::{
        Observation, PodEvent, PodObservation, SloRule, SourceId, TrackerConfig,
    };
    use podinit_core::pod::{PodSnapshot, PodUid};
    use podinit_slo::SloFile;

    /// Shows the time that a test sets.
    #[derive(Default)]
    struct Shown(Mutex<(u64, u64)>);

    impl Shown {
        fn show(&self, second: u64, jumps: u64) {
            *self.0.lock().unwrap() = (second, jumps);
        }
    }

    impl DeliveryClock for Shown {
        fn read(&self) -> ClockReading {
            let (second, jumps) = *self.0.lock().unwrap();
            ClockReading { now: Timestamp::from_seconds(second as i64), jumps }
        }
        fn elapsed(&self) -> Duration {
            Duration::from_secs(self.0.lock().unwrap().0)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stall_or_jump_is_reported_once_and_ends_when_the_server_is_heard() {
        let clock = Shown::default();
        let mut time = AccountingClock::new(&clock);
        let before = Instant::now();
        clock.show(2, 0);
        assert_eq!(time.since_tick(&clock), TimePassed::Evenly);
        assert!(time.is_fresh(before));
        clock.show(600, 0);
        let at = Timestamp::from_seconds(600);
        assert_eq!(time.since_tick(&clock), TimePassed::Stalled(at));
        assert_eq!(time.since_tick(&clock), TimePassed::Evenly);
        assert!(!time.is_fresh(before));
        tokio::time::advance(Duration::from_secs(1)).await;
        let heard = Instant::now();
        assert!(time.is_fresh(heard));
        clock.show(600, 1);
        assert_eq!(time.read(&clock), TimePassed::Jumped(at));
        assert_eq!(time.since_tick(&clock), TimePassed::Evenly);
        assert!(!time.is_fresh(heard));
        tokio::time::advance(Duration::from_secs(1)).await;
        let heard = Instant::now();
        tokio::time::advance(FRESH).await;
        assert!(!time.is_fresh(heard));
    }

    #[tokio::test(start_paused = true)]
    async fn ticks_are_planned_for_the_next_deadline() {
        let clock = Shown::default();
        clock.show(1000, 0);
        let rule = SloRule { threshold: Duration::from_millis(60_500), ..SloRule::default() };
        let mut tracker =
            Tracker::new(TrackerConfig { slos: Arc::new([rule]), ..TrackerConfig::default() });
        let mut time = AccountingClock::start(&clock, &mut tracker);
        assert_eq!(time.plan_tick(&clock, &tracker), QUIET_TICK);
        assert!(!time.is_due_sooner(&tracker));
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod");
        pod.created = Some(Timestamp::from_seconds(1000));
        let delivery = Delivery {
            source: SourceId(0),
            event: PodEvent::Applied(pod),
            now: clock.now(),
            observed: None,
            version: None,
        };
        tracker.apply(delivery, &mut |_, _: Observation<'_>| {});
        assert!(time.is_due_sooner(&tracker));
        assert_eq!(time.plan_tick(&clock, &tracker), TICK);
        assert!(!time.is_due_sooner(&tracker));
        let due = tracker.next_deadline().unwrap();
        let second = u64::try_from(due.as_nanos() / 1_000_000_000).unwrap();
        clock.show(second, 0);
        time.receive(&clock, &mut tracker);
        assert_eq!(time.plan_tick(&clock, &tracker), Duration::from_nanos(1));
        // The second is sorted once it has begun.
        tracker.advance(clock.now().plus_nanos(1), &mut |_, _: Observation<'_>| {});
        let half = Duration::from_millis(500) + Duration::from_nanos(1);
        assert_eq!(time.plan_tick(&clock, &tracker), half);
        clock.show(second + 2, 0);
        time.tick(&clock, &mut tracker);
        assert_eq!(time.plan_tick(&clock, &tracker), TICK);
    }

    /// A clock that jumps by an hour when it has been read `reads` times.
    struct Jumping {
        reads: AtomicU64,
        jump_after: u64,
    }

    impl DeliveryClock for Jumping {
        fn read(&self) -> ClockReading {
            let jumped = self.reads.fetch_add(1, Relaxed) >= self.jump_after;
            ClockReading {
                now: Timestamp::from_seconds(100 + 3600 * i64::from(jumped)),
                jumps: u64::from(jumped),
            }
        }
        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_deadline_passes_at_a_time_that_the_clock_jumped_to() {
        const SLO: &[u8] = b"slos: [{name: whole, interval: created_to_ready, threshold: 1m, objective: 99, window: 1d}]";
        for jump_after in 1..20 {
            let clock = Jumping { reads: AtomicU64::new(0), jump_after };
            let mut tracker = Tracker::new(TrackerConfig {
                slos: ExporterSlos::from(&SloFile::parse("slos", SLO).unwrap()).rules,
                ..TrackerConfig::default()
            });
            let mut missed = 0;
            let mut sink = |_, observation: Observation<'_>| {
                let event = matches!(observation, Observation::Pod(_, PodObservation::Slo { .. }));
                missed += u32::from(event);
            };
            let stats = WatchStats::new(1);
            stats.set_contact(SourceId(0), Instant::now().into_std());
            let mut time = AccountingClock::start(&clock, &mut tracker);
            for version in 1..=3 {
                let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod");
                pod.created = Some(Timestamp::from_seconds(90));
                pod.resource_version = Some(version);
                let mut delivery = Delivery {
                    source: SourceId(0),
                    event: PodEvent::Applied(pod),
                    now: clock.now(),
                    observed: None,
                    version: None,
                };
                time.receive(&clock, &mut tracker);
                time.stamp(&mut delivery);
                tracker.apply(delivery, &mut sink);
                time.tick(&clock, &mut tracker);
                time.let_deadlines_pass(&stats, &mut tracker, &mut sink);
            }
            assert_eq!(missed, 0, "jumped after {jump_after} readings");
        }
    }
}
