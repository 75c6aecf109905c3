//! An explanation as a trace in the JSON format of Chrome, which Perfetto reads: a track for the stages, one
//! for each step and image pull below. Format: "Trace Event Format", Google.

use serde_json::{Value, json};

use super::explanation::Explanation;
use super::waterfall::Row;
use crate::text::strangers_text::escaped_json;
use podinit_decode::rfc3339;

/// The only process of the trace: the pod.
const POD: usize = 1;
/// The track of the stages. What is inside of them has tracks of its own, since it may overlap.
const STAGES: usize = 1;

impl Explanation {
    /// The explanation as a trace for Perfetto and Chrome.
    ///
    /// # Errors
    /// None: every explanation can be serialized.
    pub fn to_trace(&self) -> serde_json::Result<String> {
        render(self)
    }
}

fn render(explanation: &Explanation) -> serde_json::Result<String> {
    let began = rfc3339::parse(&explanation.began);
    let began = began.map_or(0, |at| at.as_nanos() / 1_000);
    let pod = format!("{}/{}", explanation.namespace, explanation.name);
    let mut events = vec![
        name("process_name", 0, &pod),
        name("thread_name", STAGES, "stages"),
    ];
    for (number, row) in explanation.rows.iter().enumerate() {
        let track = if row.is_inside { number + 2 } else { STAGES };
        if let Some(slice) = slice(row, track, began) {
            if row.is_inside {
                events.push(name("thread_name", track, &row.label));
            }
            events.push(slice);
        }
    }
    let trace = json!({
        "displayTimeUnit": "ms",
        "otherData": {"verdict": explanation.verdict},
        "traceEvents": events,
    });
    Ok(escaped_json(&serde_json::to_string(&trace)?).into_owned() + "\n")
}

/// Names the process or a track.
fn name(what: &str, track: usize, name: &str) -> Value {
    json!({"ph": "M", "pid": POD, "tid": track, "name": what, "args": {"name": name}})
}

/// The slice of a row, in microseconds; `None` where it is not known when it was.
fn slice(row: &Row, track: usize, began: i64) -> Option<Value> {
    let micros = |seconds: f64| (seconds * 1e6).round() as i64;
    let (from, to) = (micros(row.from_seconds?), micros(row.to_seconds?));
    Some(json!({
        "ph": "X", "pid": POD, "tid": track, "ts": began + from, "dur": (to - from).max(0),
        "name": row.label, "cat": row.stage, "args": {"open": row.is_open},
    }))
}
