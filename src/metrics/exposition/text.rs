//! The two text formats: Prometheus text 0.0.4 and OpenMetrics 1.0.
//!
//! They differ in more than the last line. OpenMetrics names a counter's family without `_total`,
//! states units, carries exemplars, writes floats with a point and ends in `# EOF`; 0.0.4 has none
//! of that, and a strict 0.0.4 parser refuses it.

use std::fmt::{self, Write};

use crate::instruments::{Encoder, Head, Kind, Label, Number};
use crate::metrics::exemplar::Exemplar;
use crate::metrics::histogram::HistogramEncoder;
use crate::metrics::histogram::Snapshot;
use crate::metrics::layout::CLASSIC_BOUNDS;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Prometheus,
    OpenMetrics,
}

/// Writes text. Writing to a `String` cannot fail, so results of `write!` are ignored here.
#[derive(Debug)]
pub(super) struct Text {
    dialect: Dialect,
    out: String,
    /// The name of the present family, as its samples bear it.
    name: String,
    /// Where the present family begins, and where its samples do.
    start: usize,
    samples: usize,
    /// The labels of the series in hand, escaped.
    labels: String,
}

impl Text {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            out: String::new(),
            name: String::new(),
            start: 0,
            samples: 0,
            labels: String::new(),
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.drop_empty_family();
        if self.dialect == Dialect::OpenMetrics {
            self.out.push_str("# EOF\n");
        }
        self.out.into_bytes()
    }

    fn drop_empty_family(&mut self) {
        if self.out.len() == self.samples {
            self.out.truncate(self.start);
        }
    }

    fn set_labels(&mut self, labels: &[Label<'_>]) {
        self.labels.clear();
        write_labels(&mut self.labels, labels.iter().copied());
    }

    /// Writes a sample without the end of its line.
    fn sample(&mut self, suffix: &str, le: Option<fmt::Arguments<'_>>, value: impl fmt::Display) {
        let Self {
            out, name, labels, ..
        } = self;
        out.push_str(name);
        out.push_str(suffix);
        if let Some(le) = le {
            let comma = if labels.is_empty() { "" } else { "," };
            let _ = write!(out, "{{{labels}{comma}le=\"{le}\"}}");
        } else if !labels.is_empty() {
            let _ = write!(out, "{{{labels}}}");
        }
        let _ = write!(out, " {value}");
    }

    fn bucket(&mut self, bound: f64, count: u64) {
        match self.dialect {
            _ if bound.is_infinite() => self.sample("_bucket", Some(format_args!("+Inf")), count),
            Dialect::Prometheus => self.sample("_bucket", Some(format_args!("{bound}")), count),
            Dialect::OpenMetrics => self.sample("_bucket", Some(format_args!("{bound:?}")), count),
        }
    }

    fn exemplar(&mut self, exemplar: &Exemplar) {
        self.out.push_str(" # {");
        write_labels(&mut self.out, exemplar.labels());
        let value = exemplar.value().as_seconds_f64();
        let at = exemplar.at().as_seconds_f64();
        let _ = write!(self.out, "}} {value:?} {at:?}");
    }
}

impl Encoder for Text {
    fn family(&mut self, head: Head<'_>) {
        self.drop_empty_family();
        self.start = self.out.len();
        self.name.clear();
        self.name.push_str(head.name);

        let open = self.dialect == Dialect::OpenMetrics;
        let is_counter = head.kind == Kind::Counter;
        let name = match head.name.strip_suffix("_total") {
            Some(name) if open && is_counter => name,
            _ => head.name,
        };
        let kind = match head.kind {
            Kind::Untyped if open => "unknown",
            kind => kind.as_str(),
        };
        let _ = write!(self.out, "# HELP {name} ");
        escape(&mut self.out, head.help, open);
        let _ = write!(self.out, "\n# TYPE {name} {kind}\n");
        if let Some(unit) = head.unit.filter(|_| open) {
            let _ = writeln!(self.out, "# UNIT {name} {unit}");
        }
        self.samples = self.out.len();
    }

    fn number(&mut self, labels: &[Label<'_>], value: Number) {
        self.set_labels(labels);
        match (value, self.dialect) {
            (Number::Integer(value), _) => self.sample("", None, value),
            (Number::Float(value), dialect) => self.sample("", None, Float(value, dialect)),
        }
        self.out.push('\n');
    }
}

impl HistogramEncoder for Text {
    fn wants_exemplars(&self) -> bool {
        self.dialect == Dialect::OpenMetrics
    }

    fn histogram(&mut self, labels: &[Label<'_>], snapshot: &Snapshot) {
        self.set_labels(labels);
        let bounds = CLASSIC_BOUNDS.into_iter().chain([f64::INFINITY]);
        for (position, (bound, count)) in bounds.zip(snapshot.classic()).enumerate() {
            self.bucket(bound, count);
            if self.dialect == Dialect::OpenMetrics
                && let Some(exemplar) = snapshot.exemplar(position)
            {
                self.exemplar(exemplar);
            }
            self.out.push('\n');
        }
        self.sample("_sum", None, Float(snapshot.sum(), self.dialect));
        self.out.push('\n');
        self.sample("_count", None, snapshot.count());
        self.out.push('\n');
    }
}

/// A float: in 0.0.4 whole numbers have no point, in OpenMetrics they do.
struct Float(f64, Dialect);

impl fmt::Display for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(value, _) if value.is_infinite() && *value > 0.0 => f.write_str("+Inf"),
            Self(value, _) if value.is_infinite() => f.write_str("-Inf"),
            Self(value, Dialect::Prometheus) => write!(f, "{value}"),
            Self(value, Dialect::OpenMetrics) => write!(f, "{value:?}"),
        }
    }
}

fn write_labels<'a>(out: &mut String, labels: impl Iterator<Item = Label<'a>>) {
    for (position, (name, value)) in labels.enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value, true);
        out.push('"');
    }
}

/// Escapes a label value, or a help text, in which 0.0.4 does not escape quotes.
fn escape(out: &mut String, text: &str, quotes: bool) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            other => out.push(other),
        }
    }
}
