//! [§6](crate::specification#s6): which pods an SLO is about, and which of them show a milestone at
//! all.

use super::{API, Example, Options, example, ready, slos};
use crate::oracle::build::*;
use crate::oracle::reading::Namespaces;
use serde_json::json;

pub(super) fn examples() -> Vec<Example> {
    [absent(), selected()].into_iter().flatten().collect()
}

fn absent() -> Vec<Example> {
    let bound = || pod("a").yes(SCHEDULED, 1.0);
    vec![
        example(
            "§6: \"condition_absent: the type is absent from a status with startTime, a kubelet condition and a phase that is not terminal\"",
            slos(
                API,
                [
                    ("scheduling", 60.0),
                    ("network", 60.0),
                    ("containers", 60.0),
                    ("scheduled_to_ready", 60.0),
                ],
            ),
            vec![added(
                &bound().started(1.0).yes(INITIALIZED, 1.0).no(CONTAINERS, 1.0).no(READY, 1.0),
            )],
            "slo scheduling good 1
             slo network excluded condition_absent 1
             slo containers excluded condition_absent 1",
        ),
        example(
            "§6, condition_absent: \"a status with startTime\"",
            slos(API, [("network", 60.0)]),
            vec![added(&bound().yes(INITIALIZED, 1.0))],
            "",
        ),
        example(
            "§6, condition_absent: \"a kubelet condition\", which PodScheduled is not",
            slos(API, [("network", 60.0)]),
            vec![added(&bound().started(1.0))],
            "",
        ),
        example(
            "§6, condition_absent: \"a phase that is not terminal\"",
            slos(API, [("network", 60.0)]),
            vec![added(&bound().started(1.0).no(READY, 1.0).phase("Succeeded"))],
            "slo network excluded completed 1",
        ),
        example(
            "§1: both names of the network condition are one milestone, and with either the type stands",
            slos(API, [("network", 60.0)]),
            vec![added(&bound().started(1.0).no(OLD_NETWORK, 1.0))],
            "",
        ),
        example(
            "§6: the type is gone from a later status",
            slos(API, [("network", 60.0), ("containers", 60.0)]),
            vec![
                added(&bound().yes(NETWORK, 2.0).no(CONTAINERS, 2.0)),
                modified(&bound().started(1.0).no(READY, 2.0)),
            ],
            "slo network good 1
             slo containers excluded condition_absent 1",
        ),
        example(
            "§6: a pod that is ready without the type that the interval needs",
            slos(API, [("network", 60.0), ("containers", 60.0)]),
            vec![added(&bound().started(1.0).yes(CONTAINERS, 9.0).yes(READY, 9.0))],
            "slo network excluded condition_absent 1
             slo containers excluded condition_absent 1",
        ),
    ]
}

fn selected() -> Vec<Example> {
    let in_namespace = |name, namespace| added(&ready(name).namespace(namespace));
    let of_owner = |name: &str, kind: &str, controls: bool| {
        let owners = json!([{"kind": kind, "name": "web", "controller": controls}]);
        added(&ready(name).put("metadata", "ownerReferences", owners))
    };
    let choose = |namespaces| {
        let mut options: Options = slos(API, [("network", 60.0)]);
        options.slos[0].namespaces = namespaces;
        options
    };
    let namespaces = || {
        vec![
            list(&[]),
            in_namespace("a", "ns"),
            in_namespace("b", "kube-system"),
            in_namespace("c", "other"),
        ]
    };
    vec![
        example(
            "§6: \"namespaces: {exclude: [kube-system]}\"",
            choose(Namespaces::Exclude(vec!["kube-system"])),
            namespaces(),
            "slo network good 2",
        ),
        example(
            "§6: \"or include, not both\"",
            choose(Namespaces::Include(vec!["kube-system", "none"])),
            namespaces(),
            "slo network good 1",
        ),
        example(
            "issue: \"optional namespace selection and owner kinds\"",
            {
                let mut options = slos(API, [("network", 60.0)]);
                options.slos[0].owner_kinds = vec!["DaemonSet", "StatefulSet"];
                options
            },
            vec![
                list(&[]),
                of_owner("a", "StatefulSet", true),
                of_owner("b", "StatefulSet", false),
                of_owner("c", "Job", true),
                added(&ready("d")),
            ],
            "slo network good 1",
        ),
    ]
}
