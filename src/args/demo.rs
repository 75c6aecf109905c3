//! The options of `demo`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::exporter::{ExporterArgs, parse_duration, parse_duration_above_zero};
use podinit_sim::scene::Scene;

/// The milestone of the model servers in the demo.
const MODEL_LOADED: &str = "model_loaded=condition:example.com/ModelLoaded";

/// `podinit demo`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit demo
  podinit demo --rate 50 --speed 10 --duration 5m --listen 127.0.0.1:0
  podinit demo --scene registry-down --scene-after 2m")]
#[command(mut_arg("listen", |listen| listen.default_value("127.0.0.1:8080")))]
#[command(mut_arg("evidence", |evidence| evidence.default_value("events,nodes")))]
#[command(mut_arg("milestones", |milestone| milestone.default_value(MODEL_LOADED)))]
pub struct DemoArgs {
    /// The simulated cluster
    #[command(flatten)]
    pub simulation: SimulationArgs,
    /// How the metrics are exposed
    #[command(flatten)]
    pub exporter: ExporterArgs,
}

/// The simulated cluster.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation")]
pub struct SimulationArgs {
    /// Pods created per second
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "PODS",
        default_value_t = 5.0,
        value_parser = parse_positive
    )]
    pub rate: f64,

    /// How many times faster than real time the simulated pods live
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "FACTOR",
        default_value_t = 1.0,
        value_parser = parse_positive
    )]
    pub speed: f64,

    /// Seed of the simulation; the same seed gives the same pods
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// Break something [default: nothing]: registry-down, cni-outage, bad-node, no-capacity, crashloop,
    /// gang, two-problems, bad-image, zone-outage, secret-missing, slow-nodes, device-plugin-gone, gate-forgotten,
    /// wrong-clocks, two-registries or bad-rollout.
    /// docs/demo.md says what each breaks
    #[arg(long, value_name = "SCENE", value_parser = parse_scene)]
    pub scene: Option<Scene>,

    /// Simulated time after which the scene begins, such as 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub scene_after: Duration,

    /// Simulated time after which no sandbox starts any more, such as 5m: the same as --scene
    /// cni-outage --scene-after TIME [default: no outage]
    #[arg(long, value_name = "TIME", conflicts_with = "scene", value_parser = parse_duration)]
    pub outage_after: Option<Duration>,

    /// Exit after this time, such as 90s or 1h30m [default: when interrupted]
    #[arg(long, value_name = "TIME", value_parser = parse_duration_above_zero)]
    pub duration: Option<Duration>,

    /// Where to write the kubeconfig of the simulated cluster; removed at the end [default: in a
    /// private temporary directory]
    #[arg(long, value_name = "FILE")]
    pub write_kubeconfig: Option<PathBuf>,

    /// In a terminal: print where to look, and show no moving bars
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

impl SimulationArgs {
    /// What breaks, and how long after the start.
    pub fn scene(&self) -> Option<(Scene, Duration)> {
        let outage = self.outage_after.map(|after| (Scene::CniOutage, after));
        outage.or_else(|| Some((self.scene?, self.scene_after)))
    }
}

fn parse_scene(text: &str) -> Result<Scene, String> {
    Scene::named(text).ok_or_else(|| {
        let names = Scene::ALL.map(Scene::as_str).join(", ");
        format!("expected one of {names}")
    })
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}
