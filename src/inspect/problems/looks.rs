//! Looks at a cluster, one after the other, accounted for as `serve` does with its lists.

use super::ends::Ends;
use super::started_before::StartedBefore;
use super::{Problems, Seen};
use crate::inspect::listed_cluster::{Listed, ListedEvidence};
use podinit_core::kube_event::in_order_of_time;
use podinit_core::lifecycle::{
    Delivery, NodeEvent, PodEvent, Record, SourceId, StuckAfter, TimestampMode, Tracker,
    TrackerConfig,
};
use podinit_core::problems::{Finding, OverTime};
use podinit_core::timestamp::Timestamp;

/// What the looks have shown so far.
pub struct Looks {
    tracker: Tracker,
    config: TrackerConfig,
    ends: Ends,
    /// What the newest look shows of pods whose startup was over before
    before: StartedBefore,
    over_time: OverTime,
}

impl Looks {
    /// Nothing yet. A pod counts as stuck by `stuck_after`; `evidence` is listed too.
    pub fn new(stuck_after: StuckAfter, evidence: &ListedEvidence) -> Self {
        let config = TrackerConfig {
            timestamps: TimestampMode::Fused,
            stuck_after,
            events: evidence.events,
            nodes: evidence.nodes.is_some(),
            ..TrackerConfig::default()
        };
        Self {
            tracker: Tracker::new(config.clone()),
            config,
            ends: Ends::default(),
            before: StartedBefore::default(),
            over_time: OverTime::default(),
        }
    }

    /// Accounts for one more look, all of it at its end: it shows one moment.
    pub fn add(&mut self, listed: Listed) {
        let now = listed.now;
        if let Some((began, nodes)) = listed.nodes {
            let nodes = PodEvent::Nodes(NodeEvent::Listed { nodes, began });
            self.deliver(SourceId(0), nodes, now);
        }
        self.before.clear();
        for ((began, pods), source) in listed.pods.into_iter().zip(0..) {
            self.before.add(&pods);
            let pods = pods.into();
            self.deliver(SourceId(source), PodEvent::Listed { pods, began }, now);
        }
        let mut events = listed.events;
        in_order_of_time(&mut events);
        for event in &events {
            self.deliver(SourceId(0), PodEvent::Event(event.clone()), now);
        }
        self.tracker.advance(now, &mut self.ends);
        self.tracker.know_present_causes(&events, now);
    }

    fn deliver(&mut self, source: SourceId, event: PodEvent, now: Timestamp) {
        let delivery = Delivery { source, event, now, observed: None, version: None };
        self.tracker.apply(delivery, &mut self.ends);
    }

    /// Up to when everything is accounted for; `None` before the first look.
    pub fn accounted_time(&self) -> Option<Timestamp> {
        self.tracker.accounted_time()
    }

    /// The pods in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = Record> {
        let in_flight = self.tracker.in_flight_after(None);
        in_flight.map(|(_, pod)| pod.record())
    }

    /// The problems now, by those of the looks before.
    pub fn problems(&mut self) -> Problems {
        let Some(now) = self.accounted_time() else {
            return Problems::default();
        };
        let mut finding = Finding::new(&self.ends.records(&self.tracker), now);
        for record in self.in_flight() {
            finding.add(&record);
        }
        let (config, has_record) = (self.config.clone(), |uid| self.ends.has(uid));
        let counted = (self.before).counted(&self.tracker, config, has_record, now);
        counted.records.iter().for_each(|record| finding.add(record));
        let found = finding.finish(&mut self.over_time);
        // No list shows when anything arrived.
        Seen::new(found, Vec::new(), now).problems.with_crashing(counted.crashing)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use podinit_core::lifecycle::{Interval, Latency};
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
    fn look(looks: &mut Looks, second: i64, pods: &[Value], events: &[Value]) -> Problems {
        let options =
            DecodeOptions { node: true, images: true, messages: true, ..DecodeOptions::default() };
        let pods = json!({"kind": "PodList", "items": pods}).to_string();
        let pods = PodDecoder::new(options.clone()).list_page(pods.as_bytes()).unwrap();
        let events = json!({"kind": "EventList", "items": events}).to_string();
        let events = EventDecoder::new(options).list_page(events.as_bytes()).unwrap();
        looks.add(Listed {
            pods: vec![(time(second), pods.pods)],
            events: events.events,
            nodes: None,
            unlisted: Vec::new(),
            now: time(second),
        });
        looks.problems()
    }

    fn looks() -> Looks {
        let evidence = ListedEvidence { events: true, nodes: None };
        Looks::new(StuckAfter::default(), &evidence)
    }

    /// Each as "CAUSE PODS since SECOND".
    fn lines(problems: &[crate::inspect::problems::Problem]) -> Vec<String> {
        let second =
            |text: &str| rfc3339::parse(text).unwrap().nanos_since(time(0)) / 1_000_000_000;
        let line = problems.iter();
        line.map(|one| format!("{} {} since {}", one.cause, one.pods, second(&one.since))).collect()
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
        assert_eq!(found.ended[0].ended, Some(stated(150)));
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
        let newest = looks.ends.records(&looks.tracker);
        let took = newest.iter().map(|record| record.duration(Interval::CreatedToReady));
        assert_eq!(took.collect::<Vec<_>>(), [Some(Latency::from_nanos(15_000_000_000))]);
        // One that was ready at the first look is not known to have started well.
        let mut later = self::looks();
        look(&mut later, 20, &[running(15)], &[]);
        assert_eq!(later.ends.records(&later.tracker).len(), 0);
    }
}
