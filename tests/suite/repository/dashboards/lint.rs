//! The rules of Grafana's dashboard-linter (`dashboard-linter lint --strict`) for dashboards with one
//! Prometheus data source, with one exclusion: the kubelet's own metric belongs to other targets than
//! podinit's, so it is not selected by their job and instance.

use super::reading::{Dashboard, metric_words};

/// The units that the dashboards use; the linter knows all of them.
const UNITS: [&str; 8] =
    ["none", "short", "s", "Bps", "bytes", "percentunit", "dateTimeFromNow", "string"];

/// The findings of the linter.
pub(super) fn complaints(board: &Dashboard) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |holds: bool, rule: &str, what: &str| {
        if !holds {
            found.push(format!("{}: {rule}: {what}", board.name));
        }
    };
    check(board.json["editable"] == false, "uneditable-dashboard-rule", "editable");
    variables(board, &mut check);
    for panel in board.panels() {
        let title = panel["title"].as_str().unwrap_or_default();
        let text = |key: &str| panel[key].as_str().is_some_and(|text| !text.is_empty());
        check(text("title") && text("description"), "panel-title-description-rule", title);
        check(panel["datasource"]["uid"] == "${datasource}", "panel-datasource-rule", title);
        let unit = panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap_or_default();
        check(UNITS.contains(&unit), "panel-units-rule", title);
        let targets = panel["targets"].as_array().map_or(&[][..], Vec::as_slice);
        check(!targets.is_empty(), "panel-no-targets-rule", title);
        for target in targets {
            let expr = target["expr"].as_str().unwrap_or_default();
            expression(expr, &mut check);
        }
    }
    found
}

type Check<'a> = dyn FnMut(bool, &str, &str) + 'a;

fn variables(board: &Dashboard, check: &mut Check<'_>) {
    let variables = board.variables();
    let datasource = variables.get("datasource").is_some_and(|variable| {
        variable["type"] == "datasource"
            && variable["query"] == "prometheus"
            && variable["label"] == "Data source"
    });
    check(datasource, "template-datasource-rule", "datasource");
    for (name, label) in [("job", "Job"), ("instance", "Instance")] {
        let holds = variables.get(name).is_some_and(|variable| {
            variable["type"] == "query"
                && variable["label"] == label
                && variable["multi"] == true
                && variable["allValue"] == ".+"
        });
        check(holds, &format!("template-{name}-rule"), name);
    }
    for (name, variable) in variables {
        if variable["type"] == "query" {
            let query = variable["query"].as_str().unwrap_or_default();
            check(variable["datasource"]["uid"] == "${datasource}", "template-job-rule", &name);
            let is_call = query.starts_with("label_values(") && query.ends_with(')');
            check(is_call, "template-label-promql-rule", query);
            check(variable["refresh"] == 2, "template-on-time-change-reload-rule", &name);
        }
    }
}

fn expression(expr: &str, check: &mut Check<'_>) {
    let is_of_kubelet = |selector: &str| selector == r#"cluster=~"$cluster""#;
    let of_kubelet = expr.contains("kubelet_pod_start_sli_duration_seconds");
    for selector in selectors(expr) {
        if of_kubelet && is_of_kubelet(&selector) {
            continue;
        }
        let has_cluster = selector.contains(r#"cluster=~"$cluster""#);
        check(has_cluster, "target-cluster-rule", expr);
        check(selector.contains(r#"job=~"$job""#), "target-job-rule", expr);
        check(selector.contains(r#"instance=~"$instance""#), "target-instance-rule", expr);
    }
    // Only rates have to be taken over $__rate_interval.
    for rate in expr.split("rate(").skip(1) {
        let range = rate.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        check(
            range.is_some_and(|(range, _)| range == "$__rate_interval"),
            "target-rate-interval-rule",
            expr,
        );
    }
    let depth = |open: char, close: char| {
        expr.chars().filter(|c| *c == open).count() == expr.chars().filter(|c| *c == close).count()
    };
    check(
        !expr.is_empty() && depth('(', ')') && depth('{', '}') && depth('[', ']'),
        "target-promql-rule",
        expr,
    );
}

/// The matchers of each selector; empty for a metric without braces.
fn selectors(expr: &str) -> Vec<String> {
    let expr = expr.replace("${interval}", "interval");
    let mut selectors: Vec<String> = expr
        .split('{')
        .skip(1)
        .map(|rest| rest.split('}').next().unwrap_or_default().to_owned())
        .collect();
    if metric_words(&expr).len() != selectors.len() {
        selectors.push(String::new());
    }
    selectors
}
