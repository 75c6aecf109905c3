//! The options of `rules`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::logging::LogArgs;
use crate::slo::rules::{RenderOptions, RulesFormat};

/// `podinit rules`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit rules --slo slo.yaml > prometheus-rules.yaml
  podinit rules --slo slo.yaml --format tests > tests.yaml && promtool test rules tests.yaml
  podinit rules --format prometheusrule --job monitoring/podinit | kubectl apply -n monitoring -f -")]
pub struct RulesArgs {
    /// SLO file [default: the built-in SLOs of serve]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// What to write: a rule file, the operator's custom resource, OpenSLO v1, or unit tests of the
    /// rule file for promtool
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = RulesFormat::Prometheus.as_str(),
        value_parser = PossibleValuesParser::new(RulesFormat::ALL.map(RulesFormat::as_str))
            .try_map(|name| name.parse::<RulesFormat>())
    )]
    pub format: RulesFormat,

    /// Value of the label job of the exporter in Prometheus
    #[arg(long, value_name = "NAME", default_value_t = RenderOptions::default().job)]
    pub job: String,

    /// Base URL of the runbooks; #ANCHOR is appended
    #[arg(long, value_name = "BASE", default_value_t = RenderOptions::default().runbook_url)]
    pub runbook_url: String,

    /// Base URL of the Grafana dashboards; /UID is appended
    #[arg(long, value_name = "BASE", default_value_t = RenderOptions::default().dashboard_url)]
    pub dashboard_url: String,

    /// Name of the rule file in the unit tests
    #[arg(long, value_name = "FILE", default_value_t = RenderOptions::default().rule_file)]
    pub rule_file: String,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

impl RulesArgs {
    /// The options for rendering.
    pub fn options(&self) -> RenderOptions {
        RenderOptions {
            format: self.format,
            job: self.job.clone(),
            runbook_url: self.runbook_url.clone(),
            dashboard_url: self.dashboard_url.clone(),
            rule_file: self.rule_file.clone(),
        }
    }
}
