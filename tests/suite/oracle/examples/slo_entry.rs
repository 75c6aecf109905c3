//! [§6](crate::specification#s6): pods that were there before they were first seen.

use super::{API, BACKFILL, Example, example, ready, slos};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    let bound = |name| pod(name).yes(SCHEDULED, 1.0);
    vec![
        example(
            "§6: \"also preexisting and static pods\", whatever the interval",
            slos(API, [("network", 60.0), ("init", 60.0)]),
            vec![list(&[ready("a"), ready("b").mirror(), pod("c").phase("Failed")])],
            "slo network excluded preexisting 2
             slo network excluded static 1
             slo init excluded preexisting 2
             slo init excluded static 1",
        ),
        example(
            "§6: \"pods adopted in flight whose interval […] lay before they were first seen\"",
            slos(
                API,
                [
                    ("scheduling", 60.0),
                    ("network", 60.0),
                    ("containers", 60.0),
                    ("created_to_ready", 60.0),
                ],
            ),
            vec![list(&[bound("a").yes(NETWORK, 4.0)]), modified(&ready("a"))],
            "slo scheduling excluded preexisting 1
             slo network excluded preexisting 1
             slo containers good 1
             slo created_to_ready good 1",
        ),
        example(
            "§6: \"pods adopted in flight whose […] deadline lay before they were first seen\": 1 + 10 + 5, \"strictly after its instant\"",
            slos(API, [("network", 10.0), ("scheduled_to_ready", 9.999)]),
            vec![at(16.0, list(&[bound("a")]))],
            "slo scheduled_to_ready excluded preexisting 1",
        ),
        example(
            "§6: an adopted pod whose deadline lies after first sight is pursued",
            slos(API, [("network", 10.0)]),
            vec![at(16.0, list(&[bound("a")])), at(16.1, added(&pod("clock").created(16.0)))],
            "slo network bad 1",
        ),
        example(
            "§6: an adopted pod that can no longer enter the interval is not_entered",
            slos(
                API,
                [("gated", 60.0), ("unschedulable", 60.0), ("init", 1.0), ("readiness", 60.0)],
            ),
            vec![at(90.0, list(&[bound("a").yes(INITIALIZED, 1.0)]))],
            "slo gated excluded not_entered 1
             slo unschedulable excluded not_entered 1
             slo init excluded not_entered 1
             slo readiness excluded not_entered 1",
        ),
        example(
            "§6: an adopted pod that is Unschedulable has not entered scheduling; its unschedulable deadline may have passed",
            slos(API, [("scheduling", 1.0), ("unschedulable", 1.0)]),
            vec![at(90.0, list(&[pod("a").unschedulable(0.0)]))],
            "slo scheduling excluded not_entered 1
             slo unschedulable excluded preexisting 1",
        ),
        example(
            "§5.3: \"created more than 30 s before the first list began: rule 2 applies\"",
            slos(API, [("scheduling", 60.0), ("created_to_ready", 60.0)]),
            vec![
                at(0.0, list(&[])),
                at(1.0, added(&pod("a").created(-31.0).yes(SCHEDULED, -30.0))),
                at(1.0, added(&pod("b").created(-30.0).yes(SCHEDULED, -29.0))),
            ],
            "slo scheduling excluded preexisting 1
             slo scheduling good 1",
        ),
        example(
            "§8: \"--backfill observes the pods of the first list as if they had been watched\"",
            slos(BACKFILL, [("network", 10.0), ("scheduled_to_ready", 60.0)]),
            vec![at(17.0, list(&[ready("a"), bound("b"), ready("c").mirror()]))],
            "slo network good 1
             slo network bad 1
             slo network excluded static 1
             slo scheduled_to_ready good 1
             slo scheduled_to_ready excluded static 1",
        ),
        example(
            "§5.3: what appears later is observed in full: overdue at first sight is bad, not preexisting",
            slos(API, [("network", 10.0)]),
            vec![at(0.0, list(&[])), at(17.0, added(&bound("a")))],
            "slo network bad 1",
        ),
    ]
}
