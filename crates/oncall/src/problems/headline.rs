//! A problem in two parts, for those who see it on a page: what is wrong, and how much of it there is.

use super::sentence::{earlier, help, place, predicate, reason};
use crate::node_clocks;
use crate::node_startup;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::Cause;
use podinit_core::timestamp::Timestamp;
use podinit_problems::FoundProblem;
use podinit_text::human_time::clock_time;
use podinit_text::words::{counted, thousands};

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

/// What is wrong, without figures: `registry.example.com refuses connections`.
pub(super) fn headline(problem: &FoundProblem) -> String {
    if let Some(clock) = &problem.clock {
        return node_clocks::sentence(clock);
    }
    if let Some(nodes) = &problem.late_nodes {
        return node_startup::headline(problem, nodes);
    }
    let (_, value) = problem.shared_texts();
    let dimension = problem.shared.as_ref().map(|(dimension, _)| *dimension);
    let said = problem.message.as_deref();
    let reason = said.and_then(|message| reason(problem.cause, message));
    let of_registry = said.filter(|_| problem.cause == Cause::Image).and_then(of_registry);
    let what = match (problem.cause, dimension, of_registry) {
        (_, Some(Dimension::Registry), Some(does)) => return format!("{value} {does}"),
        (Cause::Image, Some(Dimension::Image), _) => {
            format!("Image {value} cannot be pulled")
        }
        (cause, ..) => {
            let is_one = problem.pods == 1;
            let subject = if is_one { "A pod" } else { "Pods" };
            let place = dimension.map_or_else(String::new, |what| place(cause, what, value));
            format!("{subject}{place} {}", predicate(problem, is_one))
        }
    };
    what + &reason.map_or_else(String::new, |reason| format!(": {reason}"))
}

/// What the registry does, where Kubernetes says what is known.
fn of_registry(message: &str) -> Option<&'static str> {
    let mut known = REGISTRIES.iter();
    let found = known.find(|(signs, _)| signs.iter().any(|sign| message.contains(sign)));
    found.map(|(_, does)| *does)
}

/// How many pods, since when and where, as of `now`: `939 pods since 10:05, on 10 nodes, of 12 workloads, in 5
/// namespaces`. Of a problem that has ended, it says until when it lasted.
pub(super) fn extent(problem: &FoundProblem, now: Timestamp, ended: Option<Timestamp>) -> String {
    let pods = counted(problem.pods, "pod", "pods");
    let since = clock_time(problem.since, now);
    let when = match ended {
        Some(ended) => format!("from {since} to {}", clock_time(ended, now)),
        None => format!("since {since}"),
    };
    let figures = [
        (problem.nodes, "on", "node", "nodes"),
        (problem.workloads, "of", "workload", "workloads"),
        (problem.namespaces, "in", "namespace", "namespaces"),
    ];
    let figures = figures.into_iter().filter(|(number, ..)| *number > 0);
    let figures: String = figures
        .map(|(number, how, one, many)| format!(", {how} {}", counted(number, one, many)))
        .collect();
    let lately = if ended.is_none() { " in the last 10 minutes" } else { "" };
    let over = if problem.cause == Cause::Rejected { "rejected" } else { "failed" };
    let failed = match problem.failed {
        0 => String::new(),
        all if all == problem.pods => format!(", {over}{lately}"),
        some => format!(", {} of them {over}{lately}", thousands(some)),
    };
    let relapsed = match problem.relapsed {
        0 => String::new(),
        1 if problem.pods == 1 => ", after it was ready".to_owned(),
        all if all == problem.pods => ", after they were ready".to_owned(),
        some => format!(", {} of them after they were ready", thousands(some)),
    };
    // Of late nodes it is known what holds them: that more are on their way says less.
    let (wait, help) = match &problem.late_nodes {
        Some(nodes) if nodes.nodes == 1 => (" waiting for it", String::new()),
        Some(_) => (" waiting for them", String::new()),
        None => ("", help(problem, now, ended)),
    };
    let earlier = earlier(problem, now);
    format!("{pods}{wait} {when}{figures}{failed}{relapsed}{help}{earlier}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(cause: Cause, shared: Option<(Dimension, &str)>, message: &str) -> FoundProblem {
        FoundProblem {
            cause,
            shared: shared.map(|(dimension, value)| (dimension, value.into())),
            pods: 1_939,
            stuck: 0,
            failed: 0,
            relapsed: 0,
            since: Timestamp::from_seconds(1_772_360_000),
            earlier: None,
            nodes: 14,
            workloads: 33,
            namespaces: 1,
            container: None,
            message: Some(message.into()),
            capacity: None,
            late_nodes: None,
            clock: None,
            oldest: Vec::new(),
        }
    }

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
            assert_eq!(headline(&problem(cause, shared, message)), said);
        }
    }

    #[test]
    fn the_extent_says_how_many_since_when_and_where() {
        let problem = problem(Cause::Crash, None, "");
        let at = problem.since;
        let whole = "1,939 pods since 10:13, on 14 nodes, of 33 workloads, in 1 namespace";
        assert_eq!(extent(&problem, at, None), whole);
        let failed = FoundProblem { failed: 12, relapsed: 1_939, nodes: 0, ..problem.clone() };
        assert_eq!(
            extent(&failed, at, None),
            "1,939 pods since 10:13, of 33 workloads, in 1 namespace, 12 of them failed in the last 10 minutes, \
             after they were ready"
        );
        let one = FoundProblem { pods: 1, relapsed: 1, nodes: 1, workloads: 1, ..problem.clone() };
        let said =
            "1 pod since 10:13, on 1 node, of 1 workload, in 1 namespace, after it was ready";
        assert_eq!(extent(&one, at, None), said);
        let ended = extent(&problem, at, Some(at.plus_nanos(60_000_000_000)));
        assert!(ended.starts_with("1,939 pods from 10:13 to 10:14, on"), "{ended}");
    }
}
