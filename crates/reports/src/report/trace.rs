//! A report as a trace, which Perfetto reads: a process for each node, a track for each pod and for each container whose
//! image was pulled, and a slice for each stage, step and pull.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::ReportedPods;
use super::formatting::IntervalNames;
use super::pods::ReportedPod;
use podinit_core::lifecycle::{Outcome, Record};
use podinit_core::timestamp::Timestamp;
use podinit_text::chrome_trace::ChromeTrace;

/// What pods without a node are shown below.
const NO_NODE: &str = "no node";

/// Writes the trace. `end` is the end of the recording, where the slices of what is still open end.
pub(super) fn write(
    pods: &ReportedPods,
    end: Option<Timestamp>,
    names: IntervalNames,
    to: impl Write,
) -> io::Result<()> {
    let (mut trace, mut tracks) = (ChromeTrace::begin(to, &Value::Null)?, 0);
    for (pid, (node, positions)) in pods.by_node().into_iter().enumerate() {
        let name = node.as_deref().unwrap_or(NO_NODE);
        trace.name("process_name", (pid + 1, 0), name)?;
        for pod in positions.into_iter().filter_map(|position| pods.get(position)) {
            if let Some(record) = &pod.record {
                write_pod(&mut trace, (pid + 1, &mut tracks), &pod, record, (end, names))?;
            }
        }
    }
    trace.end().map(drop)
}

fn write_pod(
    trace: &mut ChromeTrace<impl Write>,
    (pid, tracks): (usize, &mut usize),
    pod: &ReportedPod,
    record: &Record,
    (end, names): (Option<Timestamp>, IntervalNames),
) -> io::Result<()> {
    let name = pod.name();
    let track = trace.track((pid, &mut *tracks), &name)?;
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
        trace.slice(track, name, micros(times), args.clone())?;
        for (step, span) in &spans.steps {
            if let Some(times) = span.times().filter(|(from, to)| from < to) {
                trace.slice(track, (step.as_str(), "step"), micros(times), args.clone())?;
            }
        }
    }
    // Pulls overlap where a kubelet pulls in parallel, so each has a track.
    for pull in &record.pulls {
        if let Some(span) = pull.span() {
            let name = format!("{name} {} (image)", pull.container);
            let track = trace.track((pid, &mut *tracks), &name)?;
            let args = json!({"container": &*pull.container, "registry": &*pull.registry});
            trace.slice(track, ("image pull", "pull"), micros(span), args)?;
        }
    }
    Ok(())
}

const fn micros(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(1_000)
}
