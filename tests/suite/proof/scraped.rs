//! The exposition: the sums of what was counted pod by pod.

use podinit_core::lifecycle::{Outcome, StageOrStep, UnobservedReason};

use crate::proof::audit::{Fault, Findings};
use crate::proof::objectives;
use crate::proof::tally::Counted;
use crate::support::scrape::Scrape;

/// What the exposition says against what was counted.
pub fn check(scrape: &Scrape, counted: &[Counted], findings: &mut Findings) {
    let mut say = |name: &str, labels: &[(&str, &str)], counted: u32| {
        let [(label, value), rest @ ..] = labels else {
            return;
        };
        let pairs: Vec<String> =
            rest.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
        let own = format!("{label}=\"{value}\"");
        let sum: f64 = (scrape.of_name(name))
            .filter(|(series, _)| {
                series.contains(&own) && pairs.iter().all(|pair| series.contains(pair))
            })
            .map(|(_, value)| value)
            .sum();
        let fault = if sum < f64::from(counted) { Fault::Lost } else { Fault::Double };
        if sum != f64::from(counted) {
            findings.add(fault, None, format!("{name}{labels:?} is {sum}, of {counted}"));
        }
    };
    let sum = |of: &dyn Fn(&Counted) -> u32| counted.iter().map(of).sum::<u32>();
    for outcome in Outcome::ALL {
        let all = sum(&|pod| pod.outcomes[outcome as usize]);
        say("podinit_pods_finished_total", &[("outcome", outcome.as_str())], all);
    }
    let parts = StageOrStep::ALL.into_iter();
    for part in parts.filter(|part| !part.interval().is_of_node()) {
        let (index, stage) = (part.interval().index(), part.as_str());
        let all = sum(&|pod| pod.measured[index]);
        let (family, label) = match part {
            StageOrStep::Stage(_) => ("podinit_stage_duration_seconds_count", "stage"),
            StageOrStep::Step(_) => ("podinit_step_duration_seconds_count", "step"),
        };
        say(family, &[(label, stage)], all);
        for reason in UnobservedReason::ALL {
            let all = sum(&|pod| pod.unobserved[index][reason as usize]);
            let labels = [("stage", stage), ("reason", reason.as_str())];
            say("podinit_unobserved_total", &labels, all);
        }
    }
    for (column, result) in [(0, "good"), (1, "bad")] {
        for (index, slo) in objectives::NAMES.into_iter().enumerate() {
            let all = sum(&|pod| pod.slos[index][column]);
            say("podinit_slo_events_total", &[("slo", slo), ("result", result)], all);
        }
    }
    let discovered = f64::from(sum(&|pod| pod.discovered));
    let exposed = scrape.sum("podinit_pods_discovered_total");
    if exposed != discovered {
        let fault = if exposed < discovered { Fault::Lost } else { Fault::Double };
        findings.add(fault, None, format!("discovered is {exposed}, of {discovered}"));
    }
}
