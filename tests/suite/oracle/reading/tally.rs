//! From lives to figures: what each of the families of [§7](crate::specification#s7) counts.

use super::Timestamps;
use super::rules::{Entry, Verdict};
use super::slo::lag::binding;
use super::startup::{Finding, Startup};
use super::vocabulary::Milestone;
use crate::oracle::figures::{DELIVERY, Figures, seconds};
use crate::oracle::instant::Nanos;

/// The label set of a pod, with one label more.
pub(crate) struct LabelSet(Vec<(&'static str, String)>);

impl LabelSet {
    pub(crate) fn spelled(&self) -> Vec<(&'static str, &str)> {
        let labels = self.0.iter();
        labels.map(|(name, value)| (*name, value.as_str())).collect()
    }
}

/// The label set with the snapshot at a place ([§7.4](crate::specification#s7-4),
/// [§14.2](crate::specification#s14-2)), and another label where it has a name.
pub(crate) fn label_set(
    startup: &Startup<'_>,
    place: usize,
    (name, value): (&'static str, &str),
) -> LabelSet {
    let namespace = startup.life.folded[0].pod.namespace.clone();
    let mut labels = startup.labels_of_node(place);
    labels.push(("namespace", namespace));
    if !name.is_empty() {
        labels.push((name, value.to_owned()));
    }
    LabelSet(labels)
}

const STAGES: [&str; 7] =
    ["gated", "scheduling", "unschedulable", "network", "init", "containers", "readiness"];
const STEPS: [&str; 4] = ["acknowledge", "sandbox", "start", "probe"];
const OUTCOMES: [&str; 9] = [
    "ready",
    "completed",
    "failed",
    "deleted",
    "rejected",
    "vanished",
    "preexisting",
    "static",
    "disrupted",
];
pub(crate) const REASONS: [&str; 4] = ["preexisting", "condition_absent", "not_seen", "time"];
const MILESTONES: [&str; 4] =
    ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];
const KINDS: [&str; 5] = ["skew", "rounded", "negative", "too_long", "missing"];
const EVENT_TYPES: [&str; 5] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"];

const STAGE_DURATION: &str = "podinit_stage_duration_seconds";
const STEP_DURATION: &str = "podinit_step_duration_seconds";
const SCHEDULED_TO_READY: &str = "podinit_scheduled_to_ready_duration_seconds";
const RELAPSED: &str = "podinit_startups_relapsed_total";
const CREATED_TO_READY: &str = "podinit_created_to_ready_duration_seconds";

/// [§7](crate::specification#s7): "Every series that can be known is exposed at 0 from the start".
pub(crate) fn known_from_the_start() -> Figures {
    let mut figures = Figures::default();
    figures.add("podinit_pods_discovered_total", &[], 0);
    figures.add(RELAPSED, &[], 0);
    for outcome in OUTCOMES {
        figures.add("podinit_pods_finished_total", &[("outcome", outcome)], 0);
    }
    for stage in STAGES {
        figures.add("podinit_inflight_pods", &[("stage", stage)], 0);
    }
    for name in STAGES.into_iter().chain(STEPS) {
        for reason in REASONS {
            let labels = [("interval", name), ("reason", reason)];
            figures.add("podinit_unobserved_total", &labels, 0);
        }
    }
    for milestone in MILESTONES {
        figures.add("podinit_reentries_total", &[("milestone", milestone)], 0);
    }
    for kind in KINDS {
        figures.add("podinit_clock_anomalies_total", &[("kind", kind)], 0);
    }
    for kind in EVENT_TYPES {
        figures.add("podinit_watch_events_total", &[("event", kind)], 0);
    }
    figures.histogram(DELIVERY, &[]);
    figures
}

/// Adds what one life says.
pub(crate) fn count(startup: &Startup<'_>, figures: &mut Figures) {
    discovered(startup, figures);
    place_in_the_books(startup, figures);
    durations(startup, figures);
    skew(startup, figures);
    delivery(startup, figures);
    reentries(startup, figures);
    relapses(startup, figures);
}

/// [§7.2](crate::specification#s7-2): "those of a label set from the first pod discovered with it"; "`gated`, `init` and
/// `readiness` from the first pod on whose spec says so when it is discovered, `unschedulable` from the first pod seen so".
fn discovered(startup: &Startup<'_>, figures: &mut Figures) {
    figures.add("podinit_pods_discovered_total", &[], 1);
    let first = &startup.life.folded[0].pod;
    let is_observed = matches!(startup.entry(), Entry::Full | Entry::Adopted);
    let last = if is_observed { startup.last_of_startup() } else { 0 };
    let applies = |stage| match stage {
        "gated" => first.gated,
        "init" => first.has_init_containers,
        "readiness" => first.has_readiness_gates,
        "unschedulable" => startup.view(last).traits().unschedulable,
        _ => true,
    };
    for stage in STAGES.into_iter().filter(|stage| applies(stage)) {
        let labels = label_set(startup, 0, ("stage", stage));
        figures.histogram(STAGE_DURATION, &labels.spelled());
    }
    for step in STEPS {
        let labels = label_set(startup, 0, ("step", step));
        figures.histogram(STEP_DURATION, &labels.spelled());
    }
    let labels = label_set(startup, 0, ("", ""));
    figures.histogram(SCHEDULED_TO_READY, &labels.spelled());
    figures.histogram(CREATED_TO_READY, &labels.spelled());
}

fn place_in_the_books(startup: &Startup<'_>, figures: &mut Figures) {
    match startup.end() {
        Some(end) => figures.add("podinit_pods_finished_total", &[("outcome", end.outcome)], 1),
        None => {
            let (stage, entered) = startup.stage_in_flight();
            let labels = [("stage", stage)];
            figures.add("podinit_inflight_pods", &labels, 1);
            figures.lower(
                "podinit_oldest_inflight_pod_timestamp_seconds",
                &labels,
                seconds(entered),
            );
        }
    }
}

fn durations(startup: &Startup<'_>, figures: &mut Figures) {
    for judgement in startup.judgements() {
        match judgement.finding {
            Finding::Judged(Verdict::Observe(duration)) => {
                observe(startup, figures, &judgement, duration)
            }
            Finding::Judged(Verdict::Rounded) => {
                observe(startup, figures, &judgement, 0);
                figures.add("podinit_clock_anomalies_total", &[("kind", "rounded")], 1);
            }
            Finding::Judged(Verdict::Unusable(kind)) => {
                figures.add("podinit_clock_anomalies_total", &[("kind", kind)], 1);
                unobserved(figures, judgement.name, "time");
            }
            Finding::Preexisting => unobserved(figures, judgement.name, "preexisting"),
            Finding::NotJudged(reason) => unobserved(figures, judgement.name, reason),
        }
    }
}

fn observe(
    startup: &Startup<'_>,
    figures: &mut Figures,
    judgement: &super::startup::Judgement,
    duration: Nanos,
) {
    use super::vocabulary::Interval;
    let (family, label) = match (judgement.name, judgement.interval) {
        (Some(step), interval) if interval.step().is_some() => (STEP_DURATION, ("step", step)),
        (Some(stage), _) => (STAGE_DURATION, ("stage", stage)),
        (None, Interval::ScheduledToReady) => (SCHEDULED_TO_READY, ("", "")),
        (None, _) => (CREATED_TO_READY, ("", "")),
    };
    let labels = label_set(startup, judgement.place, label);
    let durations = figures.histogram(family, &labels.spelled());
    durations.push(duration);
}

/// The end-to-end durations are no stages, and have no series here.
fn unobserved(figures: &mut Figures, name: Option<&str>, reason: &str) {
    if let Some(stage) = name {
        figures.add("podinit_unobserved_total", &[("interval", stage), ("reason", reason)], 1);
    }
}

/// [§4](crate::specification#s4): "`o` earlier than `t`: use `t`, count
/// `podinit_clock_anomalies_total{kind="skew"}`", once for each milestone, when it is latched; of
/// pods that have a startup to measure.
fn skew(startup: &Startup<'_>, figures: &mut Figures) {
    let has_startup = matches!(startup.entry(), Entry::Full | Entry::Adopted);
    if startup.timestamps != Timestamps::Fused || !has_startup {
        return;
    }
    let view = startup.view(startup.last_of_startup());
    for latched in
        Milestone::OF_STAGES.into_iter().filter_map(|milestone| view.milestone(milestone))
    {
        if latched.o.zip(latched.api).is_some_and(|(o, t)| o < t) {
            figures.add("podinit_clock_anomalies_total", &[("kind", "skew")], 1);
        }
    }
}

/// [§7](crate::specification#s7) `podinit_watch_delivery_seconds`: "observation minus API time,
/// of bindings only".
fn delivery(startup: &Startup<'_>, figures: &mut Figures) {
    let delay = binding(startup).map(|(_, o, t)| o - t);
    if let Some(delay) = delay.filter(|delay| *delay >= 0) {
        figures.histogram(DELIVERY, &[]).push(delay);
    }
}

/// [§5.10](crate::specification#s5-10): "counts a pod that ended as `ready` once: at the first snapshot". "A Ready
/// without a time counts from the end of the startup."
fn relapses(startup: &Startup<'_>, figures: &mut Figures) {
    let Some(end) = startup.end().filter(|end| end.outcome == "ready") else {
        return;
    };
    let rules = startup.rules;
    let ready = startup.view(end.place).time(Milestone::Ready).flatten();
    let ready = ready.unwrap_or(startup.life.folded[end.place].now);
    let after = &startup.life.folded[end.place..];
    let shown = after.iter().filter(|folded| {
        folded.event.is_none()
            && rules.may_relapse(ready, folded.now)
            && (folded.pod.containers.iter()).any(|container| rules.shows_relapse(container))
    });
    figures.add(RELAPSED, &[], rules.counted_relapses(shown.count()));
}

/// [§5.6](crate::specification#s5-6): "A condition (PodScheduled aside) that is True with an LTT
/// later than the last one seen for the same condition type while True".
fn reentries(startup: &Startup<'_>, figures: &mut Figures) {
    let end = startup.end().map_or(usize::MAX, |end| end.place);
    for (kind, milestone) in startup.rules.reentry_types() {
        let mut last_seen = None;
        for (place, folded) in startup.life.folded.iter().enumerate() {
            let condition = folded.pod.condition(kind).filter(|condition| condition.is_true());
            let Some(transition) = condition.and_then(|condition| condition.last_transition) else {
                continue;
            };
            let counts = startup.rules.counts_reentries(startup.entry(), place > end);
            if counts && last_seen.is_some_and(|last_seen| transition > last_seen) {
                figures.add("podinit_reentries_total", &[("milestone", milestone)], 1);
            }
            last_seen = Some(startup.rules.last_seen(last_seen, transition));
        }
    }
}
