//! Traces in the JSON format of Chrome, which Perfetto reads. That of a report has a process for each node, a track
//! for each pod and for each container whose image was pulled, and a slice for each stage, step and pull. Format:
//! "Trace Event Format", Google.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::formatting::Names;
use super::pods::ReportedPod;
use crate::text::strangers_text::escaped_json;
use podinit_core::lifecycle::{Outcome, Record};
use podinit_core::timestamp::Timestamp;

/// What pods without a node are shown below.
const NO_NODE: &str = "no node";

/// A process and a track of it.
type Track = (usize, usize);

/// The trace. `end` is the end of the recording, where the slices of what is still open end.
pub(super) fn render(
    pods: &[ReportedPod],
    end: Option<Timestamp>,
    names: Names,
) -> serde_json::Result<String> {
    let (mut trace, mut tracks) = (Trace::default(), 0);
    let mut nodes: BTreeMap<Option<Arc<str>>, Vec<(&ReportedPod, &Record)>> = BTreeMap::new();
    for pod in pods {
        if let Some(record) = &pod.record {
            let node = pod.info.node.clone();
            nodes.entry(node).or_default().push((pod, record));
        }
    }
    for (pid, (node, pods)) in nodes.iter().enumerate() {
        let name = node.as_deref().unwrap_or(NO_NODE);
        trace.name("process_name", (pid + 1, 0), name);
        for (pod, record) in pods {
            trace.pod((pid + 1, &mut tracks), pod, record, (end, names));
        }
    }
    trace.into_json(&Value::Null)
}

/// The events of a trace.
#[derive(Default)]
pub(crate) struct Trace(Vec<Value>);

impl Trace {
    /// Names a process or a track.
    pub(crate) fn name(&mut self, what: &str, (pid, tid): Track, name: &str) {
        let event =
            json!({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}});
        self.0.push(event);
    }

    /// Adds a slice, whose times are microseconds.
    pub(crate) fn slice(
        &mut self,
        (pid, tid): Track,
        (name, category): (&str, &str),
        (from, to): (i64, i64),
        args: Value,
    ) {
        self.0.push(json!({
            "ph": "X", "pid": pid, "tid": tid, "ts": from, "dur": (to - from).max(0),
            "name": name, "cat": category, "args": args,
        }));
    }

    /// The trace as JSON; `other` is what else it says.
    ///
    /// # Errors
    /// None: every trace can be serialized.
    pub(crate) fn into_json(self, other: &Value) -> serde_json::Result<String> {
        let mut trace = json!({"displayTimeUnit": "ms", "traceEvents": self.0});
        if !other.is_null() {
            trace["otherData"] = other.clone();
        }
        Ok(escaped_json(&serde_json::to_string(&trace)?).into_owned() + "\n")
    }

    fn track(&mut self, (pid, tracks): (usize, &mut usize), name: &str) -> Track {
        *tracks += 1;
        let track = (pid, *tracks);
        self.name("thread_name", track, name);
        let (tid, sort) = (*tracks, json!({"sort_index": tracks}));
        let event =
            json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_sort_index", "args": sort});
        self.0.push(event);
        track
    }

    fn pod(
        &mut self,
        (pid, tracks): (usize, &mut usize),
        pod: &ReportedPod,
        record: &Record,
        (end, names): (Option<Timestamp>, Names),
    ) {
        let name = format!("{}/{}", pod.info.namespace, pod.info.name);
        let track = self.track((pid, &mut *tracks), &name);
        let (kind, workload) = pod.workload();
        let args = json!({
            "namespace": &*pod.info.namespace,
            "pod": &*pod.info.name,
            "workload": format!("{kind}/{workload}"),
            "outcome": pod.outcome.map_or("in_flight", Outcome::as_str),
        });
        let micros = |(from, to): (Timestamp, Timestamp)| (micros(from), micros(to));
        // What a startup that has ended left open never ends.
        for spans in record.timeline(end.filter(|_| record.outcome().is_none())) {
            let Some(times) = spans.whole.times().filter(|(from, to)| from <= to) else {
                continue;
            };
            let name = (names.name(spans.stage.as_str()), "stage");
            self.slice(track, name, micros(times), args.clone());
            for (step, span) in &spans.steps {
                if let Some(times) = span.times().filter(|(from, to)| from < to) {
                    self.slice(track, (step.as_str(), "step"), micros(times), args.clone());
                }
            }
        }
        // Pulls overlap where a kubelet pulls in parallel, so each has a track.
        for pull in &record.pulls {
            if let Some(span) = pull.span() {
                let name = format!("{name} {} (image)", pull.container);
                let track = self.track((pid, &mut *tracks), &name);
                let args = json!({"container": &*pull.container, "registry": &*pull.registry});
                self.slice(track, ("image pull", "pull"), micros(span), args);
            }
        }
    }
}

const fn micros(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(1_000)
}
