#![allow(clippy::unwrap_used)]

use super::super::packed_values::{nanos as nanos_of, put_nanos};
use super::*;
use podinit_core::lifecycle::{Cause, GateKind, GateState};
use podinit_core::timestamp::NANOS_PER_SECOND;
use podinit_testing::records::{at, record};

#[test]
fn every_time_is_read_as_it_was_written() {
    let whole = [0, 1, -1, 90_000].map(|seconds| seconds * NANOS_PER_SECOND);
    let nanos = [1, -1, 123_456_789, 1 << 61, -(1 << 61), i64::MAX, i64::MIN];
    let all = whole.into_iter().chain(nanos).map(Some).chain([None]);
    for written in all {
        let mut out = Vec::new();
        put_nanos(&mut out, written);
        let mut reader = ByteReader(&out);
        assert_eq!((nanos_of(&mut reader), reader.0), (written, &[][..]));
    }
}

/// A startup of which everything is known that a report shows of a single pod. What is not shown is as it is read.
fn startup(name: &str) -> ReportedPod {
    let base = record("shop", name);
    let measured = |interval, from, to, seconds: u64| RecordedInterval {
        interval,
        kind: IntervalKind::from_interval(interval),
        began: Some(at(from)),
        ended: Some(at(to)),
        result: IntervalResult::Measured { seconds: Latency::from_nanos(seconds * 1_000_000_000) },
    };
    let reached = |milestone, second| RecordedMilestone {
        milestone,
        time: Some(at(second).plus_nanos(7)),
        source: None,
    };
    let reason = UnobservedReason::Time;
    let record = Record {
        progress: Progress::Ended { outcome: Outcome::Failed, at: at(9), ending: None },
        milestones: vec![
            RecordedMilestone { milestone: Milestone::Created, time: Some(at(0)), source: None },
            reached(Milestone::Scheduled, 1),
            RecordedMilestone { milestone: Milestone::Ready, time: None, source: None },
        ],
        gates: vec![RecordedGate {
            kind: GateKind::Readiness,
            gate: "example.com/gate".into(),
            state: GateState::Passed,
            since: None,
            passed: Some(at(4)),
        }],
        network_time: Some(NetworkTime::Late),
        needed: Needed { capacity: Some(NodeAge::New), images: StartupImages::Pulled },
        intervals: vec![
            // As its milestones say, and otherwise.
            usual(&base, Interval::Stage(Stage::Gated)),
            measured(Interval::Stage(Stage::Network), 2, 5, 3),
            measured(Interval::Stage(Stage::Containers), 5, 8, 2),
            RecordedInterval {
                result: IntervalResult::Unobserved { reason },
                ..measured(Interval::CreatedToReady, 0, 8, 8)
            },
        ],
        pulls: vec![RecordedPull {
            container: "app".into(),
            init: true,
            registry: "r.io".into(),
            has_failed: true,
            image: RecordedImage::Pulled { ended: None, with_wait: Latency::from_nanos(5) },
        }],
        causes: vec![RecordedCause {
            waiting: WaitReason::new(Stage::Containers, Cause::Crash).unwrap(),
            began: base.discovered,
            container: None,
        }],
        ..base
    };
    let record = Record { containers: Vec::new(), ..record };
    ReportedPod {
        images: ["r.io/app:1".into()].into(),
        set_aside: Some(LostStartup::Restarted),
        ..ReportedPod::from(record)
    }
}

#[test]
fn pods_are_read_as_they_were_written_in_the_order_of_their_names() {
    let over = ReportedPod { uid: None, set_aside: None, record: None, ..startup("web-1") };
    let mut in_flight = record("shop", "web-10");
    in_flight.causes.clear();
    in_flight.milestones.iter_mut().for_each(|one| one.source = None);
    if let Progress::InFlight { entered, stuck_at, .. } = &mut in_flight.progress {
        *stuck_at = *entered;
    }
    let in_order = [startup("web-0"), over, ReportedPod::from(in_flight), startup("web-2")];
    let packed: ReportedPods = in_order.iter().rev().cloned().collect();
    assert_eq!(packed.iter().collect::<Vec<_>>(), in_order);
    assert_eq!((packed.len(), packed.get(3)), (4, Some(startup("web-2"))));
    let [(node, positions)] = &packed.by_node()[..] else { panic!("all are on no node") };
    assert_eq!((node, &positions[..]), (&None, &[0, 2, 3][..]), "one has no record");
}

/// A record of an exporter may say anything.
#[test]
fn what_is_there_twice_counts_once() {
    let twice = |record: Record| Record {
        milestones: [record.milestones.clone(), record.milestones].concat(),
        intervals: [record.intervals.clone(), record.intervals].concat(),
        ..record
    };
    let (once, other) = (startup("web-0"), startup("web-1"));
    let both = ReportedPod { record: once.record.clone().map(twice), ..once.clone() };
    let packed: ReportedPods = [both, other.clone()].into_iter().collect();
    assert_eq!(packed.iter().collect::<Vec<_>>(), [once, other]);
}
