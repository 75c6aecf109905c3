//! [§5](crate::specification#s5): how a pod ends, and why a stage was not observed.

use super::{API, Example, example};
use crate::oracle::build::*;

/// A pod that is being deleted, with a terminal phase.
fn ending(name: &str, phase: &str) -> Pod {
    pod(name).put("metadata", "deletionTimestamp", time(30.0)).phase(phase)
}

/// A pod on a node that has failed, and what its status says of that.
fn evicted(name: &str, reason: &str, message: &str) -> Pod {
    let pod = pod(name).put("spec", "nodeName", "n".into()).phase("Failed");
    pod.put("status", "reason", reason.into()).put("status", "message", message.into())
}

pub(super) fn examples() -> Vec<Example> {
    let upgraded = pod("a").yes(SCHEDULED, 1.0).yes(CONTAINERS, 9.0).yes(READY, 10.0);
    vec![
        example(
            "outcome completed: \"Succeeded before Ready was seen\", with what was seen until then",
            API,
            vec![
                added(&pod("a").yes(SCHEDULED, 1.0).no(READY, 1.0)),
                modified(
                    &pod("a")
                        .yes(SCHEDULED, 1.0)
                        .yes(INITIALIZED, 1.0)
                        .no(NETWORK, 5.0)
                        .no(CONTAINERS, 5.0)
                        .no(READY, 5.0)
                        .phase("Succeeded"),
                ),
            ],
            "finished completed 1
             scheduling 1 1
             unobserved network not_seen 1
             unobserved containers not_seen 1",
        ),
        example(
            "outcome failed: nothing is said of its open stages",
            API,
            vec![
                added(&pod("a").yes(SCHEDULED, 1.0)),
                modified(&pod("a").yes(SCHEDULED, 1.0).phase("Failed")),
            ],
            "finished failed 1
             scheduling 1 1",
        ),
        example(
            "outcome ready comes before a terminal phase: Ready was seen",
            API,
            vec![added(&pod("a").all([1.0, 4.0, 3.0, 9.0, 10.0]).phase("Succeeded"))],
            "finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "outcome deleted: its object is folded first",
            API,
            vec![added(&pod("a")), deleted(&pod("a").yes(SCHEDULED, 1.0))],
            "finished deleted 1
             scheduling 1 1",
        ),
        example("outcome static", API, vec![added(&pod("a").mirror())], "finished static 1"),
        example(
            "§5: condition_absent where \"a condition type it needs never stood in the pod's status\"",
            API,
            vec![added(&upgraded)],
            "finished ready 1
             scheduling 1 1
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§1: \"Ready=True while RTSC or Initialized was still False\": not_seen",
            API,
            vec![added(&upgraded.clone().init_containers().no(NETWORK, 0.0).no(INITIALIZED, 0.0))],
            "finished ready 1
             scheduling 1 1
             unobserved network not_seen 1
             unobserved init not_seen 1
             unobserved containers not_seen 1
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§1: \"Nothing is observed for a pod that has finished its startup\"",
            API,
            vec![added(&upgraded), modified(&upgraded.clone().yes(NETWORK, 90.0))],
            "finished ready 1
             scheduling 1 1
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§5: of an adopted pod that ends as ready, what was neither before first sight nor judged",
            API,
            vec![list(&[pod("a").yes(SCHEDULED, 1.0)]), modified(&upgraded)],
            "finished ready 1
             unobserved scheduling preexisting 1
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§5: a gated pod that is ready with its gates: gated and scheduling were not seen",
            API,
            vec![added(&pod("a").gated().all([1.0, 4.0, 3.0, 9.0, 10.0]))],
            "finished ready 1
             unobserved gated not_seen 1
             unobserved scheduling not_seen 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§5.9: \"`deletionTimestamp` and no `status.reason`\": what its deletion ended",
            API,
            vec![
                list(&[]),
                added(&ending("a", "Failed").put("spec", "nodeName", "n".into())),
                added(&ending("b", "Succeeded")),
                added(&ending("c", "Succeeded").put("spec", "restartPolicy", "OnFailure".into())),
                added(&ending("d", "Failed").put("status", "reason", "OutOfcpu".into())),
            ],
            "finished deleted 2
             finished completed 1
             finished failed 1
             unobserved scheduling condition_absent 1
             unobserved network condition_absent 1
             unobserved containers condition_absent 1",
        ),
        example(
            "§5.9, §10.2: what a kubelet says of an eviction, without statuses or a condition",
            API,
            vec![
                list(&[]),
                added(&evicted("a", "Evicted", "The node was low on resource: memory. ")),
                added(&evicted("b", "Evicted", "The node had condition: [PIDPressure]. ")),
                added(&evicted("c", "Evicted", "Usage of EmptyDir volume exceeds the limit")),
                added(&evicted("d", "Shutdown", "Node is shutting, evicting pods")),
                added(&evicted("e", "Terminated", "Pod was rejected: the node is shutting down")),
            ],
            "finished disrupted 2
             disruptions TerminationByKubelet 2
             finished rejected 2
             finished failed 1
             unobserved scheduling time 2
             anomaly missing 2",
        ),
        example(
            "rule 7: discovered = finished + in flight",
            API,
            vec![
                list(&[pod("a"), pod("b").mirror()]),
                added(&pod("c")),
                deleted(&pod("c")),
                added(&pod("d").phase("Failed")),
                list(&[pod("e"), pod("d").phase("Failed")]),
            ],
            "discovered 5
             finished vanished 1
             finished static 1
             finished deleted 1
             finished failed 1
             inflight scheduling 1 since 0",
        ),
    ]
}
