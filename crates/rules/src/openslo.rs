//! The objectives as OpenSLO v1 objects, for tools other than Prometheus.

use serde::Serialize;

use super::options::RulesError;
use super::promql::{left_out, promise, series};
use super::rule_file;
use podinit_slo::{Slo, SloFile};
use podinit_text::duration::PrometheusDuration;

const SERVICE: &str = "podinit";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenSloObject<S> {
    api_version: &'static str,
    kind: &'static str,
    metadata: OpenSloMetadata,
    spec: S,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenSloMetadata {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
}

#[derive(Serialize)]
struct ServiceSpec {
    description: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SloSpec {
    description: String,
    service: &'static str,
    indicator: Indicator,
    time_window: [TimeWindow; 1],
    budgeting_method: &'static str,
    objectives: [Objective; 1],
}

#[derive(Serialize)]
struct Indicator {
    metadata: OpenSloMetadata,
    spec: IndicatorSpec,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IndicatorSpec {
    ratio_metric: RatioMetric,
}

#[derive(Serialize)]
struct RatioMetric {
    counter: bool,
    good: Metric,
    total: Metric,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    metric_source: MetricSource,
}

#[derive(Serialize)]
struct MetricSource {
    r#type: &'static str,
    spec: Query,
}

#[derive(Serialize)]
struct Query {
    query: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TimeWindow {
    duration: String,
    is_rolling: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Objective {
    display_name: String,
    target: f64,
}

/// A `Service`, and an `SLO` of it for each SLO of the file.
pub(super) fn documents(file: &SloFile, job: &str) -> Result<String, RulesError> {
    let spec =
        ServiceSpec { description: "How fast, and how reliably, the cluster starts its pods." };
    let service = object("Service", SERVICE.to_owned(), "Pod startup".to_owned(), spec);
    let mut text = rule_file::document(&service)?;
    for slo in &file.slos {
        text.push_str("---\n");
        text.push_str(&rule_file::document(&slo_object(slo, job))?);
    }
    Ok(text)
}

fn slo_object(slo: &Slo, job: &str) -> OpenSloObject<SloSpec> {
    let name = object_name(&slo.rule.name);
    let metadata = OpenSloMetadata { name: name.clone(), display_name: None };
    let ratio_metric = RatioMetric {
        counter: true,
        good: events(slo, job, ", result=\"good\""),
        total: events(slo, job, ""),
    };
    let spec = SloSpec {
        description: format!("Pods that match complete {}.{}", promise(slo), left_out(slo)),
        service: SERVICE,
        indicator: Indicator { metadata, spec: IndicatorSpec { ratio_metric } },
        time_window: [TimeWindow { duration: one_unit(slo.window), is_rolling: true }],
        budgeting_method: "Occurrences",
        objectives: [Objective { display_name: promise(slo), target: slo.objective_ratio() }],
    };
    object("SLO", name, promise(slo), spec)
}

fn events(slo: &Slo, job: &str, matchers: &str) -> Metric {
    let own = format!("slo=\"{}\"{matchers}", slo.rule.name);
    let query = series("podinit_slo_events_total", job, &own);
    Metric { metric_source: MetricSource { r#type: "Prometheus", spec: Query { query } } }
}

fn object<S>(kind: &'static str, name: String, display_name: String, spec: S) -> OpenSloObject<S> {
    OpenSloObject {
        api_version: "openslo/v1",
        kind,
        metadata: OpenSloMetadata { name, display_name: Some(display_name) },
        spec,
    }
}

/// OpenSLO durations have one unit; windows are whole minutes.
fn one_unit(window: PrometheusDuration) -> String {
    let minutes = window.as_minutes();
    for (unit, length) in [("w", 7 * 24 * 60), ("d", 24 * 60), ("h", 60)] {
        if minutes.is_multiple_of(length) {
            return format!("{}{unit}", minutes / length);
        }
    }
    format!("{minutes}m")
}

/// OpenSLO names objects as Kubernetes does: DNS labels (RFC 1123).
fn object_name(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}
