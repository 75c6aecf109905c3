//! A problem in one sentence: what is wrong, where, and since when.

use crate::autoscaling;
use crate::explain::{NEVER_SET, is_of_kubelet};
use crate::node_clocks;
use crate::node_startup;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Cause, Stage, said_of_nodes};
use podinit_core::node::NO_POOL;
use podinit_core::pod::ContainerKind;
use podinit_core::reason;
use podinit_core::timestamp::Timestamp;
use podinit_problems::FoundProblem;
use podinit_text::human_time::clock_time;
use podinit_text::words::count;

/// The sentence about `problem` at `now`, with the figures that go with it. Of one that has ended, it says until
/// when it lasted.
pub(super) fn problem_sentence(
    problem: &FoundProblem,
    now: Timestamp,
    ended: Option<Timestamp>,
) -> String {
    let (_, value) = problem.shared_texts();
    let dimension = problem.shared.as_ref().map(|(dimension, _)| *dimension);
    let pods = problem.pods;
    let is_one = pods == 1;
    let are = if is_one { "is" } else { "are" };
    let clock = problem.clock.as_ref();
    let clock =
        clock.map_or_else(String::new, |clock| format!("{}. ", node_clocks::sentence(clock)));
    if let Some(nodes) = &problem.late_nodes {
        let until = ended.unwrap_or(now);
        return format!(
            "{}. {}.",
            node_startup::clause(problem, nodes, until),
            when_and_where(problem, now, ended)
        );
    }
    let subject = clock.clone() + &count(pods, "pod", "pods");
    let shared = dimension.filter(|_| clock.is_empty());
    let place = shared.map_or_else(String::new, |dimension| place(problem.cause, dimension, value));
    let lately = match ended {
        Some(_) => "",
        None => " in the last 10 minutes",
    };
    let what = match (problem.cause, problem.failed, problem.relapsed) {
        (Cause::Clock, ..) => format!("{are} starting on it"),
        (Cause::Rejected, ..) => {
            let what = predicate(problem, is_one);
            format!("{what}{lately}")
        }
        (Cause::Crash, failed, _) if failed == pods => format!("failed{lately}"),
        (_, failed, relapsed) => {
            let what = predicate(problem, is_one);
            let after_ready = match is_one {
                true => ", after it was ready",
                false => ", after they were ready",
            };
            let after_ready = if relapsed == pods { after_ready } else { "" };
            let of_them = match failed {
                0 => String::new(),
                failed => format!(", {failed} of them failed{lately}"),
            };
            format!("{what}{after_ready}{of_them}")
        }
    };
    let reason = problem.message.as_deref().and_then(|message| reason(problem.cause, message));
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let help = help(problem, now, ended);
    format!("{subject}{place} {what}{reason}{help}. {}.", when_and_where(problem, now, ended))
}

/// Since when, and where: `Since 10:13, 1 node, 2 workloads, 1 namespace`.
fn when_and_where(problem: &FoundProblem, now: Timestamp, ended: Option<Timestamp>) -> String {
    let figures = [
        (problem.nodes, "node", "nodes"),
        (problem.workloads, "workload", "workloads"),
        (problem.namespaces, "namespace", "namespaces"),
    ];
    let figures = figures.into_iter().filter(|(number, ..)| *number > 0);
    let figures: Vec<String> =
        figures.map(|(number, one, many)| count(number, one, many)).collect();
    let since = clock_time(problem.since, now);
    let when = match ended {
        Some(ended) => format!("From {since} to {}", clock_time(ended, now)),
        None => format!("Since {since}"),
    };
    format!("{when}, {}{}", figures.join(", "), earlier(problem, now))
}

/// The few pods that had the cause long before the others.
pub(super) fn earlier(problem: &FoundProblem, now: Timestamp) -> String {
    problem.earlier.map_or_else(String::new, |earlier| {
        let pods = count(earlier.pods, "pod", "pods");
        format!("; {pods} since {} before that", clock_time(earlier.since, now))
    })
}

/// Whether a node is on its way: said of the present, and nothing of a problem that has ended.
pub(super) fn help(problem: &FoundProblem, now: Timestamp, ended: Option<Timestamp>) -> String {
    let help = problem.capacity.as_ref().filter(|_| ended.is_none());
    let help = help.and_then(|said| {
        let clause = autoscaling::of_pods(said)?;
        Some(format!("; {clause} since {}", clock_time(said.since, now)))
    });
    help.unwrap_or_default()
}

/// Where the pods are, where what is wrong does not say it.
pub(super) fn place(cause: Cause, dimension: Dimension, value: &str) -> String {
    match (cause, dimension) {
        (Cause::Image | Cause::Pull, Dimension::Image)
        | (_, Dimension::Registry | Dimension::Gate) => String::new(),
        (_, Dimension::Image) => format!(" with image {value}"),
        (_, Dimension::Workload) => format!(" of {value}"),
        (_, Dimension::Node) => format!(" on node {value}"),
        (_, Dimension::Nodepool) if value == NO_POOL => " on nodes without a pool".to_owned(),
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

/// Whether the pods have a network, and containers that are ready: the first of them does.
fn are_not_ready(problem: &FoundProblem) -> bool {
    let first = problem.oldest.first().and_then(|pod| pod.state.waiting());
    first.is_some_and(|waiting| waiting.stage() == Stage::Readiness)
}

/// The reason in what Kubernetes says, or what the scheduler says of nodes. `None` for a back-off alone.
pub(crate) fn reason(cause: Cause, message: &str) -> Option<String> {
    let of_nodes = said_of_nodes(message, cause);
    let text = match &of_nodes {
        Some(clauses) => clauses,
        None if cause == Cause::Crash => reason::crash(message),
        None if cause == Cause::Rejected => return rejection(message),
        None if cause == Cause::ReadinessGate => return gate_reason(message),
        None => match message.split_once(" probe failed: ") {
            Some((probe, why)) => &format!("{probe} probe failed: {}", reason::extract(why)),
            None => &reason::extract(message),
        },
    };
    let text = text.trim().trim_end_matches('.');
    let repeats = ["Back-off ", "back-off "].iter().any(|head| text.starts_with(head));
    let says_more = !text.is_empty() && !repeats;
    says_more.then(|| reason::shorten(text, reason::MOST_CHARACTERS).into_owned())
}

/// What the controller of a readiness gate says. The kubelet only says which gate it is, or that nobody has set its
/// condition.
fn gate_reason(message: &str) -> Option<String> {
    if message.starts_with(NEVER_SET) {
        return Some("nothing has set its condition".to_owned());
    }
    let says = message.trim().trim_end_matches('.');
    let says_more = !says.is_empty() && !is_of_kubelet(message);
    says_more.then(|| reason::shorten(says, reason::MOST_CHARACTERS).into_owned())
}

/// The reason and the words of a kubelet that has refused a pod: `UnexpectedAdmissionError: no devices left`. The
/// words begin `Pod was rejected: `, or only `Pod ` in older kubelets, which the sentence says already.
fn rejection(message: &str) -> Option<String> {
    let (reason, words) = message.split_once(": ").unwrap_or((message, ""));
    let begins = ["Pod was rejected: ", "Pod "];
    let rest = begins.iter().find_map(|begin| words.strip_prefix(begin));
    let words = rest.unwrap_or(words).trim().trim_end_matches('.');
    let both = match (reason.trim(), words) {
        (reason, "") => reason.to_owned(),
        (reason, words) => format!("{reason}: {words}"),
    };
    (!both.is_empty()).then(|| reason::shorten(&both, reason::MOST_CHARACTERS).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use podinit_problems::Earlier;

    #[test]
    fn the_real_error_stands_at_the_end_of_a_chain() {
        let refused = "failed to pull and unpack image \"r.example.com/web:2\": failed to do request: \
                       dial tcp 10.0.0.1:443: connect: connection refused";
        assert_eq!(
            reason(Cause::Image, refused).as_deref(),
            Some("dial tcp 10.0.0.1:443: connection refused")
        );
        let backs_off = "Back-off pulling image \"r.example.com/web:2\"";
        assert_eq!(reason(Cause::Image, backs_off), None);
        let scheduler =
            "0/5 nodes are available: 5 Insufficient cpu. preemption: 0/5 nodes are available";
        assert_eq!(reason(Cause::Resources, scheduler).as_deref(), Some("5 Insufficient cpu"));
        let long = "x".repeat(200);
        let cut = reason(Cause::Config, &long).map(|text| text.chars().count());
        assert!(cut.is_some_and(|cut| (100..=reason::MOST_CHARACTERS).contains(&cut)));
        let ends = reason(Cause::Config, &format!("{long} real error"));
        assert!(ends.is_some_and(|text| text.ends_with("real error")));
    }

    #[test]
    fn a_crash_says_how_it_ended_and_how_often() {
        let backs_off = "back-off 20s restarting failed container=main pod=web_shop(1)";
        let ended = "OOMKilled, exit code 137, 3 restarts: fatal: no memory";
        let both = format!("{backs_off}: {ended}");
        assert_eq!(reason(Cause::Crash, &both).as_deref(), Some(ended));
        assert_eq!(reason(Cause::Crash, ended).as_deref(), Some(ended));
        assert_eq!(reason(Cause::Crash, backs_off), None);
    }

    #[test]
    fn a_rejection_says_the_reason_of_the_kubelet_and_its_words() {
        for (message, said) in [
            (
                "UnexpectedAdmissionError: Pod was rejected: Allocate failed due to no healthy devices present",
                "UnexpectedAdmissionError: Allocate failed due to no healthy devices present",
            ),
            (
                "OutOfcpu: Pod Node didn't have enough resource: cpu, requested: 1000, used: 3500, capacity: 4000",
                "OutOfcpu: Node didn't have enough resource: cpu, requested: 1000, used: 3500, capacity: 4000",
            ),
            (
                "Evicted: Pod was rejected: The node had condition: [DiskPressure]. ",
                "Evicted: The node had condition: [DiskPressure]",
            ),
            ("NodeAffinity", "NodeAffinity"),
        ] {
            assert_eq!(reason(Cause::Rejected, message).as_deref(), Some(said));
        }
        let (at, count) = (Timestamp::from_seconds(1_772_360_000), 299);
        let problem = FoundProblem {
            cause: Cause::Rejected,
            shared: Some((Dimension::Workload, "shop/ReplicaSet/gpu".into())),
            pods: count,
            stuck: 0,
            failed: count,
            relapsed: 0,
            since: at,
            earlier: None,
            nodes: 1,
            workloads: 1,
            namespaces: 1,
            container: None,
            message: Some("UnexpectedAdmissionError: Pod was rejected: no devices left".into()),
            capacity: None,
            clock: None,
            late_nodes: None,
            oldest: Vec::new(),
        };
        assert_eq!(
            problem_sentence(&problem, at, None),
            "299 pods of shop/ReplicaSet/gpu were rejected by the kubelet in the last 10 minutes: \
             UnexpectedAdmissionError: no devices left. Since 10:13, 1 node, 1 workload, 1 namespace."
        );
        let since = |pods| {
            let minutes = at.plus_nanos(-40 * 60 * 1_000_000_000);
            let earlier = Some(Earlier { pods, since: minutes });
            let said = problem_sentence(&FoundProblem { earlier, ..problem.clone() }, at, None);
            said.split_once(". Since ").unwrap().1.to_owned()
        };
        assert_eq!(
            since(1),
            "10:13, 1 node, 1 workload, 1 namespace; 1 pod since 09:33 before that."
        );
        assert!(since(2).ends_with("; 2 pods since 09:33 before that."));
        let crash = |failed, relapsed| {
            let mixed = FoundProblem {
                cause: Cause::Crash,
                failed,
                relapsed,
                message: None,
                ..problem.clone()
            };
            let said = problem_sentence(&mixed, at, None);
            let said = said.split_once("gpu ").unwrap().1;
            said.split(". Since").next().unwrap().to_owned()
        };
        assert_eq!(crash(299, 0), "failed in the last 10 minutes");
        assert_eq!(
            crash(12, 3),
            "have a container that crashes, 12 of them failed in the last 10 minutes"
        );
        assert_eq!(crash(0, 299), "have a container that crashes, after they were ready");
    }

    #[test]
    fn a_full_disk_is_said() {
        let disk = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd \
                    task: mkdir /run/containerd/io.containerd.runtime.v2.task: no space left on device";
        assert_eq!(
            reason(Cause::Sandbox, disk).as_deref(),
            Some("mkdir /run/containerd/io.containerd.runtime.v2.task: no space left on device")
        );
    }
}
