use super::*;
use podinit_core::timestamp::Timestamp;

const POD: PodOnNode<'_> = PodOnNode { namespace: "shop", name: "web", node: Some("node-1") };

const fn wait(stage: Stage, cause: Cause) -> PodWait<'static> {
    PodWait { stage, cause, message: "", gate: None, shared: None }
}

/// Kubernetes allows no such name; a recording may have it.
#[test]
fn no_name_is_a_flag_of_kubectl() {
    let pod = PodOnNode { namespace: "-A", name: "--all", node: Some("-l app") };
    let in_stage = |stage, cause| of_wait(pod, wait(stage, cause));
    for (command, expected) in [
        (pod.describe(), "kubectl --namespace=-A describe pod/--all"),
        (
            in_stage(Stage::Scheduling, Cause::Terminating),
            "kubectl --namespace=-A get pod/--all -o jsonpath='{.metadata.finalizers}'",
        ),
        (in_stage(Stage::Network, Cause::Unknown), "kubectl --namespace=-A events --for pod/--all"),
        (in_stage(Stage::Network, Cause::Acknowledge), "kubectl describe 'node/-l app'"),
        (
            pod.logs(ContainerInstance::Last),
            "kubectl --namespace=-A logs pod/--all --all-containers --ignore-errors --tail=50",
        ),
        (
            time_of_node("-x"),
            "kubectl -n kube-node-lease get lease/-x -o jsonpath='{.spec.renewTime}{\"\\n\"}' && date -u +%FT%TZ",
        ),
    ] {
        assert_eq!(command, expected);
    }
}

/// Each command prints what the cause is about, and not what is said of it already.
#[test]
fn a_command_answers_the_question_of_its_cause() {
    let conditions = "kubectl -n shop get pod web -o jsonpath='{range .status.conditions[*]}{.type}{\"\\t\"}{.status}\
                      {\"\\t\"}{.reason}{\"\\t\"}{.message}{\"\\n\"}{end}'";
    let gate = |cause, gate| PodWait { gate: Some(gate), ..wait(Stage::Readiness, cause) };
    for (wait, expected) in [
        // Virtual kubelets run pods that have no PodScheduled.
        (wait(Stage::Scheduling, Cause::Queue), "kubectl -n shop describe pod web"),
        (wait(Stage::Scheduling, Cause::Acknowledge), "kubectl describe node node-1"),
        (
            wait(Stage::Unschedulable, Cause::Taint),
            "kubectl get nodes -o custom-columns='NAME:.metadata.name,TAINTS:.spec.taints[*].key'",
        ),
        (
            wait(Stage::Unschedulable, Cause::Resources),
            "kubectl describe nodes | sed -n '/^Name:/p; /^Taints:/,/^Unschedulable:/p; /^  pods:/p; \
             /^Non-terminated/p; /^Allocated/,/^Events:/p'",
        ),
        // The first failure has no run before.
        (
            wait(Stage::Init, Cause::Crash),
            "kubectl -n shop logs web --all-containers --ignore-errors --tail=50",
        ),
        (
            wait(Stage::Containers, Cause::Crash),
            "kubectl -n shop logs web --all-containers --ignore-errors --previous --tail=50",
        ),
        (wait(Stage::Readiness, Cause::ReadinessGate), conditions),
        (gate(Cause::ReadinessGate, "example.com/lb"), conditions),
        (
            gate(Cause::ReadinessGate, "target-health.elbv2.k8s.aws/k8s-web"),
            "kubectl -n shop get targetgroupbindings.elbv2.k8s.aws",
        ),
        (
            gate(Cause::Gate, "kueue.x-k8s.io/admission"),
            "kubectl -n shop get workloads.kueue.x-k8s.io",
        ),
        (gate(Cause::Gate, "example.com/held"), "kubectl -n shop describe pod web"),
        (
            PodWait {
                message: "secret \"db\" not found",
                ..wait(Stage::Containers, Cause::Config)
            },
            "kubectl -n shop get secret db",
        ),
        (wait(Stage::Containers, Cause::Config), "kubectl -n shop describe pod web"),
        (wait(Stage::Unschedulable, Cause::Volume), "kubectl -n shop get pvc -o wide"),
        (
            PodWait {
                message: "plugin type=\"cilium-cni\" failed (add)",
                ..wait(Stage::Network, Cause::Cni)
            },
            "kubectl get pods -A -o wide --field-selector spec.nodeName=node-1 | grep -E 'NAME|cilium'",
        ),
    ] {
        assert_eq!(of_wait(POD, wait), expected, "{wait:?}");
    }
    let unbound = PodOnNode { node: None, ..POD };
    assert_eq!(
        of_wait(unbound, wait(Stage::Scheduling, Cause::Queue)),
        "kubectl -n shop get pod web -o jsonpath='{.spec.schedulerName}'"
    );
}

#[test]
fn where_pods_share_nodes_these_are_shown() {
    let shared = |cause, shared| PodWait { shared: Some(shared), ..wait(Stage::Network, cause) };
    for (wait, expected) in [
        (shared(Cause::Sandbox, (Dimension::Node, "node-a0")), "kubectl describe node node-a0"),
        (shared(Cause::Image, (Dimension::Node, "node-a0")), "kubectl describe node node-a0"),
        (
            shared(Cause::Cni, (Dimension::Zone, "example-1b")),
            "kubectl get nodes -l topology.kubernetes.io/zone=example-1b -o wide",
        ),
        (
            shared(Cause::Cni, (Dimension::Zone, "$(x)")),
            "kubectl get nodes -l topology.kubernetes.io/zone='$(x)' -o wide",
        ),
        // An application crashes by itself.
        (
            shared(Cause::Exited, (Dimension::Node, "node-a0")),
            "kubectl -n shop logs web --all-containers --ignore-errors --tail=50",
        ),
        (
            shared(Cause::Sandbox, (Dimension::Namespace, "shop")),
            "kubectl -n shop events --for pod/web",
        ),
    ] {
        assert_eq!(of_wait(POD, wait), expected, "{wait:?}");
    }
}

#[test]
fn late_nodes_are_shown_by_the_label_of_their_pool_or_by_name() {
    let nodes = FoundLateNodes {
        nodes: 2,
        held: 2,
        taint: None,
        pool_label: Some("karpenter.sh/nodepool".into()),
        created: Timestamp::EPOCH,
        names: vec!["-A".into(), "node-1".into(), "node-2".into()],
    };
    let problem = |shared| FoundProblem { shared, ..FoundProblem::of_nothing(Cause::NodeStartup) };
    let pool = problem(Some((Dimension::Nodepool, "pool-a".into())));
    let columns = "-o custom-columns='NAME:.metadata.name,TAINTS:.spec.taints[*].key'";
    let by_label = format!("kubectl get nodes -l karpenter.sh/nodepool=pool-a {columns}");
    assert_eq!(of_late_nodes(&nodes, &pool), by_label);
    let by_name = format!("kubectl get nodes node-1 node-2 {columns}");
    let unnamed = FoundLateNodes { pool_label: None, ..nodes };
    assert_eq!(of_late_nodes(&unnamed, &problem(None)), by_name);
}
