//! What pods can have in common: by this problems are found ([§13.3](crate::specification#s13-3)), differences broken
//! down ([§15.6](crate::specification#s15-6)) and pods of a report grouped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::image_registry::registry_of;
use crate::label_values;
use crate::node::NodeLabels;
use crate::pod::Workload;

label_values! {
    /// What pods can have in common, in the order of the specification's table.
    pub enum Dimension {
        /// The image; of a problem that of the container that has the cause
        Image => "image",
        /// The registry of that image
        Registry => "registry",
        /// The first gate that holds the pod
        Gate => "gate",
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

/// What a pod has, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodValues<'a> {
    pub namespace: &'a str,
    /// The node that it is bound to
    pub node: Option<&'a str>,
    /// Its controller
    pub workload: Option<&'a Workload>,
    /// What its node states
    pub labels: Option<&'a NodeLabels>,
    /// Those that are grouped by: of all containers, or of the one that has the cause
    pub images: &'a [Arc<str>],
    /// The first gate that holds it
    pub gate: Option<&'a str>,
}

impl<'a> PodValues<'a> {
    /// Every value, with its dimension.
    pub fn all(self) -> impl Iterator<Item = (Dimension, Cow<'a, str>)> {
        let all = Dimension::ALL.into_iter();
        all.flat_map(move |dimension| self.values(dimension).map(move |value| (dimension, value)))
    }

    /// The values in a dimension, each once: of images and registries as many as the pod has, of the others at most one.
    pub fn values(self, dimension: Dimension) -> impl Iterator<Item = Cow<'a, str>> {
        let is_registry = dimension == Dimension::Registry;
        let text = move |image: &'a str| if is_registry { registry_of(image) } else { image };
        let images = match dimension {
            Dimension::Image | Dimension::Registry => self.images,
            _ => &[],
        };
        // Pods have few images, so that this costs less than a set.
        let is_first = move |number: &usize| {
            let mut before = images[..*number].iter();
            !before.any(|image| text(image) == text(&images[*number]))
        };
        let of_images =
            (0..images.len()).filter(is_first).map(move |one| text(&images[one]).into());
        self.value(dimension).into_iter().chain(of_images)
    }

    fn value(self, dimension: Dimension) -> Option<Cow<'a, str>> {
        let text: &str = match dimension {
            Dimension::Image | Dimension::Registry => return None,
            Dimension::Gate => self.gate?,
            Dimension::Workload => return Some(self.workload?.in_namespace(self.namespace).into()),
            Dimension::Node => self.node?,
            Dimension::Nodepool => &self.labels?.pool,
            Dimension::Zone => Some(&*self.labels?.zone).filter(|zone| !zone.is_empty())?,
            Dimension::Namespace => self.namespace,
        };
        Some(text.into())
    }
}

/// The pods with each value, by value. `values` gives those of a pod, each once.
pub fn grouped<'a, P: Copy, V: IntoIterator<Item = Cow<'a, str>>>(
    pods: impl IntoIterator<Item = P>,
    values: impl Fn(P) -> V,
) -> BTreeMap<Cow<'a, str>, Vec<P>> {
    let mut groups: BTreeMap<Cow<'a, str>, Vec<P>> = BTreeMap::new();
    for pod in pods {
        for value in values(pod) {
            groups.entry(value).or_default().push(pod);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_has_each_value_once() {
        let images = ["r.io/b:1", "r.io/a:1", "r.io/b:1", "a"].map(Arc::from);
        let workload = Workload { kind: "Deployment".into(), name: "web".into() };
        let labels = NodeLabels::default();
        let has = PodValues {
            namespace: "shop",
            workload: Some(&workload),
            labels: Some(&labels),
            images: &images,
            ..PodValues::default()
        };
        let values = |dimension| has.values(dimension).collect::<Vec<_>>();
        assert_eq!(values(Dimension::Image), ["r.io/b:1", "r.io/a:1", "a"]);
        assert_eq!(values(Dimension::Registry), ["r.io", "docker.io"]);
        assert_eq!(values(Dimension::Workload), ["shop/Deployment/web"]);
        assert_eq!(values(Dimension::Nodepool), ["_none"]);
        assert!(values(Dimension::Zone).is_empty() && values(Dimension::Node).is_empty());
        assert_eq!(has.all().count(), 8);
        let groups = grouped([1, 2, 3], |pod| [if pod > 1 { "more" } else { "one" }.into()]);
        assert_eq!(groups["more"], [2, 3]);
    }
}
