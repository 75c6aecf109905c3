//! The thread that reads the watches and accounts for what they deliver, and does nothing else.
//!
//! On the threads that serve, an event would wake one of them for the connection, which wakes another to
//! look for more work, and so on: two context switches for each event, and the tracker's memory in the
//! caches of two cores. Here the connection, the decoder and the tracker take turns without the system,
//! and no scrape stands in front of them. Where there are many events, it is woken for several at once.

use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use parking_lot::Mutex;
use tokio::runtime::Builder;

use super::own_thread::OwnThread;

/// How long a busy thread sleeps. So much later it may read an event, run a timer or answer another
/// thread. Longer pauses would save little more, and the arrival of an event is what sharpens the times
/// of Kubernetes ([§4.3](crate::specification#s4-3)).
const PAUSE: Duration = Duration::from_millis(5);

/// A thread is busy after so many close wake-ups in a row. A single one is a timer and what it leads to.
const BUSY: u32 = 2;

/// Wake-ups are close that are nearer to each other than this. Longer than [`PAUSE`], so that a thread whose
/// events wait for it at the end of each pause stays busy.
const CLOSE: Duration = Duration::from_millis(6);

/// After working for so long there is no pause: many events were read at once already. A server that can
/// only send more after the socket was read is thus never made to wait.
const LONG_WORK: Duration = Duration::from_micros(150);

/// Starts the thread.
///
/// # Errors
/// Where the system grants no thread or no descriptor.
pub fn start() -> io::Result<OwnThread> {
    let wakeups = Arc::new(WakeupCoalescing::default());
    let woken = Arc::clone(&wakeups);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .on_thread_unpark(move || woken.woken())
        .on_thread_park(move || wakeups.pause())
        .build()?;
    OwnThread::start("accounting", runtime)
}

/// Lets a thread pause between wake-ups, so that there are fewer of them: what arrives within five milliseconds is
/// read at once.
///
/// A thread that is woken for each event pays for the switch, for its system calls, and for caches that
/// others have used meanwhile: half of what an event costs at some thousand a second. So a thread that is
/// woken often sleeps for [`PAUSE`] before it waits for more. The sockets buffer what arrives meanwhile.
///
/// Its methods are for the hooks of a runtime.
#[derive(Debug, Default)]
struct WakeupCoalescing(Mutex<RecentWakeups>);

impl WakeupCoalescing {
    /// The thread has been woken.
    fn woken(&self) {
        self.0.lock().woken(Instant::now());
    }

    /// The thread has nothing left to do. Sleeps if it is busy.
    fn pause(&self) {
        let pause = self.0.lock().pause(Instant::now());
        if let Some(pause) = pause {
            thread::sleep(pause);
        }
    }
}

/// The last wake-ups.
#[derive(Clone, Copy, Debug, Default)]
struct RecentWakeups {
    last: Option<Instant>,
    /// How many in a row came close to the one before
    close: u32,
}

impl RecentWakeups {
    fn woken(&mut self, now: Instant) {
        let is_close = self.last.is_some_and(|last| now.duration_since(last) < CLOSE);
        let close = if is_close { self.close.saturating_add(1) } else { 0 };
        *self = Self { last: Some(now), close };
    }

    /// How long to sleep before the thread waits for more.
    fn pause(&self, now: Instant) -> Option<Duration> {
        let has_worked_long = now.duration_since(self.last?) >= LONG_WORK;
        (self.close >= BUSY && !has_worked_long).then_some(PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT_WORK: Duration = Duration::from_micros(20);

    /// Wakes a thread at these distances, each time for `work`, and says how long it pauses after the last.
    fn pause_after(distances: &[Duration], work: Duration) -> Option<Duration> {
        let mut now = Instant::now();
        let mut wakeups = RecentWakeups::default();
        wakeups.woken(now);
        for distance in distances {
            now += *distance;
            wakeups.woken(now);
        }
        wakeups.pause(now + work)
    }

    #[test]
    fn a_thread_that_is_woken_rarely_does_not_pause() {
        assert_eq!(RecentWakeups::default().pause(Instant::now()), None);
        assert_eq!(pause_after(&[], SHORT_WORK), None);
        assert_eq!(pause_after(&[Duration::from_millis(1)], SHORT_WORK), None);
        let hundred_a_second = [Duration::from_millis(10); 3];
        assert_eq!(pause_after(&hundred_a_second, SHORT_WORK), None);
    }

    #[test]
    fn a_thread_that_is_woken_often_pauses() {
        let thousand_a_second = [Duration::from_millis(1); 2];
        assert_eq!(pause_after(&thousand_a_second, SHORT_WORK), Some(PAUSE));
    }

    #[test]
    fn a_thread_stays_busy_while_events_wait_at_the_end_of_its_pauses() {
        let woken_at_once = PAUSE + SHORT_WORK * 2;
        assert_eq!(pause_after(&[woken_at_once; 2], SHORT_WORK), Some(PAUSE));
        let woken_later = PAUSE + Duration::from_millis(1);
        let found_nothing = pause_after(&[woken_at_once, woken_at_once, woken_later], SHORT_WORK);
        assert_eq!(found_nothing, None);
    }

    #[test]
    fn a_thread_that_has_read_much_at_once_does_not_pause() {
        let often = [Duration::from_millis(1); 2];
        assert_eq!(pause_after(&often, LONG_WORK), None);
        assert_eq!(pause_after(&often, Duration::from_secs(1)), None);
    }
}
