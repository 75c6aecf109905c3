//! The two text formats: Prometheus text 0.0.4 and OpenMetrics 1.0.
//!
//! They differ in more than the last line. OpenMetrics names a counter's family without `_total`,
//! states units, carries exemplars, writes floats with a point and ends in `# EOF`; 0.0.4 has none
//! of that, and a strict 0.0.4 parser refuses it.

use std::fmt::{self, Write};
use std::sync::LazyLock;

use podinit_histogram::layout::ClassicBuckets;
use podinit_instruments::{
    Exemplar, ExpositionEncoder, FamilyHead, HistogramSnapshot, LabelPair, MetricType, SampleNumber,
};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextDialect {
    Prometheus,
    OpenMetrics,
}

impl TextDialect {
    /// What stands between `le="` and the counts of the classic buckets.
    fn bounds(self, buckets: ClassicBuckets) -> &'static [String] {
        type Bounds = LazyLock<[Vec<String>; ClassicBuckets::ALL.len()]>;
        static PROMETHEUS: Bounds = LazyLock::new(|| written_bounds(TextDialect::Prometheus));
        static OPEN_METRICS: Bounds = LazyLock::new(|| written_bounds(TextDialect::OpenMetrics));
        let bounds = match self {
            Self::Prometheus => &PROMETHEUS,
            Self::OpenMetrics => &OPEN_METRICS,
        };
        &bounds[buckets as usize]
    }
}

fn written_bounds(dialect: TextDialect) -> [Vec<String>; ClassicBuckets::ALL.len()] {
    ClassicBuckets::ALL.map(|buckets| {
        let bounds =
            buckets.shown().map(|bound| format!("{}\"}} ", FormattedFloat(bound, dialect)));
        bounds.collect()
    })
}

/// Writes text. Writing to a `String` cannot fail, so results of `write!` are ignored here.
#[derive(Debug)]
pub(super) struct TextEncoder {
    dialect: TextDialect,
    out: String,
    /// The name of the present family, as its samples bear it.
    name: String,
    /// Where the present family begins, and where its samples do.
    start: usize,
    samples: usize,
    /// The labels of the series in hand, escaped.
    labels: String,
    /// What the samples of its buckets have in common.
    bucket: String,
}

impl TextEncoder {
    /// With room for `capacity` bytes.
    pub(super) fn with_capacity(dialect: TextDialect, capacity: usize) -> Self {
        Self {
            dialect,
            out: String::with_capacity(capacity),
            name: String::new(),
            start: 0,
            samples: 0,
            labels: String::new(),
            bucket: String::new(),
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.drop_empty_family();
        if self.dialect == TextDialect::OpenMetrics {
            self.out.push_str("# EOF\n");
        }
        self.out.into_bytes()
    }

    fn drop_empty_family(&mut self) {
        if self.out.len() == self.samples {
            self.out.truncate(self.start);
        }
    }

    fn set_labels(&mut self, labels: &[LabelPair<'_>]) {
        self.labels.clear();
        write_labels(&mut self.labels, labels.iter().copied());
    }

    /// Writes a sample up to its value.
    fn sample(&mut self, suffix: &str) {
        self.out.push_str(&self.name);
        self.out.push_str(suffix);
        if !self.labels.is_empty() {
            self.out.push('{');
            self.out.push_str(&self.labels);
            self.out.push('}');
        }
        self.out.push(' ');
    }

    /// Writes the buckets, whose samples differ in bound and count alone.
    fn buckets(&mut self, snapshot: &HistogramSnapshot) {
        let open = self.dialect == TextDialect::OpenMetrics;
        let comma = if self.labels.is_empty() { "" } else { "," };
        self.bucket.clear();
        for part in [&self.name, "_bucket{", &self.labels, comma, "le=\""] {
            self.bucket.push_str(part);
        }
        let mut count = DecimalDigits::new(0);
        let buckets = self.dialect.bounds(snapshot.buckets()).iter().zip(snapshot.classic());
        for (position, (bound, bucket)) in buckets.enumerate() {
            if bucket != count.value {
                count = DecimalDigits::new(bucket);
            }
            self.out.push_str(&self.bucket);
            self.out.push_str(bound);
            self.out.push_str(count.as_str());
            if let Some(exemplar) = snapshot.exemplar(position).filter(|_| open) {
                self.exemplar(exemplar);
            }
            self.out.push('\n');
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

impl ExpositionEncoder for TextEncoder {
    fn family(&mut self, head: FamilyHead<'_>) {
        self.drop_empty_family();
        self.start = self.out.len();
        self.name.clear();
        self.name.push_str(head.name);

        let open = self.dialect == TextDialect::OpenMetrics;
        let is_counter = head.kind == MetricType::Counter;
        let name = match head.name.strip_suffix("_total") {
            Some(name) if open && is_counter => name,
            _ => head.name,
        };
        let kind = match head.kind {
            MetricType::Untyped if open => "unknown",
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

    fn number(&mut self, labels: &[LabelPair<'_>], value: SampleNumber) {
        self.set_labels(labels);
        self.sample("");
        let _ = match value {
            SampleNumber::Integer(value) => writeln!(self.out, "{value}"),
            SampleNumber::Float(value) => {
                writeln!(self.out, "{}", FormattedFloat(value, self.dialect))
            }
        };
    }

    fn wants_exemplars(&self) -> bool {
        self.dialect == TextDialect::OpenMetrics
    }

    fn histogram(&mut self, labels: &[LabelPair<'_>], snapshot: &HistogramSnapshot) {
        self.set_labels(labels);
        self.buckets(snapshot);
        self.sample("_sum");
        let _ = writeln!(self.out, "{}", FormattedFloat(snapshot.sum(), self.dialect));
        self.sample("_count");
        let _ = writeln!(self.out, "{}", snapshot.count());
    }
}

/// A whole number in decimal digits.
struct DecimalDigits {
    value: u64,
    /// The digits, at the end; zeros before them
    text: [u8; Self::MOST],
    length: usize,
}

impl DecimalDigits {
    /// `u64::MAX` has so many.
    const MOST: usize = 20;

    fn new(value: u64) -> Self {
        let mut text = [b'0'; Self::MOST];
        let (mut rest, mut length) = (value, 0);
        for digit in text.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            (rest, length) = (rest / 10, length + 1);
            if rest == 0 {
                break;
            }
        }
        Self { value, text, length }
    }

    fn as_str(&self) -> &str {
        // ASCII.
        str::from_utf8(&self.text[Self::MOST - self.length..]).unwrap_or_default()
    }
}

/// A float: in 0.0.4 whole numbers have no point, in OpenMetrics they do.
struct FormattedFloat(f64, TextDialect);

impl fmt::Display for FormattedFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(value, _) if value.is_infinite() && *value > 0.0 => f.write_str("+Inf"),
            Self(value, _) if value.is_infinite() => f.write_str("-Inf"),
            Self(value, TextDialect::Prometheus) => write!(f, "{value}"),
            Self(value, TextDialect::OpenMetrics) => write!(f, "{value:?}"),
        }
    }
}

fn write_labels<'a>(out: &mut String, labels: impl Iterator<Item = LabelPair<'a>>) {
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
