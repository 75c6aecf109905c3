//! Which labels the duration series carry ([§7.4](crate::specification#s7-4)), and how many values
//! they may take ([§7.5](crate::specification#s7-5)).

use std::borrow::Cow;
use std::str::FromStr;

use podinit_core::node::NodeLabels;
use podinit_core::pod::{PodInfo, Workload};
use podinit_decode::{DecodeOptions, SpecField};

/// What stands in place of a value past the cap.
pub const OTHER: &str = "_other";

/// The value of `label` in `podinit_label_overflow_pods_total` for pods whose whole label set lay
/// past the cap on sets. No Prometheus label of podinit begins with an underscore.
pub const WHOLE_SET: &str = "_label_set";

/// A label that the duration series can carry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SeriesLabel {
    /// The pod's namespace
    Namespace,
    /// The kind of the controller that owns the pod, in small letters as the Kubernetes mixin has it
    WorkloadType,
    /// The name of that controller
    Workload,
    /// The node that the pod is bound to
    Node,
    /// Whether the pod uses the network of its node: `true` or `false`
    HostNetwork,
    /// What a field of the pod's spec names
    OfSpec(SpecField),
    /// The pool of the node ([§14.2](crate::specification#s14-2)), as all that follow but `PodLabel`
    NodePool,
    /// The zone of the node
    Zone,
    /// The instance type of the node
    InstanceType,
    /// The processor architecture of the node
    Arch,
    /// Whether the node is a spot one, as Karpenter names it
    CapacityType,
    /// The version of the node's kubelet
    KubeletVersion,
    /// A label of the pod, by its key
    PodLabel(String),
}

impl SeriesLabel {
    /// The labels that podinit can take from any pod, in the order in which they are exposed. Pod
    /// labels come after them.
    pub const OF_ANY_POD: [Self; 14] = [
        Self::Namespace,
        Self::WorkloadType,
        Self::Workload,
        Self::Node,
        Self::HostNetwork,
        Self::OfSpec(SpecField::RuntimeClass),
        Self::OfSpec(SpecField::PriorityClass),
        Self::OfSpec(SpecField::Scheduler),
        Self::NodePool,
        Self::Zone,
        Self::InstanceType,
        Self::Arch,
        Self::CapacityType,
        Self::KubeletVersion,
    ];

    /// Whether only nodes can tell it ([§14.2](crate::specification#s14-2)).
    pub const fn is_of_node(&self) -> bool {
        matches!(
            self,
            Self::NodePool
                | Self::Zone
                | Self::InstanceType
                | Self::Arch
                | Self::CapacityType
                | Self::KubeletVersion
        )
    }

    /// Whether its value can become known when a pod is bound.
    pub const fn is_known_when_bound(&self) -> bool {
        matches!(self, Self::Node) || self.is_of_node()
    }

    /// What options call the label: its name on the series, or the key of the pod label.
    pub fn key(&self) -> &str {
        match self {
            Self::Namespace => "namespace",
            Self::WorkloadType => "workload_type",
            Self::Workload => "workload",
            Self::Node => "node",
            Self::HostNetwork => "host_network",
            Self::OfSpec(SpecField::RuntimeClass) => "runtime_class",
            Self::OfSpec(SpecField::PriorityClass) => "priority_class",
            Self::OfSpec(SpecField::Scheduler) => "scheduler",
            Self::NodePool => "nodepool",
            Self::Zone => "zone",
            Self::InstanceType => "instance_type",
            Self::Arch => "arch",
            Self::CapacityType => "capacity_type",
            Self::KubeletVersion => "kubelet_version",
            Self::PodLabel(key) => key,
        }
    }
}

/// Reads one of [`SeriesLabel::OF_ANY_POD`] by its name.
impl FromStr for SeriesLabel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::OF_ANY_POD.into_iter().find(|label| label.key() == text);
        found.ok_or_else(|| {
            let names = Self::OF_ANY_POD.each_ref().map(Self::key).join(", ");
            format!("no such label: {text:?}; there are {names}")
        })
    }
}

/// The most distinct values of a label that has no cap of its own
/// ([§7.5](crate::specification#s7-5)).
pub const DEFAULT_MAX_VALUES: usize = 256;

/// The label of gates ([§16.4](crate::specification#s16-4)).
pub const GATE: &str = "gate";

/// The label of registries ([§9.3](crate::specification#s9-3)).
pub const REGISTRY: &str = "registry";

/// The label set of the duration series, and its caps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelConfig {
    /// The labels. Those that any pod can have are exposed first, in the order of
    /// [`SeriesLabel::OF_ANY_POD`]; the pod labels follow in the order given here.
    pub labels: Vec<SeriesLabel>,
    /// The most distinct values of each label; values past it become [`OTHER`]
    pub max_values: usize,
    /// The same for single labels by their keys, [`GATE`], [`REGISTRY`] and `nodepool` of other series included; the last
    /// entry of a label counts
    pub max_values_of: Vec<(String, usize)>,
    /// The most distinct label sets; past it all values of a set become [`OTHER`]. Each set takes
    /// up to seventeen histograms.
    pub max_sets: usize,
    /// Whether waiting pods, stuck pods and SLO events have the label `namespace` too
    pub slo_namespace: bool,
}

impl Default for LabelConfig {
    fn default() -> Self {
        Self {
            labels: vec![SeriesLabel::Namespace],
            max_values: DEFAULT_MAX_VALUES,
            max_values_of: Vec::new(),
            max_sets: 10_000,
            slo_namespace: false,
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

/// A label of the label set, as it is exposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LabelSpec {
    pub(super) label: SeriesLabel,
    /// Its Prometheus name
    pub(super) name: String,
    pub(super) max_values: usize,
    /// The index of a pod label or a field of the spec in [`PodInfo::pod_labels`]; unused for other labels
    place: usize,
}

impl LabelSpec {
    /// The value for `pod`; empty text where the pod has none.
    pub(super) fn value<'a>(&self, pod: &'a PodInfo) -> Cow<'a, str> {
        let workload = pod.workload.as_deref();
        let of_node = |of: fn(&NodeLabels) -> &str| pod.node_labels.as_deref().map_or("", of);
        let value = match self.label {
            SeriesLabel::Namespace => &pod.namespace,
            SeriesLabel::WorkloadType => {
                return workload.map_or(Cow::Borrowed(""), |workload| {
                    Workload::type_of(&workload.kind).into()
                });
            }
            SeriesLabel::Workload => workload.map_or("", |workload| &workload.name),
            SeriesLabel::Node => pod.node.as_deref().unwrap_or_default(),
            SeriesLabel::HostNetwork if pod.host_network => "true",
            SeriesLabel::HostNetwork => "false",
            SeriesLabel::NodePool => of_node(|node| &node.pool),
            SeriesLabel::Zone => of_node(|node| &node.zone),
            SeriesLabel::InstanceType => of_node(|node| &node.instance_type),
            SeriesLabel::Arch => of_node(|node| &node.arch),
            SeriesLabel::CapacityType => of_node(|node| &node.capacity_type),
            SeriesLabel::KubeletVersion => of_node(|node| &node.kubelet_version),
            SeriesLabel::PodLabel(_) | SeriesLabel::OfSpec(_) => {
                let value = pod.pod_labels.get(self.place);
                value.map_or("", |value| value)
            }
        };
        Cow::Borrowed(value)
    }
}

impl LabelConfig {
    /// What the decoder has to read of each pod, so that the labels have values.
    pub fn decode_options(&self) -> DecodeOptions {
        DecodeOptions {
            pod_labels: self.pod_label_keys().map(str::to_owned).collect(),
            spec_fields: self.spec_fields().collect(),
            node: self.labels.iter().any(SeriesLabel::is_known_when_bound),
            // Rollouts are of workloads.
            workload: true,
            ..DecodeOptions::default()
        }
    }

    /// The most distinct values of the label with this key.
    pub fn cap_of(&self, key: &str) -> usize {
        let mut caps = self.max_values_of.iter().rev();
        caps.find(|(capped, _)| capped == key).map_or(self.max_values, |(_, cap)| *cap)
    }

    /// The labels, in the order in which they are exposed.
    pub(super) fn specs(&self) -> Result<Vec<LabelSpec>, LabelError> {
        let of_any_pod = SeriesLabel::OF_ANY_POD.into_iter();
        let pod_labels = self.pod_label_keys().count();
        let mut specs: Vec<LabelSpec> = of_any_pod
            .filter(|label| self.labels.contains(label))
            .map(|label| {
                let name = label.key().to_owned();
                let is_own = |field: &SpecField| label == SeriesLabel::OfSpec(*field);
                let place = self.spec_fields().position(|field| is_own(&field));
                self.spec(label, name, pod_labels + place.unwrap_or_default())
            })
            .collect();
        for (index, key) in self.pod_label_keys().enumerate() {
            let name = self.pod_label_name(index, key)?;
            specs.push(self.spec(SeriesLabel::PodLabel(key.to_owned()), name, index));
        }
        Ok(specs)
    }

    /// The label by which waiting pods and SLO events are counted, if there is one.
    pub(super) fn slo_namespace(&self) -> Option<LabelSpec> {
        let label = SeriesLabel::Namespace;
        let name = label.key().to_owned();
        self.slo_namespace.then(|| self.spec(label, name, 0))
    }

    fn spec(&self, label: SeriesLabel, name: String, place: usize) -> LabelSpec {
        LabelSpec { max_values: self.cap_of(label.key()), label, name, place }
    }

    fn pod_label_keys(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().filter_map(|label| match label {
            SeriesLabel::PodLabel(key) => Some(key.as_str()),
            _ => None,
        })
    }

    /// The fields of the spec that labels carry, in the order in which the decoder gives their values.
    fn spec_fields(&self) -> impl Iterator<Item = SpecField> {
        let wanted = |field: &SpecField| self.labels.contains(&SeriesLabel::OfSpec(*field));
        SpecField::ALL.into_iter().filter(wanted)
    }

    fn pod_label_name(&self, index: usize, key: &str) -> Result<String, LabelError> {
        if key.is_empty() {
            return Err(LabelError::EmptyKey);
        }
        let name = prometheus_name(key);
        let mut earlier = self.pod_label_keys().take(index);
        match earlier.find(|old| prometheus_name(old) == name) {
            Some(first) => {
                Err(LabelError::Collision { name, first: first.to_owned(), second: key.to_owned() })
            }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn with_pod_labels(keys: &[&str]) -> LabelConfig {
        let pod_labels = keys.iter().map(|key| SeriesLabel::PodLabel((*key).to_owned()));
        let namespace = [SeriesLabel::Namespace].into_iter();
        LabelConfig { labels: namespace.chain(pod_labels).collect(), ..LabelConfig::default() }
    }

    #[test]
    fn pod_labels_are_named_as_kube_state_metrics_names_them() {
        assert_eq!(prometheus_name("app.kubernetes.io/name"), "label_app_kubernetes_io_name");
        assert_eq!(prometheus_name("camelCase9Key"), "label_camel_case9_key");
        assert_eq!(prometheus_name("HTTPServer"), "label_httpserver");
    }

    #[test]
    fn labels_stand_in_a_fixed_order() {
        let mut config = with_pod_labels(&["team", "app"]);
        let of_any_pod = SeriesLabel::OF_ANY_POD.into_iter();
        config.labels.extend(of_any_pod.skip(1).rev());
        let names: Vec<_> = config.specs().unwrap().into_iter().map(|s| s.name).collect();
        assert_eq!(
            names,
            [
                "namespace",
                "workload_type",
                "workload",
                "node",
                "host_network",
                "runtime_class",
                "priority_class",
                "scheduler",
                "nodepool",
                "zone",
                "instance_type",
                "arch",
                "capacity_type",
                "kubelet_version",
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
    fn fields_of_the_spec_are_found_behind_the_pod_labels_however_they_are_ordered() {
        let mut config = with_pod_labels(&["team"]);
        config.labels.insert(0, SeriesLabel::OfSpec(SpecField::Scheduler));
        config.labels.push(SeriesLabel::OfSpec(SpecField::RuntimeClass));
        let options = config.decode_options();
        assert_eq!(
            options.value_names(),
            ["team", ".spec.runtimeClassName", ".spec.schedulerName"]
        );
        let values = ["blue", "gvisor", "volcano"].map(Box::from);
        let pod = PodInfo { pod_labels: values.into(), ..PodInfo::default() };
        let specs = config.specs().unwrap();
        let shown = specs.iter().map(|spec| (&*spec.name, spec.value(&pod)));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                ("namespace", "".into()),
                ("runtime_class", "gvisor".into()),
                ("scheduler", "volcano".into()),
                ("label_team", "blue".into())
            ]
        );
    }

    #[test]
    fn what_a_pod_lacks_is_empty() {
        let pod = PodInfo::default();
        let spec = |label| LabelConfig::default().spec(label, String::new(), 3);
        for label in [
            SeriesLabel::Workload,
            SeriesLabel::WorkloadType,
            SeriesLabel::Node,
            SeriesLabel::OfSpec(SpecField::RuntimeClass),
            SeriesLabel::PodLabel("app".to_owned()),
        ] {
            assert_eq!(spec(label).value(&pod), "");
        }
        assert_eq!(spec(SeriesLabel::HostNetwork).value(&pod), "false");
    }
}
