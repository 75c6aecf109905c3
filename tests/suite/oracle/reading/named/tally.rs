//! What the families of [§16](crate::specification#s16) count.

use super::own::OwnFinding;
use super::{Own, Start};
use crate::oracle::figures::Figures;
use crate::oracle::reading::Options;
use crate::oracle::reading::rules::Verdict;
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::tally::{REASONS, label_set};

const GATE_DURATION: &str = "podinit_gate_duration_seconds";
const GATED_PODS: &str = "podinit_gated_pods";
const OWN_DURATION: &str = "podinit_milestone_duration_seconds";
const OWN_UNOBSERVED: &str = "podinit_milestone_unobserved_total";

/// [§7.2](crate::specification#s7-2): "Every series that can be known is exposed at 0 from the start".
pub(crate) fn known_from_the_start(options: &Options, figures: &mut Figures) {
    for own in options.milestones {
        for reason in REASONS.into_iter().chain(["not_followed"]) {
            let labels = [("milestone", own.name), ("reason", reason)];
            figures.add(OWN_UNOBSERVED, &labels, 0);
        }
    }
}

/// Adds what one life says.
pub(crate) fn count(startup: &Startup<'_>, options: &Options, figures: &mut Figures) {
    gates(startup, figures);
    for own in options.milestones {
        count_own(startup, *own, figures);
    }
}

fn gates(startup: &Startup<'_>, figures: &mut Figures) {
    for gate in startup.gates() {
        let labels = [("kind", gate.kind.name()), ("gate", gate.name.as_str())];
        figures.add(GATED_PODS, &labels, usize::from(startup.is_held_by(&gate)));
        figures.histogram(GATE_DURATION, &labels);
        for verdict in startup.judged_of_gate(&gate) {
            match verdict {
                Verdict::Observe(took) => figures.histogram(GATE_DURATION, &labels).push(took),
                Verdict::Rounded => figures.histogram(GATE_DURATION, &labels).push(0),
                Verdict::Unusable(_) => {}
            }
            anomaly(startup, verdict, figures);
        }
    }
}

fn count_own(startup: &Startup<'_>, own: Own, figures: &mut Figures) {
    let unobserved = |reason, figures: &mut Figures| {
        figures.add(OWN_UNOBSERVED, &[("milestone", own.name), ("reason", reason)], 1);
    };
    for finding in startup.findings_of_own(own) {
        let (from, verdict, place) = match finding {
            OwnFinding::Unobserved(reason) => {
                unobserved(reason, figures);
                continue;
            }
            OwnFinding::Judged(from, verdict, place) => (from, verdict, place),
        };
        anomaly(startup, verdict, figures);
        let took = match verdict {
            Verdict::Observe(took) => took,
            Verdict::Rounded => 0,
            Verdict::Unusable(_) => {
                if startup.rules.named().counts_without_time(from == Start::Created) {
                    unobserved("time", figures);
                }
                continue;
            }
        };
        // "Its labels are those of the end of its startup."
        let place = place.min(startup.last_of_startup());
        let labels = label_set(startup, place, ("milestone", own.name));
        let mut labels = labels.spelled();
        labels.push(("from", from.name()));
        figures.histogram(OWN_DURATION, &labels).push(took);
    }
}

/// [§16.8](crate::specification#s16-8)
fn anomaly(startup: &Startup<'_>, verdict: Verdict, figures: &mut Figures) {
    let kind = match verdict {
        Verdict::Observe(_) => return,
        Verdict::Rounded => "rounded",
        Verdict::Unusable(kind) => kind,
    };
    if startup.rules.named().counts_anomalies() {
        figures.add("podinit_clock_anomalies_total", &[("kind", kind)], 1);
    }
}
