//! Clauses about a place where pods fail in many ways ([§13.15](crate::specification#s13-15)).

use super::pods::{place, predicate};
use podinit_problems::{CauseAtPlace, FoundProblem, reason};
use podinit_text::words::count;

/// Fewer words that all reasons end with are no reason.
const LEAST_WORDS: usize = 2;

/// How many pods fail in which way, and what all of these say: `36 pods on node b3 cannot start: 16 cannot pull their
/// images, 12 cannot get a sandbox, 8 wait for a volume: no space left on device`.
pub(super) fn clause(problem: &FoundProblem, causes: &[CauseAtPlace]) -> String {
    let reason = shared_reason(causes);
    // What only those of one cause say stands beside them.
    let own = causes.first().filter(|_| reason.is_none()).and_then(own_reason);
    let own = own.map_or_else(String::new, |own| format!(" ({own})"));
    let pods = count(problem.pods, "pod", "pods");
    let ways = ways(problem, causes, &own);
    format!("{pods}{} cannot start: {ways}{}", place(problem), behind_colon(reason))
}

/// How many pods fail in which way, with the own reason of the first: `16 cannot pull their images, 12 cannot get a
/// sandbox`.
pub(super) fn ways(problem: &FoundProblem, causes: &[CauseAtPlace], own: &str) -> String {
    let ways = causes.iter().enumerate().map(|(position, one)| {
        let own = if position == 0 { own } else { "" };
        format!("{} {}{own}", one.pods, way(problem, one))
    });
    ways.collect::<Vec<_>>().join(", ")
}

/// The same without figures.
pub(super) fn headline(problem: &FoundProblem, causes: &[CauseAtPlace]) -> String {
    let reason = shared_reason(causes);
    let what = reason.unwrap_or_else(|| {
        let several = |one: &CauseAtPlace| way(problem, &CauseAtPlace { pods: 2, ..one.clone() });
        let ways: Vec<String> = causes.iter().map(several).collect();
        format!("they {}", ways.join(", "))
    });
    format!("Pods{} cannot start: {what}", place(problem))
}

/// What pods with this cause do: `cannot pull their images`.
fn way(problem: &FoundProblem, one: &CauseAtPlace) -> String {
    let of_cause = FoundProblem {
        pods: one.pods,
        shared: problem.shared.clone(),
        message: one.message.clone(),
        ..FoundProblem::of_nothing(one.cause)
    };
    predicate(&of_cause, one.pods == 1)
}

fn own_reason(one: &CauseAtPlace) -> Option<String> {
    reason(one.cause, one.message.as_deref()?)
}

/// With which words the reasons of nine tenths of the pods end, where they end with the same.
fn shared_reason(causes: &[CauseAtPlace]) -> Option<String> {
    let told: Vec<(usize, String)> =
        causes.iter().filter_map(|one| Some((one.pods, own_reason(one)?))).collect();
    let pods: usize = told.iter().map(|(pods, _)| pods).sum();
    let all: usize = causes.iter().map(|one| one.pods).sum();
    if 10 * pods < 9 * all {
        return None;
    }
    // A reason that was cut has lost its colons.
    let ends = told.iter().map(|(_, text)| text.split_whitespace().rev().collect());
    let ends: Vec<Vec<&str>> = ends.collect();
    let (first, others) = ends.split_first()?;
    let is_shared = |(position, word): &(usize, &&str)| {
        others.iter().all(|other| other.get(*position) == Some(*word))
    };
    let mut shared: Vec<&str> =
        first.iter().enumerate().take_while(is_shared).map(|(_, word)| *word).collect();
    shared.reverse();
    (shared.len() >= LEAST_WORDS).then(|| shared.join(" "))
}

fn behind_colon(reason: Option<String>) -> String {
    reason.map_or_else(String::new, |reason| format!(": {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::dimension::Dimension;
    use podinit_core::lifecycle::Cause;
    use podinit_problems::ProblemKind;

    fn problem(messages: [&str; 3]) -> (FoundProblem, Vec<CauseAtPlace>) {
        let causes = [(Cause::Image, 16), (Cause::Sandbox, 12), (Cause::Volume, 1)];
        let causes = causes.into_iter().zip(messages).map(|((cause, pods), message)| {
            CauseAtPlace { cause, pods, message: Some(message.into()) }
        });
        let causes: Vec<CauseAtPlace> = causes.collect();
        let problem = FoundProblem {
            kind: ProblemKind::SeveralCauses(causes.clone()),
            shared: Some((Dimension::Node, "b3".into())),
            pods: 29,
            ..FoundProblem::of_nothing(Cause::Image)
        };
        (problem, causes)
    }

    #[test]
    fn what_all_of_them_say_is_the_reason() {
        let (problem, causes) = problem([
            "failed to extract layer: write /var/lib/x: no space left on device",
            "mkdir /run/y: no space left on device",
            "no space left on device",
        ]);
        assert_eq!(
            clause(&problem, &causes),
            "29 pods on node b3 cannot start: 16 cannot pull their images, 12 cannot get a sandbox, 1 waits for a \
             volume: no space left on device"
        );
        let said = headline(&problem, &causes);
        assert_eq!(said, "Pods on node b3 cannot start: no space left on device");
    }

    #[test]
    fn what_some_of_them_say_stands_beside_these() {
        let (problem, causes) = problem(["i/o timeout of a mirror", "no such device", "busy"]);
        let said = clause(&problem, &causes);
        let begin = "29 pods on node b3 cannot start: 16 cannot pull their images (i/o timeout of a mirror), 12 cannot";
        assert!(said.starts_with(begin), "{said}");
        let said = headline(&problem, &causes);
        assert!(
            said.ends_with(
                "they cannot pull their images, cannot get a sandbox, wait for a volume"
            ),
            "{said}"
        );
    }
}
