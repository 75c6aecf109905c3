//! [§7](crate::specification#s7): what the families of the SLOs count.

use super::{Passing, Pursuit, SloEvent, SloInterval};
use crate::oracle::figures::{Figures, seconds};
use crate::oracle::reading::cause::tally::CAUSES;
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::{Options, cause};

const SLO_REASONS: [&str; 11] = [
    "completed",
    "failed",
    "deleted",
    "vanished",
    "disrupted",
    "preexisting",
    "static",
    "not_seen",
    "not_entered",
    "time",
    "condition_absent",
];

const SLO_EVENTS: &str = "podinit_slo_events_total";
const BAD_CAUSES: &str = "podinit_slo_bad_causes_total";
const SLO_EXCLUDED: &str = "podinit_slo_excluded_total";

/// [§7](crate::specification#s7): "Every series that can be known is exposed at 0 from the start".
pub(crate) fn known_from_the_start(options: &Options, figures: &mut Figures) {
    for slo in &options.slos {
        let name = ("slo", slo.name.as_str());
        for result in ["good", "bad"] {
            figures.add(SLO_EVENTS, &[name, ("result", result)], 0);
        }
        let selects_by = [(slo.existing_capacity, "capacity"), (slo.present_images, "images")];
        let selected = selects_by.into_iter().filter(|(is_asked, _)| *is_asked);
        let selected = selected.map(|(_, reason)| reason);
        let followed = matches!(slo.interval, SloInterval::Own(_)).then_some("not_followed");
        for reason in SLO_REASONS.into_iter().chain(selected).chain(followed) {
            figures.add(SLO_EXCLUDED, &[name, ("reason", reason)], 0);
        }
        for (stage, causes) in CAUSES {
            for cause in causes.iter().chain(&["terminating"]) {
                figures.add(BAD_CAUSES, &[name, ("stage", stage), ("cause", cause)], 0);
            }
        }
        for stage in ["gated", "network", "init", "containers", "readiness"] {
            let rejected = [name, ("stage", stage), ("cause", "rejected")];
            figures.add(BAD_CAUSES, &rejected, 0);
        }
        figures.add(BAD_CAUSES, &[name, ("stage", "none"), ("cause", "none")], 0);
        let ratio = slo.objective / 100.0;
        figures.lower("podinit_slo_objective_ratio", &[name], ratio);
        let threshold = seconds(slo.threshold());
        // Issue 12: a deadline is drawn over its own interval only.
        let interval = slo.interval.name();
        let labels = [name, ("interval", interval.as_str())];
        figures.lower("podinit_slo_threshold_seconds", &labels, threshold);
    }
}

/// [§6](crate::specification#s6): "For each pod exactly one event per SLO".
pub(crate) fn count(
    startup: &Startup<'_>,
    options: &Options,
    passings: &[Passing],
    figures: &mut Figures,
) {
    let pod = &startup.life.folded[0].pod;
    let rules = startup.rules.slo();
    for slo in options.slos.iter().filter(|slo| rules.matches(slo, pod)) {
        let name = ("slo", slo.name.as_str());
        let pursuit = Pursuit { startup, slo, passings };
        let Some(decided) = pursuit.decided() else {
            continue;
        };
        match decided.event {
            SloEvent::Good => figures.add(SLO_EVENTS, &[name, ("result", "good")], 1),
            SloEvent::Bad => {
                figures.add(SLO_EVENTS, &[name, ("result", "bad")], 1);
                let blamed = decided.blamed;
                let (stage, cause) =
                    blamed.map_or(("none", "none"), |place| cause::at(startup, place));
                figures.add(BAD_CAUSES, &[name, ("stage", stage), ("cause", cause)], 1);
            }
            SloEvent::BadByRejection => {
                figures.add(SLO_EVENTS, &[name, ("result", "bad")], 1);
                let stage = ("stage", startup.stage_at(startup.last_of_startup()).0);
                figures.add(BAD_CAUSES, &[name, stage, ("cause", "rejected")], 1);
            }
            SloEvent::Excluded(reason) => {
                figures.add(SLO_EXCLUDED, &[name, ("reason", reason)], 1);
            }
        }
    }
}
