//! [§10](crate::specification#s10): causes, disruption and changes in place.

use super::{API, EVENTS, Example, example, slos};
use crate::oracle::build::*;
use crate::oracle::build_evidence::{about, exited, heard, running, waiting};
use serde_json::{Value, json};

pub(super) fn examples() -> Vec<Example> {
    [scheduling(), network(), containers(), blamed(), disrupted(), in_place()]
        .into_iter()
        .flatten()
        .collect()
}

/// One pod in flight in a stage, for a cause.
pub(super) fn waits(
    says: &'static str,
    documents: Vec<Value>,
    stage: &str,
    cause: &str,
) -> Example {
    let inflight = format!("inflight {stage} 1\nwaiting {stage} {cause} 1");
    let mut example = example(says, EVENTS, documents, inflight.leak());
    example.says = says;
    example
}

pub(super) fn unscheduled(reason: &str, message: &str) -> Pod {
    pod("a").because(SCHEDULED, "False", 0.0, reason, message)
}

fn scheduling() -> Vec<Example> {
    let says = |message: &str| vec![added(&unscheduled("Unschedulable", message))];
    let nominated = |pod: Pod| pod.put("status", "nominatedNodeName", json!("node-1"));
    vec![
        waits("§10.1: gate", vec![added(&pod("a").gated())], "gated", "gate"),
        waits(
            "§10.1: \"metadata.deletionTimestamp stands\" at any stage",
            vec![added(&pod("a").gated().put("metadata", "deletionTimestamp", time(9.0)))],
            "gated",
            "terminating",
        ),
        waits(
            "§10.1: acknowledge: \"`spec.nodeName` is set, and there is neither a PodScheduled condition nor a startTime\"",
            vec![added(&nominated(pod("a").put("spec", "nodeName", "node-1".into())))],
            "scheduling",
            "acknowledge",
        ),
        waits(
            "§10.1: a bound pod that the kubelet has taken",
            vec![added(&pod("a").put("spec", "nodeName", "node-1".into()).started(1.0))],
            "scheduling",
            "queue",
        ),
        waits("§10.1: queue", vec![added(&pod("a"))], "scheduling", "queue"),
        waits(
            "§10.1: queue, \"or False with reason SchedulingGated\"",
            vec![added(&nominated(unscheduled("SchedulingGated", "Scheduling is blocked")))],
            "scheduling",
            "queue",
        ),
        waits(
            "§10.1: gang: \"names a pod group (…, in any case)\"",
            vec![added(&nominated(unscheduled("Unschedulable", "PodGroup x is not full")))],
            "unschedulable",
            "gang",
        ),
        waits(
            "§10.1: gang: \"`mincount` (the words of Kubernetes 1.37)\"",
            says("minCount (4) cannot be satisfied: 1 scheduled, 2 remaining"),
            "unschedulable",
            "gang",
        ),
        waits(
            "§10.1: binding: \"there is no PodScheduled condition\"",
            vec![added(&nominated(pod("a")))],
            "scheduling",
            "binding",
        ),
        waits(
            "§10.1: binding: \"an error clears the name, so it was set later\"",
            vec![added(&nominated(unscheduled("SchedulerError", "")))],
            "scheduling",
            "binding",
        ),
        waits(
            "§10.1: binding: \"the whole message contains ` preemption:`\"",
            vec![added(&nominated(unscheduled(
                "Unschedulable",
                "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: No victims.",
            )))],
            "unschedulable",
            "binding",
        ),
        waits(
            "§10.1: preempting: \"terminating pod on the nominated node\"",
            vec![added(&nominated(unscheduled(
                "Unschedulable",
                "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a terminating pod on the nominated node.",
            )))],
            "unschedulable",
            "preempting",
        ),
        waits(
            "§10.1: preempting",
            vec![added(&nominated(unscheduled(
                "Unschedulable",
                "0/1 nodes are available: 1 Insufficient cpu.",
            )))],
            "unschedulable",
            "preempting",
        ),
        waits(
            "§10.1: \"`volumebinding` or `binding volumes`, in any case\"",
            vec![added(&unscheduled(
                "SchedulerError",
                "running PreBind plugin \"VolumeBinding\": timed out",
            ))],
            "scheduling",
            "volume",
        ),
        waits(
            "§10.1: \"cut at the first of … ` no new claims to deallocate`\"",
            says(
                "0/4 nodes are available: 4 node(s) didn't have free ports. no new claims to deallocate, preemption: 0/4",
            ),
            "unschedulable",
            "other",
        ),
        waits(
            "§10.1: \"the numbers of clauses with the same cause are added\"",
            says(
                "0/9 nodes are available: 4 node(s) were unschedulable, 2 node(s) had no available disk, 3 node(s) exceed max volume count.",
            ),
            "unschedulable",
            "volume",
        ),
        waits(
            "§10.1: \"of `resources` the greatest number counts\"",
            says(
                "0/9 nodes are available: 4 node(s) were unschedulable, 2 Insufficient cpu, 3 Insufficient memory.",
            ),
            "unschedulable",
            "taint",
        ),
        waits(
            "§10.1: \"other text belongs to the clause before it\"",
            says(
                "0/5 nodes are available: 3 node(s) had taint {a: b}, that the pod didn't tolerate.",
            ),
            "unschedulable",
            "taint",
        ),
        waits(
            "§10.1: \"nodes that were not meant for the pod\"",
            says(
                "0/9 nodes are available: 1 Insufficient cpu, 4 node(s) had untolerated taint(s), 4 node(s) didn't match Pod's node affinity/selector.",
            ),
            "unschedulable",
            "resources",
        ),
        waits(
            "§10.1: \"Those stay that name a taint … whose key begins with `node.kubernetes.io/`\"",
            says(
                "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) had untolerated taint {node.kubernetes.io/unreachable: }.",
            ),
            "unschedulable",
            "taint",
        ),
        waits(
            "§10.1: \"` resources were found: ` (KAI)\", \"`.`, spaces and a line break\"",
            says(
                "no nodes with enough resources were found: 1 node(s) were unschedulable. \n20 node(s) didn't have enough resources: GPUs.",
            ),
            "unschedulable",
            "resources",
        ),
        waits(
            "§10.1: `quota`",
            says(
                "0/8 nodes are available: Pod a is rejected because ElasticQuota b is more than Max, insufficient cpu.",
            ),
            "unschedulable",
            "quota",
        ),
        waits(
            "§10.1: \"` nodes are unavailable: ` (Volcano)\"",
            says("all nodes are unavailable: 1 Insufficient cpu, 2 node(s) were unschedulable."),
            "unschedulable",
            "taint",
        ),
        waits(
            "§10.1: scheduler_error",
            vec![added(&unscheduled(
                "SchedulerError",
                "0/3 nodes are available: 3 Insufficient cpu.",
            ))],
            "scheduling",
            "scheduler_error",
        ),
        waits(
            "§10.1: \"the clause … with the most nodes\"",
            says("0/5 nodes are available: 1 node(s) were unschedulable, 4 Insufficient cpu."),
            "unschedulable",
            "resources",
        ),
        waits(
            "§10.1: \"on a tie the first\"",
            says("0/4 nodes are available: 2 node(s) were unschedulable, 2 Insufficient cpu."),
            "unschedulable",
            "taint",
        ),
        waits(
            "§10.1: \"(cut at ` preemption:`\"",
            says(
                "0/4 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Insufficient cpu.",
            ),
            "unschedulable",
            "affinity",
        ),
        waits(
            "§10.1: \"does not begin with a number …, it is one clause\"",
            says(
                "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims, 3 node(s) x.",
            ),
            "unschedulable",
            "volume",
        ),
        waits(
            "§10.1: \"a message of another form is one clause\"",
            says("3 Insufficient cpu, 5 node(s) had untolerated taint"),
            "unschedulable",
            "resources",
        ),
    ]
}

fn network() -> Vec<Example> {
    let bound = || pod("a").yes(SCHEDULED, 0.0);
    let warning = |reason: &str, message: &str| heard(&pod("a"), reason, message, 1.0);
    let warned = |events: &[Value]| {
        let mut documents = vec![added(&bound().started(0.0))];
        documents.extend_from_slice(events);
        documents
    };
    let without_sandbox = |message| {
        bound().started(0.0).because(NETWORK, "False", 0.0, "PodSandboxNotReady", message)
    };
    let mut all = vec![
        waits(
            "§10.1: acknowledge: \"no startTime\"",
            vec![added(&bound()), warning("FailedMount", "")],
            "network",
            "acknowledge",
        ),
        waits("§10.1: unknown", warned(&[]), "network", "unknown"),
        waits(
            "§10.1: \"what was delivered last of the warnings\"",
            warned(&[
                warning("FailedMount", ""),
                warning("NetworkNotReady", ""),
                warning("BackOff", ""),
            ]),
            "network",
            "cni",
        ),
        waits(
            "§10.1: cni: \"whose message contains one of …, in any case\"",
            warned(&[warning("FailedCreatePodSandBox", "plugin type=\"CNI\" failed")]),
            "network",
            "cni",
        ),
        waits(
            "§10.1: sandbox: \"and none of `failed to reserve sandbox name`\"",
            warned(&[warning(
                "FailedCreatePodSandBox",
                "failed to reserve sandbox name: plugin type=x",
            )]),
            "network",
            "sandbox",
        ),
        waits(
            "§10.1: sandbox: the name of a sandbox says nothing of the network",
            warned(&[warning(
                "FailedCreatePodSandBox",
                "failed to start sandbox container \"network-cni\"",
            )]),
            "network",
            "sandbox",
        ),
        waits(
            "§10.1: \"clears a last warning `FailedAttachVolume`\"",
            warned(&[
                warning("FailedMount", ""),
                warning("FailedAttachVolume", ""),
                warning("SuccessfulAttachVolume", ""),
            ]),
            "network",
            "unknown",
        ),
        waits(
            "§10.1: it clears no other",
            warned(&[warning("FailedMount", ""), warning("SuccessfulAttachVolume", "")]),
            "network",
            "volume",
        ),
        waits(
            "§10.1: without a network condition: \"or waits with a reason other than\"",
            vec![
                added(&bound().started(0.0).container("main", waiting("ErrImagePull"))),
                warning("FailedMount", ""),
            ],
            "network",
            "image",
        ),
        waits(
            "§10.1: without a network condition: \"(with any status)\"",
            vec![added(&without_sandbox("").container("main", waiting("ErrImagePull")))],
            "network",
            "unknown",
        ),
        waits(
            "§10.1: without a network condition: \"of `readiness` if ContainersReady is reached\"",
            vec![added(
                &bound()
                    .readiness_gates()
                    .started(0.0)
                    .yes(CONTAINERS, 5.0)
                    .container("main", running(1.0)),
            )],
            "network",
            "readiness_gate",
        ),
        waits(
            "§10.1: \"the pod has no readiness gates\"",
            vec![added(&bound().started(0.0).yes(CONTAINERS, 5.0).container("main", running(1.0)))],
            "network",
            "unknown",
        ),
        waits(
            "§10.1: sandbox: \"any other FailedCreatePodSandBox\"",
            warned(&[warning("FailedCreatePodSandBox", "deadline exceeded")]),
            "network",
            "sandbox",
        ),
        waits(
            "§10.1: a warning comes before the condition's reason",
            vec![added(&without_sandbox("no IP")), warning("FailedPrepareDynamicResources", "")],
            "network",
            "claim",
        ),
        waits(
            "§10.1: no_sandbox",
            vec![added(&without_sandbox("there is no pod sandbox"))],
            "network",
            "no_sandbox",
        ),
        waits(
            "§10.1: no_ip",
            vec![added(&without_sandbox("sandbox has no IP address"))],
            "network",
            "no_ip",
        ),
    ];
    for example in &mut all {
        example.expected = format!("{}\nscheduling 1 0", example.expected).leak();
    }
    all
}

fn containers() -> Vec<Example> {
    let bound = || pod("a").yes(SCHEDULED, 0.0).yes(NETWORK, 0.0);
    let init = || bound().init_containers();
    let again = || init().yes(INITIALIZED, 0.0);
    let main = |state: Value| vec![added(&bound().container("main", state))];
    let pulling = heard(&pod("a"), "Pulling", "", 0.0);
    let pulled = heard(&pod("a"), "Pulled", "", 0.0);
    let mut sidecar = init();
    sidecar.0["spec"]["initContainers"][0]["restartPolicy"] = "Always".into();
    let mut all = vec![
        waits("§10.1: create: \"or has no status\"", vec![added(&bound())], "containers", "create"),
        waits(
            "§10.1: create: \"any other reason\"",
            main(waiting("ContainerCreating")),
            "containers",
            "create",
        ),
        waits("§10.1: image", main(waiting("ErrImagePull")), "containers", "image"),
        waits("§10.1: config", main(waiting("RunContainerError")), "containers", "config"),
        waits("§10.1: crash", main(waiting("CrashLoopBackOff")), "containers", "crash"),
        waits(
            "§10.1: crash: \"an exit code other than 0\"",
            main(exited(0.0, 2)),
            "containers",
            "crash",
        ),
        waits("§10.1: exited", main(exited(0.0, 0)), "containers", "exited"),
        waits("§10.1: probe", main(running(0.0)), "containers", "probe"),
        waits(
            "§10.1: pull: \"has a Pulling event and no Pulled\"",
            vec![added(&bound()), pulling.clone()],
            "containers",
            "pull",
        ),
        waits(
            "§10.1: pull: \"and no Pulled\"",
            vec![added(&bound()), pulling.clone(), pulled],
            "containers",
            "create",
        ),
        waits(
            "§10.1: pull: \"without a start\"",
            vec![added(&bound().container("main", running(0.0))), pulling.clone()],
            "containers",
            "probe",
        ),
        waits(
            "§10.1: init: \"the first init container that has neither ended with exit code 0\"",
            vec![added(&init().container("main", waiting("ErrImagePull")))],
            "init",
            "create",
        ),
        waits(
            "§10.1: run",
            vec![added(&init().init_container("setup", running(0.0)))],
            "init",
            "run",
        ),
        waits(
            "§10.1: init: \"a sidecar that has crashed has not started\"",
            vec![added(&sidecar.clone().init_container("setup", exited(0.0, 1)))],
            "init",
            "crash",
        ),
        waits(
            "§10.1: containers: \"the regular and the restartable init containers\"",
            vec![
                added(
                    &sidecar
                        .yes(INITIALIZED, 0.0)
                        .init_container("setup", waiting("ImagePullBackOff"))
                        .container("main", running(0.0)),
                ),
                about(pulling, "spec.initContainers{setup}"),
            ],
            "containers",
            "image",
        ),
        waits(
            "§10.1: a new sandbox (restartable init): \"those of `init` take their place\"",
            vec![added(
                &again()
                    .init_container("setup", waiting("CrashLoopBackOff"))
                    .container("main", waiting("PodInitializing")),
            )],
            "containers",
            "crash",
        ),
        waits(
            "§10.1: a new sandbox (restartable init): run, though the stage is `containers`",
            vec![added(
                &again().init_container("setup", running(1.0)).container("main", exited(0.0, 0)),
            )],
            "containers",
            "run",
        ),
        waits(
            "§10.1: a new sandbox (restartable init): \"if no regular container is running\"",
            vec![added(
                &again()
                    .init_container("setup", waiting("CrashLoopBackOff"))
                    .container("main", running(0.0)),
            )],
            "containers",
            "probe",
        ),
        waits(
            "§10.1: a new sandbox (restartable init): \"that has not ended with exit code 0\"",
            vec![added(
                &again()
                    .init_container("setup", exited(0.0, 0))
                    .container("main", waiting("ErrImagePull")),
            )],
            "containers",
            "image",
        ),
        waits(
            "§10.1: a new sandbox (restartable init): \"that status has\" it",
            vec![added(&again().container("main", waiting("ErrImagePull")))],
            "containers",
            "image",
        ),
    ];
    let states = [
        ("image", waiting("ErrImagePull")),
        ("config", waiting("RunContainerError")),
        ("crash", waiting("CrashLoopBackOff")),
        ("exited", exited(0.0, 0)),
        ("create", waiting("ContainerCreating")),
        ("probe", running(0.0)),
    ];
    for pair in states.windows(2) {
        let [(cause, worse), (_, other)] = pair else { continue };
        let mut two = bound().container("side", other.clone()).container("main", worse.clone());
        two.0["spec"]["containers"] = json!([{"name": "side"}, {"name": "main"}]);
        let says = "§10.1: the rows of `containers` count in their order";
        all.push(waits(says, vec![added(&two)], "containers", cause));
    }
    for example in &mut all {
        // NetworkReady at 0 s, by the condition or by what an Event says.
        example.expected = format!("{}\nscheduling 1 0\nnetwork 1 0", example.expected).leak();
        if example.says.contains("and the restartable") || example.says.contains("restartable init")
        {
            example.expected = format!("{}\ninit 1 0", example.expected).leak();
        }
    }
    all
}

fn blamed() -> Vec<Example> {
    let bound = || pod("a").yes(SCHEDULED, 1.0);
    vec![
        example(
            "§10.1: \"the pod's stage and cause when its event became bad\"",
            slos(API, [("scheduled_to_ready", 5.0)]),
            vec![
                added(&bound()),
                modified(&bound().yes(NETWORK, 2.0).container("main", waiting("ErrImagePull"))),
                added(&pod("clock").created(60.0)),
            ],
            "slo scheduled_to_ready bad 1
             blamed scheduled_to_ready containers image 1",
        ),
        example(
            "§10.1: \"for an interval that was found too long when it ended: those before that delivery\"",
            slos(API, [("network", 5.0)]),
            vec![added(&bound().started(1.0)), modified(&bound().started(1.0).yes(NETWORK, 9.0))],
            "slo network bad 1
             blamed network network unknown 1",
        ),
        example(
            "§10.1: \"none where the pod was not known before\"",
            slos(API, [("network", 5.0)]),
            vec![added(&bound().yes(NETWORK, 9.0))],
            "slo network bad 1
             blamed network none none 1",
        ),
    ]
}

fn disrupted() -> Vec<Example> {
    let target = |reason: &str| {
        pod("a").because("DisruptionTarget", "True", 5.0, reason, "").phase("Pending")
    };
    vec![
        example(
            "§10.2: \"the outcome disrupted (instead of failed, deleted or vanished)\"",
            API,
            vec![
                list(&[]),
                added(&pod("a")),
                deleted(&target("PreemptionByScheduler")),
                added(&target("EvictionByEvictionAPI").uid("b").phase("Failed")),
                added(&target("Whim").uid("c")),
                list(&[]),
            ],
            "finished disrupted 3
             disruptions PreemptionByScheduler 1
             disruptions EvictionByEvictionAPI 1
             disruptions other 1",
        ),
        example(
            "§10.2: \"in its last snapshot\"",
            API,
            vec![added(&target("DeletionByPodGC")), deleted(&pod("a"))],
            "finished deleted 1
             disruptions DeletionByPodGC 0",
        ),
        example(
            "§10.2: \"not as completed\"",
            API,
            vec![added(&target("DeletionByPodGC").phase("Succeeded"))],
            "finished completed 1
             unobserved scheduling condition_absent 1
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             disruptions DeletionByPodGC 0",
        ),
        example(
            "§10.2, §6: the SLO's reason is the outcome",
            slos(API, [("scheduling", 60.0)]),
            vec![added(&target("DeletionByPodGC")), deleted(&target("DeletionByPodGC"))],
            "slo scheduling excluded disrupted 1",
        ),
    ]
}

fn in_place() -> Vec<Example> {
    let ready = || pod("a").all([1.0, 4.0, 3.0, 9.0, 10.0]);
    let pending = || ready().because("PodResizePending", "True", 20.0, "Deferred", "");
    let progress = || ready().because("PodResizeInProgress", "True", 24.0, "", "");
    let update = |status, second| {
        let gates = json!([{"conditionType": "InPlaceUpdateReady"}]);
        ready().put("spec", "readinessGates", gates).because(
            "InPlaceUpdateReady",
            status,
            second,
            "",
            "",
        )
    };
    let of_ready =
        |lines: &str| -> &'static str { format!("{}\n{lines}", super::READY_IN_FULL).leak() };
    vec![
        example(
            "§10.3: \"podinit_resize_duration_seconds is o less that LTT\", \"completed\"",
            API,
            vec![
                added(&ready()),
                modified(&pending()),
                modified(&progress()),
                at(30.5, modified(&ready())),
            ],
            of_ready("resizes completed 1\nresize 1 10.5"),
        ),
        example(
            "§10.3: it \"needs o\"",
            API,
            vec![added(&ready()), modified(&pending()), modified(&ready())],
            of_ready("resizes completed 1\nresize 0 0"),
        ),
        example(
            "§10.3: \"ended (the pod's end)\"",
            API,
            vec![added(&ready()), modified(&pending()), deleted(&pending())],
            of_ready("resizes ended 1"),
        ),
        example(
            "§10.3: podinit_resizing_pods \"from the newest snapshot\"",
            API,
            vec![added(&ready()), modified(&pending())],
            of_ready("resizing deferred 1"),
        ),
        example(
            "§10.3: \"One that was open at first sight is counted in the gauge alone.\"",
            API,
            vec![
                list(&[pending()]),
                modified(&progress()),
                at(30.0, modified(&ready())),
                at(31.0, modified(&progress())),
            ],
            "finished preexisting 1
             resizing in_progress 1",
        ),
        example(
            "§10.3: OpenKruise: \"False (LTT) to True (LTT)\"",
            API,
            vec![
                added(&update("True", 9.0)),
                modified(&update("False", 20.0)),
                modified(&update("True", 27.0)),
            ],
            of_ready("readiness 1 1\ninplace 1 7"),
        ),
    ]
}
