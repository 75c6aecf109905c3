//! Text, line by line.

use super::TextDialect;
use podinit_instruments::{
    ExpositionEncoder, FamilyHead, HistogramSnapshot, LabelPair, MetricType, SampleNumber,
};

pub(super) struct Reference {
    open: bool,
    name: String,
    /// Of each family: what stands before its samples, and these
    families: Vec<(String, Vec<String>)>,
}

impl Reference {
    pub(super) fn new(dialect: TextDialect) -> Self {
        Self {
            open: dialect == TextDialect::OpenMetrics,
            name: String::new(),
            families: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> String {
        let mut text = String::new();
        for (head, samples) in self.families {
            if !samples.is_empty() {
                text += &(head + &samples.concat());
            }
        }
        if self.open {
            text += "# EOF\n";
        }
        text
    }

    fn float(&self, value: f64) -> String {
        match value {
            f64::INFINITY => "+Inf".to_owned(),
            f64::NEG_INFINITY => "-Inf".to_owned(),
            _ if self.open => format!("{value:?}"),
            _ => format!("{value}"),
        }
    }

    fn sample(&mut self, suffix: &str, labels: &[LabelPair<'_>], value: &str) {
        let labels = match labels {
            [] => String::new(),
            labels => format!("{{{}}}", written(labels)),
        };
        let line = format!("{}{suffix}{labels} {value}\n", self.name);
        self.families.last_mut().unwrap().1.push(line);
    }
}

fn written(labels: &[LabelPair<'_>]) -> String {
    let label = |(name, value): &LabelPair<'_>| format!("{name}=\"{}\"", escaped(value, true));
    let labels: Vec<String> = labels.iter().map(label).collect();
    labels.join(",")
}

fn escaped(text: &str, quotes: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    match quotes {
        true => text.replace('"', "\\\""),
        false => text,
    }
}

impl ExpositionEncoder for Reference {
    fn family(&mut self, head: FamilyHead<'_>) {
        self.name = head.name.to_owned();
        let (mut name, mut kind) = (head.name, head.kind.as_str());
        if self.open && head.kind == MetricType::Counter {
            name = name.strip_suffix("_total").unwrap_or(name);
        }
        if self.open && head.kind == MetricType::Untyped {
            kind = "unknown";
        }
        let help = escaped(head.help, self.open);
        let mut text = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        if let (true, Some(unit)) = (self.open, head.unit) {
            text += &format!("# UNIT {name} {unit}\n");
        }
        self.families.push((text, Vec::new()));
    }

    fn number(&mut self, labels: &[LabelPair<'_>], value: SampleNumber) {
        let value = match value {
            SampleNumber::Integer(value) => value.to_string(),
            SampleNumber::Float(value) => self.float(value),
        };
        self.sample("", labels, &value);
    }

    fn wants_exemplars(&self) -> bool {
        self.open
    }

    fn histogram(&mut self, labels: &[LabelPair<'_>], snapshot: &HistogramSnapshot) {
        let bounds = snapshot.buckets().shown();
        for (position, (bound, count)) in bounds.zip(snapshot.classic()).enumerate() {
            let le = self.float(bound);
            let labels = [labels, &[("le", &*le)]].concat();
            let exemplar = snapshot.exemplar(position).map(|exemplar| {
                let labels: Vec<LabelPair<'_>> = exemplar.labels().collect();
                let value = self.float(exemplar.value().as_seconds_f64());
                let at = self.float(exemplar.at().as_seconds_f64());
                format!(" # {{{}}} {value} {at}", written(&labels))
            });
            let exemplar = exemplar.unwrap_or_default();
            self.sample("_bucket", &labels, &format!("{count}{exemplar}"));
        }
        let sum = self.float(snapshot.sum());
        self.sample("_sum", labels, &sum);
        self.sample("_count", labels, &snapshot.count().to_string());
    }
}
