//! The options of `rules`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::logging::LogArgs;
use podinit_rules::{RenderOptions, RulesFormat};

/// `podinit rules`
#[allow(rustdoc::bare_urls, reason = "the lines are the help of the flags")]
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit rules --slo slo.yaml > prometheus-rules.yaml
  podinit rules -o prometheusrule --job monitoring/podinit | kubectl apply -n monitoring -f -")]
pub struct RulesArgs {
    /// SLO file [default: the built-in SLOs of serve]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// What to write: a rule file, the operator's custom resource, or OpenSLO v1
    #[arg(
        long,
        short = 'o',
        alias = "format",
        value_name = "FORMAT",
        default_value = RulesFormat::Prometheus.as_str(),
        value_parser = PossibleValuesParser::new(RulesFormat::ALL.map(RulesFormat::as_str))
            .try_map(|name| name.parse::<RulesFormat>())
    )]
    pub output: RulesFormat,

    /// Value of the label job of the exporter in Prometheus
    #[arg(long, value_name = "NAME", default_value_t = RenderOptions::default().job)]
    pub job: String,

    /// Base URL of the runbooks, such as https://docs.example/runbooks.md; #ANCHOR is appended [default: those of
    /// --page-url]
    #[arg(long, value_name = "BASE")]
    pub runbook_url: Option<String>,

    /// Base URL of the Grafana dashboards, such as https://grafana.example/d; /UID is appended [default: no links]
    #[arg(long, value_name = "BASE")]
    pub dashboard_url: Option<String>,

    /// URL of the exporter: alerts link to its live page, and name the podinit command that asks it [default: no links]
    #[arg(long, value_name = "URL")]
    pub page_url: Option<String>,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

impl RulesArgs {
    /// The options for rendering.
    pub fn options(&self) -> RenderOptions {
        RenderOptions {
            format: self.output,
            job: self.job.clone(),
            runbook_url: self.runbook_url.clone(),
            dashboard_url: self.dashboard_url.clone(),
            page_url: self.page_url.clone(),
        }
    }
}
