//! What the families of [§14](crate::specification#s14) count.

use super::startup::{NodeStartup, ReadyPod};
use super::{NodeLife, Nodes};
use crate::oracle::figures::Figures;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::Options;
use crate::oracle::reading::rules::{Rules, Verdict};
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::tally::{REASONS, label_set};
use crate::oracle::reading::vocabulary::{Interval, Milestone};

const STARTUP: &str = "podinit_cold_start_duration_seconds";
const STEP_DURATION: &str = "podinit_step_duration_seconds";
const NODE_STARTUP: &str = "podinit_node_startup_duration_seconds";
const DISCOVERED: &str = "podinit_nodes_discovered_total";
const FINISHED: &str = "podinit_nodes_finished_total";
const STARTING: &str = "podinit_starting_nodes";
const LATE: &str = "podinit_late_nodes";
const OUTCOMES: [&str; 4] = ["ready", "deleted", "vanished", "preexisting"];
const WAITING_STEPS: [&str; 3] = ["node_launch", "node_ready", "node_join"];

/// [§7](crate::specification#s7): "Every series that can be known is exposed at 0 from the start"; "a label whose
/// source is off is `unknown`".
pub(crate) fn known_from_the_start(options: &Options, figures: &mut Figures) {
    if options.nodes || options.events {
        for capacity in ["new", "existing", "unknown"] {
            for images in ["pulled", "present", "unknown"] {
                let is_possible = |on: bool, value: &str| on || value == "unknown";
                if is_possible(options.nodes, capacity) && is_possible(options.events, images) {
                    figures.histogram(STARTUP, &[("node_age", capacity), ("images", images)]);
                }
            }
        }
    }
    if options.nodes {
        figures.add(DISCOVERED, &[], 0);
        for outcome in OUTCOMES {
            figures.add(FINISHED, &[("outcome", outcome)], 0);
        }
        figures.add(STARTING, &[], 0);
        figures.add(LATE, &[], 0);
        for step in WAITING_STEPS {
            for reason in REASONS {
                let labels = [("interval", step), ("reason", reason)];
                figures.add("podinit_unobserved_total", &labels, 0);
            }
        }
    }
}

/// Adds what one life of a pod says.
pub(crate) fn count(startup: &Startup<'_>, options: &Options, figures: &mut Figures) {
    if options.nodes || options.events {
        startups(startup, figures);
    }
    if options.nodes {
        for step in WAITING_STEPS {
            let labels = label_set(startup, 0, ("step", step));
            figures.histogram(STEP_DURATION, &labels.spelled());
        }
        waits(startup, figures);
    }
}

/// [§14.5](crate::specification#s14-5): "observes a pod when and as `podinit_created_to_ready_duration_seconds` does"
fn startups(startup: &Startup<'_>, figures: &mut Figures) {
    use crate::oracle::reading::startup::Finding;
    for judgement in startup.judgements() {
        let duration = match judgement.finding {
            Finding::Judged(Verdict::Observe(duration)) => duration,
            Finding::Judged(Verdict::Rounded) => 0,
            _ => continue,
        };
        if judgement.interval == Interval::CreatedToReady {
            let labels = [("node_age", startup.capacity()), ("images", startup.images())];
            figures.histogram(STARTUP, &labels).push(duration);
        }
    }
}

/// [§14.6](crate::specification#s14-6)
fn waits(startup: &Startup<'_>, figures: &mut Figures) {
    for (step, place, verdict) in startup.waits_for_a_node() {
        let labels = label_set(startup, place, ("step", step));
        let durations = figures.histogram(STEP_DURATION, &labels.spelled());
        if let Some(kind) = observed(verdict, durations) {
            figures.add("podinit_clock_anomalies_total", &[("kind", kind)], 1);
            if kind != "rounded" {
                let labels = [("interval", step), ("reason", "time")];
                figures.add("podinit_unobserved_total", &labels, 1);
            }
        }
    }
}

/// Observes what a verdict says; the anomaly that it is, if it is one.
fn observed(verdict: Verdict, durations: &mut Vec<Nanos>) -> Option<&'static str> {
    match verdict {
        Verdict::Observe(duration) => {
            durations.push(duration);
            None
        }
        Verdict::Rounded => {
            durations.push(0);
            Some("rounded")
        }
        Verdict::Unusable(kind) => Some(kind),
    }
}

/// The pod, if it ended as `ready`.
pub(crate) fn ready_pod(startup: &Startup<'_>) -> Option<ReadyPod> {
    let end = startup.end().filter(|end| end.outcome == "ready")?;
    let folded = &startup.life.folded[end.place];
    Some(ReadyPod {
        uid: folded.pod.uid.clone(),
        delivered: (folded.step, folded.pod.item),
        node_name: folded.pod.node_name.clone(),
        controller_kind: folded.pod.controller_kind.clone(),
        ready: startup.view(end.place).time(Milestone::Ready).flatten(),
    })
}

/// Adds what the nodes say.
pub(crate) fn count_nodes(
    rules: &dyn Rules,
    (nodes, mut pods): (&Nodes, Vec<ReadyPod>),
    options: &Options,
    now: Nanos,
    figures: &mut Figures,
) {
    if !options.nodes {
        return;
    }
    pods.sort_by_key(|pod| pod.delivered);
    pods.retain(|pod| options.accounts_for(&pod.uid));
    let pods: Vec<&ReadyPod> = pods.iter().collect();
    let own = |life: &&NodeLife| options.accounts_for(&life.folded[0].node.uid);
    for life in nodes.lives.iter().filter(own) {
        let startup =
            NodeStartup { rules, nodes, life, timestamps: options.timestamps, pods: &pods };
        figures.add(DISCOVERED, &[], 1);
        match startup.outcome() {
            Some(outcome) => figures.add(FINISHED, &[("outcome", outcome)], 1),
            None => {
                figures.add(STARTING, &[], 1);
                let is_late = |created: Nanos| now - created > 15 * 60 * SECOND;
                figures.add(LATE, &[], usize::from(life.created().is_some_and(is_late)));
            }
        }
        for (step, place, verdict) in startup.steps() {
            let node = &life.folded[place].node;
            let pool = rules.nodes().pool(&node.labels, options.pool_label);
            let labels = [("step", step), ("nodepool", pool.as_str())];
            let durations = figures.histogram(NODE_STARTUP, &labels);
            if let Some(kind) = observed(verdict, durations) {
                figures.add("podinit_clock_anomalies_total", &[("kind", kind)], 1);
            }
        }
        let skew = [("kind", "skew")];
        figures.add("podinit_clock_anomalies_total", &skew, startup.skews());
    }
}
