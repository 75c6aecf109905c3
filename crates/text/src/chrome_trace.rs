//! Traces in the JSON format of Chrome, which Perfetto reads. Format: "Trace Event Format", Google.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::strangers_text::escaped_json;

/// A process and a track of it.
type TraceTrack = (usize, usize);

/// A trace that is written event by event: it holds one of them.
pub struct ChromeTrace<W> {
    to: W,
    /// What stands before the next event
    separator: &'static str,
}

impl<W: Write> ChromeTrace<W> {
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
    pub fn name(&mut self, what: &str, (pid, tid): TraceTrack, name: &str) -> io::Result<()> {
        self.event(
            &json!({"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": name}}),
        )
    }

    /// Adds a slice, whose times are microseconds.
    pub fn slice(
        &mut self,
        (pid, tid): TraceTrack,
        (name, category): (&str, &str),
        (from, to): (i64, i64),
        args: Value,
    ) -> io::Result<()> {
        self.event(&json!({
            "ph": "X", "pid": pid, "tid": tid, "ts": from, "dur": (to - from).max(0),
            "name": name, "cat": category, "args": args,
        }))
    }

    /// Adds a track to a process, after those that it has.
    ///
    /// # Errors
    /// Those of [`ChromeTrace::begin`].
    pub fn track(
        &mut self,
        (pid, tracks): (usize, &mut usize),
        name: &str,
    ) -> io::Result<TraceTrack> {
        *tracks += 1;
        let track = (pid, *tracks);
        self.name("thread_name", track, name)?;
        let (tid, sort) = (*tracks, json!({"sort_index": tracks}));
        let event =
            json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_sort_index", "args": sort});
        self.event(&event)?;
        Ok(track)
    }
}
