//! A problem in words: what is wrong, where, and since when. Each kind has a file with what it says.

mod late_nodes;
mod pods;
mod several_causes;

pub(crate) use pods::of_some;

use crate::node_clocks;
use podinit_core::lifecycle::Cause;
use podinit_core::timestamp::Timestamp;
use podinit_problems::{FoundProblem, ProblemKind};
use podinit_text::human_time::clock_time;
use podinit_text::words::{count, counted, thousands};

/// What is said of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProblemWords {
    /// All of it
    pub sentence: String,
    /// What is wrong, without figures
    pub headline: String,
    /// How many pods, since when and where
    pub extent: String,
}

/// When a problem is spoken of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProblemMoment {
    pub now: Timestamp,
    /// When it was found to have ended
    pub ended: Option<Timestamp>,
}

impl ProblemMoment {
    /// Within which time pods failed, of a problem that lasts.
    const fn lately(self) -> &'static str {
        if self.ended.is_none() { " in the last 10 minutes" } else { "" }
    }

    /// Since when the problem lasts, or from when to when it did: the first word, as a sentence and as a clause begin
    /// with it, and the times.
    fn when(self, problem: &FoundProblem) -> ([&'static str; 2], String) {
        let since = clock_time(problem.since, self.now);
        match self.ended {
            Some(ended) => {
                (["From", "from"], format!("{since} to {}", clock_time(ended, self.now)))
            }
            None => (["Since", "since"], since),
        }
    }
}

impl ProblemWords {
    /// The words for `problem` at `moment`.
    pub(super) fn new(problem: &FoundProblem, moment: ProblemMoment) -> Self {
        let (clause, headline, wait, help) = match &problem.kind {
            ProblemKind::Pods => {
                let help = pods::help(problem, moment);
                (pods::clause(problem, moment), pods::headline(problem), "", help)
            }
            ProblemKind::Clock(clock) => {
                let is_off = node_clocks::sentence(clock);
                let are = count(problem.pods, "pod is", "pods are");
                (format!("{is_off}. {are} starting on it"), is_off, "", String::new())
            }
            ProblemKind::SeveralCauses(causes) => (
                several_causes::clause(problem, causes),
                several_causes::headline(problem, causes),
                "",
                format!("; {}", several_causes::ways(problem, causes, "")),
            ),
            // It is known what holds the nodes: that more are on their way says less.
            ProblemKind::LateNodes(nodes) => {
                let until = moment.ended.unwrap_or(moment.now);
                let wait = if nodes.nodes == 1 { " waiting for it" } else { " waiting for them" };
                let headline = late_nodes::headline(problem, nodes);
                (late_nodes::clause(problem, nodes, until), headline, wait, String::new())
            }
        };
        let ([since_of_sentence, since], times) = moment.when(problem);
        let earlier = earlier(problem, moment.now);
        let figures: Vec<String> =
            places(problem).map(|(number, _, one, many)| count(number, one, many)).collect();
        let where_from: String = places(problem)
            .map(|(number, how, one, many)| format!(", {how} {}", counted(number, one, many)))
            .collect();
        let pods = counted(problem.pods, "pod", "pods");
        let ended = ended_pods(problem, moment);
        Self {
            sentence: format!(
                "{clause}. {since_of_sentence} {times}, {}{earlier}.",
                figures.join(", ")
            ),
            headline,
            extent: format!("{pods}{wait} {since} {times}{where_from}{ended}{help}{earlier}"),
        }
    }
}

/// In how many places of each kind its pods are, with the words for these, where there are any.
fn places(
    problem: &FoundProblem,
) -> impl Iterator<Item = (usize, &'static str, &'static str, &'static str)> {
    let places = [
        (problem.nodes, "on", "node", "nodes"),
        (problem.workloads, "of", "workload", "workloads"),
        (problem.namespaces, "in", "namespace", "namespaces"),
    ];
    places.into_iter().filter(|(number, ..)| *number > 0)
}

/// How many of its pods failed, and how many were ready before.
fn ended_pods(problem: &FoundProblem, moment: ProblemMoment) -> String {
    let lately = moment.lately();
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
    failed + &relapsed
}

/// The few pods that had the cause long before the others.
fn earlier(problem: &FoundProblem, now: Timestamp) -> String {
    problem.earlier.map_or_else(String::new, |earlier| {
        let pods = count(earlier.pods, "pod", "pods");
        format!("; {pods} since {} before that", clock_time(earlier.since, now))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use podinit_core::dimension::Dimension;
    use podinit_problems::Earlier;

    #[test]
    fn a_sentence_says_what_failed_and_since_when() {
        let (at, count) = (Timestamp::from_seconds(1_772_360_000), 299);
        let problem = FoundProblem {
            shared: Some((Dimension::Workload, "shop/ReplicaSet/gpu".into())),
            pods: count,
            failed: count,
            since: at,
            nodes: 1,
            workloads: 1,
            namespaces: 1,
            message: Some("UnexpectedAdmissionError: Pod was rejected: no devices left".into()),
            ..FoundProblem::of_nothing(Cause::Rejected)
        };
        let sentence = |problem: &FoundProblem| {
            ProblemWords::new(problem, ProblemMoment { now: at, ended: None }).sentence
        };
        assert_eq!(
            sentence(&problem),
            "299 pods of shop/ReplicaSet/gpu were rejected by the kubelet in the last 10 minutes: \
             UnexpectedAdmissionError: no devices left. Since 10:13, 1 node, 1 workload, 1 namespace."
        );
        let since = |pods| {
            let minutes = at.plus_nanos(-40 * 60 * 1_000_000_000);
            let earlier = Some(Earlier { pods, since: minutes });
            let said = sentence(&FoundProblem { earlier, ..problem.clone() });
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
            let said = sentence(&mixed);
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
    fn the_extent_says_how_many_since_when_and_where() {
        let at = Timestamp::from_seconds(1_772_360_000);
        let nothing = FoundProblem::of_nothing(Cause::Crash);
        let problem = FoundProblem {
            pods: 1_939,
            since: at,
            nodes: 14,
            workloads: 33,
            namespaces: 1,
            ..nothing
        };
        let extent = |problem: &FoundProblem, now, ended| {
            ProblemWords::new(problem, ProblemMoment { now, ended }).extent
        };
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
