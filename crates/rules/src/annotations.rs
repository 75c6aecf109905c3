//! What alerts on pods say beside their text: which causes and namespaces most of the pods have, and
//! the command that lists the pods.
//!
//! The lists are made by Prometheus when the alert fires, in Go templates that query. Such a list is
//! left out where it would be empty.
//!
//! Prometheus, Mimir and Thanos run these queries over all they have, so each selects the cluster of its
//! alert. Where series have no label `cluster`, the alert has none either, and an empty one selects them.

use super::promql::series;
use podinit_core::lifecycle::Cause;
use podinit_text::duration::PrometheusDuration;

/// A matcher for the cluster of the alert, in the format of `printf`.
const OF_ALERTS_CLUSTER: &str = "cluster=%[1]q";

/// A matcher for the cause of the alert, in the format of `printf`.
const OF_ALERTS_CAUSE: &str = "cause=%[2]q";

/// A matcher for the stage of the alert, in the format of `printf`.
pub(super) const OF_ALERTS_STAGE: &str = "stage=%[3]q";

/// Lists the pods that are not ready, in whatever phase: READY says `0/1` for a pod that is pending, and
/// for one whose container runs, restarts or fails its probes. A pod that only waits for a readiness gate
/// has all its containers ready and is not listed.
pub(super) const UNREADY_PODS: &str =
    r#"kubectl get pods -A | awk '{split($3, n, "/")} n[1] != n[2] && $4 != "Completed"'"#;

/// Series of the job in the cluster of the alert, with further matchers.
pub(super) fn of_alerts_cluster(name: &str, job: &str, matchers: &str) -> String {
    let comma = if matchers.is_empty() { "" } else { ", " };
    series(name, job, &format!("{OF_ALERTS_CLUSTER}{comma}{matchers}"))
}

/// The same, of the cause of the alert.
pub(super) fn of_alerts_cause(name: &str, job: &str, matchers: &str) -> String {
    of_alerts_cluster(name, job, &format!("{OF_ALERTS_CAUSE}, {matchers}"))
}

/// The causes with the highest values of `expr`, which is of [`of_alerts_cluster`] and of a window: ` Causes in the
/// last 5m: image 7, pull 2.`
pub(super) fn counted_causes(expr: &str, window: PrometheusDuration) -> String {
    let query = format!("sort_desc(topk(3, sum by (cause) ({expr}) > 0))");
    list(&format!("Causes in the last {window}"), "cause", true, &filled(&query))
}

/// The shards that there are: ` Prometheus scrapes the shards: 0, 2.`
pub(super) fn present_shards(job: &str) -> String {
    let all = of_alerts_cluster("podinit_shard_ordinal", job, "");
    let query = filled(&format!("count_values(\"shard\", {all})"));
    list(
        "Prometheus scrapes the shards",
        "shard",
        false,
        &format!("{query} | sortByLabel \"shard\""),
    )
}

/// The namespaces of pods with the highest values of `expr`, which is of [`of_alerts_cluster`] or
/// [`of_alerts_cause`], where the exporter counts by namespace. Where it does not, its own namespace may
/// stand in the label: then there is only one.
pub(super) fn counted_namespaces(expr: &str, job: &str) -> String {
    let namespaces = |expr: &str| {
        format!(r#"label_replace({expr}, "namespace", "$1", "exported_namespace", "(.+)")"#)
    };
    let all = namespaces(&of_alerts_cluster("podinit_waiting_pods", job, ""));
    let query = format!(
        "sort_desc(topk(3, sum by (namespace) ({}) > 0 and on () count(count by (namespace) ({all})) > 1))",
        namespaces(expr)
    );
    list("Namespaces", "namespace", true, &filled(&query))
}

/// The problem with the most pods, of those with the cause of the alert.
pub(super) fn problem_of_cause(job: &str) -> String {
    largest_problem(job, OF_ALERTS_CAUSE)
}

/// The problem with the most pods, of those that are about a failing pull.
pub(super) fn problem_of_pulls(job: &str) -> String {
    largest_problem(job, &format!("cause=\"{}\"", Cause::Image.as_str()))
}

/// The problem with the most pods, of those that kubelets reject.
pub(super) fn problem_of_rejected(job: &str) -> String {
    largest_problem(job, &format!("cause=\"{}\"", Cause::Rejected.as_str()))
}

/// The same in brackets, for a summary: ` (image, registry registry.example.com: 294 pods)`
pub(super) fn problem_in_brackets(job: &str) -> String {
    let query = filled(&largest(job, OF_ALERTS_CAUSE));
    format!(
        "{{{{ range query {query} }}}} ({{{{ .Labels.cause }}}}{{{{ if ne .Labels.dimension \"none\" }}}}, \
         {{{{ .Labels.dimension }}}} {{{{ .Labels.value }}}}{{{{ end }}}}: \
         {{{{ .Value | printf \"%.0f\" }}}} pods){{{{ end }}}}"
    )
}

fn largest(job: &str, matchers: &str) -> String {
    let pods = of_alerts_cluster("podinit_problem_pods", job, matchers);
    format!("topk(1, sum by (cause, dimension, value) ({pods}))")
}

fn largest_problem(job: &str, matchers: &str) -> String {
    let query = filled(&largest(job, matchers));
    format!(
        "{{{{ with query {query} }}}} The largest problem is{{{{ range . }}}} {{{{ .Labels.cause }}}}: \
         {{{{ if ne .Labels.dimension \"none\" }}}}{{{{ .Labels.dimension }}}} {{{{ .Labels.value }}}}, \
         {{{{ end }}}}{{{{ .Value | printf \"%.0f\" }}}} pods{{{{ end }}}}.{{{{ end }}}}"
    )
}

/// The labels that a query finds, with their values where they are `counted`.
fn list(title: &str, label: &str, counted: bool, query: &str) -> String {
    let value = match counted {
        true => " {{ $s.Value | printf \"%.0f\" }}",
        false => "",
    };
    format!(
        "{{{{ with query {query} }}}} {title}:{{{{ range $i, $s := . }}}}{{{{ if $i }}}},{{{{ end }}}} \
         {{{{ $s.Labels.{label} }}}}{value}{{{{ end }}}}.{{{{ end }}}}"
    )
}

/// A query with the labels of the alert that it selects by.
fn filled(query: &str) -> String {
    let more = match (query.contains(OF_ALERTS_STAGE), query.contains(OF_ALERTS_CAUSE)) {
        (true, _) => " $labels.cause $labels.stage",
        (false, true) => " $labels.cause",
        (false, false) => "",
    };
    format!("(printf {} $labels.cluster{more})", quoted(query))
}

/// A Go string literal.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
