//! The options for the label set of the duration series ([§7.4](crate::specification#s7-4)).

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::Args;

use super::cluster::Evidence;

use podinit_expo::metrics::{DEFAULT_MAX_VALUES, GATE, LabelConfig, REGISTRY, SeriesLabel};

/// A list of labels without repetition; the empty text is the empty list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelList(pub Vec<SeriesLabel>);

impl FromStr for LabelList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut labels = Vec::new();
        for name in text.split(',').map(str::trim) {
            if text.trim().is_empty() {
                break;
            }
            let label = name.parse()?;
            if labels.contains(&label) {
                return Err(format!("{name} is given twice"));
            }
            labels.push(label);
        }
        Ok(Self(labels))
    }
}

impl fmt::Display for LabelList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(SeriesLabel::key).collect();
        f.write_str(&names.join(","))
    }
}

/// The most distinct values, of every label or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelCap {
    /// What [`SeriesLabel::key`] gives, which a pod label may share with another label; `None` is
    /// every label without its own cap
    pub label: Option<String>,
    /// At least 1
    pub cap: NonZeroUsize,
}

impl FromStr for LabelCap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (label, cap) = match text.rsplit_once('=') {
            Some((label, cap)) => (Some(label.to_owned()), cap),
            None => (None, text),
        };
        let cap =
            cap.parse().map_err(|_| "expected a number above 0, or LABEL=NUMBER".to_owned())?;
        Ok(Self { label, cap })
    }
}

/// The labels by which SLO events can be counted: a list of them, or the empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SloLabels {
    /// `namespace`
    pub namespace: bool,
}

impl FromStr for SloLabels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Ok(Self { namespace: false }),
            "namespace" => Ok(Self { namespace: true }),
            other => Err(format!("no such label: {other:?}; there is namespace")),
        }
    }
}

/// The label set of the duration series.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Labels")]
pub struct LabelArgs {
    /// Labels of the duration series: namespace, workload_type, workload, node, host_network, runtime_class,
    /// priority_class, scheduler, or none. With --evidence nodes also nodepool, zone, instance_type, arch,
    /// capacity_type, kubelet_version
    #[arg(long, value_name = "LIST", default_value = "namespace")]
    pub labels: LabelList,

    /// Label of SLO events, waiting pods and stuck pods: namespace [default: none]
    #[arg(long = "slo-labels", value_name = "LIST")]
    pub slo_labels: Option<SloLabels>,

    /// Pod label to carry over to the duration series; may be repeated
    #[arg(
        long = "pod-label",
        value_name = "KEY",
        value_delimiter = ',',
        value_parser = parse_pod_label
    )]
    pub pod_labels: Vec<SeriesLabel>,

    /// Most distinct values of a label, for every label (256) or for one (node=1000), before
    /// further ones become _other; may be repeated. gate, registry and nodepool have caps too
    #[arg(
        long = "label-cap",
        value_name = "[LABEL=]N",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    label_caps: Vec<LabelCap>,
}

impl LabelArgs {
    /// The label set of the duration series.
    pub fn config(&self) -> LabelConfig {
        let own = self.label_caps.iter();
        let own = own.filter_map(|cap| Some((cap.label.clone()?, cap.cap.get())));
        LabelConfig {
            labels: self.carried().cloned().collect(),
            max_values: self.default_cap(),
            max_values_of: own.collect(),
            slo_namespace: self.has_slo_namespace(),
            ..LabelConfig::default()
        }
    }

    fn carried(&self) -> impl Iterator<Item = &SeriesLabel> {
        self.labels.0.iter().chain(&self.pod_labels)
    }

    fn has_slo_namespace(&self) -> bool {
        self.slo_labels.unwrap_or_default().namespace
    }

    /// The keys of the labels that have a cap: those that are carried, and those of other series.
    fn capped(&self, evidence: Evidence) -> impl Iterator<Item = &str> {
        let others = [
            (SeriesLabel::Namespace.key(), self.has_slo_namespace()),
            (GATE, true),
            (REGISTRY, evidence.events()),
            (SeriesLabel::NodePool.key(), evidence.nodes()),
        ];
        let others = others.into_iter().filter(|(_, is_there)| *is_there);
        self.carried().map(SeriesLabel::key).chain(others.map(|(key, _)| key))
    }

    /// The cap of every label that has none of its own. Where it is given more than once, the
    /// last one counts.
    fn default_cap(&self) -> usize {
        let general = self.label_caps.iter().rev().find(|cap| cap.label.is_none());
        general.map_or(DEFAULT_MAX_VALUES, |cap| cap.cap.get())
    }

    /// What the options cannot say each for itself.
    ///
    /// # Errors
    /// One line, where a cap is given for a label that the series do not carry, or a label comes from a source
    /// that is off.
    pub(super) fn check(&self, evidence: Evidence) -> Result<(), String> {
        let mut carried = self.carried();
        if let Some(label) = carried.find(|label| label.is_of_node() && !evidence.nodes()) {
            return Err(format!(
                "--labels {}: this label comes from nodes; add --evidence nodes",
                label.key()
            ));
        }
        let carried = |key: &str| self.capped(evidence).any(|capped| capped == key);
        let labels = self.label_caps.iter().filter_map(|cap| cap.label.as_deref());
        match labels.into_iter().find(|label| !carried(label)) {
            Some(label) => Err(format!(
                "--label-cap {label}=…: the series carry no such label; add it with --labels or \
                 --pod-label{}",
                if label == REGISTRY { ", or add --evidence events" } else { "" }
            )),
            None => Ok(()),
        }
    }
}

/// Checks the syntax of a Kubernetes label key: a name of at most 63 characters, with or without
/// a DNS name of at most 253 and a slash before it.
fn parse_pod_label(text: &str) -> Result<SeriesLabel, String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let well_formed = |part: &str, limit: usize, inner: &str| {
        let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = part.as_bytes();
        let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || inner.as_bytes().contains(byte);
        bytes.len() <= limit
            && bytes.iter().all(allowed)
            && ends(bytes.first())
            && ends(bytes.last())
    };
    if well_formed(name, 63, "-_.") && prefix.is_none_or(|prefix| well_formed(prefix, 253, "-.")) {
        Ok(SeriesLabel::PodLabel(text.to_owned()))
    } else {
        Err("not a label key; expected one such as app or app.kubernetes.io/name".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_keys_are_those_of_kubernetes() {
        for good in ["app", "app.kubernetes.io/name", "a_B-c.d", "1"] {
            assert_eq!(parse_pod_label(good), Ok(SeriesLabel::PodLabel(good.to_owned())));
        }
        for bad in ["", "/", "a/", "/a", "-a", "a b", "a/b/c", "a_b/c", "ä", "a="] {
            assert!(parse_pod_label(bad).is_err(), "{bad}");
        }
        assert!(parse_pod_label(&"a".repeat(64)).is_err());
    }

    #[test]
    fn label_lists_are_without_repetition() {
        let parse = |text: &str| text.parse::<LabelList>();
        assert_eq!(parse(""), Ok(LabelList(vec![])));
        let both = LabelList(vec![SeriesLabel::Node, SeriesLabel::Namespace]);
        assert_eq!(parse("node, namespace"), Ok(both.clone()));
        assert_eq!(parse(&both.to_string()), Ok(both));
        assert!(parse("node,node").is_err());
        assert!(parse("node,").is_err());
        assert!(parse("pod").is_err());
    }
}
