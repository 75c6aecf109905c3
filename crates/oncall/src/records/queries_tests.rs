//! Answers, step by step.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use tokio::sync::oneshot;

use super::*;
use crate::records::fixtures::{Ends, deliver, ended as ended_startup, pod, tracker};
use crate::records::{EndToEndDuration, QueryAnswer, UnansweredQuery};
use podinit_core::lifecycle::{PodEvent, Stage};

/// Steps until the query is answered. Returns the answer and the number of steps.
async fn ask(
    tracker: &Tracker,
    store: &RecordStore,
    query: RecordQuery,
) -> (Result<QueryAnswer, UnansweredQuery>, usize) {
    let (client, mut queries) = channel();
    queries.begin();
    let mut steps = 0;
    let owner = async {
        loop {
            queries.waiting().await;
            queries.step(tracker, store);
            steps += 1;
            tokio::task::yield_now().await;
        }
    };
    let answer = tokio::select! {
        answer = client.ask(query) => answer,
        () = owner => unreachable!(),
    };
    (answer, steps)
}

/// So many pods in flight; the second half of them in the namespace `other`.
fn in_flight(pods: usize) -> Tracker {
    let (mut tracker, mut ends) = (tracker(), Ends::default());
    for number in 0..pods {
        let mut pod = pod(&number.to_string(), number as i64 / 10);
        if number >= pods / 2 {
            pod.info.namespace = "other".into();
        }
        deliver(&mut tracker, &mut ends, 0, PodEvent::Applied(pod));
    }
    tracker
}

fn all_in_flight(filter: RecordFilter, limit: usize) -> RecordQuery {
    RecordQuery::InFlight { filter, stuck: false, after: None, limit }
}

#[tokio::test]
async fn ten_thousand_pods_are_looked_at_in_turns() {
    let tracker = in_flight(10_000);
    let store = RecordStore::default();
    let filter = RecordFilter { namespace: Some("nowhere".to_owned()), ..RecordFilter::default() };
    let (answer, steps) = ask(&tracker, &store, all_in_flight(filter, 100)).await;
    assert_eq!(answer.unwrap().records.len(), 0);
    assert!(steps >= 10_000 / PODS_OF_A_STEP, "{steps} steps");
    let (answer, steps) = ask(&tracker, &store, all_in_flight(RecordFilter::default(), 500)).await;
    assert_eq!(answer.unwrap().records.len(), 500);
    assert!(steps >= 500 / RECORDS_OF_A_STEP, "{steps} steps");
    let named =
        |name: &str| RecordQuery::Pod { namespace: "other".to_owned(), name: name.to_owned() };
    for (name, found) in [("9999", 1), ("0", 0)] {
        let (answer, steps) = ask(&tracker, &store, named(name)).await;
        assert_eq!(answer.unwrap().records.len(), found);
        assert_eq!(steps, 1, "a name is found by the index");
    }
    let elsewhere = RecordFilter { stage: Some(Stage::Network), ..RecordFilter::default() };
    let (answer, steps) = ask(&tracker, &store, all_in_flight(elsewhere, 100)).await;
    assert_eq!((answer.unwrap().records.len(), steps), (0, 1));
}

/// CPU time, so that other work of the machine does not count. Not optimized, a step takes many times as
/// long as in a release.
#[tokio::test]
#[ignore = "measures time; cargo test --lib no_step_holds -- --ignored"]
async fn no_step_holds_the_owner_for_ten_milliseconds() {
    let tracker = in_flight(12_000);
    let mut store = RecordStore::default();
    for number in 0..3_000_i64 {
        let second = 2 * number;
        store.add(ended_startup(&number.to_string(), [second, second + 1, second + 9], second + 9));
    }
    let nowhere = RecordFilter {
        namespace: Some("nowhere".to_owned()),
        node: Some("nowhere".to_owned()),
        ..RecordFilter::default()
    };
    let ended = |filter: &RecordFilter, sort| RecordQuery::Ended {
        filter: filter.clone(),
        sort,
        after: None,
        limit: 500,
    };
    let all = RecordFilter::default();
    for query in [
        all_in_flight(all.clone(), 500),
        all_in_flight(nowhere.clone(), 500),
        ended(&all, RecordOrder::Newest),
        ended(&nowhere, RecordOrder::Slowest(EndToEndDuration::CreatedToReady)),
        RecordQuery::Pod { namespace: "other".to_owned(), name: "11999".to_owned() },
        RecordQuery::Pod { namespace: "nowhere".to_owned(), name: "1".to_owned() },
    ] {
        let (found, mut answered) = oneshot::channel();
        let (client, mut queries) = channel();
        queries.begin();
        let request = QueryRequest { query: query.clone(), found };
        client.requests.try_send(request).unwrap();
        let mut longest = Duration::ZERO;
        while answered.try_recv().is_err() {
            let begun = cpu_time();
            queries.step(&tracker, &store);
            longest = longest.max(cpu_time() - begun);
        }
        assert!(longest < Duration::from_millis(10), "{longest:?} for {query:?}");
    }
}

fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

#[tokio::test]
async fn pages_hold_every_pod_once() {
    let tracker = in_flight(1_000);
    let store = RecordStore::default();
    for limit in [1, 7, 100, 499, 500] {
        let filter =
            RecordFilter { namespace: Some("other".to_owned()), ..RecordFilter::default() };
        let (mut names, mut from) = (Vec::new(), None);
        loop {
            let query =
                RecordQuery::InFlight { filter: filter.clone(), stuck: false, after: from, limit };
            let answer = ask(&tracker, &store, query).await.0.unwrap();
            assert!(answer.records.len() <= limit);
            names.extend(answer.records.iter().map(|record| record.pod.name.to_string()));
            match answer.next {
                Some(QueryPosition::InFlight(position)) => from = Some(position),
                Some(QueryPosition::Ended(_)) => panic!("of pods in flight"),
                None => break,
            }
        }
        names.sort_by_key(|name| name.parse::<usize>().unwrap());
        let expected: Vec<_> = (500..1_000).map(|number| number.to_string()).collect();
        assert_eq!(names, expected);
    }
}

#[tokio::test]
async fn one_query_looks_at_no_more_pods_than_its_bound() {
    let tracker = in_flight(PODS_OF_A_QUERY + 10);
    let filter = RecordFilter { node: Some("nowhere".to_owned()), ..RecordFilter::default() };
    let store = RecordStore::default();
    let (answer, _) = ask(&tracker, &store, all_in_flight(filter, 1)).await;
    let answer = answer.unwrap();
    assert!(answer.records.is_empty());
    assert!(matches!(answer.next, Some(QueryPosition::InFlight(_))));
}

#[tokio::test]
async fn stuck_pods_are_found_without_a_look_at_the_others() {
    let mut tracker = in_flight(10_000);
    // Those that were created in the first 100 seconds have been in their stage for five minutes.
    tracker.advance(crate::records::fixtures::at(400), &mut Ends::default());
    let query = RecordQuery::InFlight {
        filter: RecordFilter::default(),
        stuck: true,
        after: None,
        limit: 500,
    };
    let (answer, steps) = ask(&tracker, &RecordStore::default(), query).await;
    let answer = answer.unwrap();
    assert_eq!(answer.records.len(), 500);
    assert!(answer.next.is_some() && steps <= 12, "{steps} steps");
    let after = Some(InFlightPosition::last_of(Stage::Gated));
    let query = RecordQuery::InFlight {
        filter: RecordFilter { namespace: Some("other".to_owned()), ..RecordFilter::default() },
        stuck: true,
        after,
        limit: 500,
    };
    let (answer, steps) = ask(&tracker, &RecordStore::default(), query).await;
    assert_eq!(answer.unwrap().records.len(), 0);
    assert!(steps <= 4, "{steps} steps");
}

#[tokio::test]
async fn startups_that_have_ended_come_in_the_order_asked_for() {
    let mut store = RecordStore::default();
    // Ended in this order; scheduled late or early.
    for (name, bound, ready) in [("a", 1, 30), ("b", 25, 40), ("c", 2, 10), ("d", 9, 20)] {
        store.add(ended_startup(name, [0, bound, ready], 50));
    }
    let mut tracker = tracker();
    tracker.advance(crate::records::fixtures::at(60), &mut Ends::default());
    for (sort, expected) in [
        (RecordOrder::Newest, ["d", "c", "b", "a"]),
        (RecordOrder::Slowest(EndToEndDuration::CreatedToReady), ["b", "a", "d", "c"]),
        (RecordOrder::Slowest(EndToEndDuration::ScheduledToReady), ["a", "b", "d", "c"]),
    ] {
        for limit in 1..=4 {
            let (mut names, mut from) = (Vec::new(), None);
            loop {
                let query = RecordQuery::Ended {
                    filter: RecordFilter::default(),
                    sort,
                    after: from,
                    limit,
                };
                let answer = ask(&tracker, &store, query).await.0.unwrap();
                names.extend(answer.records.iter().map(|record| record.pod.name.to_string()));
                match answer.next {
                    Some(QueryPosition::Ended(position)) => from = Some(position),
                    Some(QueryPosition::InFlight(_)) => panic!("of startups that have ended"),
                    None => break,
                }
            }
            assert_eq!(names, expected, "{sort:?} by {limit}");
        }
    }
}

#[tokio::test]
async fn a_full_queue_refuses_and_an_owner_that_is_gone_is_not_waited_for() {
    let (client, queries) = channel();
    queries.begin();
    let waiting: Vec<_> = (0..QUEUE)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.ask(all_in_flight(RecordFilter::default(), 1)).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let refused = client.ask(all_in_flight(RecordFilter::default(), 1)).await;
    assert_eq!(refused.unwrap_err(), UnansweredQuery::Busy);
    drop(queries);
    for asked in waiting {
        assert_eq!(asked.await.unwrap().unwrap_err(), UnansweredQuery::Unavailable);
    }
    let refused = client.ask(all_in_flight(RecordFilter::default(), 1)).await;
    assert_eq!(refused.unwrap_err(), UnansweredQuery::Unavailable);
}

#[test]
fn who_asks_apart_gets_half_of_the_time_however_long_the_steps_of_readers_are() {
    let millis = |number: u64| Duration::from_millis(number);
    for (of_apart, of_readers) in [(1, 1), (1, 20), (20, 1), (3, 7)] {
        let mut turns = QueryTurns::default();
        // Readers alone for a while: nobody makes up for that later.
        (0..100).for_each(|_| turns.took(QueryTurns::READERS, millis(of_readers)));
        let mut spent = [Duration::ZERO; 2];
        while spent.iter().sum::<Duration>() < Duration::from_secs(10) {
            let line = turns.order()[0];
            let took = millis(if line == QueryTurns::APART { of_apart } else { of_readers });
            turns.took(line, took);
            spent[line] += took;
        }
        let part = spent[QueryTurns::APART].as_secs_f64() / 10.0;
        assert!((0.49..0.52).contains(&part), "{of_apart} and {of_readers} ms: {part}");
    }
    let mut turns = QueryTurns::default();
    // A clock that does not move.
    turns.took(QueryTurns::READERS, Duration::ZERO);
    assert_eq!(turns.order()[0], QueryTurns::APART);
    turns.took(QueryTurns::APART, Duration::ZERO);
    assert_eq!(turns.order()[0], QueryTurns::READERS);
}
