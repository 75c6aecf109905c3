//! What a label set would come to, found by running pods through the recorder's own index.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::label_sets::LabelSets;
use super::labels::{LabelConfig, LabelError, LabelSpec, SeriesLabel};
use super::namespaces::NamespacePlaces;
use podinit_core::lifecycle::{ImageSource, Interval, Stage};
use podinit_core::pod::{PodInfo, PodSnapshot};
use podinit_histogram::layout::ClassicBuckets;

/// The histograms of a label set with pods to which so many conditional stages apply: of every interval that is
/// counted, and of the startup SLI where Events are a source of evidence ([§7.2](crate::specification#s7-2)).
fn histograms_of_a_set(events: bool, nodes: bool, conditional: usize) -> usize {
    let intervals = match nodes {
        true => Interval::COUNT,
        false => Interval::WITHOUT_NODES,
    };
    let all = Stage::ALL.iter().filter(|stage| stage.is_conditional()).count();
    intervals - all + conditional + usize::from(events)
}

/// The series that each registry has in the classic formats, where Events are a source of evidence:
/// images by source, failed pulls, bytes, and histograms of their durations and waits.
pub const SERIES_OF_A_REGISTRY: usize =
    ImageSource::ALL.len() + 2 + 2 * ClassicBuckets::ImagePulls.series();

/// The same with native histograms.
pub const NATIVE_SERIES_OF_A_REGISTRY: usize = ImageSource::ALL.len() + 2 + 2;

/// The series of label sets: as classic histograms, unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesOfSets {
    /// Of the set with the fewest
    pub least: usize,
    /// Of the set with the most
    pub most: usize,
    /// Of all sets
    pub all: usize,
    /// Of all sets, as native histograms
    pub native: usize,
}

/// Distinct values of one label are told apart up to here; beyond, there are "at least" so many.
pub const MOST_VALUES: usize = 100_000;

/// Counts label sets and values as the recorder would, without counting pods.
#[derive(Debug)]
pub struct LabelUsage {
    sets: LabelSets,
    labels: Vec<LabelTally>,
    pods: u64,
    overflowed: u64,
    /// By label set: the conditional stages that apply to a pod of it
    conditional: HashMap<usize, BTreeSet<Stage>>,
    /// By which SLO events, waiting and stuck pods are counted
    slo_namespaces: NamespacePlaces,
    hasher: RandomState,
}

/// How one label fared.
#[derive(Debug)]
struct LabelTally {
    spec: LabelSpec,
    /// Hashes of the values: their number is wanted, not they themselves
    values: HashSet<u64>,
    empty: u64,
    dropped: u64,
}

/// What the pods make of one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelUse {
    /// Its name on the series
    pub name: String,
    /// The label
    pub label: SeriesLabel,
    /// The most values it may take
    pub cap: usize,
    /// The distinct values that the pods have, whatever the cap; counted up to [`MOST_VALUES`]
    pub values: usize,
    /// Pods without a value
    pub empty: u64,
    /// Pods whose value lay past the cap
    pub dropped: u64,
}

impl LabelUsage {
    /// A census of no pods yet.
    ///
    /// # Errors
    /// When the label set cannot be (see [`LabelError`]).
    pub fn new(config: &LabelConfig) -> Result<Self, LabelError> {
        let specs = config.specs()?;
        let labels = specs.iter().map(|spec| LabelTally {
            spec: spec.clone(),
            values: HashSet::new(),
            empty: 0,
            dropped: 0,
        });
        Ok(Self {
            labels: labels.collect(),
            sets: LabelSets::new(specs, config.max_sets),
            pods: 0,
            overflowed: 0,
            conditional: HashMap::new(),
            slo_namespaces: NamespacePlaces::new(config.slo_namespace()),
            hasher: RandomState::new(),
        })
    }

    /// Takes a pod in. A watch mostly sees pods before they have a node, so that with the label
    /// `node` each has a second set, in which the node is empty.
    pub fn add(&mut self, snapshot: &PodSnapshot) {
        let pod = &snapshot.info;
        self.pods += 1;
        self.slo_namespaces.place_of(pod);
        let has_node = self.sets.has_any(SeriesLabel::is_known_when_bound);
        if has_node && pod.node.is_some() {
            let unbound = PodInfo { node: None, node_labels: None, ..pod.clone() };
            let set = self.sets.resolve(&unbound).set;
            self.apply(set, snapshot);
        }
        let resolved = self.sets.resolve(pod);
        self.apply(resolved.set, snapshot);
        self.overflowed += u64::from(resolved.overflow);
        for tally in &mut self.labels {
            let value = tally.spec.value(pod);
            if value.is_empty() {
                tally.empty += 1;
            } else if tally.values.len() < MOST_VALUES {
                tally.values.insert(self.hasher.hash_one(&*value));
            }
        }
        let labels = &mut self.labels;
        self.sets.each_dropped(pod, |_| true, |position| labels[position].dropped += 1);
    }

    fn apply(&mut self, set: usize, snapshot: &PodSnapshot) {
        self.conditional.entry(set).or_default().extend(snapshot.conditional_stages());
    }

    /// The series of the label sets.
    pub fn series(&self, events: bool, nodes: bool) -> SeriesOfSets {
        let of_sets = self.conditional.values();
        let of_sets = of_sets.map(|stages| histograms_of_a_set(events, nodes, stages.len()));
        let [least, most] = [of_sets.clone().min(), of_sets.clone().max()];
        let classic = |histograms| histograms * ClassicBuckets::Startups.series();
        let histograms = of_sets.sum();
        SeriesOfSets {
            least: classic(least.unwrap_or_default()),
            most: classic(most.unwrap_or_default()),
            all: classic(histograms),
            native: histograms,
        }
    }

    /// The pods taken in.
    pub const fn pods(&self) -> u64 {
        self.pods
    }

    /// The label sets that they make, within the caps.
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Pods whose whole label set lay past the cap on sets.
    pub const fn overflowed(&self) -> u64 {
        self.overflowed
    }

    /// The namespaces by which SLO events, waiting and stuck pods are counted, within the cap; none where
    /// they have no such label.
    pub fn slo_namespaces(&self) -> usize {
        let names = &self.slo_namespaces.names;
        names.shown().filter(|(_, name)| name.is_some()).count()
    }

    /// How each label fared, in the order of exposition.
    pub fn labels(&self) -> Vec<LabelUse> {
        let uses = self.labels.iter().map(|tally| LabelUse {
            name: tally.spec.name.clone(),
            label: tally.spec.label.clone(),
            cap: tally.spec.max_values,
            values: tally.values.len(),
            empty: tally.empty,
            dropped: tally.dropped,
        });
        uses.collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use super::*;
    use crate::metrics::{ExpositionBuilder, ExpositionFormat};
    use podinit_core::kube_event::CapacityState;
    use podinit_core::lifecycle::{
        Cause, Observation, Observer, PodObservation, PodState, PullObservation, Stage, WaitReason,
    };
    use podinit_core::pod::PodUid;
    use podinit_core::timestamp::Timestamp;

    fn pod(namespace: &str, node: Option<&str>, team: &str) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), namespace, "p");
        pod.info.node = node.map(Arc::from);
        pod.info.pod_labels = [team.into()].into();
        pod
    }

    fn config() -> LabelConfig {
        LabelConfig {
            labels: vec![
                SeriesLabel::Namespace,
                SeriesLabel::Node,
                SeriesLabel::PodLabel("example.com/team".to_owned()),
            ],
            max_values_of: vec![("node".to_owned(), 2)],
            ..LabelConfig::default()
        }
    }

    /// The first has init containers, and the last a readiness gate.
    fn pods() -> Vec<PodSnapshot> {
        let nodes = ["n1", "n2", "n3", "n4"].into_iter();
        let bound = nodes.map(|node| pod("a", Some(node), ""));
        let mut pods: Vec<_> = bound.chain([pod("b", None, "blue")]).collect();
        pods[0].has_init_containers = true;
        pods[4].has_readiness_gates = true;
        pods
    }

    /// The series of an exporter that has seen these pods, each with an image of its own registry.
    fn series(events: bool, nodes: bool, pods: &[PodSnapshot]) -> usize {
        let builder = ExpositionBuilder::new(config()).events(events).nodes(nodes);
        let (mut recorder, exposition) = builder.build().unwrap();
        for snapshot in pods {
            let pod = &snapshot.info;
            let discovered = |pod: &PodInfo| PodObservation::Moved {
                from: PodState::Undiscovered,
                to: PodState::InFlight(
                    match pod.node {
                        None => WaitReason::new(Stage::Scheduling, Cause::Queue).unwrap(),
                        Some(_) => WaitReason::new(Stage::Network, Cause::Unknown).unwrap(),
                    },
                    CapacityState::Unknown,
                ),
            };
            let unbound = PodInfo { node: None, ..pod.clone() };
            let mut observe = |pod: &PodInfo, first| {
                recorder.observe_pod(Timestamp::EPOCH, pod, first);
                for stage in snapshot.conditional_stages() {
                    recorder.observe_pod(Timestamp::EPOCH, pod, PodObservation::Applies(stage));
                }
            };
            observe(&unbound, discovered(&unbound));
            observe(pod, PodObservation::Bound);
            let node = pod.node.as_deref().unwrap_or_default();
            let pull = PullObservation {
                source: Some(ImageSource::Present),
                registry: &Arc::from(format!("{node}.example")),
                duration: None,
                wait: None,
                bytes: None,
                earlier: &[],
            };
            recorder.observe(Timestamp::EPOCH, Observation::Pull(pod, pull));
        }
        let text = exposition.encode(ExpositionFormat::Text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).count()
    }

    #[test]
    fn the_sets_are_those_that_the_recorder_makes_of_the_same_pods() {
        let mut census = LabelUsage::new(&config()).unwrap();
        pods().iter().for_each(|pod| census.add(pod));
        // a without a node, on n1, on n2, on _other; b without a node.
        assert_eq!((census.pods(), census.sets(), census.overflowed()), (5, 5, 0));
        for (events, nodes) in [(false, false), (true, false), (false, true), (true, true)] {
            let added = series(events, nodes, &pods()) - series(events, nodes, &[]);
            let registries = usize::from(events) * pods().len() * SERIES_OF_A_REGISTRY;
            let SeriesOfSets { least, most, all, native } = census.series(events, nodes);
            assert_eq!(added, all + registries, "Events {events}, nodes {nodes}");
            // a without a node and on n1 has init, and b without a node readiness.
            assert_eq!((most - least, all - 5 * least, native), (28, 3 * 28, all / 28));
        }
    }

    #[test]
    fn values_are_counted_beyond_the_cap_and_told_from_missing_ones() {
        let mut census = LabelUsage::new(&config()).unwrap();
        pods().iter().for_each(|pod| census.add(pod));
        let labels = census.labels();
        let figures = |label: &LabelUse| (label.values, label.empty, label.dropped);
        let figures: Vec<_> = labels.iter().map(figures).collect();
        assert_eq!(figures, [(2, 0, 0), (4, 1, 2), (1, 4, 0)]);
        assert_eq!(labels[2].label.key(), "example.com/team");
        assert_eq!(labels[2].name, "label_example_com_team");
    }

    #[test]
    fn the_cap_on_sets_holds() {
        let config = LabelConfig { max_sets: 2, ..LabelConfig::default() };
        let mut census = LabelUsage::new(&config).unwrap();
        for namespace in ["a", "b", "c", "d"] {
            census.add(&pod(namespace, None, ""));
        }
        assert_eq!((census.sets(), census.overflowed()), (3, 2));
    }
}
