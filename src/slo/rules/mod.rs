//! What `podinit rules` writes from an SLO file: recording rules, alerts, their unit tests, and the
//! same objectives for other tools.

mod burn;
mod groups;
mod meta;
mod model;
mod openslo;
mod options;
mod promql;
mod recording;
mod stuck;
mod unit;
mod windows;
mod yaml;

pub use options::{REFUSED_OBJECTIVE, RenderOptions, RulesError, RulesFormat};

use self::yaml::Yaml;
use super::SloFile;

const HEADER: &str = "\
# Written by `podinit rules`: change the SLO file and write it again.
#
# Sums leave out the labels that change with the exporter's pod, and keep all others: clusters that
# Prometheus, Thanos or Mimir tell apart by a label never mix. absent() sees all clusters at once,
# so let the Prometheus of each cluster evaluate these rules.
";

/// Writes the rules for the SLOs of `file`, ending with a line feed. The same SLOs and options
/// give the same text.
///
/// # Errors
/// Where an objective is too low for burn-rate alerts, or an option would break the rules.
pub fn render(file: &SloFile, options: &RenderOptions) -> Result<String, RulesError> {
    options.check(file)?;
    Ok(match options.format {
        RulesFormat::Prometheus => {
            let groups = model::groups(&groups::all(file, options), options);
            format!("{HEADER}{}", Yaml::Map(vec![("groups", groups)]).document())
        }
        RulesFormat::PrometheusRule => {
            let groups = model::groups(&groups::all(file, options), options);
            format!("{HEADER}{}", prometheus_rule(groups).document())
        }
        RulesFormat::OpenSlo => openslo::documents(file, &options.job),
        RulesFormat::Tests => unit::document(file, options),
    })
}

/// The custom resource of the Prometheus operator.
fn prometheus_rule(groups: Yaml) -> Yaml {
    let labels = Yaml::Map(vec![("app.kubernetes.io/name", Yaml::text("podinit"))]);
    Yaml::Map(vec![
        ("apiVersion", Yaml::text("monitoring.coreos.com/v1")),
        ("kind", Yaml::text("PrometheusRule")),
        (
            "metadata",
            Yaml::Map(vec![("name", Yaml::text("podinit")), ("labels", labels)]),
        ),
        ("spec", Yaml::Map(vec![("groups", groups)])),
    ])
}

#[cfg(test)]
mod tests;
