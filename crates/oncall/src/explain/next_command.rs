//! The command to run next ([§13.14](crate::specification#s13-14)), by what a pod waits for, and by what the pods of a
//! problem share. It shows what neither a card nor the page of a pod says already.

use super::kubectl::{is_flag, kubectl_in, object, quoted, time_of_node};
use super::missing_object::MissingObject;
use super::network_plugin;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Cause, GateKind, GateState, Progress, Record, Stage};
use podinit_core::node::ZONE_LABEL;
use podinit_problems::{FoundLateNodes, FoundProblem, FoundState, ProblemKind};

/// Nodes with what keeps pods away from them. A shell that sees the star unquoted may look for files.
const TAINTS: &str = "-o custom-columns='NAME:.metadata.name,TAINTS:.spec.taints[*].key'";
/// Of each node what pods have requested, of all that it has for them, and what keeps pods away. `kubectl top` shows what
/// is used, which no scheduler asks for.
const ROOM: &str = "kubectl describe nodes | sed -n '/^Name:/p; /^Taints:/,/^Unschedulable:/p; /^  pods:/p; \
                    /^Non-terminated/p; /^Allocated/,/^Events:/p'";
/// The conditions of a pod, each in a line.
const CONDITIONS: &str = r#"range .status.conditions[*]}{.type}{"\t"}{.status}{"\t"}{.reason}{"\t"}{.message}{"\n"}{end"#;
/// How the names of gates begin, and the objects with which their controllers say how far they are.
const OBJECTS_OF_GATES: [(&str, &str); 3] = [
    ("kueue.x-k8s.io/", "workloads.kueue.x-k8s.io"),
    ("target-health.", "targetgroupbindings.elbv2.k8s.aws"),
    ("cloud.google.com/load-balancer-neg-ready", "servicenetworkendpointgroups.networking.gke.io"),
];

/// The pod that a command is about.
#[derive(Clone, Copy, Debug)]
struct PodOnNode<'a> {
    namespace: &'a str,
    name: &'a str,
    /// The node that it is bound to
    node: Option<&'a str>,
}

/// Why a pod waits, and what may point to the reason.
#[derive(Clone, Copy, Debug)]
struct PodWait<'a> {
    stage: Stage,
    cause: Cause,
    /// The message of Kubernetes about the wait
    message: &'a str,
    /// The gate that holds it
    gate: Option<&'a str>,
    /// What it shares with the other pods of its problem
    shared: Option<(Dimension, &'a str)>,
}

/// Which run of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContainerInstance {
    /// The present run, or the last one
    Last,
    /// The run before it
    Before,
}

/// The command that shows more about the cause for which a pod in flight waits; for any other pod, its description.
pub fn next_command(record: &Record) -> String {
    let pod = PodOnNode {
        namespace: &record.pod.namespace,
        name: &record.pod.name,
        node: record.pod.node.as_deref(),
    };
    let Progress::InFlight { waiting, .. } = record.progress else {
        return pod.describe();
    };
    let cause = waiting.cause();
    let wait = PodWait {
        stage: waiting.stage(),
        cause,
        message: record.message.as_deref().unwrap_or_default(),
        gate: holding_gate(record, cause),
        shared: None,
    };
    of_wait(pod, wait)
}

/// The first gate that holds a pod, for the causes that have one.
fn holding_gate(record: &Record, cause: Cause) -> Option<&str> {
    let kind = match cause {
        Cause::Gate => GateKind::Scheduling,
        Cause::ReadinessGate => GateKind::Readiness,
        _ => return None,
    };
    let mut gates = record.gates.iter();
    let gate = gates.find(|gate| gate.kind == kind && gate.state == GateState::Holding)?;
    Some(&gate.gate)
}

/// The command that shows more about a problem: about what its pods share where that may be to blame, and else about
/// its pod that has waited longest.
pub(crate) fn next_command_of_problem(problem: &FoundProblem) -> String {
    let Some(oldest) = problem.oldest.first() else {
        return String::new();
    };
    match &problem.kind {
        ProblemKind::Clock(clock) => return time_of_node(&clock.node),
        ProblemKind::LateNodes(nodes) => return of_late_nodes(nodes, problem),
        ProblemKind::Pods | ProblemKind::SeveralCauses(_) => {}
    }
    let pod = PodOnNode {
        namespace: &oldest.namespace,
        name: &oldest.name,
        node: oldest.node.as_deref(),
    };
    let shared = problem.shared.as_ref().map(|(dimension, value)| (*dimension, &**value));
    // What many causes have in common is the place, whatever each of them is.
    let place = shared.filter(|_| matches!(problem.kind, ProblemKind::SeveralCauses(_)));
    if let Some(command) = place.and_then(|place| of_nodes(Cause::Sandbox, place)) {
        return command;
    }
    let gate = shared.filter(|(dimension, _)| *dimension == Dimension::Gate);
    let wait = PodWait {
        stage: oldest.waiting().map_or(Stage::Containers, |waiting| waiting.stage()),
        cause: problem.cause,
        message: problem.message.as_deref().unwrap_or_default(),
        gate: gate.map(|(_, gate)| gate),
        shared,
    };
    match (oldest.state, problem.cause) {
        // A pod that has failed does not run again.
        (FoundState::Ended { .. }, Cause::Crash) if oldest.has_failed() => {
            pod.logs(ContainerInstance::Last)
        }
        _ => of_wait(pod, wait),
    }
}

/// The taints of the nodes: of those of the pool, by its label, or else of the oldest of them.
fn of_late_nodes(nodes: &FoundLateNodes, problem: &FoundProblem) -> String {
    let (_, pool) = problem.shared_texts();
    let which = match &nodes.pool_label {
        Some(label) => format!("-l {}", quoted_label(label, pool)),
        None => {
            let names = nodes.names.iter().filter(|name| !is_flag(name));
            names.map(|name| quoted(name)).collect::<Vec<_>>().join(" ")
        }
    };
    format!("kubectl get nodes {which} {TAINTS}")
}

/// A label and its value as a selector. Those that Kubernetes allows need no quotes.
fn quoted_label(label: &str, value: &str) -> String {
    format!("{}={}", quoted(label), if value.is_empty() { String::new() } else { quoted(value) })
}

impl PodOnNode<'_> {
    fn kubectl(self) -> String {
        kubectl_in(self.namespace)
    }

    fn describe(self) -> String {
        format!("{} describe {}", self.kubectl(), object("pod", self.name))
    }

    fn events(self) -> String {
        format!("{} events --for {}", self.kubectl(), quoted(&format!("pod/{}", self.name)))
    }

    fn field(self, path: &str) -> String {
        let name = object("pod", self.name);
        format!("{} get {name} -o jsonpath='{{{path}}}'", self.kubectl())
    }

    fn columns(self, columns: &str) -> String {
        let name = object("pod", self.name);
        format!("{} get {name} -o custom-columns={columns}", self.kubectl())
    }

    /// The command that describes the node of the pod, or the pod before it has one.
    fn describe_node(self) -> String {
        self.node.map_or_else(|| self.describe(), describe_node)
    }

    fn logs(self, run: ContainerInstance) -> String {
        let name = match is_flag(self.name) {
            true => object("pod", self.name),
            false => quoted(self.name),
        };
        let run = match run {
            ContainerInstance::Last => "",
            ContainerInstance::Before => " --previous",
        };
        // A container without such a log must not hide those of the others.
        let kubectl = self.kubectl();
        format!("{kubectl} logs {name} --all-containers --ignore-errors{run} --tail=50")
    }
}

fn describe_node(node: &str) -> String {
    format!("kubectl describe {}", object("node", node))
}

fn of_wait(pod: PodOnNode<'_>, wait: PodWait<'_>) -> String {
    if let Some(command) = wait.shared.and_then(|shared| of_nodes(wait.cause, shared)) {
        return command;
    }
    let in_namespace = |what: &str| format!("{} {what}", pod.kubectl());
    let missing = || Some(MissingObject::named(wait.message)?.command(pod.namespace));
    match wait.cause {
        Cause::Terminating => pod.field(".metadata.finalizers"),
        Cause::Gate => of_gate(pod, wait.gate).unwrap_or_else(|| pod.describe()),
        Cause::ReadinessGate => of_gate(pod, wait.gate).unwrap_or_else(|| pod.field(CONDITIONS)),
        Cause::Volume | Cause::Claim if wait.stage == Stage::Network => {
            missing().unwrap_or_else(|| pod.events())
        }
        Cause::Volume => in_namespace("get pvc -o wide"),
        Cause::Claim => in_namespace("get resourceclaims"),
        // The message is that of the attempt before.
        Cause::Binding | Cause::SchedulerError => pod.events(),
        // Nothing is said yet: it may wait for a scheduler that is not there.
        Cause::Queue if pod.node.is_none() => pod.field(".spec.schedulerName"),
        Cause::Gang => in_namespace("get pods --field-selector=status.phase=Pending -o wide"),
        Cause::Preempting => pod.columns(
            "NAME:.metadata.name,PRIORITY:.spec.priority,NOMINATED:.status.nominatedNodeName",
        ),
        Cause::Resources => ROOM.to_owned(),
        Cause::Taint | Cause::NodeStartup => format!("kubectl get nodes {TAINTS}"),
        Cause::Topology => pod.field(".spec.topologySpreadConstraints"),
        Cause::Affinity => pod.field(r#".spec.nodeSelector}{"\n"}{.spec.affinity"#),
        Cause::Acknowledge | Cause::Rejected => pod.describe_node(),
        Cause::Cni => {
            let plugin = pod.node.and_then(|node| network_plugin::pods_on(node, wait.message));
            plugin.unwrap_or_else(|| pod.describe_node())
        }
        Cause::Sandbox
        | Cause::NoSandbox
        | Cause::NoIp
        | Cause::Unknown
        | Cause::Image
        | Cause::Pull => pod.events(),
        Cause::Config => missing().unwrap_or_else(|| pod.describe()),
        // An init container that has failed for the first time has no run before.
        Cause::Crash if wait.stage == Stage::Init => pod.logs(ContainerInstance::Last),
        Cause::Exited | Cause::Run => pod.logs(ContainerInstance::Last),
        Cause::Crash => pod.logs(ContainerInstance::Before),
        Cause::Queue
        | Cause::Quota
        | Cause::Other
        | Cause::Create
        | Cause::Probe
        | Cause::Clock => pod.describe(),
    }
}

/// The command that lists the nodes that the pods of a problem share; `None` where these cannot be the reason.
fn of_nodes(cause: Cause, (dimension, value): (Dimension, &str)) -> Option<String> {
    let may_be_to_blame = matches!(
        cause,
        Cause::Acknowledge
            | Cause::Cni
            | Cause::Sandbox
            | Cause::NoSandbox
            | Cause::NoIp
            | Cause::Unknown
            | Cause::Volume
            | Cause::Claim
            | Cause::Image
            | Cause::Pull
            | Cause::Create
            | Cause::Rejected
    );
    match dimension {
        Dimension::Node if may_be_to_blame => Some(describe_node(value)),
        Dimension::Zone if may_be_to_blame => {
            Some(format!("kubectl get nodes -l {} -o wide", quoted_label(ZONE_LABEL, value)))
        }
        _ => None,
    }
}

/// The command that lists the objects in which the controller of a gate reports; `None` for an unknown gate.
fn of_gate(pod: PodOnNode<'_>, gate: Option<&str>) -> Option<String> {
    let gate = gate?;
    let (_, objects) = OBJECTS_OF_GATES.iter().find(|(begin, _)| gate.starts_with(begin))?;
    Some(format!("{} get {objects}", pod.kubectl()))
}

#[cfg(test)]
#[path = "next_command_tests.rs"]
mod tests;
