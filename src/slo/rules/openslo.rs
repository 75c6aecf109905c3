//! The objectives as OpenSLO v1 documents, for tools that are not Prometheus rules.

use super::promql::{number, promise, series};
use super::yaml::Yaml;
use crate::slo::duration::SloDuration;
use crate::slo::{Slo, SloFile};

const VERSION: &str = "openslo/v1";
const SERVICE: &str = "podinit";

/// A service, and an SLO of it for each of the file.
pub(super) fn documents(file: &SloFile, job: &str) -> String {
    let service = object(
        "Service",
        SERVICE,
        "Pod startup",
        vec![(
            "description",
            Yaml::text("How fast, and how reliably, the cluster starts its pods."),
        )],
    );
    let slos = file.slos.iter().map(|slo| document(slo, job));
    let documents: Vec<String> = std::iter::once(service)
        .chain(slos)
        .map(|document| document.document())
        .collect();
    documents.join("---\n")
}

fn document(slo: &Slo, job: &str) -> Yaml {
    let name = &*slo.rule.name;
    let events = |matchers: &str| {
        let query = series(
            "podinit_slo_events_total",
            job,
            &format!("slo=\"{name}\"{matchers}"),
        );
        let source = vec![
            ("type", Yaml::text("Prometheus")),
            ("spec", Yaml::Map(vec![("query", Yaml::text(query))])),
        ];
        Yaml::Map(vec![("metricSource", Yaml::Map(source))])
    };
    let ratio = vec![
        ("counter", Yaml::Bare("true".to_owned())),
        ("good", events(", result=\"good\"")),
        ("total", events("")),
    ];
    let object_name = object_name(name);
    let indicator = vec![
        ("metadata", Yaml::texts([("name", &*object_name)])),
        ("spec", Yaml::Map(vec![("ratioMetric", Yaml::Map(ratio))])),
    ];
    let window = vec![
        ("duration", Yaml::text(one_unit(slo.window))),
        ("isRolling", Yaml::Bare("true".to_owned())),
    ];
    let objective = vec![
        ("displayName", Yaml::text(promise(slo))),
        ("target", Yaml::Bare(number(slo.objective_ratio()))),
    ];
    let spec = vec![
        (
            "description",
            Yaml::text(format!("Pods that match get through {}.", promise(slo))),
        ),
        ("service", Yaml::text(SERVICE)),
        ("indicator", Yaml::Map(indicator)),
        ("timeWindow", Yaml::List(vec![Yaml::Map(window)])),
        ("budgetingMethod", Yaml::text("Occurrences")),
        ("objectives", Yaml::List(vec![Yaml::Map(objective)])),
    ];
    object("SLO", &object_name, &promise(slo), spec)
}

fn object(kind: &str, name: &str, display: &str, spec: Vec<(&'static str, Yaml)>) -> Yaml {
    Yaml::Map(vec![
        ("apiVersion", Yaml::text(VERSION)),
        ("kind", Yaml::text(kind)),
        (
            "metadata",
            Yaml::texts([("name", name), ("displayName", display)]),
        ),
        ("spec", Yaml::Map(spec)),
    ])
}

/// OpenSLO knows durations of one unit only; a window is of whole minutes.
fn one_unit(window: SloDuration) -> String {
    let minutes = window.as_minutes();
    for (unit, length) in [("w", 7 * 24 * 60), ("d", 24 * 60), ("h", 60)] {
        if minutes.is_multiple_of(length) {
            return format!("{}{unit}", minutes / length);
        }
    }
    format!("{minutes}m")
}

/// OpenSLO names objects as Kubernetes does (RFC 1123).
fn object_name(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}
