//! Unit tests for `promtool test rules`: input series, and which alerts are to fire on them.
//!
//! Input is given each minute, and rules are evaluated each minute. Where only some alerts of a
//! name are of interest, the series `ALERTS` is asked for them.

mod burn;
mod meta;
mod stuck;

use super::model::Alert;
use super::options::RenderOptions;
use super::yaml::Yaml;
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

/// The test file.
pub(super) fn document(file: &SloFile, options: &RenderOptions) -> String {
    let context = Context { file, options };
    let mut tests = vec![meta::no_data(context)];
    for slo in &file.slos {
        tests.extend(burn::tests(context, slo));
    }
    tests.extend(stuck::tests(context));
    tests.extend(meta::tests(context));
    // Else promtool evaluates alerts before or after what is recorded for them, as it happens.
    let groups = super::groups::all(file, options);
    let order = groups.iter().map(|group| Yaml::text(&group.name));
    let map = Yaml::Map(vec![
        (
            "rule_files",
            Yaml::List(vec![Yaml::text(&options.rule_file)]),
        ),
        ("evaluation_interval", Yaml::text("1m")),
        ("group_eval_order", Yaml::List(order.collect())),
        ("tests", Yaml::List(tests.iter().map(Test::yaml).collect())),
    ]);
    format!("{HEADER}{}", map.document())
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

#[derive(Debug)]
struct Test {
    name: String,
    series: Vec<(String, String)>,
    checks: Vec<Check>,
}

#[derive(Debug)]
struct Check {
    minute: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The alerts of one name that fire, each with its labels and annotations
    Alerts(&'static str, Vec<(Pairs, Pairs)>),
    /// How many alerts fire that match, as an expression
    Count(String, usize),
}

type Pairs = Vec<(&'static str, String)>;

impl Test {
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            series: Vec::new(),
            checks: Vec::new(),
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
        self.series
            .push((format!("{metric}{{{labels}}}"), values.into()));
        self
    }

    /// No alert of that name fires.
    fn silent(self, minute: u64, alert: &'static str) -> Self {
        self.check(minute, What::Alerts(alert, vec![]))
    }

    /// These alerts of that name fire and no others.
    fn fires(self, minute: u64, alert: &'static str, expected: Vec<(Pairs, Pairs)>) -> Self {
        self.check(minute, What::Alerts(alert, expected))
    }

    /// So many alerts fire that have these labels.
    fn counts(self, minute: u64, matchers: &str, count: usize) -> Self {
        let expr = format!("count(ALERTS{{alertstate=\"firing\", {matchers}}})");
        self.check(minute, What::Count(expr, count))
    }

    fn check(mut self, minute: u64, what: What) -> Self {
        self.checks.push(Check { minute, what });
        self
    }

    fn yaml(&self) -> Yaml {
        let series = self.series.iter().map(|(series, values)| {
            Yaml::texts([("series", series.as_str()), ("values", values.as_str())])
        });
        let mut alerts = Vec::new();
        let mut counts = Vec::new();
        for check in &self.checks {
            match &check.what {
                What::Alerts(..) => alerts.push(check.yaml()),
                What::Count(..) => counts.push(check.yaml()),
            }
        }
        let mut map = vec![
            ("name", Yaml::text(&self.name)),
            ("interval", Yaml::text("1m")),
            ("input_series", Yaml::List(series.collect())),
        ];
        for (key, checks) in [("alert_rule_test", alerts), ("promql_expr_test", counts)] {
            if !checks.is_empty() {
                map.push((key, Yaml::List(checks)));
            }
        }
        Yaml::Map(map)
    }
}

impl Check {
    fn yaml(&self) -> Yaml {
        let at = ("eval_time", Yaml::text(format!("{}m", self.minute)));
        match &self.what {
            What::Alerts(name, expected) => {
                let texts = |pairs: &Pairs| {
                    Yaml::texts(pairs.iter().map(|(key, text)| (*key, text.as_str())))
                };
                let expected = expected.iter().map(|(labels, annotations)| {
                    Yaml::Map(vec![
                        ("exp_labels", texts(labels)),
                        ("exp_annotations", texts(annotations)),
                    ])
                });
                let expected = Yaml::List(expected.collect());
                Yaml::Map(vec![
                    at,
                    ("alertname", Yaml::text(*name)),
                    ("exp_alerts", expected),
                ])
            }
            What::Count(expr, count) => {
                let sample = Yaml::Map(vec![
                    ("labels", Yaml::text("{}")),
                    ("value", Yaml::Bare(count.to_string())),
                ]);
                let samples = if *count == 0 { vec![] } else { vec![sample] };
                let expr = ("expr", Yaml::text(expr));
                Yaml::Map(vec![at, expr, ("exp_samples", Yaml::List(samples))])
            }
        }
    }
}

impl Context<'_> {
    /// How `alert` is expected to look with these labels from its expression, and with `value`
    /// wherever its texts have their value.
    fn expected(self, alert: &Alert, labels: &Pairs, value: &str) -> (Pairs, Pairs) {
        let mut all = alert.all_labels();
        all.extend(labels.iter().cloned());
        let annotations = alert.annotations(self.options);
        let filled = annotations.map(|(key, text)| (key, fill(&text, &all, value)));
        (all, filled.into())
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
