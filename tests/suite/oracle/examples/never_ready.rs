//! [§6.12](crate::specification#s6-12): pods of which a regular container has ended for good.

use super::slo_deadlines::clock;
use super::{API, Example, NODES, Options, example, selecting, slos};
use crate::oracle::build::*;
use crate::oracle::build_evidence::{exited, running, waiting};
use serde_json::{Value, json};

pub(super) fn examples() -> Vec<Example> {
    [moments(), intervals(), policies(), selected()].concat()
}

/// A pod of two steps that never run again, scheduled at 1. With a threshold of 10 s it is overdue after 16.
fn build() -> Pod {
    let steps = json!([{"name": "main"}, {"name": "push"}]);
    pod("a")
        .yes(SCHEDULED, 1.0)
        .put("spec", "restartPolicy", "Never".into())
        .put("spec", "containers", steps)
        .container("push", running(2.0))
}

fn ended(pod: Pod) -> Pod {
    pod.container("main", exited(2.0, 0))
}

fn ready_in(options: Options) -> Options {
    slos(options, [("scheduled_to_ready", 10.0)])
}

const COMPLETED: &str = "slo scheduled_to_ready excluded completed 1";
const BAD: &str = "slo scheduled_to_ready bad 1";

fn moments() -> Vec<Example> {
    let begun = || at(2.0, added(&build()));
    vec![
        example(
            "§6.12: a build whose steps end one by one is excluded as `completed`",
            ready_in(API),
            vec![begun(), at(5.0, modified(&ended(build()))), clock(60.0)],
            COMPLETED,
        ),
        example(
            "§6.12: \"unless 6.2 to 6.4 […] have decided […] them by then\"",
            ready_in(API),
            vec![begun(), at(16.5, modified(&ended(build())))],
            BAD,
        ),
        example(
            "§6.12: \"before the deadlines that pass after that snapshot is folded\"",
            ready_in(API),
            vec![added(&build()), modified(&ended(build()).yes(INITIALIZED, 60.0))],
            COMPLETED,
        ),
        example(
            "§6.12: \"and is final\"",
            ready_in(API),
            vec![
                begun(),
                at(5.0, modified(&ended(build()))),
                at(6.0, modified(&build().all([1.0, 2.0, 2.0, 5.0, 5.0]))),
            ],
            COMPLETED,
        ),
        example(
            "§6.12: \"that snapshot included\": Ready was seen with it",
            ready_in(API),
            vec![begun(), at(5.0, modified(&ended(build()).all([1.0, 2.0, 2.0, 5.0, 5.0])))],
            "slo scheduled_to_ready good 1",
        ),
        example(
            "§6.12: \"that snapshot included\": the pod failed with it",
            ready_in(API),
            vec![begun(), at(5.0, modified(&ended(build()).phase("Failed")))],
            "slo scheduled_to_ready excluded failed 1",
        ),
        example(
            "§6.12: the object of a DELETED event is folded before the pod ends",
            ready_in(API),
            vec![begun(), at(5.0, deleted(&ended(build())))],
            COMPLETED,
        ),
        example(
            "§6.12: an adopted pod too, whose deadline lies ahead",
            ready_in(API),
            vec![at(5.0, list(&[ended(build())])), clock(60.0)],
            COMPLETED,
        ),
        example(
            "§6.12: and `preexisting`, whose deadline lay before first sight",
            ready_in(API),
            vec![at(50.0, list(&[ended(build())]))],
            "slo scheduled_to_ready excluded preexisting 1",
        ),
    ]
}

fn intervals() -> Vec<Example> {
    let network = || ended(build()).no(NETWORK, 1.0);
    vec![
        example(
            "§6.12: \"intervals that end with ContainersReady or Ready\", of which the step `probe` is one",
            slos(
                API,
                [
                    ("containers", 10.0),
                    ("created_to_ready", 10.0),
                    ("probe", 10.0),
                    ("start", 10.0),
                    ("network", 10.0),
                ],
            ),
            vec![at(5.0, added(&network()))],
            "slo containers excluded completed 1
             slo created_to_ready excluded completed 1
             slo probe excluded completed 1",
        ),
        example(
            "§6.12: `readiness` is not entered without gates, and ends with Ready",
            slos(API, [("readiness", 10.0)]),
            vec![
                at(5.0, added(&network())),
                at(
                    6.0,
                    added(&network().uid("00000000-0000-4000-8000-00000000000b").readiness_gates()),
                ),
            ],
            "slo readiness excluded not_entered 1
             slo readiness excluded completed 1",
        ),
    ]
}

fn policies() -> Vec<Example> {
    let of = |pod: Pod| vec![at(2.0, added(&ended(pod))), clock(60.0)];
    let main = |field: &str, value: Value| {
        let mut pod = build();
        pod.0["spec"]["containers"][0][field] = value;
        pod
    };
    let rules = |action: &str, operator: &str, values: &[i32]| json!([{"action": action, "exitCodes": {"operator": operator, "values": values}}]);
    let policy = |name: &str| build().put("spec", "restartPolicy", name.into());
    let mut init = build().init_containers();
    init.0["spec"]["initContainers"][0]["restartPolicyRules"] =
        rules("RestartAllContainers", "In", &[7]);
    let mut sidecar = build().init_containers();
    sidecar.0["spec"]["initContainers"][0]["restartPolicy"] = "Always".into();
    let cases = [
        ("§6.12: the pod's: OnFailure", of(policy("OnFailure")), COMPLETED),
        ("§6.12: the pod's: Always", of(policy("Always")), BAD),
        (
            "§6.12: the pod's: \"`Always` if none\"",
            of(build().put("spec", "restartPolicy", Value::Null)),
            BAD,
        ),
        (
            "§6.12: \"its own `restartPolicy`\" comes before the pod's",
            of(main("restartPolicy", "Always".into())),
            BAD,
        ),
        (
            "§6.12: \"a matching rule of its own `restartPolicyRules` (it does)\"",
            of(main("restartPolicyRules", rules("Restart", "In", &[3, 0]))),
            BAD,
        ),
        (
            "§6.12: a rule for other exit codes",
            of(main("restartPolicyRules", rules("Restart", "NotIn", &[0]))),
            COMPLETED,
        ),
        (
            "§6.12: \"any container, init containers included, has a rule with the action `RestartAllContainers`\"",
            of(init),
            BAD,
        ),
        (
            "§6.12: \"a regular container\": not a sidecar",
            vec![at(2.0, added(&sidecar.init_container("setup", exited(2.0, 0)))), clock(60.0)],
            BAD,
        ),
        (
            "§6.12: \"with exit code 0\"",
            vec![at(2.0, added(&build().container("main", exited(2.0, 1)))), clock(60.0)],
            BAD,
        ),
        (
            "§6.12: \"whose state is `terminated`\"",
            vec![at(2.0, added(&build().container("main", waiting("Completed")))), clock(60.0)],
            BAD,
        ),
    ];
    let examples =
        cases.map(|(says, documents, expected)| example(says, ready_in(API), documents, expected));
    examples.into()
}

fn selected() -> Vec<Example> {
    let unbound = ended(build()).no(SCHEDULED, 1.0);
    let chosen = |interval| selecting([true, false], slos(NODES, [(interval, 10.0)]));
    vec![
        example(
            "§6.12: \"or 6.10 have decided\" it with that snapshot",
            chosen("scheduled_to_ready"),
            vec![at(2.0, added(&ended(build())))],
            "slo scheduled_to_ready excluded capacity 1",
        ),
        example(
            "§6.12: it does not wait until the selection is known",
            chosen("created_to_ready"),
            vec![at(2.0, added(&unbound))],
            "slo created_to_ready excluded completed 1",
        ),
        example(
            "§6.12: \"or held them by then\"",
            chosen("created_to_ready"),
            vec![
                at(2.0, added(&build().no(SCHEDULED, 1.0))),
                clock(60.0),
                at(61.0, modified(&unbound)),
            ],
            "",
        ),
    ]
}
