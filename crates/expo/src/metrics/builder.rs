//! Puts recorder and exposition together.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::registry::Registry;

use super::build_info::BuildInfo;
use super::cold_starts::ColdStarts;
use super::custom_milestones::MilestoneCounts;
use super::event_families::EventMetrics;
use super::exposition::Exposition;
use super::families::families_of_pods;
use super::gates::GateSeries;
use super::label_sets::LabelSets;
use super::labels::{GATE, LabelConfig, LabelError, REGISTRY};
use super::namespaces::NamespacePlaces;
use super::node_families::{NODE_POOL, NodeMetrics};
use super::recorder::Recorder;
use super::rollouts::RolloutSeries;
use super::slo::{SloBoard, SloCounter, SloDoc};
use super::start_times::StartTimes;
use super::store::{EvidenceMetrics, MetricStore, NamedMetrics};
use podinit_core::lifecycle::CustomMilestones;
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{FamilySource, MetricType};

/// What is to be exposed.
#[derive(Default)]
pub struct ExpositionBuilder {
    labels: LabelConfig,
    watch: Option<Box<dyn FamilySource>>,
    slos: Vec<SloDoc>,
    events: bool,
    nodes: bool,
    milestones: CustomMilestones,
    sources: Vec<Box<dyn FamilySource>>,
    collectors: Registry,
    start: Option<Timestamp>,
    shard: Option<Shard>,
}

impl ExpositionBuilder {
    /// Podinit's own families, with this label set.
    pub fn new(labels: LabelConfig) -> Self {
        Self { labels, ..Self::default() }
    }

    /// Exposes the families of the watch. Without this they are absent: a replay has no watch.
    #[must_use]
    pub fn watch(mut self, watch: Arc<impl FamilySource + 'static>) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    /// Exposes these SLOs from the start.
    #[must_use]
    pub fn slos(mut self, slos: Vec<SloDoc>) -> Self {
        self.slos = slos;
        self
    }

    /// Exposes what only Events can tell, if they are a source of evidence.
    #[must_use]
    pub fn events(mut self, events: bool) -> Self {
        self.events = events;
        self
    }

    /// Exposes what only nodes can tell, if they are a source of evidence.
    #[must_use]
    pub fn nodes(mut self, nodes: bool) -> Self {
        self.nodes = nodes;
        self
    }

    /// Counts these milestones of your own, by their positions.
    #[must_use]
    pub fn milestones(mut self, milestones: CustomMilestones) -> Self {
        self.milestones = milestones;
        self
    }

    /// Exposes further families of podinit, after those of the watch.
    #[must_use]
    pub fn source(mut self, source: Box<dyn FamilySource>) -> Self {
        self.sources.push(source);
        self
    }

    /// The same for several, as far as they are there.
    #[must_use]
    pub fn sources(self, sources: impl IntoIterator<Item = Option<Box<dyn FamilySource>>>) -> Self {
        sources.into_iter().flatten().fold(self, Self::source)
    }

    /// States since when counters and histograms count (the module `start_times`), where they begin with
    /// this process: at `now`.
    #[must_use]
    pub fn starts(mut self, now: Timestamp) -> Self {
        self.start = Some(now);
        self
    }

    /// States which shard of the pods this is.
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Exposes the families of a collector, after podinit's own.
    #[must_use]
    pub fn collector(mut self, collector: Box<dyn Collector>) -> Self {
        self.collectors.register_collector(collector);
        self
    }

    /// The recorder for the task that ingests, and the exposition for everybody else.
    ///
    /// # Errors
    ///
    /// When the label set cannot be (see [`LabelError`]).
    pub fn build(self) -> Result<(Recorder, Arc<Exposition>), LabelError> {
        let specs = self.labels.specs()?;
        let namespaces = NamespacePlaces::new(self.labels.slo_namespace());
        let names = || Arc::clone(&namespaces.names);
        let events = (self.events).then(|| EventMetrics::new(self.labels.cap_of(REGISTRY)));
        let of_sources =
            self.watch.iter().chain(&self.sources).flat_map(|source| source.families());
        // SLOs begin when they are put in force, so their families have no start in common.
        let counting = families_of_pods().into_iter().chain(of_sources).filter(|family| {
            let counts = matches!(family.kind, MetricType::Counter | MetricType::Histogram);
            counts && !family.slo_labels && !family.labels.contains(&"slo")
        });
        let starts = StartTimes::new(self.start, counting.map(|family| family.name));
        let evidence = EvidenceMetrics {
            cold_starts: (self.events || self.nodes)
                .then(|| ColdStarts::new(self.nodes, self.events)),
            nodes: (self.nodes).then(|| NodeMetrics::new(self.labels.cap_of(NODE_POOL))),
            events,
        };
        let named = NamedMetrics {
            gates: GateSeries::new(self.labels.cap_of(GATE)),
            milestones: MilestoneCounts::new(self.milestones),
            rollouts: self.shard.is_none_or(Shard::is_all).then(|| {
                let labels = specs.iter().map(|spec| &spec.label);
                RolloutSeries::new(labels, self.labels.max_sets)
            }),
        };
        let store =
            MetricStore::new(&specs, self.labels.max_sets, names(), named, evidence, starts);
        if self.nodes {
            store.pods.unobserved.show_all();
        }
        let store = Arc::new(store);
        let sets = LabelSets::new(specs, self.labels.max_sets);
        let board = Arc::new(SloBoard::new(names()));
        let mut slos = SloCounter::new(Arc::clone(&board));
        slos.replace(&self.slos);
        let mut sources: Vec<Box<dyn FamilySource>> = vec![Box::new(Arc::clone(&board))];
        sources.extend(self.watch);
        sources.extend(self.sources);
        sources.push(Box::new(BuildInfo { shard: self.shard }));
        let sources: Arc<[_]> = sources.into();
        let exposition =
            Exposition::new(Arc::clone(&store), board, Arc::clone(&sources), self.collectors);
        let recorder = Recorder::new(store, sets, namespaces, slos, sources);
        Ok((recorder, Arc::new(exposition)))
    }
}

impl fmt::Debug for ExpositionBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("labels", &self.labels).finish_non_exhaustive()
    }
}
