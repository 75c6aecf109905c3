//! The store against one that keeps everything.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::cmp::Reverse;
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::records::fixtures::{at, ended, failed};
use crate::records::slowest::{MINUTES, SLOWEST_OF_A_MINUTE};
use podinit_core::lifecycle::Latency;

/// What a record is compared by: its number, the minute of its end, and its end-to-end durations in seconds.
#[derive(Clone, Copy, Debug)]
struct Plain {
    number: u64,
    minute: i64,
    seconds: [i64; 2],
}

/// The numbers of the slowest by one duration, of the 60 minutes that end with `minute`.
fn slowest(all: &[Plain], whole: EndToEndDuration, minute: i64) -> BTreeSet<u64> {
    let mut numbers = BTreeSet::new();
    for minute in minute - MINUTES as i64 + 1..=minute {
        let mut of_minute: Vec<&Plain> = all.iter().filter(|one| one.minute == minute).collect();
        of_minute.sort_by_key(|one| (Reverse(one.seconds[whole as usize]), one.number));
        let most = of_minute.iter().take(SLOWEST_OF_A_MINUTE);
        numbers.extend(most.map(|one| one.number));
    }
    numbers
}

fn minute(second: i64) -> i64 {
    at(second).as_nanos().div_euclid(60_000_000_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn it_keeps_what_a_store_without_bounds_would_be_asked_for(
        startups in prop::collection::vec((0_i64..12, 0_i64..20, 0_i64..20), 0..1500),
        rest in 0_i64..5000,
    ) {
        let (mut store, mut all) = (RecordStore::default(), Vec::new());
        let mut second = 0;
        for (number, (passed, waited, started)) in (0..).zip(startups) {
            second += passed;
            let created = second - waited - started;
            let times = [created, created + waited, second];
            store.add(ended(&number.to_string(), times, second));
            let seconds = [waited + started, started];
            all.push(Plain { number, minute: minute(second), seconds });
        }
        let newest: Vec<u64> = store.newest().map(|record| record.number).collect();
        let expected: Vec<u64> =
            all.iter().rev().take(MOST_NEWEST).map(|one| one.number).collect();
        prop_assert_eq!(&newest, &expected);
        let now = at(second + rest);
        let mut kept: BTreeSet<u64> = newest.into_iter().collect();
        for whole in EndToEndDuration::ALL {
            let found: Vec<u64> = store.slowest(whole, now).map(|record| record.number).collect();
            let numbers: BTreeSet<u64> = found.iter().copied().collect();
            prop_assert_eq!(numbers.len(), found.len(), "none comes twice");
            prop_assert_eq!(numbers, slowest(&all, whole, minute(second + rest)));
            // What is kept is bounded by the minutes before the last record.
            let last = slowest(&all, whole, minute(second));
            prop_assert!(last.len() <= MINUTES * SLOWEST_OF_A_MINUTE);
            kept.extend(last);
        }
        let numbers: BTreeSet<u64> = store.all().iter().map(|record| record.number).collect();
        prop_assert_eq!(numbers, kept);
        for record in store.all() {
            let one = all[usize::try_from(record.number).unwrap()];
            let seconds = EndToEndDuration::ALL.map(|whole| record.startup.duration(whole.interval()));
            let latency = |seconds: i64| Latency::from_nanos(seconds.unsigned_abs() * 1_000_000_000);
            prop_assert_eq!(seconds, one.seconds.map(|seconds| Some(latency(seconds))));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Also where the clock is set back in between.
    #[test]
    fn a_store_goes_on_after_a_restart_as_if_there_had_been_none(
        startups in prop::collection::vec((-100_i64..120, 0_i64..20, 0_i64..20), 0..1500),
        restart in 0_usize..1500,
    ) {
        let (mut steady, mut restarted) = (RecordStore::default(), RecordStore::default());
        let mut second = 10_000;
        for (number, (passed, waited, started)) in startups.into_iter().enumerate() {
            if number == restart {
                restarted = RecordStore::restored(restarted.kept());
                prop_assert_eq!(restarted.kept(), steady.kept());
            }
            second += passed;
            let created = second - waited - started;
            let times = [created, created + waited, second];
            for store in [&mut steady, &mut restarted] {
                store.add(ended(&number.to_string(), times, second));
            }
        }
        prop_assert_eq!(restarted.kept(), steady.kept());
        for whole in EndToEndDuration::ALL {
            let numbers = |store: &RecordStore| {
                let slowest = store.slowest(whole, at(second));
                slowest.map(|record| record.number).collect::<Vec<_>>()
            };
            prop_assert_eq!(numbers(&restarted), numbers(&steady));
        }
    }
}

#[test]
fn the_memory_of_records_is_bounded() {
    let mut store = RecordStore::default();
    for number in 0..20_000_i64 {
        let times = [number - 9, number - number % 7, number];
        store.add(ended(&number.to_string(), times, number));
    }
    let slowest = 2 * MINUTES * SLOWEST_OF_A_MINUTE;
    assert!(store.all().len() <= MOST_NEWEST + slowest);
    assert_eq!(store.newest().count(), MOST_NEWEST);
    assert_eq!(store.count(), 20_000);
}

/// Also over a restart.
#[test]
fn failures_push_out_failures_and_nothing_else() {
    let mut store = RecordStore::default();
    store.add(ended("web", [0, 1, 2], 2));
    for number in 0..MOST_NEWEST as i64 + 1 {
        store.add(failed(&number.to_string(), 10 + number));
    }
    for store in [&store, &RecordStore::restored(store.kept())] {
        let numbers: Vec<u64> = store.newest().map(|record| record.number).collect();
        let newest_first: Vec<u64> = (2..=MOST_NEWEST as u64 + 1).rev().chain([0]).collect();
        assert_eq!(numbers, newest_first);
        assert_eq!(store.all().len(), MOST_NEWEST + 1);
    }
}

#[test]
fn a_clock_that_was_set_back_leaves_no_minute_of_the_future() {
    let mut store = RecordStore::default();
    store.add(ended("future", [9_990, 9_991, 10_000], 10_000));
    store.add(ended("now", [0, 1, 5], 5));
    let of = |second| {
        let records = store.slowest(EndToEndDuration::CreatedToReady, at(second));
        records.map(|record| record.startup.pod().name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of(5), ["now"]);
    assert_eq!(of(10_000), [""; 0]);
}
