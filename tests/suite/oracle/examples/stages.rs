//! [§1](crate::specification#s1) to [§3](crate::specification#s3): what a milestone is, and which
//! intervals are measured between them.

use super::{API, BACKFILL, Example, example};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    let whole = pod("a").all([1.0, 4.0, 3.0, 9.0, 10.0]);
    vec![
        example(
            "§3: scheduling, network, containers and both end-to-end durations of a pod seen from the start",
            API,
            vec![
                added(&pod("a")),
                modified(&pod("a").yes(SCHEDULED, 1.0)),
                modified(&pod("a").yes(SCHEDULED, 1.0).yes(INITIALIZED, 3.0)),
                modified(&pod("a").yes(SCHEDULED, 1.0).yes(INITIALIZED, 3.0).yes(NETWORK, 4.0)),
                modified(&whole),
            ],
            "finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10
             events ADDED 1
             events MODIFIED 4",
        ),
        example(
            "§1: \"one event may flip several conditions\": the coalesced history has the same figures",
            API,
            vec![added(&whole)],
            "finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§1: \"Initialized=True at the kubelet's first sync\": no stage init without init containers",
            API,
            vec![added(&pod("a").all([1.0, 2.0, 8.0, 9.0, 9.0]))],
            "finished ready 1
             scheduling 1 1
             network 1 1
             containers 1 7
             scheduled_to_ready 1 8
             created_to_ready 1 9",
        ),
        example(
            "§3: init \"only pods with init containers\"; containers from the later of the two",
            API,
            vec![added(&pod("a").init_containers().all([1.0, 2.0, 8.0, 9.0, 9.0]))],
            "finished ready 1
             scheduling 1 1
             network 1 1
             init 1 6
             containers 1 1
             scheduled_to_ready 1 8
             created_to_ready 1 9",
        ),
        example(
            "§3: containers starts at NetworkReady where that is later than Initialized; init is -3 s",
            API,
            vec![added(&pod("a").init_containers().all([1.0, 6.0, 3.0, 9.0, 9.0]))],
            "finished ready 1
             scheduling 1 1
             network 1 5
             containers 1 3
             unobserved init time 1
             anomaly negative 1
             scheduled_to_ready 1 8
             created_to_ready 1 9",
        ),
        example(
            "§3: readiness \"only pods with spec.readinessGates\"",
            API,
            vec![added(&whole), added(&pod("b").readiness_gates().all([1.0, 4.0, 3.0, 9.0, 12.0]))],
            "finished ready 2
             scheduling 2 2
             network 2 6
             containers 2 10
             readiness 1 3
             scheduled_to_ready 2 20
             created_to_ready 2 22",
        ),
        example(
            "§3: unschedulable for \"pods seen PodScheduled=False, reason=Unschedulable at least once\"",
            API,
            vec![added(&pod("a").unschedulable(0.0)), modified(&whole)],
            "finished ready 1
             unschedulable 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§3: PodScheduled=False with another reason is no Unschedulable",
            API,
            vec![added(&pod("a").no(SCHEDULED, 0.0)), modified(&whole)],
            "finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§7: the label namespace",
            BACKFILL,
            vec![list(&[whole.clone(), pod("b").namespace("other").yes(SCHEDULED, 2.0)])],
            "finished ready 1
             inflight network 1 since 2
             scheduling 1 1
             scheduling@other 1 2
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§7: podinit_oldest_inflight_pod_timestamp_seconds, \"when the oldest one entered it\"",
            API,
            vec![
                added(&pod("a").yes(SCHEDULED, 5.0)),
                added(&pod("b").yes(SCHEDULED, 3.0)),
                added(&pod("c").init_containers().yes(SCHEDULED, 3.0).yes(NETWORK, 6.0)),
            ],
            "inflight network 2 since 3
             inflight init 1 since 6
             scheduling 3 11
             network 1 3",
        ),
        example(
            "§7: without a usable time the pod entered its stage at the nearest earlier one",
            API,
            vec![added(&pod("a").condition(SCHEDULED, "True", "soon".into()))],
            "inflight network 1 since 0
             unobserved scheduling time 1
             anomaly missing 1",
        ),
    ]
}
