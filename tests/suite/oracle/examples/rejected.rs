//! [§5.9](crate::specification#s5-9) and [§6.11](crate::specification#s6-11): pods that the kubelet refuses.

use super::{API, Example, example, slos};
use crate::oracle::build::*;
use crate::oracle::reading::Options;
use serde_json::{Value, json};

/// A pod that names its node.
fn bound() -> Pod {
    pod("a").put("spec", "nodeName", "node-1".into())
}

/// What a kubelet leaves of a pod that it refuses.
fn refused() -> Pod {
    bound().phase("Failed").started(2.0)
}

fn with_status(pod: Pod, status: Value) -> Pod {
    let pod = pod.put("spec", "containers", json!([{"name": "main"}]));
    let mut status = status;
    status["name"] = "main".into();
    pod.put("status", "containerStatuses", json!([status]))
}

fn all() -> Options {
    slos(
        API,
        [
            ("scheduling", 9.0),
            ("network", 9.0),
            ("containers", 9.0),
            ("scheduled_to_ready", 9.0),
            ("created_to_ready", 9.0),
            ("acknowledge", 9.0),
            ("sandbox", 9.0),
        ],
    )
}

pub(super) fn examples() -> Vec<Example> {
    [judged(), told_apart()].into_iter().flatten().collect()
}

/// Scheduled is reached at an unknown time, and misses follow.
const FOUND_REJECTED: &str = "finished rejected 1
    anomaly missing 2
    unobserved scheduling time 1
    unobserved acknowledge time 1
    slo scheduling excluded time 1
    slo network bad 1
    blamed network network rejected 1
    slo containers excluded not_entered 1
    slo scheduled_to_ready bad 1
    blamed scheduled_to_ready network rejected 1
    slo created_to_ready bad 1
    blamed created_to_ready network rejected 1
    slo acknowledge excluded time 1
    slo sandbox bad 1
    blamed sandbox network rejected 1";

fn judged() -> Vec<Example> {
    let scheduled = bound().yes(SCHEDULED, 1.0);
    vec![
        example(
            "§6.11: \"This holds for pods that are found already rejected\"",
            all(),
            vec![added(&refused())],
            FOUND_REJECTED,
        ),
        example(
            "§6.11: \"Scheduled is reached with it at an unknown time\"",
            all(),
            vec![added(&bound()), modified(&refused())],
            FOUND_REJECTED,
        ),
        example(
            "§6.11: \"if its last snapshot does not say PodScheduled=True\", and what was latched keeps its time",
            slos(API, [("scheduling", 9.0), ("network", 9.0)]),
            vec![added(&scheduled), modified(&refused())],
            "finished rejected 1
             scheduling 1 1
             step acknowledge 1 1
             slo scheduling good 1
             slo network bad 1
             blamed network network rejected 1",
        ),
        example(
            "§6.11: \"with the stage that the pod is in then\"",
            slos(API, [("network", 1.0), ("containers", 9.0)]),
            vec![added(&scheduled), modified(&refused().yes(SCHEDULED, 1.0).yes(NETWORK, 4.0))],
            "finished rejected 1
             scheduling 1 1
             network 1 3
             evidence condition 1
             step acknowledge 1 1
             step sandbox 1 2
             slo network bad 1
             blamed network network acknowledge 1
             slo containers bad 1
             blamed containers containers rejected 1",
        ),
        example(
            "§6.11: \"one that is `preexisting` stays that\"",
            slos(API, [("network", 9.0)]),
            vec![list(&[refused()])],
            "finished preexisting 1
             slo network excluded preexisting 1",
        ),
        example(
            "§5.9: the object of a DELETED event can show that a pod was rejected",
            slos(API, [("created_to_ready", 9.0)]),
            vec![added(&scheduled), deleted(&refused())],
            "finished rejected 1
             scheduling 1 1
             step acknowledge 1 1
             slo created_to_ready bad 1
             blamed created_to_ready network rejected 1",
        ),
    ]
}

fn told_apart() -> Vec<Example> {
    let failed = |pod: Pod| vec![added(&pod)];
    let waits = json!({"state": {"waiting": {"reason": "ImagePullBackOff"}}});
    let rejected = "finished rejected 1
        anomaly missing 1
        unobserved scheduling time 1";
    vec![
        example(
            "§5.9: \"if it was bound to a node\"",
            API,
            failed(pod("a").phase("Failed")),
            "finished failed 1",
        ),
        example(
            "§5.9: a container that waits has not run",
            API,
            failed(with_status(bound().phase("Failed"), waits)),
            rejected,
        ),
        example(
            "§5.9: \"with a start\", in any snapshot",
            API,
            vec![
                added(&with_status(
                    bound(),
                    json!({"state": {"running": {"startedAt": time(1.0)}}}),
                )),
                modified(&bound().phase("Failed")),
            ],
            "finished failed 1",
        ),
        example(
            "§5.9: \"(`StartError`, a start in 1970) has ended\"",
            API,
            failed(with_status(
                bound().phase("Failed"),
                json!({"state": {"terminated": {"startedAt": "1970-01-01T00:00:00Z", "exitCode": 128}}}),
            )),
            "finished failed 1",
        ),
        example(
            "§5.9: \"or as `terminated` (`state` or `lastState`)\"",
            API,
            failed(with_status(
                bound().phase("Failed"),
                json!({"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 1}}}),
            )),
            "finished failed 1",
        ),
        example(
            "§5.9: \"`disrupted` goes before `rejected`\"",
            API,
            failed(bound().phase("Failed").yes("DisruptionTarget", 1.0)),
            "finished disrupted 1
             disruptions other 1",
        ),
    ]
}
