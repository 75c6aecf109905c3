#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use proptest::prelude::*;

use super::*;

const EPOCH: i64 = 1_800_000_000 * NANOS_PER_SECOND;
const HOUR: i64 = 3600 * NANOS_PER_SECOND;
const MILLI: i64 = 1_000_000;

/// A world in which the true time passes, and a machine whose clock is off by something.
struct World {
    passed: Arc<AtomicI64>,
    off: Arc<AtomicI64>,
    clock: ApiServerClock,
}

impl World {
    fn new(off: i64) -> Self {
        let passed = Arc::new(AtomicI64::new(0));
        let off = Arc::new(AtomicI64::new(off));
        let (wall, error, since) = (Arc::clone(&passed), Arc::clone(&off), Arc::clone(&passed));
        let clock = ApiServerClock::new(
            move || Timestamp::from_nanos(EPOCH + wall.load(Relaxed) + error.load(Relaxed)),
            move || Duration::from_nanos(since.load(Relaxed).unsigned_abs() + 77),
        );
        Self { passed, off, clock }
    }

    fn pass(&self, nanos: i64) {
        self.passed.fetch_add(nanos, Relaxed);
    }

    fn set_off(&self, nanos: i64) {
        self.off.store(nanos, Relaxed);
    }

    fn truth(&self) -> Timestamp {
        Timestamp::from_nanos(EPOCH + self.passed.load(Relaxed))
    }

    /// How far the clock is off.
    fn error(&self) -> i64 {
        self.clock.now().nanos_since(self.truth())
    }

    /// The API server answers after `there`, which takes `back` to arrive.
    fn answer(&self, there: i64, back: i64) {
        let asked = self.clock.elapsed();
        self.pass(there);
        let second = self.truth().as_nanos().div_euclid(NANOS_PER_SECOND);
        self.pass(back);
        self.clock.observe_date(asked, Timestamp::from_seconds(second));
    }

    fn corrections(&self) -> (u64, u64) {
        (self.clock.corrections().steps, self.clock.read().jumps)
    }
}

#[test]
fn a_step_of_the_machines_clock_changes_nothing_before_and_after_an_answer() {
    for step in [HOUR, -HOUR] {
        let world = World::new(0);
        world.answer(3 * MILLI, 4 * MILLI);
        world.pass(10_300 * MILLI);
        world.set_off(step);
        assert_eq!((world.error(), world.corrections()), (0, (0, 0)));
        assert_eq!(world.clock.corrections().seconds, -(step / NANOS_PER_SECOND) as f64);
        world.answer(3 * MILLI, 4 * MILLI);
        world.pass(900_000 * MILLI);
        world.answer(3 * MILLI, 4 * MILLI);
        assert_eq!((world.error(), world.corrections()), (0, (1, 0)));
        world.set_off(0);
        world.answer(3 * MILLI, 4 * MILLI);
        assert_eq!((world.error(), world.corrections()), (0, (2, 0)));
        assert_eq!(world.clock.corrections().seconds, 0.0);
    }
}

#[test]
fn a_clock_that_is_wrong_from_the_start_is_put_right_by_the_first_answer() {
    for off in [HOUR, -HOUR, 30 * 24 * HOUR] {
        let world = World::new(off);
        world.answer(3 * MILLI, 4 * MILLI);
        assert!(world.error().abs() <= NANOS_PER_SECOND / 2 + 4 * MILLI);
        assert_eq!(world.corrections(), (1, 1));
        // Dates at other fractions of a second make it exact.
        for _ in 0..200 {
            world.pass(7_013 * MILLI);
            world.answer(3 * MILLI, 4 * MILLI);
        }
        assert!(world.error().abs() <= 30 * MILLI, "{}", world.error());
        assert_eq!(world.corrections(), (1, 1));
    }
}

#[test]
fn a_clock_that_is_slewed_is_followed() {
    let world = World::new(0);
    for _ in 0..100 {
        world.pass(20_000 * MILLI);
        world.set_off(world.off.load(Relaxed) + 5 * MILLI);
        world.answer(MILLI, MILLI);
        assert_eq!(world.error(), world.off.load(Relaxed));
    }
    assert_eq!(world.corrections(), (0, 0));
}

#[test]
fn an_answer_that_took_long_says_nothing() {
    let world = World::new(HOUR);
    world.answer(1_000 * MILLI, 1_000 * MILLI);
    assert_eq!((world.error(), world.corrections()), (HOUR, (0, 0)));
}

#[test]
fn the_cluster_is_followed_when_all_its_clocks_are_set() {
    let world = World::new(0);
    world.answer(MILLI, MILLI);
    // As in a cluster of one machine: the API server's dates and the machine's clock go together.
    let elapsed_before = world.clock.elapsed();
    let asked = world.clock.elapsed();
    world.set_off(-HOUR);
    let said = Timestamp::from_nanos(world.truth().as_nanos() - HOUR);
    let second = said.as_nanos().div_euclid(NANOS_PER_SECOND);
    world.clock.observe_date(asked, Timestamp::from_seconds(second));
    assert_eq!(world.clock.now(), said);
    assert_eq!(world.clock.elapsed(), elapsed_before);
    assert_eq!(world.corrections(), (1, 1));
}

proptest! {
    /// Whatever the machine's clock does, once an answer has come the error is at most what the
    /// bounds leave open, and where the machine is off by a constant nothing is counted twice.
    #[test]
    fn the_error_is_bounded(
        first in -2 * HOUR..2 * HOUR,
        steps in prop::collection::vec(
            (0..60_000i64, 0..900i64, 0..900i64, prop::option::weighted(0.2, -2 * HOUR..2 * HOUR)),
            1..60,
        ),
    ) {
        let world = World::new(first);
        for (wait, there, back, step) in steps {
            world.pass(wait * MILLI);
            if let Some(off) = step {
                world.set_off(off);
            }
            world.answer(there * MILLI, back * MILLI);
            // Two seconds outside of bounds that are as wide as a second and the answer's time.
            let most = KEEP_NANOS + NANOS_PER_SECOND + (there + back) * MILLI;
            prop_assert!(world.error().abs() <= most, "{}", world.error());
        }
    }

    /// A machine's clock that is off by a constant, however unlucky, is not left and taken again.
    #[test]
    fn a_constant_error_is_at_most_two_changes(
        off in -5_000 * MILLI..5_000 * MILLI,
        waits in prop::collection::vec((0..40_000i64, 0..100i64), 20..80),
    ) {
        let world = World::new(off);
        for (wait, took) in waits {
            world.pass(wait * MILLI);
            world.answer(took * MILLI, took * MILLI);
        }
        let (steps, jumps) = world.corrections();
        prop_assert!(steps <= 2 && jumps <= 2, "{steps} steps, {jumps} jumps");
    }
}
