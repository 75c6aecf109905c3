//! What is said of pods that a cause affects ([§13.6](crate::specification#s13-6)).

use super::{ProblemMoment, late_nodes};
use crate::autoscaling;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Cause, Stage, names_several_faults};
use podinit_core::node::NO_POOL;
use podinit_core::pod::ContainerKind;
use podinit_problems::{FoundProblem, reason};
use podinit_text::human_time::clock_time;
use podinit_text::words::count;

/// What registries do to those who pull, by what Kubernetes says of it.
const REGISTRIES: [(&[&str], &str); 7] = [
    (&["connection refused"], "refuses connections"),
    (&["no such host"], "cannot be found by name"),
    (&["i/o timeout", "deadline exceeded", "Client.Timeout"], "does not answer"),
    (&["x509: "], "has a certificate that nodes do not trust"),
    (&["toomanyrequests", "429 Too Many"], "limits how much is pulled"),
    (&["unauthorized", "401 Unauth", "403 Forbidden", "denied"], "refuses access to images"),
    (&["500 Internal", "502 Bad", "503 Service", "504 Gateway"], "answers with errors"),
];

/// What is wrong with how many pods, and why: `3 pods of shop/Deployment/web cannot pull their images: not found`.
pub(super) fn clause(problem: &FoundProblem, moment: ProblemMoment) -> String {
    let pods = problem.pods;
    let is_one = pods == 1;
    let lately = moment.lately();
    let predicate = predicate(problem, is_one);
    let what = match (problem.cause, problem.failed, problem.relapsed) {
        (Cause::Rejected, ..) => format!("{predicate}{lately}"),
        (Cause::Crash, failed, _) if failed == pods => format!("failed{lately}"),
        (_, failed, relapsed) => {
            let after_ready = match is_one {
                _ if relapsed != pods => "",
                true => ", after it was ready",
                false => ", after they were ready",
            };
            let of_them = match failed {
                0 => String::new(),
                failed => format!(", {failed} of them failed{lately}"),
            };
            format!("{predicate}{after_ready}{of_them}")
        }
    };
    let subject = count(pods, "pod", "pods");
    format!("{subject}{} {what}{}{}", place(problem), why(problem), help(problem, moment))
}

/// What is wrong with some pods of which it was said where they are: `4 cannot pull image r.io/web:2.5: not found`.
pub(crate) fn of_some(problem: &FoundProblem, moment: ProblemMoment) -> String {
    let predicate = predicate(problem, problem.pods == 1);
    let why = match problem.kind.late_nodes() {
        Some(nodes) => format!(": {}", late_nodes::headline(problem, nodes)),
        None => why(problem) + &help(problem, moment),
    };
    format!("{} {predicate}{why}", problem.pods)
}

/// What is wrong, without figures: `registry.example.com refuses connections`.
pub(super) fn headline(problem: &FoundProblem) -> String {
    let (_, value) = problem.shared_texts();
    let dimension = problem.shared.as_ref().map(|(dimension, _)| *dimension);
    let is_of_all = 10 * problem.message_pods >= 9 * problem.told;
    let said = problem.message.as_deref().filter(|_| problem.cause == Cause::Image && is_of_all);
    let what = match (problem.cause, dimension, said.and_then(of_registry)) {
        (_, Some(Dimension::Registry), Some(does)) => return format!("{value} {does}"),
        (Cause::Image, Some(Dimension::Image), _) => {
            format!("Image {value} cannot be pulled")
        }
        _ => {
            let is_one = problem.pods == 1;
            let subject = if is_one { "A pod" } else { "Pods" };
            format!("{subject}{} {}", place(problem), predicate(problem, is_one))
        }
    };
    what + &why(problem)
}

/// Whether a node is on its way: said of the present, and nothing of a problem that has ended.
pub(super) fn help(problem: &FoundProblem, moment: ProblemMoment) -> String {
    let help = problem.capacity.as_ref().filter(|_| moment.ended.is_none());
    let help = help.and_then(|said| {
        let clause = autoscaling::of_pods(said, &clock_time(said.since, moment.now))?;
        Some(format!("; {clause}"))
    });
    help.unwrap_or_default()
}

/// The reason behind a colon, where Kubernetes gives one. Where it is not that of nine tenths of those that have one,
/// it says of how many, and what the next ones have: `: connection refused (20 of 36), i/o timeout (14)`.
fn why(problem: &FoundProblem) -> String {
    let of = |message: &str| reason(problem.cause, message);
    let Some(most) = problem.message.as_deref().and_then(of) else {
        return match problem.untold_faults {
            0 | 1 => String::new(),
            faults => format!(" for {faults} different reasons"),
        };
    };
    let (pods, told) = (problem.message_pods, problem.told);
    if 10 * pods >= 9 * told {
        return format!(": {most}");
    }
    let next = problem.next_message.as_ref();
    let next = next.and_then(|(message, pods)| Some(format!(", {} ({pods})", of(message)?)));
    format!(": {most} ({pods} of {told}){}", next.unwrap_or_default())
}

/// What the registry does, where Kubernetes says what is known.
fn of_registry(message: &str) -> Option<&'static str> {
    let mut known = REGISTRIES.iter();
    let found = known.find(|(signs, _)| signs.iter().any(|sign| message.contains(sign)));
    found.map(|(_, does)| *does)
}

/// Where the pods are, where what is wrong does not say it.
pub(super) fn place(problem: &FoundProblem) -> String {
    let Some((dimension, value)) = &problem.shared else {
        return String::new();
    };
    match (problem.cause, dimension) {
        (Cause::Image | Cause::Pull, Dimension::Image)
        | (_, Dimension::Registry | Dimension::Gate) => String::new(),
        (_, Dimension::Image) => format!(" with image {value}"),
        (_, Dimension::Workload) => format!(" of {value}"),
        (_, Dimension::Node) => format!(" on node {value}"),
        (_, Dimension::Nodepool) if **value == *NO_POOL => " on nodes without a pool".to_owned(),
        (_, Dimension::Nodepool) => format!(" in node pool {value}"),
        (_, Dimension::Zone) => format!(" in zone {value}"),
        (_, Dimension::Namespace) => format!(" in namespace {value}"),
    }
}

/// What is wrong with them.
pub(super) fn predicate(problem: &FoundProblem, is_one: bool) -> String {
    let (_, value) = problem.shared_texts();
    let dimension = problem.shared.as_ref().map(|(dimension, _)| *dimension);
    let container = problem.container.as_deref();
    let kind = container.map_or("a container", |one| match one.kind {
        ContainerKind::Regular => "a container",
        ContainerKind::Init => "an init container",
        ContainerKind::RestartableInit => "a sidecar",
    });
    let name = container.map_or_else(String::new, |one| format!(" ({})", one.name));
    let (have, wait, run, fit, their, them) = match is_one {
        true => ("has", "waits", "runs", "fits", "its", "it"),
        false => ("have", "wait", "run", "fit", "their", "them"),
    };
    let images = || match dimension {
        Some(Dimension::Image) => format!("image {value}"),
        Some(Dimension::Registry) => format!("images from {value}"),
        _ => format!("{their} images"),
    };
    let gate = |kind| match dimension {
        Some(Dimension::Gate) => format!("the {kind} gate {value}"),
        _ => format!("a {kind} gate"),
    };
    match problem.cause {
        Cause::Terminating if is_one => "is being deleted".to_owned(),
        Cause::Terminating => "are being deleted".to_owned(),
        Cause::Gate => {
            format!("{} held by {}", if is_one { "is" } else { "are" }, gate("scheduling"))
        }
        Cause::Binding => format!("{have} a node and {wait} until the scheduler binds {them}"),
        Cause::Queue => format!("{wait} until the scheduler tries {them}"),
        Cause::Gang => format!("{wait} for {their} pod group"),
        Cause::Preempting => format!("{wait} until pods of lower priority have gone"),
        Cause::SchedulerError => "cannot be scheduled, because the scheduler fails".to_owned(),
        Cause::Quota => format!("{wait} for room in a queue or quota"),
        Cause::Resources => format!("{fit} on no node, because resources are short"),
        Cause::Taint | Cause::Affinity if blames_both(problem) => format!("{fit} on no node"),
        Cause::Taint => format!("{fit} on no node, because of taints"),
        Cause::Topology => {
            format!("{fit} on no node, because of {their} topology spread constraints")
        }
        Cause::Volume => format!("{wait} for a volume"),
        Cause::Claim => format!("{wait} for a resource claim"),
        Cause::Affinity => {
            format!("{fit} on no node, because of {their} node selector or affinity")
        }
        Cause::Other => format!("{fit} on no node"),
        Cause::Acknowledge => format!("{wait} until the kubelet accepts {them}"),
        Cause::Cni => "cannot get a network".to_owned(),
        Cause::Sandbox => "cannot get a sandbox".to_owned(),
        Cause::NoSandbox => format!("{wait} for {their} sandbox"),
        Cause::NoIp => format!("{have} a sandbox without an address"),
        Cause::Unknown if are_not_ready(problem) => {
            let are = if is_one { "is" } else { "are" };
            format!("{are} not ready, although {their} containers are")
        }
        Cause::Unknown if problem.message.is_some() => format!("{wait} for {their} network"),
        Cause::Unknown => format!("{wait} for {their} network, and nothing says why"),
        Cause::Image => format!("cannot pull {}", images()),
        Cause::Config => format!("cannot create {kind}{name}"),
        Cause::Crash => format!("{have} {kind} that crashes{name}"),
        Cause::Exited => format!("{have} {kind} that has exited with code 0{name}"),
        Cause::Pull => format!("{have} been pulling {} for too long", images()),
        Cause::Create => format!("{wait} until {kind} is created{name}"),
        Cause::Run if kind == "a sidecar" => {
            format!("{wait} for the startup probe of {kind}{name}")
        }
        Cause::Run => format!(
            "{have} an init container that {} too long{name}",
            if is_one { run } else { "runs" }
        ),
        Cause::Probe => {
            let are = if is_one { "is" } else { "are" };
            format!("{run}, but {are} not ready{name}")
        }
        Cause::ReadinessGate => format!("{wait} for {}", gate("readiness")),
        // Said by the problem itself.
        Cause::Clock => "depend on the clock of a node".to_owned(),
        Cause::NodeStartup => format!("{wait} for nodes that do not become schedulable"),
        Cause::Rejected if is_one => "was rejected by the kubelet".to_owned(),
        Cause::Rejected => "were rejected by the kubelet".to_owned(),
    }
}

/// Whether the text that is told blames taints, and selectors or affinity besides.
fn blames_both(problem: &FoundProblem) -> bool {
    problem.message.as_deref().is_some_and(names_several_faults)
}

/// Whether the pods have a network, and containers that are ready: the first of them does.
fn are_not_ready(problem: &FoundProblem) -> bool {
    let first = problem.oldest.first().and_then(|pod| pod.state.waiting());
    first.is_some_and(|waiting| waiting.stage() == Stage::Readiness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_says_what_is_wrong_and_no_figure() {
        let registry = Some((Dimension::Registry, "r.example.com"));
        let image = Some((Dimension::Image, "r.example.com/web:2"));
        let shop = Some((Dimension::Namespace, "shop"));
        for (cause, shared, message, said) in [
            (
                Cause::Image,
                registry,
                "dial tcp 10.0.0.1:443: connect: connection refused",
                "r.example.com refuses connections",
            ),
            (
                Cause::Image,
                registry,
                "rpc error: lookup r.example.com: no such host",
                "r.example.com cannot be found by name",
            ),
            (
                Cause::Image,
                registry,
                "teapot",
                "Pods cannot pull images from r.example.com: teapot",
            ),
            (
                Cause::Image,
                image,
                "r.example.com/web:2: not found",
                "Image r.example.com/web:2 cannot be pulled: r.example.com/web:2: not found",
            ),
            (
                Cause::Config,
                shop,
                "secret \"database\" not found",
                "Pods in namespace shop cannot create a container: secret \"database\" not found",
            ),
            (
                Cause::Resources,
                None,
                "0/5 nodes are available: 5 Insufficient cpu.",
                "Pods fit on no node, because resources are short: 5 Insufficient cpu",
            ),
        ] {
            let shared = shared.map(|(dimension, value)| (dimension, value.into()));
            let message = Some(message.into());
            let nothing = FoundProblem::of_nothing(cause);
            let problem = FoundProblem { shared, message, pods: 1_939, ..nothing };
            assert_eq!(headline(&problem), said);
        }
    }
}
