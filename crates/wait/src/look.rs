//! A look at a target: is it done, has it failed, and what holds it ([§17.6](crate::specification#s17-6)).

use std::collections::HashSet;
use std::time::Duration;

use podinit_core::kube_event::CapacityState;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    Cause, CauseClass, Interval, Outcome, Progress, Record, RecordedCapacity, Stage,
};
use podinit_core::pod::{PodPhase, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_oncall::explain::{Explanation, ExplanationContext, quoted};
use podinit_oncall::problems::Problem;
use podinit_text::human_time::{clock_time, seconds, since};
use podinit_text::words::count;

use super::answer::{PodCounts, SlowestPod, TargetAnswer, TargetOutcome};
use super::creations::FailedCreation;
use super::object::{RolloutProgress, Standing};
use super::patience::FailureSigns;
use super::pods::UP_AFTER;
use super::target::{WaitTarget, WorkloadKind};
use super::wait::Wait;

/// A container crashes for good after so many restarts.
const MOST_RESTARTS: i32 = 3;
/// How long a target that is done waits for the watch of its pods to say so too.
const DONE_GRACE: Duration = Duration::from_millis(500);

/// What a look at the target has shown.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub answer: TargetAnswer,
    /// What is worth a new line: what the line says, without durations
    pub key: String,
    /// There is no such object
    pub is_absent: bool,
    /// Its object, its pods and its revisions were listed
    pub is_known: bool,
    /// The pods whose containers crash, those first that have for longest
    pub crashing: Vec<CrashingPod>,
}

/// A pod of the new revision with a container that crashes.
#[derive(Clone, Debug)]
pub(crate) struct CrashingPod {
    pub since: Timestamp,
    pub name: String,
    pub uid: PodUid,
}

impl Wait {
    /// Looks at what is known at `now`.
    pub(crate) fn look(&mut self, now: Timestamp) -> Look {
        let mut standing = match &self.object {
            Some(object) => object.standing.clone(),
            None if self.kind().is_none() => self.standing_of_pods(now),
            None => Standing::default(),
        };
        let (new, name) = self.new_revision();
        if name.is_some()
            && name != self.revision
            && let Some(before) = std::mem::replace(&mut self.revision, name)
        {
            self.replaced.push(before);
            self.patience.begin(now);
        }
        let new = self.pods.of_revision(new);
        let crashing = self.crashing(&new, now);
        // Of pods without an object that is known already.
        let is_held = self.kind().is_some() && !crashing.is_empty();
        if standing.progress == RolloutProgress::Done && is_held {
            standing.progress = RolloutProgress::Going(format!(
                "{} not run for {} since it crashed",
                count(crashing.len(), "pod has", "pods have"),
                seconds(UP_AFTER.as_secs_f64())
            ));
        }
        let pods = self.count(&new, standing.wanted, now);
        if self.is_listed {
            self.account.advance(now);
        }
        let problems = self.account.problems_of(|uid| new.contains(&uid)).problems;
        let in_flight = self.account.in_flight().filter(|pod| new.contains(&pod.uid()));
        let in_flight: Vec<Record> = in_flight.map(|pod| pod.record()).collect();
        let creation = self.failed_creation(&standing, &pods);
        let signs = self.signs(&problems, &in_flight, creation.as_ref(), &crashing);
        let why = self.failure(&standing, signs, now);
        let is_done = self.is_done(&standing, &pods, now);
        let waiting = in_flight.iter().filter_map(|record| LongestWait::new(record, now));
        let waiting = waiting.min_by_key(|wait| wait.entered);
        let mut controller: Vec<String> = creation.iter().map(|one| one.sentence(now)).collect();
        if let RolloutProgress::Failed(words) = &standing.progress
            && standing.deadline_passed.is_some()
        {
            let words = words.trim_end_matches('.');
            controller.push(format!("the progress deadline of the Deployment has passed: {words}"));
        }
        let is_absent = self.is_absent();
        let absent = is_absent.then(|| "does not exist yet".to_owned());
        let answer = TargetAnswer {
            target: self.target.to_string(),
            namespace: self.namespace.clone(),
            outcome: match (is_done, &why) {
                (true, _) => TargetOutcome::Done,
                (false, Some(_)) => TargetOutcome::Failed,
                (false, None) => TargetOutcome::Waiting,
            },
            seconds: since(self.began, now),
            sentence: String::new(),
            revision: self.revision.clone(),
            replaced: self.replaced.clone(),
            slowest: self.slowest(&new).filter(|_| is_done),
            going: match standing.progress {
                RolloutProgress::Going(text) => Some(text),
                RolloutProgress::Unobserved if self.object.is_some() => {
                    Some("its controller has not seen the newest spec yet".to_owned())
                }
                _ => None,
            },
            next_command: self.next_command(&problems, creation.as_ref(), waiting.as_ref()),
            notes: [absent, standing.note, self.unread.clone()].into_iter().flatten().collect(),
            logs: Vec::new(),
            pods,
            why,
            waits: waiting.as_ref().map(|wait| wait.line.clone()),
            controller,
            problems,
        };
        let waits_for = waiting.map(|wait| wait.key);
        let TargetAnswer { pods, controller, notes, revision, going, .. } = &answer;
        let key = format!("{waits_for:?} {pods:?} {controller:?} {notes:?} {revision:?} {going:?}");
        let is_known = is_absent || self.is_known();
        Look { answer: answer.with_sentence(), key, is_absent, is_known, crashing }
    }

    /// Whether there is no such object, or no such pod.
    fn is_absent(&self) -> bool {
        match self.target {
            WaitTarget::Workload(..) => {
                self.is_object_seen && self.object.is_none() && !self.is_gone
            }
            WaitTarget::Pod(_) => self.is_listed && !self.was_there,
            WaitTarget::Selected { .. } => false,
        }
    }

    /// The pods of the new revision whose containers crash. A job says itself when they have crashed too often.
    fn crashing(&self, new: &HashSet<PodUid>, now: Timestamp) -> Vec<CrashingPod> {
        let pods = self.pods.all().filter(|(uid, _)| new.contains(uid));
        let pods = pods.filter(|_| self.kind() != Some(WorkloadKind::Job));
        let crashing = pods.filter_map(|(uid, pod)| {
            let since = pod.crashes_since(now)?;
            Some(CrashingPod { since, name: pod.newest.info.name.to_string(), uid: *uid })
        });
        let mut crashing: Vec<CrashingPod> = crashing.collect();
        crashing.sort_by(|one, other| (one.since, &one.name).cmp(&(other.since, &other.name)));
        crashing
    }

    /// Counts the pods. One of the new revision that is up for the first time gives the others more time.
    fn count(&mut self, new: &HashSet<PodUid>, wanted: usize, now: Timestamp) -> PodCounts {
        let mut counts = PodCounts { wanted, ready: 0, old: 0 };
        for (uid, pod) in self.pods.all() {
            if !new.contains(uid) {
                counts.old += usize::from(pod.newest.phase == PodPhase::Active);
            } else if pod.has_arrived(now) {
                counts.ready += 1;
                if self.been_up.insert(*uid) {
                    self.patience.begin(now);
                }
            }
        }
        counts
    }

    /// That the controller cannot create pods of the new revision, if it says so.
    fn failed_creation(&self, standing: &Standing, pods: &PodCounts) -> Option<FailedCreation> {
        let WaitTarget::Workload(kind, name) = &self.target else {
            return None;
        };
        if standing.progress == RolloutProgress::Done || pods.ready >= standing.wanted {
            return None;
        }
        let newest = self.maker();
        let concerns = |of: &str, called: &str| match newest {
            Some(newest) if of == WorkloadKind::ReplicaSet.as_str() => called == newest,
            _ => of == kind.as_str() && called == name,
        };
        self.creations.holding(concerns, self.pods.newest()).or_else(|| {
            let (since, message) = standing.cannot_create.clone()?;
            let of_kind = newest.map_or(*kind, |_| WorkloadKind::ReplicaSet);
            let (kind, name) = (of_kind.as_str().to_owned(), newest.unwrap_or(name).to_owned());
            Some(FailedCreation { kind, name, message, since })
        })
    }

    /// What may make it fail.
    fn signs(
        &self,
        problems: &[Problem],
        in_flight: &[Record],
        creation: Option<&FailedCreation>,
        crashing: &[CrashingPod],
    ) -> FailureSigns {
        let fails = |problem: &&Problem| {
            let causes = problem.causes.iter().map(|one| &one.cause);
            let mut causes = causes.chain(std::iter::once(&problem.cause));
            causes.any(|cause| match Cause::from_text(cause) {
                // What counts of a crash is how often it came.
                Some(Cause::Crash) => false,
                Some(cause) => CauseClass::from_cause(cause) == CauseClass::Failing,
                None => false,
            })
        };
        let crashes = crashing.iter().filter(|pod| {
            self.restarts.get(&pod.uid).is_some_and(|restarts| *restarts >= MOST_RESTARTS)
        });
        let failing = problems.iter().filter(fails).map(|problem| problem.since);
        let failing = failing.chain(crashes.map(|pod| pod.since));
        let failing = failing.chain(creation.map(|one| one.since));
        let mut failing: Vec<Option<Timestamp>> = failing.map(Some).collect();
        let mut unknown = Vec::new();
        let is_ending = self.pods.all().any(|(_, pod)| pod.newest.terminating);
        let unschedulable = in_flight.iter().filter(|_| !is_ending).filter_map(unschedulable);
        for (entered, said) in unschedulable {
            match said.map_or(CapacityState::Unknown, |said| said.state) {
                CapacityState::NoScaleUp | CapacityState::ScaleUpFailed => {
                    failing.push(said.and_then(|said| said.since).max(Some(entered)));
                }
                CapacityState::Unknown => unknown.push(entered),
                CapacityState::ScalingUp | CapacityState::Nominated => {}
            }
        }
        FailureSigns {
            failing: failing.into_iter().flatten().min(),
            unschedulable: unknown.into_iter().min(),
        }
    }

    /// Why it has failed, if it has.
    fn failure(
        &mut self,
        standing: &Standing,
        signs: FailureSigns,
        now: Timestamp,
    ) -> Option<String> {
        if self.is_gone {
            return Some("it was deleted".to_owned());
        }
        match &standing.progress {
            RolloutProgress::Unobserved | RolloutProgress::Done => {
                self.patience.begin(now);
                None
            }
            RolloutProgress::Failed(words) => {
                let is_stale = standing.deadline_passed.is_some()
                    && standing.deadline_passed == self.stale_deadline;
                (!is_stale).then(|| words.clone())
            }
            RolloutProgress::Going(_) => {
                let lasted = self.patience.look(signs, now)?;
                let lasted = seconds(lasted.as_secs_f64().floor());
                let which = if self.revision.is_some() { " of the new revision" } else { "" };
                Some(format!("no pod{which} got ready for {lasted}"))
            }
        }
    }

    /// Whether it is done, and its pods are known to be.
    fn is_done(&mut self, standing: &Standing, pods: &PodCounts, now: Timestamp) -> bool {
        if standing.progress != RolloutProgress::Done || self.is_gone {
            self.done_since = None;
            return false;
        }
        let since = *self.done_since.get_or_insert(now);
        pods.ready >= standing.wanted || since.plus(DONE_GRACE) <= now
    }

    /// The pod of the new revision that took longest to be ready.
    fn slowest(&self, new: &HashSet<PodUid>) -> Option<SlowestPod> {
        let ended = self.account.newest_ended();
        let ready = ended
            .iter()
            .filter(|record| record.outcome() == Some(Outcome::Ready) && new.contains(&record.uid));
        let took = |record: &&Record| record.duration(Interval::CreatedToReady);
        let slowest = ready.filter(|one| took(one).is_some()).max_by_key(took)?;
        let stages = Stage::ALL
            .into_iter()
            .filter_map(|stage| Some((slowest.duration(Interval::Stage(stage))?, stage)));
        let (longest, stage) = stages.max_by_key(|(took, _)| *took)?;
        Some(SlowestPod {
            pod: slowest.pod.name.to_string(),
            seconds: took(&slowest)?.as_seconds_f64(),
            stage: stage.as_str(),
            stage_seconds: longest.as_seconds_f64(),
        })
    }

    /// The command that shows more.
    fn next_command(
        &self,
        problems: &[Problem],
        creation: Option<&FailedCreation>,
        waiting: Option<&LongestWait>,
    ) -> String {
        if let Some(problem) = problems.first() {
            return problem.next_command.clone();
        }
        let namespace = quoted(&self.namespace);
        let described = match (&self.target, creation, waiting) {
            (_, Some(one), _) => format!("{}/{}", one.kind.to_lowercase(), one.name),
            (_, None, Some(waiting)) => return waiting.next.clone(),
            (WaitTarget::Selected { selector, .. }, ..) => {
                return format!("kubectl -n {namespace} get pods -l {}", quoted(selector));
            }
            (target, ..) => target.to_string(),
        };
        format!("kubectl -n {namespace} describe {}", quoted(&described))
    }
}

/// What a pod in flight waits for.
struct LongestWait {
    /// When it entered its stage
    entered: Timestamp,
    line: String,
    /// The line without how long that has lasted
    key: String,
    /// The command that shows more
    next: String,
}

impl LongestWait {
    fn new(record: &Record, now: Timestamp) -> Option<Self> {
        let Progress::InFlight { entered, .. } = record.progress else {
            return None;
        };
        let explained = |at| Explanation::new(record, ExplanationContext::default(), at);
        let (at_first, now) = (explained(entered), explained(now));
        // As a predicate of the pod.
        let line = |headline: &str| {
            let (first, rest) = headline.split_at_checked(1)?;
            let refused = refused(record).map(|words| format!("; {words}")).unwrap_or_default();
            Some(format!("{} {}{rest}{refused}", record.pod.name, first.to_ascii_lowercase()))
        };
        Some(Self {
            entered,
            line: line(&now.headline?)?,
            key: line(&at_first.headline?)?,
            next: now.next,
        })
    }
}

/// Since when a pod fits on no node, and what is said of one to come.
fn unschedulable(record: &Record) -> Option<(Timestamp, Option<&RecordedCapacity>)> {
    match &record.progress {
        Progress::InFlight { waiting, entered, .. } if waiting.stage() == Stage::Unschedulable => {
            Some((*entered, record.unschedulable.as_ref()))
        }
        _ => None,
    }
}

/// That an autoscaler adds no node for an unschedulable pod, in its words.
fn refused(record: &Record) -> Option<String> {
    let said = unschedulable(record)?.1?;
    let refuses = matches!(said.state, CapacityState::NoScaleUp | CapacityState::ScaleUpFailed);
    let by = said.by.as_deref().unwrap_or("an autoscaler");
    let words = said.message.as_deref().unwrap_or_default().trim_end_matches('.');
    refuses.then(|| format!("{by} adds no node: {words}"))
}

impl FailedCreation {
    /// What is wrong, where and since when.
    fn sentence(&self, now: Timestamp) -> String {
        let Self { kind, name, message, since } = self;
        let since = clock_time(*since, now);
        format!(
            "{kind} {name} cannot create pods: {}. Since {since}",
            message.trim_end_matches('.')
        )
    }
}
