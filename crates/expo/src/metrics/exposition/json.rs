//! JSON, for scripts. Podinit's own shape, which stays as it is:
//!
//! ```json
//! [
//!   {"name": "podinit_pods_finished_total", "help": "…", "type": "counter",
//!    "metrics": [{"labels": {"outcome": "ready"}, "value": 3}]},
//!   {"name": "podinit_created_to_ready_duration_seconds", "help": "…", "type": "histogram",
//!    "metrics": [{"labels": {"namespace": "a"}, "count": 2, "sum": 5.0,
//!                 "buckets": {"0.5": 0, "1": 0, "2": 1, "3": 2, "+Inf": 2}}]}
//! ]
//! ```
//!
//! Names are those of Prometheus; bucket counts are cumulative, with all of the classic bounds; a
//! value that JSON cannot state (not finite) is `null`.

use std::fmt::Write;

use serde_json::Value;

use podinit_instruments::{
    ExpositionEncoder, FamilyHead, HistogramSnapshot, LabelPair, SampleNumber,
};

/// Writes JSON, one family to a line. Members are written one by one, since their order would
/// otherwise depend on how serde_json was built; writing to a `String` cannot fail.
#[derive(Debug, Default)]
pub(super) struct JsonEncoder {
    out: String,
    family: String,
    series: usize,
}

impl JsonEncoder {
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end_family();
        if self.out.is_empty() {
            return b"[]\n".to_vec();
        }
        self.out.push_str("\n]\n");
        self.out.into_bytes()
    }

    fn end_family(&mut self) {
        if self.series > 0 {
            let opening = if self.out.is_empty() { "[\n" } else { ",\n" };
            let _ = write!(self.out, "{opening}{}]}}", self.family);
        }
        self.series = 0;
    }

    /// Begins a series: its labels.
    fn series(&mut self, labels: &[LabelPair<'_>]) {
        if self.series > 0 {
            self.family.push(',');
        }
        self.series += 1;
        self.family.push_str(r#"{"labels":{"#);
        for (position, (name, value)) in labels.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            let (name, value) = (Value::from(*name), Value::from(*value));
            let _ = write!(self.family, "{comma}{name}:{value}");
        }
        self.family.push('}');
    }
}

impl ExpositionEncoder for JsonEncoder {
    fn family(&mut self, head: FamilyHead<'_>) {
        self.end_family();
        let (name, help) = (Value::from(head.name), Value::from(head.help));
        let kind = head.kind.as_str();
        self.family = format!(r#"{{"name":{name},"help":{help},"type":"{kind}","metrics":["#);
    }

    fn number(&mut self, labels: &[LabelPair<'_>], value: SampleNumber) {
        self.series(labels);
        let value = match value {
            SampleNumber::Integer(value) => Value::from(value),
            SampleNumber::Float(value) => Value::from(value),
        };
        let _ = write!(self.family, r#","value":{value}}}"#);
    }

    fn wants_exemplars(&self) -> bool {
        false
    }

    fn histogram(&mut self, labels: &[LabelPair<'_>], snapshot: &HistogramSnapshot) {
        self.series(labels);
        let (count, sum) = (snapshot.count(), Value::from(snapshot.sum()));
        let _ = write!(self.family, r#","count":{count},"sum":{sum},"buckets":{{"#);
        let buckets = snapshot.classic();
        for (bound, bucket) in snapshot.buckets().bounds().iter().zip(buckets) {
            let _ = write!(self.family, r#""{bound}":{bucket},"#);
        }
        let _ = write!(self.family, r#""+Inf":{count}}}}}"#);
    }
}
