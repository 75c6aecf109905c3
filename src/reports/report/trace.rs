//! The report as a trace in the JSON format of Chrome, which Perfetto reads: a process for each node, a
//! track for each pod and for each container whose image was pulled, and a slice for each stage, step and
//! pull. Format: "Trace Event Format", Google.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::pods::ReportedPod;
use crate::text::strangers_text::escaped_json;
use podinit_core::lifecycle::{Interval, Outcome, Record, Stage, Step};
use podinit_core::timestamp::Timestamp;

/// What pods without a node are shown below.
const NO_NODE: &str = "no node";

/// An event of the trace: times in microseconds.
#[derive(Serialize)]
struct Slice<'a> {
    ph: &'static str,
    pid: usize,
    tid: usize,
    ts: i64,
    dur: i64,
    name: &'a str,
    cat: &'static str,
    args: Value,
}

/// The trace. `end` is the end of the recording, where the slices of what is still open end.
pub(super) fn render(pods: &[ReportedPod], end: Option<Timestamp>) -> serde_json::Result<String> {
    let mut trace = Trace {
        events: Vec::new(),
        tracks: 0,
        end,
    };
    let mut nodes: BTreeMap<Option<Arc<str>>, Vec<(&ReportedPod, &Record)>> = BTreeMap::new();
    for pod in pods {
        if let Some(record) = &pod.record {
            let node = pod.info.node.clone();
            nodes.entry(node).or_default().push((pod, record));
        }
    }
    for (pid, (node, pods)) in nodes.iter().enumerate() {
        let name = node.as_deref().unwrap_or(NO_NODE);
        trace.name("process_name", pid + 1, 0, name);
        for (pod, record) in pods {
            trace.pod(pid + 1, pod, record)?;
        }
    }
    let trace = json!({"displayTimeUnit": "ms", "traceEvents": trace.events});
    Ok(escaped_json(&serde_json::to_string(&trace)?).into_owned() + "\n")
}

struct Trace {
    events: Vec<Value>,
    tracks: usize,
    end: Option<Timestamp>,
}

impl Trace {
    /// Names a process or a track.
    fn name(&mut self, what: &str, pid: usize, tid: usize, name: &str) {
        let event =
            json!({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}});
        self.events.push(event);
    }

    fn track(&mut self, pid: usize, name: &str) -> usize {
        self.tracks += 1;
        self.name("thread_name", pid, self.tracks, name);
        let (tid, sort) = (self.tracks, json!({"sort_index": self.tracks}));
        let event =
            json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_sort_index", "args": sort});
        self.events.push(event);
        tid
    }

    fn pod(&mut self, pid: usize, pod: &ReportedPod, record: &Record) -> serde_json::Result<()> {
        let name = format!("{}/{}", pod.info.namespace, pod.info.name);
        let tid = self.track(pid, &name);
        let (kind, workload) = pod.workload();
        let args = json!({
            "namespace": &*pod.info.namespace,
            "pod": &*pod.info.name,
            "workload": format!("{kind}/{workload}"),
            "outcome": pod.outcome.map_or("in_flight", Outcome::as_str),
        });
        for stage in Stage::ALL {
            let Some((from, to)) = self.span(record, Interval::Stage(stage)) else {
                continue;
            };
            self.slice((pid, tid), stage.as_str(), "stage", (from, to), &args)?;
            for step in Step::ALL.into_iter().filter(|step| step.stage() == stage) {
                let span = self.span(record, Interval::Step(step));
                // What a clock puts outside of its stage would break the nesting.
                let inside = span.map(|(begin, end)| (begin.max(from), end.min(to)));
                if let Some(span) = inside.filter(|(begin, end)| begin < end) {
                    self.slice((pid, tid), step.as_str(), "step", span, &args)?;
                }
            }
        }
        self.pulls(pid, &name, record)
    }

    /// The pulls of a pod. They overlap where a kubelet pulls in parallel, so each has a track.
    fn pulls(&mut self, pid: usize, pod: &str, record: &Record) -> serde_json::Result<()> {
        for pull in &record.pulls {
            if let Some(span) = pull.span() {
                let tid = self.track(pid, &format!("{pod} {} (image)", pull.container));
                let args = json!({"container": &*pull.container, "registry": &*pull.registry});
                self.slice((pid, tid), "image pull", "pull", span, &args)?;
            }
        }
        Ok(())
    }

    fn slice(
        &mut self,
        (pid, tid): (usize, usize),
        name: &str,
        cat: &'static str,
        (from, to): (Timestamp, Timestamp),
        args: &Value,
    ) -> serde_json::Result<()> {
        let slice = Slice {
            ph: "X",
            pid,
            tid,
            ts: micros(from),
            dur: micros(to) - micros(from),
            name,
            cat,
            args: args.clone(),
        };
        self.events.push(serde_json::to_value(slice)?);
        Ok(())
    }

    /// From when to when a pod was in an interval; an open one of a pod in flight lasts until the end of
    /// the recording.
    fn span(&self, record: &Record, interval: Interval) -> Option<(Timestamp, Timestamp)> {
        let span = record.span(interval, self.end);
        span.filter(|(from, to)| from <= to)
    }
}

const fn micros(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(1_000)
}
