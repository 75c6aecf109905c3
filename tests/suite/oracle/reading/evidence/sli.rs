//! [§9.4](crate::specification#s9-4): the official SLI.

use super::EvidenceRules;
use super::pull::{self, Result};
use crate::oracle::instant::Nanos;
use crate::oracle::reading::rules::{Entry, Verdict};
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::view::View;
use crate::oracle::reading::vocabulary::Milestone;

/// "One event per pod"
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliEvent {
    Observed(Nanos),
    Excluded(&'static str),
}

/// None while it is undecided.
pub(crate) fn event(startup: &Startup<'_>) -> Option<SliEvent> {
    match startup.entry() {
        Entry::Static => return Some(SliEvent::Excluded("static")),
        Entry::Preexisting | Entry::Adopted => return Some(SliEvent::Excluded("preexisting")),
        Entry::Full => {}
    }
    if let Some(place) = judged_at(startup) {
        let excluded = reason(startup, place).map(SliEvent::Excluded);
        return Some(excluded.unwrap_or_else(|| judged(startup, place)));
    }
    let end = startup.end()?;
    let reason = reason(startup, end.place).unwrap_or(match end.outcome {
        "ready" | "completed" => "no_evidence",
        outcome => outcome,
    });
    Some(SliEvent::Excluded(reason))
}

/// The place at which the pod is judged.
pub(super) fn judged_at(startup: &Startup<'_>) -> Option<usize> {
    (0..=startup.last_of_startup()).find(|place| is_judged(startup, *place))
}

/// "once ContainersStarted and NetworkReady are reached and a `Pulled` Event, pulled or present, of every
/// container, init containers too, was delivered"
fn is_judged(startup: &Startup<'_>, place: usize) -> bool {
    let view = startup.view(place);
    let needed = [Milestone::ContainersStarted, Milestone::NetworkReady];
    let rules = startup.rules.evidence();
    let pulls = pull::pulls(startup, place);
    let has_image = |name: &str| {
        pulls.iter().any(|found| found.container == name && found.read.result != Result::Failed)
    };
    let containers = &startup.life.folded[place].pod.containers;
    let mut counted = containers.iter().filter(|one| rules.counts_for_sli(one));
    needed.into_iter().all(|milestone| view.milestone(milestone).is_some())
        && counted.all(|container| has_image(&container.name))
}

/// The first reason that holds and is no outcome.
fn reason(startup: &Startup<'_>, place: usize) -> Option<&'static str> {
    let traits = startup.view(place).traits();
    let seen = &startup.life.folded[..=place];
    let holds = |reason: &&str| match *reason {
        "gated" => traits.gated,
        "unschedulable" => traits.unschedulable,
        _ => seen.iter().any(|folded| folded.pod.is_stateful),
    };
    let rules = startup.rules.evidence();
    rules.sli_reasons().into_iter().find(|reason| holds(reason))
}

fn judged(startup: &Startup<'_>, place: usize) -> SliEvent {
    let view = startup.view(place);
    match duration(startup, &view).map(|duration| startup.rules.verdict(duration)) {
        Some(Verdict::Observe(duration)) => SliEvent::Observed(duration),
        Some(Verdict::Rounded) => SliEvent::Observed(0),
        Some(Verdict::Unusable(_)) | None => SliEvent::Excluded("time"),
    }
}

/// Created to ContainersStarted, less the runs of init containers, less pulls. None without a usable time.
fn duration(startup: &Startup<'_>, view: &View<'_>) -> Option<Nanos> {
    let rules: &dyn EvidenceRules = startup.rules.evidence();
    let time = |milestone| view.time(milestone).flatten();
    let created = time(Milestone::Created)?;
    let started = time(Milestone::ContainersStarted)?;
    let network = time(Milestone::NetworkReady)?;
    let reached = view.milestone(Milestone::ContainersStarted)?.place;
    let place = rules.place_of_runs(reached, view.seen.len() - 1);
    let init = rules.time_of_init(&startup.life.folded[place].pod);
    let between = (network, started);
    let mut pulls = Vec::new();
    for found in pull::pulls(startup, view.seen.len() - 1) {
        let folded = &view.seen[found.place];
        let event = folded.event.as_ref()?;
        let containers = folded.pod.containers.iter();
        let mut own = containers.filter(|container| container.name == found.container);
        if let Some(whole) = found.read.result.whole()
            && own.any(|container| rules.counts_for_sli(container))
        {
            let end = rules.time_of(event, view.timestamps)?;
            pulls.push(rules.clipped((end - whole, end), between));
        }
    }
    Some(started - created - init - rules.union(&pulls))
}
