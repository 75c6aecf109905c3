//! Pods that are ready before a milestone of your own ([§16.5](crate::specification#s16-5)). Every history is also told
//! with a restart after each delivery.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::lifecycle::TrackerConfig;
use crate::lifecycle::custom_milestone::{CustomMilestone, SloInterval};
use crate::lifecycle::delivery::{PodEvent, SourceId};
use crate::lifecycle::observation::{Observation, PodObservation, PodState};
use crate::lifecycle::record::{EndedStartup, RecordAmendment};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::slo::{Selection, SloRule};
use crate::lifecycle::slo_verdict::{SloId, SloVerdict};
use crate::lifecycle::sources::SourceSuccessor;
use crate::lifecycle::tracker::fixtures::{at, delivery, rule};
use crate::pod::{ConditionStatus, ConditionType, GateNames, NamedConditions, StatusCondition};

/// A version of a pod that was created at 0: since when it is ready, and its milestones are True or not.
fn pod(name: &str, ready: Option<i64>, milestones: [Option<(bool, i64)>; 2]) -> PodSnapshot {
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
    pod.created = Some(at(0));
    let condition = |(is_true, second)| {
        let status = if is_true { ConditionStatus::True } else { ConditionStatus::False };
        StatusCondition { status, last_transition: Some(at(second)) }
    };
    if let Some(second) = ready {
        pod.conditions.insert(ConditionType::Ready, condition((true, second)));
    }
    let milestones = milestones.map(|one| one.map(condition)).into();
    pod.named = Some(Box::new(NamedConditions { milestones, ..NamedConditions::default() }));
    pod
}

const NONE: [Option<(bool, i64)>; 2] = [None; 2];

/// The first is there since this second.
const fn loaded(second: i64) -> [Option<(bool, i64)>; 2] {
    [Some((true, second)), None]
}

fn slo(name: &str, interval: &str, threshold: u64) -> SloRule {
    let interval = SloInterval::from_text(interval).unwrap();
    SloRule { interval, ..rule(name, threshold) }
}

fn config(slos: &[SloRule], most_pods: usize) -> TrackerConfig {
    let milestone = |name: &str| CustomMilestone { name: name.into(), condition: name.into() };
    TrackerConfig {
        slos: slos.into(),
        max_pods: most_pods,
        milestones: Arc::new(vec![milestone("loaded"), milestone("warm")]),
        ..TrackerConfig::default()
    }
}

/// A tracker, with what it tells of milestones and SLOs, as lines.
struct Run {
    tracker: Tracker,
    config: TrackerConfig,
    told: BTreeMap<String, usize>,
    /// Of the pods that it has discovered so many match each SLO
    discovered: usize,
    events: usize,
    restarts: bool,
    most: usize,
}

impl Run {
    fn new(config: TrackerConfig, restarts: bool) -> Self {
        let mut run = Self {
            tracker: Tracker::new(config.clone()),
            config,
            told: BTreeMap::new(),
            discovered: 0,
            events: 0,
            restarts,
            most: usize::MAX,
        };
        run.deliver(-1, PodEvent::Listed { pods: Vec::new().into(), began: at(-1) });
        run
    }

    fn observe(told: &mut BTreeMap<String, usize>, observation: &Observation<'_>) -> [usize; 2] {
        let Observation::Pod(_, observation) = observation else { return [0; 2] };
        let (line, counts) = match observation {
            PodObservation::CustomMeasured { interval, latency } => {
                let (number, from) = (interval.milestone, interval.from.as_str());
                (format!("{number} {from} {}", latency.as_seconds_f64()), [0, 0])
            }
            PodObservation::CustomUnobserved { milestone, reason } => {
                (format!("{milestone} {}", reason.as_str()), [0, 0])
            }
            PodObservation::Slo { slo, verdict } => (
                match verdict {
                    SloVerdict::Good => format!("slo {} good", slo.0),
                    SloVerdict::Bad(why) => {
                        let stage = why.stage().map_or("none", |stage| stage.as_str());
                        format!("slo {} bad {stage}", slo.0)
                    }
                    SloVerdict::Excluded(reason) => format!("slo {} {}", slo.0, reason.as_str()),
                },
                [0, 1],
            ),
            PodObservation::Moved { from: PodState::Undiscovered, .. } => return [1, 0],
            _ => return [0; 2],
        };
        *told.entry(line).or_default() += 1;
        counts
    }

    fn deliver(&mut self, second: i64, event: PodEvent) {
        let is_list = matches!(event, PodEvent::Listed { .. });
        let mut delivery = delivery(SourceId(0), second, event);
        delivery.observed = (!is_list).then_some(at(second));
        let Self { tracker, told, discovered, events, .. } = self;
        tracker.apply(delivery, &mut |_, observation: Observation<'_>| {
            let [pods, decided] = Self::observe(told, &observation);
            *discovered += pods;
            *events += decided;
        });
        self.check();
        if self.restarts {
            self.restart(second);
        }
    }

    /// Conservation ([§6.5](crate::specification#s6-5)).
    fn check(&self) {
        let slos = 0..self.config.slos.len();
        let undecided: usize =
            slos.clone().map(|slo| self.tracker.undecided(SloId(slo as u16))).sum();
        assert_eq!(self.events + undecided, self.discovered * slos.len());
    }

    /// A process goes on with the checkpoint, and its watch resumes at once, if it was in sync.
    fn restart(&mut self, second: i64) {
        let source = SourceId(0);
        let in_sync = self.tracker.sources.may_pass_deadlines(source, at(second));
        let (saved, pods) = (self.tracker.saved(), read_back(&self.tracker));
        let mut silent = |_, _: Observation<'_>| {};
        let config = self.config.clone();
        self.tracker = Tracker::restored(config, saved, pods, SourceSuccessor::Same, &mut silent);
        self.tracker.followed.most = self.most;
        if in_sync {
            self.tracker.apply(delivery(source, second, PodEvent::CaughtUp), &mut silent);
        }
        self.check();
    }

    fn show(&mut self, second: i64, pod: PodSnapshot) {
        self.deliver(second, PodEvent::Applied(pod));
    }

    fn advance(&mut self, second: i64) {
        let Self { tracker, told, events, .. } = self;
        tracker.advance(at(second), &mut |_, observation: Observation<'_>| {
            *events += Self::observe(told, &observation)[1];
        });
        self.check();
    }

    /// What was told since this was asked last.
    fn told(&mut self) -> Vec<String> {
        let told = std::mem::take(&mut self.told).into_iter();
        told.map(|(line, count)| format!("{count} {line}")).collect()
    }
}

fn runs(slos: &[SloRule]) -> impl Iterator<Item = Run> {
    [false, true].into_iter().map(move |restarts| Run::new(config(slos, usize::MAX), restarts))
}

#[test]
fn of_too_many_the_newest_are_followed() {
    let slos = [slo("model", "created_to_loaded", 600)];
    let mut run = Run::new(config(&slos, usize::MAX), true);
    (run.most, run.tracker.followed.most) = (2, 2);
    for (second, name) in [(10, "a"), (12, "b"), (11, "c")] {
        run.show(12, pod(name, Some(second), NONE));
    }
    let not_followed = ["1 0 not_followed", "1 1 not_followed", "1 slo 0 not_followed"];
    assert_eq!(
        (run.told(), run.tracker.followed.len()),
        (not_followed.map(str::to_owned).into(), 2)
    );
    // One that is older than all of them is not followed itself.
    run.show(13, pod("d", Some(5), NONE));
    assert_eq!(run.told(), not_followed);
    run.show(14, pod("b", Some(12), loaded(14)));
    assert_eq!(run.told(), ["1 0 created 14", "1 slo 0 good"]);
    run.advance(613);
    let both = ["1 0 condition_absent", "2 1 condition_absent", "1 slo 0 bad none"];
    assert_eq!(run.told(), both);
}

#[test]
fn a_pod_that_the_cap_forgets_is_not_followed() {
    let slos = [slo("model", "created_to_loaded", 600)];
    let mut run = Run::new(config(&slos, 2), false);
    for (name, created) in [("a", 0), ("b", 1), ("c", 2)] {
        run.show(10, PodSnapshot { created: Some(at(created)), ..pod(name, Some(10), NONE) });
    }
    assert_eq!(run.told(), ["1 0 not_followed", "1 1 not_followed", "1 slo 0 not_followed"]);
    assert_eq!(run.tracker.followed.len(), 2);
}

#[test]
fn what_is_not_known_to_be_selected_with_ready_is_not_selected() {
    let present = Selection { present_images: true, ..Selection::default() };
    let model = SloRule { selection: present, ..slo("model", "created_to_loaded", 600) };
    for mut run in runs(&[model]) {
        run.show(10, pod("p", Some(10), NONE));
        assert_eq!(run.told(), ["1 slo 0 images"]);
        run.show(20, pod("p", Some(10), loaded(20)));
        assert_eq!(run.told(), ["1 0 created 20"]);
    }
}

#[test]
fn other_limits_apply_to_pods_that_are_followed() {
    for restarts in [false, true] {
        let before = [slo("model", "created_to_loaded", 3_600)];
        let mut run = Run::new(config(&before, usize::MAX), restarts);
        run.show(10, pod("p", Some(10), NONE));
        let after = [slo("other", "created_to_warm", 60), slo("model", "created_to_loaded", 7_200)];
        run.tracker.set_slos(after.clone().into());
        let undecided = [0, 1].map(|slo| run.tracker.undecided(SloId(slo)));
        assert_eq!(undecided, [0, 1]);
        run.config.slos = after[1..].into();
        run.tracker.set_slos(Arc::clone(&run.config.slos));
        run.advance(7_200);
        assert_eq!(run.told(), ["1 1 condition_absent"]);
        run.advance(7_201);
        assert_eq!(run.told(), ["1 0 condition_absent", "1 slo 0 bad none"]);
    }
}

/// [§16.9](crate::specification#s16-9)
#[test]
fn a_restart_with_other_milestones_follows_those_that_there_still_are() {
    let mut run = Run::new(config(&[], usize::MAX), false);
    run.show(10, pod("p", Some(10), [None, Some((false, 10))]));
    let mut milestones = run.config.milestones.to_vec();
    milestones[0].condition = "another".into();
    run.config.milestones = milestones.into();
    run.restart(10);
    assert_eq!(run.tracker.followed.len(), 1);
    run.advance(611);
    assert_eq!(run.told(), ["1 1 not_seen"]);
}

/// The records of startups, as whoever keeps them does.
struct Records(Vec<EndedStartup>);

impl Observer for Records {
    fn ended(&mut self, startup: EndedStartup) {
        self.0.push(startup);
    }

    fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        let mut all = self.0.iter_mut();
        all.find(|startup| startup.uid() == uid).unwrap().amend(amendment);
    }
}

#[test]
fn a_record_says_what_came_after_its_end() {
    let slos = [slo("model", "created_to_loaded", 600), slo("warm", "created_to_warm", 20)];
    let mut tracker = Tracker::new(config(&slos, usize::MAX));
    let mut records = Records(Vec::new());
    let listed = PodEvent::Listed { pods: Vec::new().into(), began: at(-1) };
    let gates = GateNames { readiness: ["gate"].into_iter().collect(), ..GateNames::default() };
    let gated = |milestones| {
        let mut pod = pod("p", Some(10), milestones);
        let named = pod.named.as_mut().unwrap();
        named.gates = Some(Arc::new(gates.clone()));
        let passed =
            StatusCondition { status: ConditionStatus::True, last_transition: Some(at(9)) };
        named.readiness = [Some(passed)].into();
        PodEvent::Applied(pod)
    };
    let told = |records: &Records| {
        let record = records.0[0].record();
        assert_eq!((record.gates.len(), record.gates[0].passed), (1, Some(at(9))));
        let times = record.custom_milestones.iter().map(|one| one.time).collect::<Vec<_>>();
        let slos = record.slos.iter().map(|one| one.result.as_str()).collect::<Vec<_>>();
        (times, slos)
    };
    for (second, event) in [(-1, listed), (10, gated([Some((false, 9)), None]))] {
        tracker.apply(delivery(SourceId(0), second, event), &mut records);
    }
    assert_eq!(told(&records), (vec![None], vec!["undecided", "undecided"]));
    tracker.advance(at(21), &mut records);
    assert_eq!(told(&records), (vec![None], vec!["undecided", "bad"]));
    tracker.apply(delivery(SourceId(0), 300, gated(loaded(300))), &mut records);
    assert_eq!(told(&records), (vec![Some(at(300))], vec!["good", "bad"]));
}

#[test]
fn a_pod_that_is_followed_takes_little() {
    assert!(size_of::<FollowedPod>() <= 208, "{}", size_of::<FollowedPod>());
}
