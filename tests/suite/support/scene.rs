//! Runs a scene of the demo on simulated time in front of the real pipeline, and samples the exposition
//! as Prometheus would, for tests of rules and alerts.
//!
//! ```ignore
//! let recording = SceneSettings::of(Scene::RegistryDown).record().await;
//! fs::write("scene.om", recording.open_metrics())?; // promtool tsdb create-blocks-from openmetrics
//! let input_series = recording.input_series(|name| name.starts_with("podinit_")); // promtool test rules
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use podinit_core::timestamp::Timestamp;
use podinit_oncall::problems::Problems;
use podinit_sim::scene::Scene;
use podinit_sim::sim_clock::time;
use podinit_sim::truth::PodTruth;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use podinit_slo::SloFile;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::support::cluster::pipeline::Pipeline;
use crate::support::scrape::Scrape;

/// A static pod, which counts nowhere but among the discovered: it stands for "everything before this
/// has been delivered".
const MARKER: (&str, &str) = ("kube-system", "marker");

/// Simulated time between two looks at the cluster.
const STEP: Duration = Duration::from_secs(1);

/// How often a recording for all tests is sampled: Prometheus scrapes, and evaluates rules, as often in many clusters.
pub const SCRAPED: Duration = Duration::from_secs(15);

/// The labels that Prometheus adds to what it scrapes.
pub const TARGET: &str = "job=\"podinit\",instance=\"podinit:8080\"";

/// What is run.
#[derive(Clone, Debug)]
pub struct SceneSettings {
    /// What breaks; `None` is a healthy cluster
    pub scene: Option<Scene>,
    /// When it breaks
    pub after: Duration,
    /// When the run ends
    pub length: Duration,
    /// Pods per second
    pub rate: f64,
    /// Between two samples, in whole seconds
    pub interval: Duration,
    pub seed: u64,
    /// Whether Events and nodes are evidence
    pub evidence: bool,
    /// Whether problems are looked for at each sample
    pub problems: bool,
    /// Whether Deployments get new releases, as in the demo
    pub deploys: bool,
    pub slos: SloFile,
}

impl SceneSettings {
    /// A healthy cluster of a pod every two seconds, with the SLOs that podinit ships and with evidence,
    /// sampled every minute for an hour.
    pub fn healthy() -> Self {
        Self {
            scene: None,
            after: Duration::ZERO,
            length: Duration::from_secs(3_600),
            rate: 0.5,
            interval: Duration::from_secs(60),
            seed: 1,
            evidence: true,
            problems: false,
            deploys: false,
            slos: SloFile::built_in(),
        }
    }

    /// The same, in which this breaks after ten minutes, for forty minutes.
    pub fn of(scene: Scene) -> Self {
        Self {
            scene: Some(scene),
            after: Duration::from_secs(600),
            length: Duration::from_secs(3_000),
            ..Self::healthy()
        }
    }

    /// Runs it.
    pub async fn record(&self) -> SceneRecording {
        let config = ClusterConfig {
            rate: self.rate,
            seed: self.seed,
            scene: self.scene.map(|scene| (scene, self.after)),
            // Deletions that no watch sees are another story.
            opening: false,
            hopeless: false,
            deploys: self.deploys,
            population: ClusterConfig::default().population,
            ..ClusterConfig::manual()
        };
        let cluster = SimulatedCluster::start(config).await.unwrap();
        let start = cluster.clock().now();
        let mut pipeline = match self.evidence {
            true => Pipeline::judging_with_evidence(&cluster, &self.slos).await,
            false => Pipeline::judging(&cluster, &self.slos).await,
        };
        pipeline.relisted().await;
        let mut samples = vec![(start, pipeline.scrape())];
        let mut problems = Vec::new();
        let steps = |time: Duration| time.as_secs() / STEP.as_secs();
        for step in 1..=steps(self.length) {
            let now = cluster.step(STEP);
            let marker = json!({"metadata": {
                "namespace": MARKER.0, "name": MARKER.1, "uid": MARKER.1,
                "creationTimestamp": time(start),
                "annotations": {"kubernetes.io/config.mirror": MARKER.1},
            }});
            let version = cluster.put_json(marker).unwrap();
            pipeline.catch_up(MARKER.0, MARKER.1, version).await;
            pipeline.take_evidence(&cluster);
            pipeline.advance(now);
            if step % steps(self.interval) == 0 {
                samples.push((now, pipeline.scrape()));
                problems.extend(self.problems.then(|| (now, pipeline.problems())));
            }
        }
        pipeline.end().await;
        SceneRecording {
            cluster,
            broken: self.scene.map(|_| start.plus_nanos(self.after.as_nanos() as i64)),
            samples,
            problems,
        }
    }
}

/// [`SceneSettings::of`] the scene, or [`SceneSettings::healthy`] without one, recorded once for all tests, and sampled
/// each [`SCRAPED`].
pub async fn recorded(scene: Option<Scene>) -> &'static SceneRecording {
    static RECORDINGS: [OnceCell<SceneRecording>; Scene::ALL.len() + 1] =
        [const { OnceCell::const_new() }; Scene::ALL.len() + 1];
    let settings = scene.map_or_else(SceneSettings::healthy, SceneSettings::of);
    let settings = SceneSettings { interval: SCRAPED, ..settings };
    let index = scene.map_or(0, |scene| 1 + scene as usize);
    RECORDINGS[index].get_or_init(|| async move { settings.record().await }).await
}

/// What was sampled.
pub struct SceneRecording {
    /// As it stands at the end
    pub cluster: SimulatedCluster,
    /// When it broke
    pub broken: Option<Timestamp>,
    /// The first at the start, then one in each interval
    pub samples: Vec<(Timestamp, Scrape)>,
    /// What is wrong, after each interval, where that was asked for
    pub problems: Vec<(Timestamp, Problems)>,
}

impl SceneRecording {
    pub fn last(&self) -> &Scrape {
        &self.samples.last().unwrap().1
    }

    /// The pods that were created after it broke, whose startup has not ended.
    pub fn stuck(&self) -> Vec<PodTruth> {
        let since = self.broken.expect("something broke");
        (self.cluster.truth().pods().into_iter())
            .filter(|pod| pod.created > since && pod.ending.is_none() && pod.removed.is_none())
            .collect()
    }

    /// The values of every series, with the target's labels; `None` where it is not exposed.
    fn by_series(&self) -> BTreeMap<String, Vec<Option<f64>>> {
        let mut series: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        let up = [("up", 1.0)];
        for (index, (_, scrape)) in self.samples.iter().enumerate() {
            for (name, value) in scrape.series().chain(up) {
                let values = series.entry(targeted(name)).or_default();
                values.resize(index, None);
                values.push(Some(value));
            }
        }
        for values in series.values_mut() {
            values.resize(self.samples.len(), None);
        }
        series
    }

    /// All samples in the OpenMetrics format, for `promtool tsdb create-blocks-from openmetrics`.
    pub fn open_metrics(&self) -> String {
        let mut text = String::new();
        for (series, values) in self.by_series() {
            for ((at, _), value) in self.samples.iter().zip(values) {
                if let Some(value) = value {
                    let seconds = at.as_nanos() / 1_000_000_000;
                    text += &format!("{series} {value} {seconds}\n");
                }
            }
        }
        text + "# EOF\n"
    }

    /// The samples of the metrics that `wanted` accepts by name, as `input_series` of a promtool unit
    /// test, whose `interval` is that of the settings.
    pub fn input_series(&self, wanted: impl Fn(&str) -> bool) -> Value {
        let name_of = |series: &str| series.split('{').next().unwrap_or_default().to_owned();
        let written = |value: &Option<f64>| value.map_or("_".to_owned(), |value| value.to_string());
        (self.by_series().iter())
            .filter(|(series, _)| wanted(&name_of(series)))
            .map(|(series, values)| {
                let values: Vec<String> = values.iter().map(written).collect();
                json!({"series": series, "values": values.join(" ")})
            })
            .collect()
    }
}

/// The series with the labels of the target.
fn targeted(series: &str) -> String {
    match series.split_once('{') {
        Some((name, labels)) if !labels.starts_with('}') => format!("{name}{{{TARGET},{labels}"),
        _ => format!("{}{{{TARGET}}}", series.trim_end_matches("{}")),
    }
}
