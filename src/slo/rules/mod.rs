//! What `podinit rules` writes from an SLO file: recording rules, alerts, their unit tests, and the
//! same objectives for other tools.

mod burn;
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

use serde::Serialize;

use self::model::{Group, RuleFile};
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
    let rules = || RuleFile {
        groups: groups(file, options),
    };
    match options.format {
        RulesFormat::Prometheus => Ok(format!("{HEADER}{}", yaml::document(&rules())?)),
        RulesFormat::PrometheusRule => {
            let resource = PrometheusRule::new(rules());
            Ok(format!("{HEADER}{}", yaml::document(&resource)?))
        }
        RulesFormat::OpenSlo => openslo::documents(file, &options.job),
        RulesFormat::Tests => unit::document(file, options),
    }
}

/// All rule groups, in the order in which they are written.
fn groups(file: &SloFile, options: &RenderOptions) -> Vec<Group> {
    let job = &options.job;
    let mut groups = vec![recording::windows(job)];
    groups.extend(file.slos.iter().map(|slo| burn::group(slo, options)));
    groups.extend(recording::budgets(&file.slos, job));
    groups.push(stuck::group(file, options));
    groups.push(meta::group(options));
    groups
}

/// The custom resource of the Prometheus operator.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrometheusRule {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    spec: RuleFile,
}

#[derive(Serialize)]
struct Metadata {
    name: &'static str,
    labels: Labels,
}

#[derive(Serialize)]
struct Labels {
    #[serde(rename = "app.kubernetes.io/name")]
    name: &'static str,
}

impl PrometheusRule {
    fn new(spec: RuleFile) -> Self {
        let labels = Labels { name: "podinit" };
        Self {
            api_version: "monitoring.coreos.com/v1",
            kind: "PrometheusRule",
            metadata: Metadata {
                name: "podinit",
                labels,
            },
            spec,
        }
    }
}

#[cfg(test)]
mod tests;
