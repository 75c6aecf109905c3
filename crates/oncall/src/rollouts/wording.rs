//! A rollout in words: what, where and since when; then what holds it, by the words for problems.

use crate::problems::{ProblemMoment, of_some};
use podinit_core::lifecycle::{
    Cause, EndedRollout, RolloutHolder, RolloutOutcome, RolloutProgress, RolloutWorkload,
    StandingPods,
};
use podinit_core::timestamp::Timestamp;
use podinit_problems::{FoundProblem, reason};
use podinit_text::human_time::{clock_time, long, seconds, since};

/// So many problems of the pods of a rollout are told.
const MOST_PROBLEMS: usize = 2;

/// How a rollout in progress stands at `now`, where pods that hold it have these problems, that of most pods first:
/// `payments/checkout: 5 of 9 of the new revision are ready, no more for 12m; 4 cannot pull image r.io/web:2.5: not found`.
pub(super) fn in_progress(
    progress: &RolloutProgress,
    problems: &[FoundProblem],
    now: Timestamp,
) -> String {
    let mut clauses = match progress.held_by {
        RolloutHolder::Controller => of_controller(progress, now),
        RolloutHolder::Ending => {
            let mut clauses = vec![ready(progress, None), ending(progress, now)];
            clauses.extend(on_late_nodes(progress));
            clauses
        }
        RolloutHolder::Starting | RolloutHolder::NotReady => {
            let holding = progress.holding();
            let mut clauses = vec![ready(progress, Some(now))];
            clauses.extend(starting(holding.starting, problems, now));
            clauses.extend(down(holding.down, progress.said_of_down.as_deref()));
            clauses
        }
    };
    if progress.found {
        clauses.push("found in progress; when it began is a guess".to_owned());
    }
    format!("{}: {}", name(&progress.workload), clauses.join("; "))
}

/// How one ended: `payments/checkout rolled out in 2m5s, until 10:15; held by starting pods for 1m50s`.
pub(super) fn ended(ended: &EndedRollout, now: Timestamp) -> String {
    let took = seconds(since(ended.began, ended.ended).round());
    let took = if ended.is_exact { took } else { format!("about {took}") };
    let at = clock_time(ended.ended, now);
    let name = name(&ended.workload);
    let what = match ended.outcome {
        RolloutOutcome::Completed => format!("{name} rolled out in {took}, until {at}"),
        RolloutOutcome::RolledBack => format!("{name} was rolled back at {at}, after {took}"),
        RolloutOutcome::Superseded => {
            format!("{name} was rolled out again at {at}, after {took}")
        }
        RolloutOutcome::Removed => format!("{name} had no pods any more at {at}, after {took}"),
    };
    let whole_seconds = |(holder, nanos)| (holder, (nanos as f64 / 1e9).round());
    let held = ended.held.iter().map(whole_seconds).filter(|(_, seconds)| *seconds > 0.0);
    let held = held.map(|(holder, lasts)| {
        let by = match holder {
            RolloutHolder::Starting => "starting pods",
            RolloutHolder::NotReady => "pods that were not ready",
            RolloutHolder::Ending => "ending pods",
            RolloutHolder::Controller => "the controller",
        };
        format!("by {by} for {}", seconds(lasts))
    });
    let held: Vec<String> = held.collect();
    let held = if held.is_empty() { held.concat() } else { format!("; held {}", held.join(", ")) };
    let found = if ended.found { "; found in progress, so when it began is a guess" } else { "" };
    format!("{what}{held}{found}")
}

fn name(workload: &RolloutWorkload) -> String {
    format!("{}/{}", workload.namespace, workload.workload.name)
}

/// How many pods are ready, and since when no more.
fn ready(progress: &RolloutProgress, now: Option<Timestamp>) -> String {
    let RolloutProgress { new, others, wanted, .. } = progress;
    let of_wanted = |pods: &StandingPods, which| {
        let verb = if pods.up == 1 { "is" } else { "are" };
        format!("{} of {} of the {which} revision {verb} ready", pods.up, pods.of_wanted(*wanted))
    };
    let lasts = |now| match since(progress.last_ready, now) {
        lasts if lasts < 1.0 => String::new(),
        lasts if new.up == 0 => format!(", and none got ready for {}", long(lasts)),
        lasts => format!(", no more for {}", long(lasts)),
    };
    match (new.live(), now) {
        (0, Some(_)) if others.live() > 0 => {
            format!("no pod of the new revision is left; {}", of_wanted(others, "old"))
        }
        (_, Some(now)) => of_wanted(new, "new") + &lasts(now),
        (_, None) => of_wanted(new, "new"),
    }
}

/// Why pods have not become ready yet.
fn starting(pods: u32, problems: &[FoundProblem], now: Timestamp) -> Vec<String> {
    let told = problems.iter().take(MOST_PROBLEMS);
    let mut clauses: Vec<String> =
        told.clone().map(|one| of_some(one, ProblemMoment { now, ended: None })).collect();
    let others = (pods as usize).saturating_sub(told.map(|one| one.pods).sum());
    let more = if clauses.is_empty() { "" } else { " more" };
    match others {
        0 => {}
        1 => clauses.push(format!("1{more} is starting")),
        others => clauses.push(format!("{others}{more} are starting")),
    }
    clauses
}

/// Why pods are not ready that were.
fn down(pods: u32, said: Option<&str>) -> Option<String> {
    let what = match pods {
        0 => return None,
        1 => "1 was ready and is not".to_owned(),
        pods => format!("{pods} were ready and are not"),
    };
    let why = said.and_then(|said| match said.starts_with("back-off ") {
        true => reason(Cause::Crash, said).or_else(|| Some("CrashLoopBackOff".to_owned())),
        false => reason(Cause::Probe, said),
    });
    Some(why.map_or_else(|| what.clone(), |why| format!("{what}: {why}")))
}

/// How many pods of other revisions are ending, for how long at least one of them has been, and how long ago the first
/// grace period was over.
fn ending(progress: &RolloutProgress, now: Timestamp) -> String {
    let pods = progress.others.ending;
    let are = if pods == 1 { "is" } else { "are" };
    let lasts = long(since(progress.held_since, now));
    let due = progress.ending.iter().filter_map(|pod| pod.due).min();
    let overdue = due.map(|due| since(due, now)).filter(|overdue| *overdue >= 1.0).map(long);
    let beyond = overdue.map_or_else(String::new, |overdue| match pods {
        1 => format!(", {overdue} beyond its grace period"),
        _ => format!(", up to {overdue} beyond their grace period"),
    });
    format!("{pods} of the old revision {are} ending for {lasts}{beyond}")
}

/// How many of the ending pods are on nodes that are not Ready, where no kubelet ends them.
fn on_late_nodes(progress: &RolloutProgress) -> Option<String> {
    let nodes = progress.ending.iter().filter(|pod| pod.node_is_not_ready);
    let nodes: Vec<&str> = nodes.filter_map(|pod| pod.node.as_deref()).collect();
    match *nodes {
        [] => None,
        [node] => Some(format!("1 is on node {node}, which is not Ready")),
        [first, ..] => {
            Some(format!("{} are on nodes that are not Ready, such as {first}", nodes.len()))
        }
    }
}

/// Nothing that pods show holds it.
fn of_controller(progress: &RolloutProgress, now: Timestamp) -> Vec<String> {
    let RolloutProgress { new, others, .. } = progress;
    let (of_new, all) = (new.live(), new.live() + others.live());
    let are = if of_new == 1 { "is" } else { "are" };
    let up = match of_new {
        0 => "",
        1 => ", up",
        _ => ", all up",
    };
    let fewer = progress.wanted.checked_sub(all).filter(|fewer| *fewer > 0);
    let fewer = fewer.map_or_else(String::new, |fewer| format!(", {fewer} fewer than before"));
    let mut clauses = vec![
        format!("{of_new} of {all} pods {are} of the new revision{up}{fewer}"),
        format!("nothing has changed for {}", long(since(progress.changed, now))),
    ];
    let not_ready = others.starting + others.down;
    let are = if not_ready == 1 { "is" } else { "are" };
    if not_ready > 0 {
        clauses.push(format!("{not_ready} of the old revision {are} not ready"));
    }
    clauses
}

#[cfg(test)]
#[path = "wording_tests.rs"]
mod tests;
