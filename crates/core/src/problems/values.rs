//! What a pod has in each dimension ([§13.3](crate::specification#s13-3)).

use std::collections::HashSet;
use std::sync::Arc;

use crate::image_registry;
use crate::label_values;
use crate::lifecycle::{Cause, Record};

label_values! {
    /// What pods can share, in the order of the specification's table.
    pub enum Dimension {
        /// The image of the container that has the cause
        Image => "image",
        /// The registry of that image
        Registry => "registry",
        /// The controller, as NAMESPACE/KIND/NAME
        Workload => "workload",
        /// The node that the pod is bound to
        Node => "node",
        /// The pool of that node
        Nodepool => "nodepool",
        /// The zone of that node
        Zone => "zone",
        /// The namespace
        Namespace => "namespace",
    }
}

/// What pods share, where they share one thing.
pub(super) type Shared = Option<(Dimension, Arc<str>)>;

/// At most one value in each dimension; what is not known is no value.
#[derive(Clone, Debug, Default)]
pub(super) struct Values([Option<Arc<str>>; Dimension::ALL.len()]);

impl Values {
    pub(super) fn get(&self, dimension: Dimension) -> Option<&Arc<str>> {
        self.0[dimension as usize].as_ref()
    }

    /// As if nothing were known in the dimension.
    pub(super) fn forget(&mut self, dimension: Dimension) {
        self.0[dimension as usize] = None;
    }

    /// Every value, with its dimension.
    pub(super) fn all(&self) -> impl Iterator<Item = (Dimension, &Arc<str>)> {
        let all = Dimension::ALL.into_iter();
        all.filter_map(|dimension| Some((dimension, self.get(dimension)?)))
    }
}

/// Texts that many pods have, each once.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<Arc<str>>);

impl Names {
    /// The one that says the same.
    pub(super) fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// What the pod of `record` has that is affected by `cause`, which a container gave at this position, if one
/// did.
pub(super) fn of(
    record: &Record,
    cause: Cause,
    container: Option<u8>,
    names: &mut Names,
) -> Values {
    let container = container.and_then(|position| record.containers.get(usize::from(position)));
    let image = container.and_then(|container| container.image.as_ref());
    let has_registry = matches!(cause, Cause::Image | Cause::Pull);
    let registry = image.filter(|_| has_registry);
    let mut values = shared_by_all(record, names);
    values.0[Dimension::Image as usize] = image.map(|image| names.shared(image));
    values.0[Dimension::Registry as usize] =
        registry.map(|image| names.shared(image_registry::of(image)));
    values
}

/// What does not depend on the cause.
pub(super) fn shared_by_all(record: &Record, names: &mut Names) -> Values {
    let pod = &record.pod;
    let mut values = Values::default();
    values.0[Dimension::Workload as usize] = workload(record).map(|name| names.shared(&name));
    values.0[Dimension::Node as usize] = pod.node.as_ref().map(|node| names.shared(node));
    if let Some(labels) = &record.node_labels {
        let zone = Some(&labels.zone).filter(|zone| !zone.is_empty());
        values.0[Dimension::Nodepool as usize] = Some(names.shared(&labels.pool));
        values.0[Dimension::Zone as usize] = zone.map(|zone| names.shared(zone));
    }
    values.0[Dimension::Namespace as usize] = Some(names.shared(&pod.namespace));
    values
}

/// The workload as NAMESPACE/KIND/NAME; `None` of a pod without a controller.
pub(super) fn workload(record: &Record) -> Option<String> {
    let workload = record.pod.workload.as_ref()?;
    let namespace = &record.pod.namespace;
    Some(format!("{namespace}/{}/{}", workload.kind, workload.name))
}
