//! Pods that were accounted for as by `serve`: those of a recording, and those of one listing of a cluster after the
//! other.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use super::kept::KeptStartups;
use super::list;
use super::listed_cluster::{ClusterListing, UnlistedResources};
use super::question::PodQuestion;
use super::started_before::StartedBefore;
use super::statuses::PodStatuses;
use crate::explain::{ExplanationContext, WorkloadPods};
use crate::problems::{ClockCheck, ProblemSnapshot, Problems};
use crate::rollouts::{FoundRollouts, RolloutParts};
use podinit_core::claim_events::ClaimEvents;
use podinit_core::kube_event::in_order_of_time;
use podinit_core::lifecycle::{
    Cause, Delivery, NodeEvent, Outcome, PodEvent, Record, SourceId, Tracker, TrackerConfig,
};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_problems::{FindingResult, OverTime};
use podinit_recordings::reader::RecordingDocument;
use podinit_recordings::replay::{LoneList, MomentRule, ReplayConfig, replayed_with_looks};

/// Pods that a tracker has accounted for.
pub(super) struct TrackedPods {
    pub tracker: Tracker,
    config: TrackerConfig,
    pub question: PodQuestion,
    pub kept: KeptStartups,
    /// The times in a lone list; `None` of other sources
    pub lone_list: Option<LoneList>,
    /// The pods in the newest list whose startup was over before
    before: StartedBefore,
    over_time: OverTime,
    /// What Events say of the claims of pods
    claims: ClaimEvents,
    /// They are those of a recording, of which only the end is told
    is_recorded: bool,
}

impl TrackedPods {
    /// No pods yet.
    pub(super) fn new(config: TrackerConfig, question: &PodQuestion) -> Self {
        Self {
            tracker: Tracker::new(config.clone()),
            config,
            question: question.clone(),
            kept: KeptStartups::new(question, &Rc::default()),
            lone_list: None,
            before: StartedBefore::default(),
            over_time: OverTime::default(),
            claims: ClaimEvents::default(),
            is_recorded: false,
        }
    }

    /// Reads `documents` to their end.
    ///
    /// # Errors
    /// If a document is malformed.
    pub(super) fn of_recording<E>(
        documents: impl IntoIterator<Item = Result<RecordingDocument, E>>,
        replay: ReplayConfig,
        question: &PodQuestion,
    ) -> Result<Self, E> {
        let mut before = StartedBefore::default();
        let statuses = Rc::<RefCell<PodStatuses>>::default();
        let new_sink = |_: &_| Ok(KeptStartups::new(question, &statuses));
        let see = |document: &RecordingDocument, may_be_lone_list: bool| match question.target() {
            Some(target) => statuses.borrow_mut().read(document, target),
            None => before.read(document, may_be_lone_list),
        };
        let config = replay.tracker.clone();
        let replay = ReplayConfig { one_moment: MomentRule::Present, ..replay };
        let looks = *question == PodQuestion::Problems;
        let look = |tracker: &Tracker, kept: &mut KeptStartups, next| {
            if looks {
                kept.look(tracker, next);
            }
        };
        let end = replayed_with_looks(documents, replay, new_sink, see, look)?;
        if end.lone_list.is_none() {
            before.clear();
        }
        let (tracker, mut kept, lone_list) = (end.tracker, end.sink, end.lone_list);
        let over_time = std::mem::take(&mut kept.looks.over_time);
        Ok(Self {
            tracker,
            kept,
            lone_list,
            before,
            over_time,
            is_recorded: true,
            ..Self::new(config, question)
        })
    }

    /// Moves time to a later instant.
    pub(super) fn move_to(&mut self, at: Timestamp) {
        self.tracker.advance(at, &mut self.kept);
    }

    /// Accounts for another listing, at its end because it shows one moment. Returns the doubts about every startup.
    pub(super) fn add(&mut self, mut listed: ClusterListing) -> Vec<String> {
        in_order_of_time(&mut listed.events);
        if let Some(target) = self.question.target() {
            let doubts = listed.unlisted.iter().map(UnlistedResources::to_string);
            let doubts = [list::OF_A_LIST.to_owned()].into_iter().chain(doubts).collect();
            let statuses = Rc::<RefCell<PodStatuses>>::default();
            for pod in listed.pods.iter().flat_map(|(_, pods)| pods) {
                statuses.borrow_mut().add(pod, target);
            }
            let kept = KeptStartups::new(&self.question, &statuses);
            (self.kept, self.tracker) =
                list::replayed_list(listed, self.config.clone(), target, kept);
            return doubts;
        }
        let now = listed.now;
        if let Some((began, nodes)) = listed.nodes {
            let nodes = PodEvent::Nodes(NodeEvent::Listed { nodes, began });
            self.deliver(SourceId(0), nodes, now);
        }
        self.before.clear();
        self.claims.forget_pods();
        let mut said = Vec::new();
        for ((began, pods), source) in listed.pods.into_iter().zip(0..) {
            pods.iter().for_each(|pod| self.before.add(Cow::Borrowed(pod)));
            said.extend(self.claims.pods(&pods));
            let pods = pods.into();
            self.deliver(SourceId(source), PodEvent::Listed { pods, began }, now);
        }
        said.extend(listed.events.iter().flat_map(|event| self.claims.event(event)));
        for event in listed.events.iter().chain(&said) {
            self.deliver(SourceId(0), PodEvent::Event(event.clone()), now);
        }
        self.tracker.advance(now, &mut self.kept);
        self.tracker.know_present_causes(&listed.events, now);
        Vec::new()
    }

    /// Accounts for a delivery of a list-watch, after a first listing.
    pub(super) fn watched(&mut self, delivery: Delivery) {
        let now = delivery.now;
        let mut said = Vec::new();
        match &delivery.event {
            PodEvent::Applied(pod) => {
                self.before.renew(pod.uid, Some(pod));
                said.extend(self.claims.pod(pod));
            }
            PodEvent::Deleted(pod) => {
                self.before.renew(pod.uid, None);
                self.claims.forget(pod.uid);
            }
            PodEvent::Event(event) => said = self.claims.event(event),
            _ => {}
        }
        self.tracker.apply(delivery, &mut self.kept);
        for event in said {
            self.deliver(SourceId(0), PodEvent::Event(event), now);
        }
    }

    fn deliver(&mut self, source: SourceId, event: PodEvent, now: Timestamp) {
        let delivery = Delivery { source, event, now, observed: None, version: None };
        self.tracker.apply(delivery, &mut self.kept);
    }

    /// The problems now, with those of earlier listings; of a recording only those of its end.
    pub(super) fn problems(&mut self) -> Problems {
        self.problems_of(|_| true)
    }

    /// The problems of the pods that count.
    pub(super) fn problems_of(&mut self, counts: impl Fn(PodUid) -> bool) -> Problems {
        let mut over_time = std::mem::take(&mut self.over_time);
        let found = self.found_with(&mut over_time, &mut RolloutParts::default(), counts);
        self.over_time = over_time;
        found.map_or_else(Problems::default, |(mut found, crashing, now)| {
            if self.is_recorded {
                found.ended.clear();
            }
            let seen = ProblemSnapshot::new(found, self.tracker.node_faults(), now);
            let problems = seen.problems.with_crashing(crashing);
            problems.with_late_deliveries(self.tracker.late_by(), ClockCheck::OfRecorder)
        })
    }

    /// The finding now, after the earlier ones in `over_time`; `None` before the first listing.
    pub(super) fn found(&self, over_time: &mut OverTime) -> Option<FindingResult> {
        let rollouts = &mut RolloutParts::default();
        self.found_with(over_time, rollouts, |_| true).map(|(found, ..)| found)
    }

    /// The rollouts now, and those that ended before.
    pub(super) fn rollouts(&self) -> FoundRollouts {
        let (mut over_time, mut parts) = (OverTime::default(), RolloutParts::default());
        let found = self.found_with(&mut over_time, &mut parts, |_| true);
        found.map_or_else(FoundRollouts::default, |(found, _, now)| {
            let (progress, ended) =
                (self.tracker.rollouts().collect(), self.kept.rollouts.newest());
            FoundRollouts::new(progress, (&parts, &found.parts), ended, now)
        })
    }

    /// The finding among the pods that count, how many pods crash after they had started, and the instant of both. Pods
    /// that hold a rollout are also of one of `rollouts`.
    fn found_with(
        &self,
        over_time: &mut OverTime,
        rollouts: &mut RolloutParts,
        counts: impl Fn(PodUid) -> bool,
    ) -> Option<(FindingResult, usize, Timestamp)> {
        let now = self.tracker.accounted_time()?;
        let mut finding = self.kept.finding(&self.tracker, over_time, rollouts, now, &counts);
        let (config, has_record) = (self.config.clone(), |uid| self.kept.has(uid));
        let counted = self.before.counted(&self.tracker, config, has_record, now);
        let records = counted.records.iter().filter(|record| counts(record.uid));
        records.for_each(|record| finding.add(record));
        Some((finding.finish(over_time), counted.crashing, now))
    }

    /// Of the startups of the target that have ended, the one to explain, and how many there are.
    pub(super) fn ended(&mut self) -> (Option<Record>, WorkloadPods) {
        let ended = self.kept.ended.as_ref();
        let pods = std::mem::take(&mut self.kept.pods);
        (ended.map(|startup| self.tracker.record_of(startup)), pods)
    }

    /// The context of the explained record.
    pub(super) fn seen(&mut self, record: &mut Record) -> ExplanationContext {
        let context = self.kept.context(record.uid);
        // As a list shows it: what came before its crash was another run.
        if let ([only], Some(since)) = (&mut record.causes[..], self.kept.crashes_since(record.uid))
            && only.waiting.cause() == Cause::Crash
        {
            only.began = since;
        }
        let mut fleet = std::mem::take(&mut self.kept.fleet);
        if record.outcome() == Some(Outcome::Ready) && context.lost.is_none() {
            fleet.remove(record);
        }
        let probe_times = self.kept.probe_times.of_version(&record.pod);
        ExplanationContext { fleet, probe_times, ..context }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use podinit_core::lifecycle::{Interval, Latency, TimestampMode};
    use podinit_decode::event::watch::EventDecoder;
    use podinit_decode::{DecodeOptions, PodDecoder, rfc3339};
    use serde_json::{Value, json};

    use super::*;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_seconds(1_767_225_600 + second)
    }

    fn stated(second: i64) -> String {
        rfc3339::format(time(second))
    }

    /// A pod that its kubelet accepted in second 0; its containers are as `state` says, if there is a network.
    fn pod(name: &str, state: Option<Value>) -> Value {
        let holds =
            |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": stated(0)});
        let mut conditions = vec![holds("PodScheduled")];
        conditions.extend(state.is_some().then(|| holds("PodReadyToStartContainers")));
        let statuses = state.map(|state| {
            json!([{"name": "main", "image": "r.io/web:1", "ready": false, "restartCount": 0, "state": state}])
        });
        json!({
            "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
                "creationTimestamp": stated(0)},
            "spec": {"nodeName": "node-a0", "containers": [{"name": "main", "image": "r.io/web:1"}]},
            "status": {"phase": "Pending", "startTime": stated(0), "conditions": conditions,
                "containerStatuses": statuses.unwrap_or(json!([]))},
        })
    }

    fn without_image(name: &str) -> Value {
        pod(name, Some(json!({"waiting": {"reason": "ImagePullBackOff"}})))
    }

    fn warning(name: &str) -> Value {
        json!({
            "metadata": {"name": format!("{name}.1"), "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": name, "uid": format!("uid-{name}")},
            "reason": "FailedCreatePodSandBox", "message": "failed to setup network: no address left",
            "type": "Warning", "reportingComponent": "kubelet", "count": 1,
            "firstTimestamp": stated(1), "lastTimestamp": stated(1),
        })
    }

    /// A look in this second.
    fn look(looks: &mut TrackedPods, second: i64, pods: &[Value], events: &[Value]) -> Problems {
        let options = DecodeOptions::of_records();
        let pods = json!({"kind": "PodList", "items": pods}).to_string();
        let pods = PodDecoder::new(options.clone()).list_page(pods.as_bytes()).unwrap();
        let events = json!({"kind": "EventList", "items": events}).to_string();
        let events = EventDecoder::new(options).list_page(events.as_bytes()).unwrap();
        looks.add(ClusterListing {
            pods: vec![(time(second), pods.pods)],
            events: events.events,
            nodes: None,
            unlisted: Vec::new(),
            now: time(second),
        });
        looks.problems()
    }

    fn looks() -> TrackedPods {
        let config = TrackerConfig {
            timestamps: TimestampMode::Fused,
            events: true,
            ..TrackerConfig::default()
        };
        TrackedPods::new(config, &PodQuestion::Problems)
    }

    /// Each as "CAUSE PODS since SECOND".
    fn lines(problems: &[crate::problems::Problem]) -> Vec<String> {
        let line = problems.iter().map(|one| {
            let second = one.since.nanos_since(time(0)) / 1_000_000_000;
            format!("{} {} since {second}", one.cause, one.pods)
        });
        line.collect()
    }

    #[test]
    fn a_pod_is_first_seen_with_what_its_events_say() {
        let found = look(&mut looks(), 300, &[pod("a", None)], &[warning("a")]);
        assert_eq!(lines(&found.problems), ["cni 1 since 1"]);
        let message = found.problems[0].message.as_deref();
        assert_eq!(message, Some("failed to setup network: no address left"));
        // An Event that comes later is no part of what was seen first.
        let mut looks = looks();
        look(&mut looks, 60, &[pod("a", None)], &[]);
        let found = look(&mut looks, 90, &[pod("a", None)], &[warning("a")]);
        assert_eq!(lines(&found.problems), Vec::<String>::new());
        let found = look(&mut looks, 105, &[pod("a", None)], &[]);
        assert_eq!(lines(&found.problems), ["cni 1 since 90"]);
    }

    #[test]
    fn a_problem_keeps_its_onset_and_is_told_of_once_it_has_ended() {
        let mut looks = looks();
        let found = look(&mut looks, 60, &[without_image("a")], &[]);
        assert_eq!(lines(&found.problems), ["image 1 since 0"]);
        // Its first pod is gone, and the next one came later.
        let found = look(&mut looks, 90, &[without_image("b"), without_image("a")], &[]);
        assert_eq!(lines(&found.problems), ["image 2 since 0"]);
        let mut later = without_image("b");
        later["metadata"]["creationTimestamp"] = json!(stated(50));
        let found = look(&mut looks, 120, &[later], &[]);
        assert_eq!(lines(&found.problems), ["image 1 since 0"]);
        let found = look(&mut looks, 150, &[], &[]);
        assert_eq!(lines(&found.problems), Vec::<String>::new());
        assert_eq!(lines(&found.ended), ["image 1 since 0"]);
        assert_eq!(found.ended[0].ended, Some(time(150)));
        let found = look(&mut looks, 150 + 600, &[], &[]);
        assert_eq!(lines(&found.ended), Vec::<String>::new());
    }

    #[test]
    fn pods_that_start_up_between_looks_are_compared_with() {
        let running = |ready: i64| {
            let mut pod = pod("a", Some(json!({"running": {"startedAt": stated(ready)}})));
            let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
            for kind in ["Initialized", "ContainersReady", "Ready"] {
                conditions.push(
                    json!({"type": kind, "status": "True", "lastTransitionTime": stated(ready)}),
                );
            }
            pod["status"]["phase"] = json!("Running");
            pod
        };
        let mut looks = looks();
        look(&mut looks, 10, &[pod("a", None)], &[]);
        look(&mut looks, 20, &[running(15)], &[]);
        let newest = looks.kept.newest_records(&looks.tracker);
        let took = newest.iter().map(|record| record.duration(Interval::CreatedToReady));
        assert_eq!(took.collect::<Vec<_>>(), [Some(Latency::from_nanos(15_000_000_000))]);
        // One that was ready at the first look is not known to have started well.
        let mut later = self::looks();
        look(&mut later, 20, &[running(15)], &[]);
        assert_eq!(later.kept.newest_records(&later.tracker).len(), 0);
    }
}
