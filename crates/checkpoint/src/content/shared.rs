//! What many pods and records have in common: written once, and held once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::shape::SavedType;
use podinit_core::lifecycle::{PodInFlight, SharedParts, SloRule};
use podinit_core::node::NodeLabels;
use podinit_core::pod::{MOST_FOLLOWED, PodInfo, Workload};
use podinit_core::saved::by_position;

/// The images of a pod's containers.
type ContainerImages = Arc<Vec<Arc<str>>>;

/// The SLOs that were in force when a startup ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Rules(#[serde(with = "by_position")] Arc<[SloRule]>);

/// What the pods or the records of a section have in common, by numbers. It is the last value of its section.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Shared {
    images: BTreeMap<u32, ContainerImages>,
    nodes: BTreeMap<u32, Arc<NodeLabels>>,
    rules: BTreeMap<u32, Rules>,
}

impl SavedType for Shared {
    const NAME: &'static str = "Shared";

    fn check(&self) -> Result<(), &'static str> {
        match self.images.values().any(|images| images.len() > MOST_FOLLOWED) {
            true => Err("more images than are kept"),
            false => Ok(()),
        }
    }
}

/// The numbers of what a pod has of it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Numbers {
    images: Option<u32>,
    node: Option<u32>,
    node_at_end: Option<u32>,
}

impl Shared {
    /// What has these numbers.
    pub(super) fn parts(&self, numbers: Numbers) -> SharedParts {
        let node = |number: Option<u32>| self.nodes.get(&number?).cloned();
        SharedParts {
            images: numbers.images.and_then(|number| self.images.get(&number).cloned()),
            node: node(numbers.node),
            node_at_end: node(numbers.node_at_end),
        }
    }

    /// The SLOs with this number.
    pub(super) fn rules(&self, number: u32) -> Option<&Arc<[SloRule]>> {
        self.rules.get(&number).map(|rules| &rules.0)
    }

    /// Holds each text of it once.
    pub(super) fn share(&mut self, texts: &mut SharedTexts) {
        for images in self.images.values_mut().filter_map(Arc::get_mut) {
            images.iter_mut().for_each(|image| share(&mut texts.texts, image));
        }
    }
}

/// Labels of a node by what is written of them, which leaves out the label that names the pool. After a restart it is not
/// known until nodes are listed.
#[derive(Debug)]
struct WrittenLabels(Arc<NodeLabels>);

impl WrittenLabels {
    fn texts(&self) -> [&str; 6] {
        let NodeLabels {
            pool,
            pool_label: _,
            zone,
            instance_type,
            arch,
            capacity_type,
            kubelet_version,
        } = &*self.0;
        [pool, zone, instance_type, arch, capacity_type, kubelet_version]
    }
}

impl PartialEq for WrittenLabels {
    fn eq(&self, other: &Self) -> bool {
        self.texts() == other.texts()
    }
}

impl Eq for WrittenLabels {}

impl Hash for WrittenLabels {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.texts().hash(state);
    }
}

/// Numbers what pods have in common.
#[derive(Debug, Default)]
pub(super) struct SharedWriter {
    images: HashMap<ContainerImages, u32>,
    nodes: HashMap<WrittenLabels, u32>,
    rules: Vec<Arc<[SloRule]>>,
}

impl SharedWriter {
    /// The numbers of what this pod has.
    pub(super) fn numbers(&mut self, pod: &PodInFlight) -> Numbers {
        let SharedParts { images, node, node_at_end } = pod.shared_parts();
        Numbers {
            images: images.map(|images| number(&mut self.images, images)),
            node: node.map(|node| number(&mut self.nodes, WrittenLabels(node))),
            node_at_end: node_at_end.map(|node| number(&mut self.nodes, WrittenLabels(node))),
        }
    }

    /// The number of these SLOs.
    pub(super) fn number_of_rules(&mut self, used: &Arc<[SloRule]>) -> u32 {
        // Nearly always those of the record before. After a restart, equal ones are in two places.
        let same = |rules: &Arc<[SloRule]>| Arc::ptr_eq(rules, used) || rules == used;
        let known = self.rules.iter().rposition(same);
        let number = known.unwrap_or_else(|| {
            self.rules.push(Arc::clone(used));
            self.rules.len() - 1
        });
        number as u32
    }

    pub(super) fn finish(self) -> Shared {
        Shared {
            images: self.images.into_iter().map(|(images, number)| (number, images)).collect(),
            nodes: self.nodes.into_iter().map(|(node, number)| (number, node.0)).collect(),
            rules: (0..).zip(self.rules.into_iter().map(Rules)).collect(),
        }
    }
}

fn number<T: Eq + Hash>(numbers: &mut HashMap<T, u32>, value: T) -> u32 {
    // A checkpoint has fewer pods than numbers.
    let next = numbers.len() as u32;
    *numbers.entry(value).or_insert(next)
}

/// The texts that were read before.
#[derive(Default)]
pub(super) struct SharedTexts {
    texts: HashSet<Arc<str>>,
    workloads: HashSet<Arc<Workload>>,
}

impl SharedTexts {
    /// Replaces texts of the pod by equal ones of pods before it.
    pub(super) fn share(&mut self, pod: &mut PodInFlight) {
        for text in pod.texts_mut() {
            share(&mut self.texts, text);
        }
        self.share_names(pod.info_mut());
    }

    /// Replaces the names of a pod by equal ones of pods before it.
    pub(super) fn share_names(&mut self, pod: &mut PodInfo) {
        let PodInfo { namespace, node, workload, .. } = pod;
        [namespace].into_iter().chain(node).for_each(|text| share(&mut self.texts, text));
        if let Some(workload) = workload {
            share(&mut self.workloads, workload);
        }
    }
}

/// Replaces `value` by an equal one in `known`, or adds it there.
fn share<T: ?Sized + Eq + Hash>(known: &mut HashSet<Arc<T>>, value: &mut Arc<T>) {
    match known.get(&**value) {
        Some(first) => *value = Arc::clone(first),
        None => _ = known.insert(Arc::clone(value)),
    }
}
