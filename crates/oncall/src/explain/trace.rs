//! An explanation as a trace: a track for the stages, one for each step and image pull below.

use std::io;

use serde_json::json;

use super::explanation::Explanation;
use super::waterfall::WaterfallRow;
use podinit_text::chrome_trace::ChromeTrace;

/// The only process of the trace: the pod.
const POD: usize = 1;
/// The track of the stages. What is inside of them has tracks of its own, since it may overlap.
const STAGES: (usize, usize) = (POD, 1);

impl Explanation {
    /// The explanation as a trace for Perfetto and Chrome.
    ///
    /// # Errors
    /// None: every explanation can be written to memory.
    pub fn to_trace(&self) -> io::Result<String> {
        let began = self.began.as_nanos() / 1_000;
        let mut trace = ChromeTrace::begin(Vec::new(), &json!({"verdict": self.verdict}))?;
        let pod = format!("{}/{}", self.namespace, self.name);
        trace.name("process_name", (POD, 0), &pod)?;
        trace.name("thread_name", STAGES, "stages")?;
        for (number, row) in self.rows.iter().enumerate() {
            let Some(times) = micros(row, began) else {
                continue;
            };
            let track = if row.is_inside { (POD, number + 2) } else { STAGES };
            if row.is_inside {
                trace.name("thread_name", track, &row.label)?;
            }
            trace.slice(track, (&row.label, row.stage), times, json!({"open": row.is_open}))?;
        }
        String::from_utf8(trace.end()?).map_err(io::Error::other)
    }
}

/// When a row was, in microseconds; `None` where that is not known.
fn micros(row: &WaterfallRow, began: i64) -> Option<(i64, i64)> {
    let micros = |seconds: f64| began + (seconds * 1e6).round() as i64;
    Some((micros(row.from_seconds?), micros(row.to_seconds?)))
}
