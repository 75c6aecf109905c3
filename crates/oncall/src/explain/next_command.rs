//! The command to run next, by what a pod waits for.

use podinit_core::lifecycle::{Cause, Progress, Record, Stage, WaitReason};

/// The pod that a command is about.
#[derive(Clone, Copy, Debug)]
pub struct PodOnNode<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    /// The node that it is bound to
    pub node: Option<&'a str>,
}

/// The command that shows more about the cause for which a pod in flight waits; for any other pod, its
/// description.
pub fn next_command(record: &Record) -> String {
    let pod = PodOnNode {
        namespace: &record.pod.namespace,
        name: &record.pod.name,
        node: record.pod.node.as_deref(),
    };
    match record.progress {
        Progress::InFlight { waiting, .. } => next_command_of(pod, Some(waiting)),
        Progress::Ended { .. } => next_command_of(pod, None),
    }
}

/// The command that shows more about why `pod` waits, or its description if it does not.
pub fn next_command_of(pod: PodOnNode<'_>, waiting: Option<WaitReason>) -> String {
    let name = object("pod", pod.name);
    let kubectl = kubectl_in(pod.namespace);
    let events = format!("{kubectl} events --for {}", quoted(&format!("pod/{}", pod.name)));
    let describe = format!("{kubectl} describe {name}");
    let field = |path: &str| format!("{kubectl} get {name} -o jsonpath='{{{path}}}'");
    let Some(waiting) = waiting else {
        return describe;
    };
    match waiting.cause() {
        Cause::Terminating => field(".metadata.finalizers"),
        Cause::Gate => field(".spec.schedulingGates"),
        Cause::Volume | Cause::Claim if waiting.stage() == Stage::Network => events,
        // The message is that of the attempt before.
        Cause::Binding => events,
        // Nothing is said yet: it may wait for a scheduler that is not there.
        Cause::Queue if pod.node.is_none() => field(".spec.schedulerName"),
        Cause::Queue => describe,
        Cause::Gang
        | Cause::Preempting
        | Cause::SchedulerError
        | Cause::Quota
        | Cause::Resources
        | Cause::Taint
        | Cause::Topology
        | Cause::Volume
        | Cause::Claim
        | Cause::Affinity
        | Cause::Other => field(".status.conditions[?(@.type==\"PodScheduled\")].message"),
        Cause::Acknowledge => match pod.node {
            Some(node) => format!("kubectl describe {}", object("node", node)),
            None => describe,
        },
        Cause::Cni
        | Cause::Sandbox
        | Cause::NoSandbox
        | Cause::NoIp
        | Cause::Unknown
        | Cause::Image
        | Cause::Pull
        | Cause::Probe => events,
        // Sidecars are among the init containers.
        Cause::Config => field(
            ".status.initContainerStatuses[*].state.waiting.message}{\"\\n\"}{.status.containerStatuses[*].state.waiting.message",
        ),
        // An init container that has failed for the first time has no run before.
        Cause::Crash if waiting.stage() == Stage::Init => logs_of(pod, Run::Last),
        Cause::Exited | Cause::Run => logs_of(pod, Run::Last),
        Cause::Crash => logs_of(pod, Run::Before),
        Cause::Create | Cause::Rejected | Cause::Clock => describe,
        Cause::ReadinessGate => field(".status.conditions[?(@.type==\"Ready\")].message"),
    }
}

/// Which run of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The present one, or the last
    Last,
    /// The one before it
    Before,
}

/// The command that shows the logs of a pod.
pub fn logs_of(pod: PodOnNode<'_>, run: Run) -> String {
    let kubectl = kubectl_in(pod.namespace);
    let name = match is_flag(pod.name) {
        true => object("pod", pod.name),
        false => quoted(pod.name),
    };
    let run = match run {
        Run::Last => "",
        Run::Before => " --previous",
    };
    // A container without such a log must not hide those of the others.
    format!("{kubectl} logs {name} --all-containers --ignore-errors{run} --tail=50")
}

/// The command that shows the time of a node.
pub fn time_of_node(node: &str) -> String {
    let node = quoted(&format!("node/{node}"));
    format!("kubectl debug {node} -it --image=busybox -- date -u")
}

/// `command` with the kubeconfig of the cluster that it is about, where kubectl does not find that by itself.
pub fn addressed(command: &str, kubeconfig: Option<&str>) -> String {
    match (kubeconfig, command.strip_prefix("kubectl ")) {
        (Some(path), Some(rest)) => {
            let equals = if is_flag(path) { '=' } else { ' ' };
            format!("kubectl --kubeconfig{equals}{} {rest}", quoted(path))
        }
        _ => command.to_owned(),
    }
}

/// kubectl, and the namespace.
fn kubectl_in(namespace: &str) -> String {
    match is_flag(namespace) {
        true => format!("kubectl --namespace={}", quoted(namespace)),
        false => format!("kubectl -n {}", quoted(namespace)),
    }
}

/// An object as kubectl takes it: its kind and its name.
fn object(kind: &str, name: &str) -> String {
    match is_flag(name) {
        true => quoted(&format!("{kind}/{name}")),
        false => format!("{kind} {}", quoted(name)),
    }
}

/// Whether a command would take the name for a flag, quoted or not.
fn is_flag(name: &str) -> bool {
    name.starts_with('-')
}

/// A name as an argument of a shell. Those that Kubernetes allows need no quotes.
pub fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_do_anything_in_a_shell() {
        assert_eq!(quoted("web-7c9d.example"), "web-7c9d.example");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(reboot)'"), r"'$(reboot)'\'''");
        assert_eq!(quoted(""), "''");
    }

    /// Kubernetes allows no such name; a recording may have it.
    #[test]
    fn no_name_is_a_flag_of_kubectl() {
        let pod = PodOnNode { namespace: "-A", name: "--all", node: Some("-l app") };
        let in_stage = |stage, cause| next_command_of(pod, WaitReason::new(stage, cause));
        for (command, expected) in [
            (next_command_of(pod, None), "kubectl --namespace=-A describe pod/--all"),
            (
                in_stage(Stage::Gated, Cause::Gate),
                "kubectl --namespace=-A get pod/--all -o jsonpath='{.spec.schedulingGates}'",
            ),
            (
                in_stage(Stage::Network, Cause::Unknown),
                "kubectl --namespace=-A events --for pod/--all",
            ),
            (in_stage(Stage::Network, Cause::Acknowledge), "kubectl describe 'node/-l app'"),
            (
                logs_of(pod, Run::Last),
                "kubectl --namespace=-A logs pod/--all --all-containers --ignore-errors --tail=50",
            ),
            (time_of_node("-x"), "kubectl debug node/-x -it --image=busybox -- date -u"),
        ] {
            assert_eq!(command, expected);
        }
        let command = addressed("kubectl describe pod web", Some("-k"));
        assert_eq!(command, "kubectl --kubeconfig=-k describe pod web");
    }

    /// Each command prints what the cause is about, and is not empty.
    #[test]
    fn a_command_answers_the_question_of_its_cause() {
        let on_node = |node| PodOnNode { namespace: "shop", name: "web", node };
        let command =
            |node, stage, cause| next_command_of(on_node(node), WaitReason::new(stage, cause));
        for (node, stage, cause, expected) in [
            (
                None,
                Stage::Scheduling,
                Cause::Queue,
                "kubectl -n shop get pod web -o jsonpath='{.spec.schedulerName}'",
            ),
            // Virtual kubelets run pods that have no PodScheduled.
            (
                Some("virtual-1"),
                Stage::Scheduling,
                Cause::Queue,
                "kubectl -n shop describe pod web",
            ),
            (Some("node-1"), Stage::Scheduling, Cause::Acknowledge, "kubectl describe node node-1"),
            // The first failure has no run before.
            (
                None,
                Stage::Init,
                Cause::Crash,
                "kubectl -n shop logs web --all-containers --ignore-errors --tail=50",
            ),
            (
                None,
                Stage::Readiness,
                Cause::ReadinessGate,
                "kubectl -n shop get pod web -o jsonpath='{.status.conditions[?(@.type==\"Ready\")].message}'",
            ),
            (
                None,
                Stage::Containers,
                Cause::Config,
                "kubectl -n shop get pod web -o jsonpath='{.status.initContainerStatuses[*].state.waiting.message}{\"\\n\"}{.status.containerStatuses[*].state.waiting.message}'",
            ),
        ] {
            assert_eq!(command(node, stage, cause), expected);
        }
    }

    #[test]
    fn the_logs_of_a_crash_are_shown_whatever_the_other_containers_say() {
        let pod = PodOnNode { namespace: "shop", name: "web", node: None };
        let crash = WaitReason::new(Stage::Containers, Cause::Crash);
        assert_eq!(
            next_command_of(pod, crash),
            "kubectl -n shop logs web --all-containers --ignore-errors --previous --tail=50"
        );
    }

    #[test]
    fn a_command_names_the_kubeconfig_that_it_needs() {
        let command = "kubectl -n shop describe pod web";
        assert_eq!(addressed(command, None), command);
        assert_eq!(
            addressed(command, Some("/tmp/a b/kubeconfig")),
            "kubectl --kubeconfig '/tmp/a b/kubeconfig' -n shop describe pod web"
        );
        assert_eq!(addressed("", Some("/tmp/kubeconfig")), "");
    }
}
