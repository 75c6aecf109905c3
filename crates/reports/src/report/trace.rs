//! Traces in the JSON format of Chrome, which Perfetto reads. That of a report has a process for each node, a track
//! for each pod and for each container whose image was pulled, and a slice for each stage, step and pull. Format:
//! "Trace Event Format", Google.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use super::formatting::Names;
use super::pods::ReportedPod;
use podinit_core::lifecycle::{Outcome, Record};
use podinit_core::timestamp::Timestamp;
use podinit_text::strangers_text::escaped_json;

/// What pods without a node are shown below.
const NO_NODE: &str = "no node";

/// A process and a track of it.
type Track = (usize, usize);

/// Writes the trace. `end` is the end of the recording, where the slices of what is still open end.
pub(super) fn write(
    pods: &[ReportedPod],
    end: Option<Timestamp>,
    names: Names,
    to: impl Write,
) -> io::Result<()> {
    let (mut trace, mut tracks) = (Trace::begin(to, &Value::Null)?, 0);
    let mut nodes: BTreeMap<Option<Arc<str>>, Vec<(&ReportedPod, &Record)>> = BTreeMap::new();
    for pod in pods {
        if let Some(record) = &pod.record {
            let node = pod.info.node.clone();
            nodes.entry(node).or_default().push((pod, record));
        }
    }
    for (pid, (node, pods)) in nodes.iter().enumerate() {
        let name = node.as_deref().unwrap_or(NO_NODE);
        trace.name("process_name", (pid + 1, 0), name)?;
        for (pod, record) in pods {
            trace.pod((pid + 1, &mut tracks), pod, record, (end, names))?;
        }
    }
    trace.end().map(drop)
}

/// A trace that is written event by event: it holds one of them.
pub struct Trace<W> {
    to: W,
    /// What stands before the next event
    separator: &'static str,
}

impl<W: Write> Trace<W> {
    /// Begins a trace; `other` is what it says besides its events.
    ///
    /// # Errors
    /// If it cannot be written, as for all that follow.
    pub fn begin(mut to: W, other: &Value) -> io::Result<Self> {
        let other = match other {
            Value::Null => String::new(),
            other => format!(r#""otherData":{},"#, escaped_json(&other.to_string())),
        };
        write!(to, r#"{{"displayTimeUnit":"ms",{other}"traceEvents":["#)?;
        Ok(Self { to, separator: "" })
    }

    /// Ends the trace, and returns what it was written to.
    pub fn end(mut self) -> io::Result<W> {
        self.to.write_all(b"]}\n")?;
        Ok(self.to)
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        let separator = std::mem::replace(&mut self.separator, ",");
        self.to.write_all(separator.as_bytes())?;
        let event = event.to_string();
        self.to.write_all(escaped_json(&event).as_bytes())
    }

    /// Names a process or a track.
    pub fn name(&mut self, what: &str, (pid, tid): Track, name: &str) -> io::Result<()> {
        self.event(
            &json!({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}}),
        )
    }

    /// Adds a slice, whose times are microseconds.
    pub fn slice(
        &mut self,
        (pid, tid): Track,
        (name, category): (&str, &str),
        (from, to): (i64, i64),
        args: Value,
    ) -> io::Result<()> {
        self.event(&json!({
            "ph": "X", "pid": pid, "tid": tid, "ts": from, "dur": (to - from).max(0),
            "name": name, "cat": category, "args": args,
        }))
    }

    fn track(&mut self, (pid, tracks): (usize, &mut usize), name: &str) -> io::Result<Track> {
        *tracks += 1;
        let track = (pid, *tracks);
        self.name("thread_name", track, name)?;
        let (tid, sort) = (*tracks, json!({"sort_index": tracks}));
        let event =
            json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_sort_index", "args": sort});
        self.event(&event)?;
        Ok(track)
    }

    fn pod(
        &mut self,
        (pid, tracks): (usize, &mut usize),
        pod: &ReportedPod,
        record: &Record,
        (end, names): (Option<Timestamp>, Names),
    ) -> io::Result<()> {
        let name = format!("{}/{}", pod.info.namespace, pod.info.name);
        let track = self.track((pid, &mut *tracks), &name)?;
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
            self.slice(track, name, micros(times), args.clone())?;
            for (step, span) in &spans.steps {
                if let Some(times) = span.times().filter(|(from, to)| from < to) {
                    self.slice(track, (step.as_str(), "step"), micros(times), args.clone())?;
                }
            }
        }
        // Pulls overlap where a kubelet pulls in parallel, so each has a track.
        for pull in &record.pulls {
            if let Some(span) = pull.span() {
                let name = format!("{name} {} (image)", pull.container);
                let track = self.track((pid, &mut *tracks), &name)?;
                let args = json!({"container": &*pull.container, "registry": &*pull.registry});
                self.slice(track, ("image pull", "pull"), micros(span), args)?;
            }
        }
        Ok(())
    }
}

const fn micros(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(1_000)
}
