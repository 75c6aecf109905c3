//! What to change in the probes of a container, so that its pods are ready sooner and are not restarted
//! while they start.
//!
//! The kubelet runs the startup probe, or without one the readiness probe, once `initialDelaySeconds` have
//! passed since the container's start, and then every `periodSeconds` until it succeeds. When the startup
//! probe succeeds, the readiness probe runs at once. So a container that is up waits for the delay and for
//! the next run. `timeoutSeconds` has no part in it: a run that times out is one that fails.

use std::collections::BTreeMap;

use serde::Serialize;

use podinit_core::label_values;
use podinit_core::pod::{ContainerProbe, ContainerProbes};
use podinit_core::quantile::ExactDistribution;
use podinit_text::human_time::seconds;

/// Both ends of the step are whole seconds of the API.
pub const PRECISION: f64 = 1.0;
/// How much of the median a setting may add: half a period, which is the average wait for the next run, or
/// repeated successes.
const SHARE: f64 = 0.1;
/// A proposed period is this much of the median, and at most the default of Kubernetes.
const PROPOSED_SHARE: f64 = 0.05;
const LONGEST_PROPOSED: f64 = 10.0;
/// A container gets so many times the p99 to start, and at least so many seconds: on a slow node it takes
/// longer than it ever did.
const BUDGET_FACTOR: f64 = 2.0;
const LEAST_BUDGET: f64 = 60.0;
/// So many startups of one version are needed for advice.
const LEAST_STARTUPS: usize = 5;

label_values! {
    /// What is wrong with the probes of a container.
    pub enum ProbeFinding {
        /// Half of the pods are ready right after the initial delay: it decides, not the application
        InitialDelay => "initial_delay",
        /// A container that is up waits long for the next run of the probe
        Period => "period",
        /// Repeated successes take long
        SuccessThreshold => "success_threshold",
        /// The startup probe gives slow pods too little time
        StartupBudget => "startup_budget",
        /// There is no startup probe, and the liveness probe restarts slow pods
        Liveness => "liveness",
    }
}

/// How long the pods with these probes took from ContainersStarted to ContainersReady, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeDurations {
    /// How many startups
    pub pods: usize,
    pub p50: f64,
    pub p99: f64,
}

impl ProbeDurations {
    /// Of so many startups; `None` where they are too few for advice.
    pub fn from_distribution(taken: &ExactDistribution) -> Option<Self> {
        let pods = usize::try_from(taken.count()).ok().filter(|pods| *pods >= LEAST_STARTUPS)?;
        // To the millisecond.
        let at = |percent| Some((taken.at(percent)? * 1_000.0).round() / 1_000.0);
        Some(Self { pods, p50: at(50)?, p99: at(99)? })
    }
}

/// What to change in the probes of one container.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The name of the container
    pub container: String,
    /// What is wrong: the value of a [`ProbeFinding`], and a sentence
    pub findings: Vec<(&'static str, String)>,
    /// What to set: fields of the container and their values. A `startupProbe` that is not there yet
    /// gets the check of the readiness or liveness probe
    pub set: BTreeMap<&'static str, u32>,
}

impl Advice {
    /// What is wrong, in sentences.
    pub fn in_words(&self) -> String {
        let sentences = self.findings.iter().map(|(_, sentence)| &**sentence);
        sentences.collect::<Vec<_>>().join("; ")
    }

    /// What to set, as `field: value` pairs.
    pub fn settings(&self) -> String {
        let pairs = self.set.iter().map(|(field, value)| format!("{field}: {value}"));
        pairs.collect::<Vec<_>>().join(", ")
    }
}

/// The advice for one container, if anything is wrong.
pub fn advise(probes: &ContainerProbes, taken: ProbeDurations) -> Option<Advice> {
    let timing = ProbeTiming::from_probes(probes);
    let found: Vec<ProbeFinding> = ProbeFinding::ALL
        .into_iter()
        .filter(|finding| timing.shows(*finding, probes, taken))
        .collect();
    let sentence = |finding: &ProbeFinding| (finding.as_str(), timing.sentence(*finding, taken));
    (!found.is_empty()).then(|| Advice {
        container: probes.container.to_string(),
        findings: found.iter().map(sentence).collect(),
        set: proposal(probes, &found, taken),
    })
}

/// What follows from the probes of a container, in seconds.
struct ProbeTiming {
    /// Before the first run
    delay: f64,
    /// From run to run while the container starts; `None` without a startup or readiness probe
    period: Option<f64>,
    /// From the first success of the readiness probe to the last that is needed
    repeats: f64,
    successes: u32,
    /// How long the container may take before the startup probe, or without one the liveness probe, has
    /// it restarted
    budget: Option<f64>,
}

impl ProbeTiming {
    fn from_probes(probes: &ContainerProbes) -> Self {
        let ContainerProbes { startup, readiness, liveness, .. } = probes;
        let delays = [startup, readiness].into_iter().flatten();
        let delay = delays.map(|probe| probe.initial_delay).max();
        let successes = readiness.map_or(1, |probe| probe.success_threshold);
        let repeats = |probe: ContainerProbe| f64::from(successes - 1) * f64::from(probe.period);
        Self {
            delay: delay.unwrap_or(0).into(),
            period: startup.or(*readiness).map(|probe| probe.period.into()),
            repeats: readiness.map_or(0.0, repeats),
            successes,
            budget: startup.or(*liveness).map(budget),
        }
    }

    fn shows(
        &self,
        finding: ProbeFinding,
        probes: &ContainerProbes,
        taken: ProbeDurations,
    ) -> bool {
        let period = self.period.unwrap_or(0.0);
        let has_small_budget =
            (self.budget).is_some_and(|budget| budget < BUDGET_FACTOR * taken.p99);
        match finding {
            ProbeFinding::InitialDelay => {
                let right_after = self.delay + period + self.repeats + PRECISION;
                self.delay > 0.0 && taken.p50 <= right_after
            }
            ProbeFinding::Period => {
                let found_by_first_run = taken.p50 <= self.delay + PRECISION;
                !found_by_first_run && period > 1.0 && period / 2.0 > SHARE * taken.p50
            }
            ProbeFinding::SuccessThreshold => self.repeats > SHARE * taken.p50,
            ProbeFinding::StartupBudget => probes.startup.is_some() && has_small_budget,
            ProbeFinding::Liveness => probes.startup.is_none() && has_small_budget,
        }
    }

    fn sentence(&self, finding: ProbeFinding, taken: ProbeDurations) -> String {
        let Self { delay, repeats, successes, .. } = self;
        let period = self.period.unwrap_or(0.0);
        let ProbeDurations { pods, p50, p99 } = taken;
        let [delay, repeats, period, budget, p50, p99] =
            [*delay, *repeats, period, self.budget.unwrap_or(0.0), p50, p99].map(seconds);
        match finding {
            ProbeFinding::InitialDelay => format!(
                "half of {pods} startups are ready at the first probe after the initial delay of {delay}: \
                 the settings decide, not the application"
            ),
            ProbeFinding::Period => format!(
                "a container that is up waits up to {period} for the next probe, and half of {pods} \
                 startups take at most {p50}"
            ),
            ProbeFinding::SuccessThreshold => format!(
                "{successes} successes in a row take {repeats} more than one, and half of {pods} startups \
                 take at most {p50}"
            ),
            ProbeFinding::StartupBudget => format!(
                "the startup probe has a container restarted after {budget}, less than twice the p99 of \
                 {p99} of {pods} startups"
            ),
            ProbeFinding::Liveness => format!(
                "without a startup probe, the liveness probe has a container restarted after {budget}, \
                 less than twice the p99 of {p99} of {pods} startups"
            ),
        }
    }
}

/// How long a container may take before `probe` has failed for good.
fn budget(probe: ContainerProbe) -> f64 {
    f64::from(probe.initial_delay) + f64::from(probe.failure_threshold) * f64::from(probe.period)
}

/// The fields to change and their values.
fn proposal(
    probes: &ContainerProbes,
    found: &[ProbeFinding],
    taken: ProbeDurations,
) -> BTreeMap<&'static str, u32> {
    let mut set = BTreeMap::new();
    let has = |finding| found.contains(&finding);
    if has(ProbeFinding::InitialDelay)
        && probes.readiness.is_some_and(|probe| probe.initial_delay > 0)
    {
        set.insert("readinessProbe.initialDelaySeconds", 0);
    }
    if has(ProbeFinding::SuccessThreshold) {
        set.insert("readinessProbe.successThreshold", 1);
    }
    let lacks_startup = has(ProbeFinding::Period) || has(ProbeFinding::Liveness);
    if probes.startup.is_none() && !lacks_startup {
        return set;
    }
    let before = probes.startup;
    let mut startup = before.unwrap_or_default();
    if has(ProbeFinding::InitialDelay) {
        startup.initial_delay = 0;
    }
    if before.is_none() || has(ProbeFinding::Period) {
        let proposed = (taken.p50 * PROPOSED_SHARE).ceil();
        startup.period = proposed.clamp(1.0, LONGEST_PROPOSED) as u32;
    }
    // A larger budget that is there already stays: that of the liveness probe, which a startup probe holds
    // back, too.
    let present = before.or(probes.liveness).map_or(0.0, budget);
    let wanted = (BUDGET_FACTOR * taken.p99).max(LEAST_BUDGET).max(present);
    if budget(startup) < wanted || before.is_none() {
        let rest = wanted - f64::from(startup.initial_delay);
        startup.failure_threshold = (rest / f64::from(startup.period)).ceil().max(1.0) as u32;
    }
    let fields = [
        (
            "startupProbe.initialDelaySeconds",
            startup.initial_delay,
            before.map_or(0, |probe| probe.initial_delay),
        ),
        ("startupProbe.periodSeconds", startup.period, before.map_or(0, |probe| probe.period)),
        (
            "startupProbe.failureThreshold",
            startup.failure_threshold,
            before.map_or(0, |probe| probe.failure_threshold),
        ),
    ];
    let changed = fields.into_iter().filter(|(_, after, before)| after != before);
    set.extend(changed.map(|(field, after, _)| (field, after)));
    set
}
