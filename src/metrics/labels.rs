//! Which labels the duration series carry ([§7.4](crate::specification#s7-4)), and how far their
//! number may grow ([§7.5](crate::specification#s7-5)).

use crate::pod::PodInfo;

/// What stands in place of a value past the cap.
pub const OTHER: &str = "_other";

/// The value of `label` in `podinit_label_values_dropped_total` for pods whose whole label set lay
/// past the cap on sets. No Prometheus label of podinit begins with an underscore.
pub const WHOLE_SET: &str = "_label_set";

/// The label set that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelConfig {
    /// `namespace`
    pub namespace: bool,
    /// `workload_kind`, the kind of the owning controller
    pub workload_kind: bool,
    /// `workload`, its name
    pub workload: bool,
    /// `node`
    pub node: bool,
    /// `host_network`, `true` or `false`
    pub host_network: bool,
    /// Keys of pod labels, in the order in which [`PodInfo::pod_labels`] holds their values
    pub pod_labels: Vec<String>,
    /// The most distinct values of each label; values past it become [`OTHER`]
    pub max_values: usize,
    /// The same for single labels, by podinit's name of the label or the key of the pod label
    pub max_values_of: Vec<(String, usize)>,
    /// The most distinct label sets; past it all values of a set become [`OTHER`]. Each set takes
    /// nine histograms.
    pub max_sets: usize,
}

impl Default for LabelConfig {
    fn default() -> Self {
        Self {
            namespace: true,
            workload_kind: false,
            workload: false,
            node: false,
            host_network: false,
            pod_labels: Vec::new(),
            max_values: 256,
            max_values_of: Vec::new(),
            max_sets: 10_000,
        }
    }
}

/// A label set that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// Two pod labels would become the same Prometheus label
    #[error(
        "pod labels {first:?} and {second:?} would both become the label {name:?}: choose one of them"
    )]
    Collision {
        /// The Prometheus label
        name: String,
        /// The pod label chosen first
        first: String,
        /// The one that collides with it
        second: String,
    },
    /// A pod label key is empty
    #[error("a chosen pod label has an empty key: name a label, such as app.kubernetes.io/name")]
    EmptyKey,
}

/// Where the value of a label comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Namespace,
    WorkloadKind,
    Workload,
    Node,
    HostNetwork,
    /// By position in [`PodInfo::pod_labels`]
    PodLabel(usize),
}

impl Source {
    /// The raw value for `pod`; empty text where the pod has none.
    pub(super) fn value(self, pod: &PodInfo) -> &str {
        let workload = pod.workload.as_deref();
        match self {
            Self::Namespace => &pod.namespace,
            Self::WorkloadKind => workload.map_or("", |workload| &workload.kind),
            Self::Workload => workload.map_or("", |workload| &workload.name),
            Self::Node => pod.node.as_deref().unwrap_or_default(),
            Self::HostNetwork if pod.host_network => "true",
            Self::HostNetwork => "false",
            Self::PodLabel(index) => pod.pod_labels.get(index).map_or("", |value| value),
        }
    }
}

/// One label: its Prometheus name and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LabelSpec {
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) max_values: usize,
}

impl LabelConfig {
    /// The labels, in the order in which they are exposed.
    pub(super) fn specs(&self) -> Result<Vec<LabelSpec>, LabelError> {
        let fixed = [
            (self.namespace, "namespace", Source::Namespace),
            (self.workload_kind, "workload_kind", Source::WorkloadKind),
            (self.workload, "workload", Source::Workload),
            (self.node, "node", Source::Node),
            (self.host_network, "host_network", Source::HostNetwork),
        ];
        let mut specs: Vec<LabelSpec> = fixed
            .into_iter()
            .filter(|(wanted, ..)| *wanted)
            .map(|(_, name, source)| LabelSpec {
                name: name.to_owned(),
                source,
                max_values: self.cap_of(name),
            })
            .collect();
        for (index, key) in self.pod_labels.iter().enumerate() {
            specs.push(LabelSpec {
                name: self.pod_label_name(index, key)?,
                source: Source::PodLabel(index),
                max_values: self.cap_of(key),
            });
        }
        Ok(specs)
    }

    fn cap_of(&self, label: &str) -> usize {
        let mut own = self.max_values_of.iter().rev();
        own.find(|(name, _)| name == label)
            .map_or(self.max_values, |(_, cap)| *cap)
    }

    fn pod_label_name(&self, index: usize, key: &str) -> Result<String, LabelError> {
        if key.is_empty() {
            return Err(LabelError::EmptyKey);
        }
        let name = prometheus_name(key);
        let earlier = self.pod_labels[..index].iter();
        match earlier.into_iter().find(|old| prometheus_name(old) == name) {
            Some(first) => Err(LabelError::Collision {
                name,
                first: first.clone(),
                second: key.to_owned(),
            }),
            None => Ok(name),
        }
    }
}

/// The Prometheus label for a pod label key, as kube-state-metrics forms it: `label_`, then the key
/// in snake case, with an underscore for each character that Prometheus does not allow.
fn prometheus_name(key: &str) -> String {
    let mut name = String::from("label_");
    let mut after_lower = false;
    for character in key.chars() {
        if character.is_ascii_uppercase() && after_lower {
            name.push('_');
        }
        after_lower = character.is_ascii_lowercase() || character.is_ascii_digit();
        if character.is_ascii_alphanumeric() {
            name.push(character.to_ascii_lowercase());
        } else {
            name.push('_');
        }
    }
    name
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn with_pod_labels(keys: &[&str]) -> LabelConfig {
        LabelConfig {
            pod_labels: keys.iter().map(|key| (*key).to_owned()).collect(),
            ..LabelConfig::default()
        }
    }

    #[test]
    fn pod_labels_are_named_as_kube_state_metrics_names_them() {
        assert_eq!(
            prometheus_name("app.kubernetes.io/name"),
            "label_app_kubernetes_io_name"
        );
        assert_eq!(prometheus_name("camelCase9Key"), "label_camel_case9_key");
        assert_eq!(prometheus_name("HTTPServer"), "label_httpserver");
    }

    #[test]
    fn labels_stand_in_a_fixed_order() {
        let config = LabelConfig {
            workload_kind: true,
            workload: true,
            node: true,
            host_network: true,
            ..with_pod_labels(&["team", "app"])
        };
        let names: Vec<_> = config
            .specs()
            .unwrap()
            .into_iter()
            .map(|s| s.name)
            .collect();
        assert_eq!(
            names,
            [
                "namespace",
                "workload_kind",
                "workload",
                "node",
                "host_network",
                "label_team",
                "label_app"
            ]
        );
    }

    #[test]
    fn colliding_and_empty_keys_are_refused() {
        assert_eq!(
            with_pod_labels(&["a.b", "a/b"]).specs(),
            Err(LabelError::Collision {
                name: "label_a_b".to_owned(),
                first: "a.b".to_owned(),
                second: "a/b".to_owned(),
            })
        );
        assert_eq!(with_pod_labels(&[""]).specs(), Err(LabelError::EmptyKey));
    }

    #[test]
    fn what_a_pod_lacks_is_empty() {
        let pod = PodInfo::default();
        for source in [Source::Workload, Source::WorkloadKind, Source::Node] {
            assert_eq!(source.value(&pod), "");
        }
        assert_eq!(Source::PodLabel(3).value(&pod), "");
        assert_eq!(Source::HostNetwork.value(&pod), "false");
    }
}
