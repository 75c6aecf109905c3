//! [§10.3](crate::specification#s10-3): changes in place of pods whose startup is over.

use super::life::Folded;
use super::rules::Verdict;
use super::snapshot::{Condition, Snapshot};
use super::startup::Startup;
use crate::oracle::figures::Figures;
use crate::oracle::instant::Nanos;

const RESIZE_DURATION: &str = "podinit_resize_duration_seconds";
const RESIZES: &str = "podinit_resizes_total";
const RESIZING: &str = "podinit_resizing_pods";
const IN_PLACE_UPDATE: &str = "podinit_inplace_update_duration_seconds";

/// [§7](crate::specification#s7): "Every series that can be known is exposed at 0 from the start".
pub(crate) fn known_from_the_start(figures: &mut Figures) {
    for result in ["completed", "ended"] {
        figures.add(RESIZES, &[("result", result)], 0);
    }
    for state in ["infeasible", "deferred", "error", "in_progress"] {
        figures.add(RESIZING, &[("state", state)], 0);
    }
    figures.histogram(RESIZE_DURATION, &[]);
    figures.histogram(IN_PLACE_UPDATE, &[]);
}

/// Adds what one life says: "Of pods whose startup is over".
pub(crate) fn count(startup: &Startup<'_>, figures: &mut Figures) {
    // A startup that only the pod's end ended was never over.
    let Some(end) = startup.end().filter(|end| end.by_snapshot) else {
        return;
    };
    resizes(startup, end.place, figures);
    in_place_updates(startup, end.place, figures);
}

/// The resizes that are open, by the earlier LTT of the conditions that are True.
fn is_open(pod: &Snapshot) -> Option<Option<Nanos>> {
    let kinds = ["PodResizePending", "PodResizeInProgress"];
    let conditions = kinds.into_iter().filter_map(|kind| pod.condition(kind));
    let open: Vec<&Condition> = conditions.filter(|condition| condition.is_true()).collect();
    let earliest = || open.iter().filter_map(|open| open.last_transition).min();
    (!open.is_empty()).then(earliest)
}

fn resizes(startup: &Startup<'_>, over: usize, figures: &mut Figures) {
    struct Open {
        since: Option<Nanos>,
        counts: bool,
    }
    let rules = startup.rules.causes();
    let mut open: Option<Open> = None;
    for (place, Folded { pod, o, .. }) in startup.life.folded.iter().enumerate().skip(over) {
        match (is_open(pod), open.as_ref()) {
            (Some(since), None) => {
                let counts = place > 0 || rules.counts_open_at_first_sight();
                open = Some(Open { since, counts });
            }
            (None, Some(held)) => {
                if held.counts {
                    figures.add(RESIZES, &[("result", "completed")], 1);
                    observe(startup, figures, RESIZE_DURATION, held.since, *o);
                }
                open = None;
            }
            _ => {}
        }
    }
    let Some(open) = open else { return };
    if startup.life.closing.is_some() {
        if open.counts {
            figures.add(RESIZES, &[("result", "ended")], 1);
        }
        return;
    }
    let state = state(&startup.life.folded[startup.last_place()].pod);
    figures.add(RESIZING, &[("state", state)], 1);
}

fn state(pod: &Snapshot) -> &'static str {
    let reason = |kind| {
        let condition = pod.condition(kind).filter(|condition| condition.is_true());
        condition.map_or("", |condition| condition.reason.as_str())
    };
    match (reason("PodResizePending"), reason("PodResizeInProgress")) {
        ("Infeasible", _) => "infeasible",
        ("Deferred", _) => "deferred",
        (_, "Error") => "error",
        _ => "in_progress",
    }
}

fn in_place_updates(startup: &Startup<'_>, over: usize, figures: &mut Figures) {
    let mut since: Option<Nanos> = None;
    for Folded { pod, .. } in startup.life.folded.iter().skip(over) {
        let condition = pod.condition("InPlaceUpdateReady");
        let Some(condition) = condition.filter(|_| pod.has_in_place_gate) else {
            continue;
        };
        match condition.status.as_str() {
            "False" => since = condition.last_transition,
            "True" => {
                let (from, to) = (since.take(), condition.last_transition);
                observe(startup, figures, IN_PLACE_UPDATE, from, to);
            }
            _ => {}
        }
    }
}

/// A duration as [§4](crate::specification#s4) judges it, but no anomaly: those are of startups.
fn observe(
    startup: &Startup<'_>,
    figures: &mut Figures,
    family: &str,
    from: Option<Nanos>,
    to: Option<Nanos>,
) {
    let Some((from, to)) = from.zip(to) else {
        return;
    };
    match startup.rules.verdict(to - from) {
        Verdict::Observe(duration) => figures.histogram(family, &[]).push(duration),
        Verdict::Rounded => figures.histogram(family, &[]).push(0),
        Verdict::Unusable(_) => {}
    }
}
