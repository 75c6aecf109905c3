//! Unit tests for `promtool test rules`: input series, and which alerts are to fire on them.
//!
//! Input is given each minute, and rules are evaluated each minute. Where only some alerts of a
//! name are of interest, the series `ALERTS` is asked for them.

mod burn;
mod meta;
mod stuck;

use serde::Serialize;

use super::model::{Alert, Pairs};
use super::options::{RenderOptions, RulesError};
use super::yaml;
use crate::slo::SloFile;

const HEADER: &str = "\
# Written by `podinit rules --format tests`, for the rule file that `podinit rules` writes from the
# same SLO file: promtool test rules FILE
";

/// What the tests are written with.
#[derive(Clone, Copy, Debug)]
struct Context<'a> {
    file: &'a SloFile,
    options: &'a RenderOptions,
}

#[derive(Serialize)]
struct TestFile<'a> {
    rule_files: [&'a str; 1],
    evaluation_interval: &'static str,
    group_eval_order: Vec<String>,
    tests: Vec<Test>,
}

/// The test file.
pub(super) fn document(file: &SloFile, options: &RenderOptions) -> Result<String, RulesError> {
    let context = Context { file, options };
    let mut tests = vec![meta::no_data(context)];
    for slo in &file.slos {
        tests.extend(burn::tests(context, slo));
    }
    tests.extend(stuck::tests(context));
    tests.extend(meta::tests(context));
    let groups = super::groups(file, options).into_iter();
    let test_file = TestFile {
        rule_files: [&options.rule_file],
        evaluation_interval: "1m",
        // Without an order promtool may evaluate alerts before the recording rules they read.
        group_eval_order: groups.map(|group| group.name).collect(),
        tests,
    };
    Ok(format!("{HEADER}{}", yaml::document(&test_file)?))
}

/// A target of Prometheus.
#[derive(Clone, Copy, Debug)]
struct Target {
    cluster: &'static str,
    number: u8,
}

/// The exporter, and the one that runs after or beside it.
const FIRST: Target = Target {
    cluster: "here",
    number: 1,
};
const SECOND: Target = Target { number: 2, ..FIRST };
/// An exporter in another cluster.
const ELSEWHERE: Target = Target {
    cluster: "there",
    ..FIRST
};

#[derive(Debug, Serialize)]
struct Test {
    name: String,
    interval: &'static str,
    input_series: Vec<InputSeries>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alert_rule_test: Vec<AlertCheck>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    promql_expr_test: Vec<ExpressionCheck>,
}

#[derive(Debug, Serialize)]
struct InputSeries {
    series: String,
    values: String,
}

/// Which alerts of one name fire at a time.
#[derive(Debug, Serialize)]
struct AlertCheck {
    eval_time: String,
    alertname: &'static str,
    exp_alerts: Vec<ExpectedAlert>,
}

#[derive(Debug, Serialize)]
struct ExpectedAlert {
    #[serde(rename = "exp_labels", serialize_with = "yaml::map")]
    labels: Pairs,
    #[serde(rename = "exp_annotations", serialize_with = "yaml::map")]
    annotations: Pairs,
}

/// Which samples an expression has at a time.
#[derive(Debug, Serialize)]
struct ExpressionCheck {
    eval_time: String,
    expr: String,
    exp_samples: Vec<ExpectedSample>,
}

#[derive(Debug, Serialize)]
struct ExpectedSample {
    labels: &'static str,
    value: usize,
}

fn eval_time(minute: u64) -> String {
    format!("{minute}m")
}

impl Test {
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            interval: "1m",
            input_series: Vec::new(),
            alert_rule_test: Vec::new(),
            promql_expr_test: Vec::new(),
        }
    }

    /// Gives a series of a target its values.
    fn given(
        mut self,
        context: Context<'_>,
        metric: &str,
        target: Target,
        own: &str,
        values: impl Into<String>,
    ) -> Self {
        let Target { cluster, number } = target;
        let job = &context.options.job;
        let comma = if own.is_empty() { "" } else { ", " };
        let labels = format!(
            "cluster=\"{cluster}\", instance=\"10.0.0.{number}:8080\", job=\"{job}\", \
             namespace=\"monitoring\", pod=\"podinit-{number}\"{comma}{own}"
        );
        self.input_series.push(InputSeries {
            series: format!("{metric}{{{labels}}}"),
            values: values.into(),
        });
        self
    }

    /// No alert of that name fires.
    fn silent(self, minute: u64, alert: &'static str) -> Self {
        self.fires(minute, alert, vec![])
    }

    /// Exactly these alerts of that name fire.
    fn fires(
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
    fn counts(self, minute: u64, matchers: &str, count: usize) -> Self {
        let expr = format!("count(ALERTS{{alertstate=\"firing\", {matchers}}})");
        self.evaluates(minute, expr, count)
    }

    /// An expression without labels has this value; no samples where it is 0.
    fn evaluates(mut self, minute: u64, expr: String, value: usize) -> Self {
        let sample = (value > 0).then_some(ExpectedSample {
            labels: "{}",
            value,
        });
        self.promql_expr_test.push(ExpressionCheck {
            eval_time: eval_time(minute),
            expr,
            exp_samples: sample.into_iter().collect(),
        });
        self
    }
}

impl Context<'_> {
    /// How `alert` is expected to look with these labels from its expression, and with `value`
    /// wherever its texts have their value.
    fn expected(self, alert: &Alert, own: &Pairs, value: &str) -> ExpectedAlert {
        let mut labels = alert.all_labels();
        labels.extend(own.iter().cloned());
        let annotations = alert.annotations(self.options).into_iter();
        let filled = annotations.map(|(key, text)| (key, fill(&text, &labels, value)));
        ExpectedAlert {
            annotations: filled.collect(),
            labels,
        }
    }

    /// The labels of the first target that outlive aggregation.
    fn lasting(self) -> Pairs {
        vec![
            ("cluster", FIRST.cluster.to_owned()),
            ("job", self.options.job.clone()),
            ("namespace", "monitoring".to_owned()),
        ]
    }
}

/// Puts labels and a value, as it will look, into a template.
fn fill(template: &str, labels: &Pairs, value: &str) -> String {
    let mut text = template.to_owned();
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
