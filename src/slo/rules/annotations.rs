//! What alerts on pods say beside their text: which causes and namespaces most of the pods have, and
//! the command that lists the pods.
//!
//! The lists are made by Prometheus when the alert fires, in Go templates that query. Such a list is
//! left out where it would be empty.

use super::promql::series;

/// What stands for the label `cause` of the alert in [`counted_namespaces`], a verb of `printf`.
pub(super) const ALERTS_CAUSE: &str = "%s";

/// Lists the pods that are not ready, in whatever phase: READY says `0/1` for a pod that is pending, and
/// for one whose container runs, restarts or fails its probes. A pod that only waits for a readiness gate
/// has all its containers ready and is not listed.
pub(super) const UNREADY_PODS: &str =
    r#"kubectl get pods -A | awk '{split($3, n, "/")} n[1] != n[2] && $4 != "Completed"'"#;

/// The causes with the highest values of `expr`: ` Causes: image 7, pull 2.`
pub(super) fn counted_causes(expr: &str) -> String {
    let query = format!("sort_desc(topk(3, sum by (cause) ({expr}) > 0))");
    list("Causes", "cause", &quoted(&query))
}

/// The namespaces of pods with the highest values of `expr`, where the exporter counts by namespace.
/// Where it does not, its own namespace may stand in the label: then there is only one. In `expr`
/// [`ALERTS_CAUSE`] stands for the label `cause` of the alert.
pub(super) fn counted_namespaces(expr: &str, job: &str) -> String {
    let namespaces = |expr: &str| {
        format!(r#"label_replace({expr}, "namespace", "$1", "exported_namespace", "(.+)")"#)
    };
    let all = namespaces(&series("podinit_waiting_pods", job, ""));
    let query = format!(
        "sort_desc(topk(3, sum by (namespace) ({}) > 0 and on () count(count by (namespace) ({all})) > 1))",
        namespaces(expr)
    );
    let query = match query.contains(ALERTS_CAUSE) {
        true => format!("(printf {} $labels.cause)", quoted(&query)),
        false => quoted(&query),
    };
    list("Namespaces", "namespace", &query)
}

fn list(title: &str, label: &str, query: &str) -> String {
    format!(
        "{{{{ with query {query} }}}} {title}:{{{{ range $i, $s := . }}}}{{{{ if $i }}}},{{{{ end }}}} \
         {{{{ $s.Labels.{label} }}}} {{{{ $s.Value | printf \"%.0f\" }}}}{{{{ end }}}}.{{{{ end }}}}"
    )
}

/// A Go string literal.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
