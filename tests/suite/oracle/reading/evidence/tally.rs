//! What the families of [§9](crate::specification#s9) count.

use super::sli::{self, SliEvent};
use super::{Source, pull};
use crate::oracle::figures::Figures;
use crate::oracle::reading::Options;
use crate::oracle::reading::rules::Entry;
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::stream::Dropped;
use crate::oracle::reading::tally::label_set;

const EVIDENCE: &str = "podinit_network_evidence_total";
const DROPPED: &str = "podinit_kube_events_ignored_total";
const IMAGES: &str = "podinit_images_total";
const FAILURES: &str = "podinit_image_pull_failures_total";
const PULL_DURATION: &str = "podinit_image_pull_duration_seconds";
const PULL_WAIT: &str = "podinit_image_pull_wait_seconds";
const PULL_BYTES: &str = "podinit_image_pull_bytes_total";
const SLI: &str = "podinit_pod_start_sli_duration_seconds";
const SLI_EXCLUDED: &str = "podinit_pod_start_sli_excluded_total";

const SLI_REASONS: [&str; 12] = [
    "static",
    "preexisting",
    "gated",
    "unschedulable",
    "stateful",
    "failed",
    "rejected",
    "deleted",
    "vanished",
    "disrupted",
    "no_evidence",
    "time",
];

/// [§7](crate::specification#s7): "Every series that can be known is exposed at 0 from the start";
/// [§9](crate::specification#s9): "families that need a source that is off are absent", which this
/// reading takes for whole families and not for a value of a label.
pub(crate) fn known_from_the_start(options: &Options, figures: &mut Figures) {
    for source in Source::ALL {
        figures.add(EVIDENCE, &[("source", source.name())], 0);
    }
    if options.events {
        for reason in ["finished", "other", "unknown"] {
            figures.add(DROPPED, &[("reason", reason)], 0);
        }
        for reason in SLI_REASONS {
            figures.add(SLI_EXCLUDED, &[("reason", reason)], 0);
        }
    }
}

/// Adds the Events that no life took.
pub(crate) fn count_dropped(dropped: Dropped, figures: &mut Figures) {
    let Dropped { finished, other, unknown } = dropped;
    for (reason, count) in [("finished", finished), ("other", other), ("unknown", unknown)] {
        if count > 0 {
            figures.add(DROPPED, &[("reason", reason)], count);
        }
    }
}

/// Adds what one life says.
pub(crate) fn count(startup: &Startup<'_>, figures: &mut Figures) {
    evidence(startup, figures);
    if startup.events {
        dropped(startup, figures);
        pulls(startup, figures);
        official(startup, figures);
    }
}

/// "once per pod for which NetworkReady was latched"
fn evidence(startup: &Startup<'_>, figures: &mut Figures) {
    let rules = startup.rules.evidence();
    if let Some(network) = startup.view(startup.last_of_startup()).network_ready()
        && rules.counts_source(startup.entry(), network.place == 0)
    {
        figures.add(EVIDENCE, &[("source", network.source.name())], 1);
    }
}

/// [§9.5](crate::specification#s9-5): `finished`, "a pod that is remembered and not in flight"; `other`, "with
/// another namespace or name than that pod has".
fn dropped(startup: &Startup<'_>, figures: &mut Figures) {
    // A pod that nothing but its absence or deletion ended was in flight before.
    let end = startup.end().filter(|end| end.by_snapshot).map(|end| end.place);
    let strangers = startup.life.strangers.iter();
    let (finished, other): (Vec<usize>, Vec<usize>) =
        strangers.partition(|place| end.is_some_and(|end| **place > end));
    figures.add(DROPPED, &[("reason", "finished")], finished.len());
    figures.add(DROPPED, &[("reason", "other")], other.len());
    let Some(end) = startup.end() else { return };
    // What ends a life that no snapshot ended comes after all of it.
    let after = startup.life.folded.iter().skip(end.place + 1);
    let late = after.filter(|folded| folded.event.is_some()).count();
    figures.add(DROPPED, &[("reason", "finished")], late);
}

fn has_startup(startup: &Startup<'_>) -> bool {
    matches!(startup.entry(), Entry::Full | Entry::Adopted)
}

/// [§9.3](crate::specification#s9-3)
fn pulls(startup: &Startup<'_>, figures: &mut Figures) {
    if !has_startup(startup) {
        return;
    }
    for found in pull::pulls(startup, startup.last_of_startup()) {
        let registry = ("registry", found.read.registry.as_str());
        let result = &found.read.result;
        match result.name() {
            "failed" => figures.add(FAILURES, &[registry], 1),
            source => figures.add(IMAGES, &[("source", source), registry], 1),
        }
        if let pull::Result::Pulled { duration, with_wait, bytes } = *result {
            figures.histogram(PULL_DURATION, &[registry]).push(duration);
            if let Some(with_wait) = with_wait {
                let wait = with_wait - duration;
                figures.histogram(PULL_WAIT, &[registry]).push(wait);
            }
            if let Some(bytes) = bytes {
                figures.add(PULL_BYTES, &[registry], bytes as usize);
            }
        }
    }
}

/// [§9.4](crate::specification#s9-4)
fn official(startup: &Startup<'_>, figures: &mut Figures) {
    let place = sli::judged_at(startup).unwrap_or(0);
    let labels = label_set(startup, 0, ("", ""));
    figures.histogram(SLI, &labels.spelled());
    match sli::event(startup) {
        Some(SliEvent::Observed(duration)) => {
            let labels = label_set(startup, place, ("", ""));
            figures.histogram(SLI, &labels.spelled()).push(duration);
        }
        Some(SliEvent::Excluded(reason)) => {
            figures.add(SLI_EXCLUDED, &[("reason", reason)], 1);
        }
        None => {}
    }
}
