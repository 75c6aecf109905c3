//! One promtool unit test.
//!
//! Input series have a sample a minute, and the rules are evaluated every minute. Tests that care about
//! some alerts of a name only query the series `ALERTS`.

use serde::Serialize;

use super::super::options::RenderOptions;
use super::super::rule_file;
use super::super::rule_file::{AlertRule, YamlPairs};
use podinit_slo::SloFile;

/// What the tests are generated from.
#[derive(Clone, Copy, Debug)]
pub(super) struct TestInputs<'a> {
    pub(super) file: &'a SloFile,
    pub(super) options: &'a RenderOptions,
}

/// A scrape target, in one of the clusters whose metrics Prometheus has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) cluster: &'static str,
    pub(super) number: u8,
}

/// The exporter.
pub(super) const FIRST: Target = Target { cluster: "here", number: 1 };
/// An exporter that runs after the first one, or beside it.
pub(super) const SECOND: Target = Target { number: 2, ..FIRST };
/// An exporter in another cluster.
pub(super) const ELSEWHERE: Target = Target { cluster: "there", ..FIRST };

#[derive(Debug, Serialize)]
pub(super) struct Test {
    /// The label `job` of the exporter
    #[serde(skip)]
    job: String,
    name: String,
    interval: &'static str,
    input_series: Vec<InputSeries>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alert_rule_test: Vec<AlertCheck>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    promql_expr_test: Vec<ExpressionCheck>,
}

#[derive(Debug, Serialize)]
pub(super) struct InputSeries {
    series: String,
    values: String,
}

/// Which alerts of one name fire at a time.
#[derive(Debug, Serialize)]
pub(super) struct AlertCheck {
    eval_time: String,
    alertname: &'static str,
    exp_alerts: Vec<ExpectedAlert>,
}

#[derive(Debug, Serialize)]
pub(super) struct ExpectedAlert {
    #[serde(rename = "exp_labels", serialize_with = "rule_file::map")]
    labels: YamlPairs,
    #[serde(rename = "exp_annotations", serialize_with = "rule_file::map")]
    annotations: YamlPairs,
}

/// Which samples an expression has at a time.
#[derive(Debug, Serialize)]
pub(super) struct ExpressionCheck {
    eval_time: String,
    expr: String,
    exp_samples: Vec<ExpectedSample>,
}

#[derive(Debug, Serialize)]
pub(super) struct ExpectedSample {
    labels: &'static str,
    value: usize,
}

fn eval_time(minute: u64) -> String {
    format!("{minute}m")
}

impl Test {
    /// Adds an input series of a target; `own` are further labels.
    pub(super) fn given(
        mut self,
        metric: &str,
        target: Target,
        own: &str,
        values: impl Into<String>,
    ) -> Self {
        let Target { cluster, number } = target;
        let job = &self.job;
        let comma = if own.is_empty() { "" } else { ", " };
        let labels = format!(
            "cluster=\"{cluster}\", instance=\"10.0.0.{number}:8080\", job=\"{job}\", \
             namespace=\"monitoring\", pod=\"podinit-{number}\"{comma}{own}"
        );
        self.input_series
            .push(InputSeries { series: format!("{metric}{{{labels}}}"), values: values.into() });
        self
    }

    /// No alert of that name fires.
    pub(super) fn silent(self, minute: u64, alert: &'static str) -> Self {
        self.fires(minute, alert, vec![])
    }

    /// Exactly these alerts of that name fire.
    pub(super) fn fires(
        mut self,
        minute: u64,
        alertname: &'static str,
        exp_alerts: Vec<ExpectedAlert>,
    ) -> Self {
        self.alert_rule_test.push(AlertCheck {
            eval_time: eval_time(minute),
            alertname,
            exp_alerts,
        });
        self
    }

    /// `count` alerts with these labels fire.
    pub(super) fn counts(self, minute: u64, matchers: &str, count: usize) -> Self {
        let expr = format!("count(ALERTS{{alertstate=\"firing\", {matchers}}})");
        self.evaluates(minute, expr, count)
    }

    /// An expression without labels has this value; no samples where it is 0.
    pub(super) fn evaluates(mut self, minute: u64, expr: String, value: usize) -> Self {
        let sample = (value > 0).then_some(ExpectedSample { labels: "{}", value });
        self.promql_expr_test.push(ExpressionCheck {
            eval_time: eval_time(minute),
            expr,
            exp_samples: sample.into_iter().collect(),
        });
        self
    }
}

impl TestInputs<'_> {
    /// A test of that name, so far without series.
    pub(super) fn test(self, name: impl Into<String>) -> Test {
        Test {
            job: self.options.job.clone(),
            name: name.into(),
            interval: "1m",
            input_series: Vec::new(),
            alert_rule_test: Vec::new(),
            promql_expr_test: Vec::new(),
        }
    }

    /// The firing alert, with the labels `own` from its expression and with `value` for `$value` in its
    /// annotations. Its queries find nothing.
    pub(super) fn expected(self, alert: &AlertRule, own: &YamlPairs, value: &str) -> ExpectedAlert {
        self.expected_with(alert, own, value, &[])
    }

    /// The same, with what the alert's queries find: the lists in its annotations, in their order, and in brackets what
    /// its summary names.
    pub(super) fn expected_with(
        self,
        alert: &AlertRule,
        own: &YamlPairs,
        value: &str,
        found: &[&str],
    ) -> ExpectedAlert {
        let mut labels = alert.all_labels();
        labels.extend(own.iter().cloned());
        let annotations = alert.annotations(self.options).into_iter();
        let filled = annotations.map(|(key, text)| (key, fill(&text, &labels, value, found)));
        ExpectedAlert { annotations: filled.collect(), labels }
    }

    /// The labels of the first target that remain after aggregation over the namespaces of pods.
    pub(super) fn lasting_of_pods(self) -> YamlPairs {
        vec![("cluster", FIRST.cluster.to_owned()), ("job", self.options.job.clone())]
    }

    /// The labels of the first target that remain after aggregation.
    pub(super) fn lasting(self) -> YamlPairs {
        vec![
            ("cluster", FIRST.cluster.to_owned()),
            ("job", self.options.job.clone()),
            ("namespace", "monitoring".to_owned()),
        ]
    }
}

/// Expands `$labels` and `$value` in an annotation, and puts `found` in the place of its queries.
fn fill(template: &str, labels: &YamlPairs, value: &str, found: &[&str]) -> String {
    let mut text = template.to_owned();
    let (bracketed, lists): (Vec<&str>, Vec<&str>) =
        found.iter().partition(|text| text.starts_with(" ("));
    for (begin, end, found) in [
        ("{{ with query", "{{ end }}.{{ end }}", lists),
        ("{{ range query", " pods){{ end }}", bracketed),
    ] {
        let mut found = found.into_iter();
        while let Some(start) = text.find(begin)
            && let Some(length) = text[start..].find(end)
        {
            text.replace_range(start..start + length + end.len(), found.next().unwrap_or(""));
        }
    }
    for (name, label) in labels {
        text = text.replace(&format!("{{{{ $labels.{name} }}}}"), label);
    }
    while let Some(start) = text.find("{{ $value")
        && let Some(length) = text[start..].find("}}")
    {
        text.replace_range(start..start + length + 2, value);
    }
    text
}
