//! [§6](crate::specification#s6): good, bad and excluded, by what the snapshots show.

use super::{API, Example, example, ready, slos};
use crate::oracle::build::*;
use serde_json::json;

const DAY: f64 = 86_400.0;

pub(super) fn examples() -> Vec<Example> {
    [judged(), ended()].into_iter().flatten().collect()
}

fn judged() -> Vec<Example> {
    let bound = || pod("a").yes(SCHEDULED, 5.0);
    vec![
        example(
            "§6: \"good when the interval ends within the threshold\"",
            slos(API, [("network", 3.0)]),
            vec![added(&pod("a").yes(SCHEDULED, 1.0)), modified(&ready("a"))],
            "slo network good 1",
        ),
        example(
            "§6: \"An interval found longer than the threshold is bad at once\"",
            slos(API, [("network", 2.999)]),
            vec![added(&pod("a").yes(SCHEDULED, 1.0)), modified(&ready("a"))],
            "slo network bad 1",
        ),
        example(
            "§6: \"For each pod exactly one event per SLO\", and §3 \"observed for\"",
            slos(
                API,
                [
                    ("gated", 100.0),
                    ("scheduling", 100.0),
                    ("unschedulable", 100.0),
                    ("network", 100.0),
                    ("init", 100.0),
                    ("containers", 100.0),
                    ("readiness", 100.0),
                    ("scheduled_to_ready", 9.0),
                    ("created_to_ready", 9.0),
                ],
            ),
            vec![added(&ready("a")), modified(&ready("a"))],
            "slo gated excluded not_entered 1
             slo scheduling good 1
             slo unschedulable excluded not_entered 1
             slo network good 1
             slo init excluded not_entered 1
             slo containers good 1
             slo readiness excluded not_entered 1
             slo scheduled_to_ready good 1
             slo created_to_ready bad 1",
        ),
        example(
            "§3: init and readiness of pods that have them: NetworkReady 4 → Initialized 6, ContainersReady 9 → Ready 12",
            slos(API, [("init", 2.0), ("readiness", 2.0), ("containers", 3.0)]),
            vec![added(
                &pod("a").init_containers().readiness_gates().all([1.0, 4.0, 6.0, 9.0, 12.0]),
            )],
            "slo init good 1
             slo readiness bad 1
             slo containers good 1",
        ),
        example(
            "§7: `podinit_slo_objective_ratio`, `podinit_slo_threshold_seconds`, and every series \"at 0 from the start\"",
            slos(API, [("network", 0.5)]),
            vec![list(&[])],
            "slo network objective 0.995
             slo network threshold 0.5",
        ),
        example(
            "§4: \"below zero by at most 1 s is noise of the truncation: observe 0\", which is good",
            slos(API, [("network", 0.5)]),
            vec![added(&bound().yes(NETWORK, 4.0))],
            "slo network good 1",
        ),
        example(
            "§6: \"when the interval's times are unusable (time\": negative",
            slos(API, [("scheduling", 0.5)]),
            vec![added(&bound().created(7.0))],
            "slo scheduling excluded time 1",
        ),
        example(
            "§6: \"when the interval's times are unusable (time\": missing",
            slos(API, [("network", 0.5)]),
            vec![added(&bound().condition(NETWORK, "True", json!(null)))],
            "slo network excluded time 1",
        ),
        example(
            "§6: \"too long is bad\"",
            slos(API, [("network", 30.0 * DAY)]),
            vec![modified(&bound().yes(NETWORK, 31.0 * DAY))],
            "slo network bad 1",
        ),
        example(
            "§6: times are found unusable when the interval is judged; until then it is open, and has no deadline",
            slos(API, [("network", 1.0)]),
            vec![
                added(&pod("a").condition(SCHEDULED, "True", json!("soon"))),
                added(&pod("clock").created(60.0)),
            ],
            "",
        ),
        example(
            "§1: Scheduled \"counts as reached at an unknown time\"",
            slos(API, [("scheduling", 9.0), ("network", 9.0), ("unschedulable", 9.0)]),
            vec![added(&pod("a").no(SCHEDULED, 0.0).yes(NETWORK, 3.0))],
            "slo scheduling excluded time 1
             slo network excluded time 1
             slo unschedulable excluded not_entered 1",
        ),
        example(
            "§6: \"not_entered; e.g. scheduling for a pod once Unschedulable\"",
            slos(API, [("scheduling", 9.0), ("unschedulable", 9.0)]),
            vec![added(&pod("a").unschedulable(2.0))],
            "slo scheduling excluded not_entered 1",
        ),
        example(
            "§3: unschedulable is \"the same interval\": Created 0 → Scheduled 5",
            slos(API, [("scheduling", 9.0), ("unschedulable", 4.0)]),
            vec![added(&pod("a").unschedulable(2.0)), modified(&pod("a").yes(SCHEDULED, 5.0))],
            "slo scheduling excluded not_entered 1
             slo unschedulable bad 1",
        ),
        example(
            "§3: \"never after it\": Unschedulable after Scheduled changes nothing",
            slos(API, [("scheduling", 9.0), ("unschedulable", 9.0)]),
            vec![added(&pod("a").yes(SCHEDULED, 1.0)), modified(&pod("a").unschedulable(4.0))],
            "slo scheduling good 1
             slo unschedulable excluded not_entered 1",
        ),
        example(
            "§4: Ungated \"is o, in api mode cut to the second\": gated 0 → 7, scheduling 7 → 9",
            slos(API, [("gated", 7.0), ("scheduling", 1.5)]),
            vec![
                at(0.5, added(&pod("a").gated())),
                at(7.5, modified(&pod("a"))),
                at(9.5, modified(&pod("a").yes(SCHEDULED, 9.0))),
            ],
            "slo gated good 1
             slo scheduling bad 1",
        ),
        example(
            "§4: Ungated is \"unknown without o\"",
            slos(API, [("gated", 7.0), ("scheduling", 9.0)]),
            vec![added(&pod("a").gated()), modified(&pod("a").yes(SCHEDULED, 9.0))],
            "slo gated excluded time 1
             slo scheduling excluded time 1",
        ),
    ]
}

fn ended() -> Vec<Example> {
    let bound = |name| pod(name).yes(SCHEDULED, 1.0);
    vec![
        example(
            "§6: \"when the pod ends first with the interval open (reason: the outcome\"",
            slos(API, [("network", 60.0)]),
            vec![
                list(&[]),
                added(&bound("completed")),
                added(&bound("failed")),
                added(&bound("deleted")),
                added(&bound("vanished")),
                modified(&bound("completed").phase("Succeeded")),
                modified(&bound("failed").phase("Failed")),
                deleted(&bound("deleted")),
                list(&[]),
            ],
            "slo network excluded completed 1
             slo network excluded failed 1
             slo network excluded deleted 1
             slo network excluded vanished 1",
        ),
        example(
            "§6: \"not_seen where it ended as ready\"",
            slos(API, [("network", 60.0), ("scheduled_to_ready", 60.0)]),
            vec![added(&ready("a").no(NETWORK, 4.0))],
            "slo network excluded not_seen 1
             slo scheduled_to_ready good 1",
        ),
        example(
            "§3: judged \"at the first snapshot with which both its milestones are reached, the snapshot that ends the startup included\"",
            slos(API, [("network", 60.0), ("containers", 60.0)]),
            vec![added(&bound("a")), deleted(&bound("a").yes(NETWORK, 4.0))],
            "slo network good 1
             slo containers excluded deleted 1",
        ),
        example(
            "§3: \"never after it\"",
            slos(API, [("network", 60.0)]),
            vec![
                added(&ready("a").no(NETWORK, 4.0)),
                modified(&ready("a").yes(NETWORK, 11.0)),
                added(&pod("clock").created(900.0)),
            ],
            "slo network excluded not_seen 1",
        ),
        example(
            "§5.1: \"unless it is an older version\"",
            slos(API, [("network", 60.0)]),
            vec![added(&bound("a").version(9)), deleted(&bound("a").yes(NETWORK, 4.0).version(8))],
            "slo network excluded deleted 1",
        ),
    ]
}
