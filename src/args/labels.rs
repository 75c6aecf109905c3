//! The options for the label set of the duration series ([§7.4](crate::specification#s7-4)).

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::Args;

/// A label that podinit can take from any pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PodinitLabel {
    /// The pod's namespace
    Namespace,
    /// The kind of the controller that owns the pod
    WorkloadKind,
    /// The name of that controller
    Workload,
    /// The node that the pod is bound to
    Node,
    /// Whether the pod uses the network of its node
    HostNetwork,
}

impl PodinitLabel {
    /// Every label.
    pub const ALL: [Self; 5] = [
        Self::Namespace,
        Self::WorkloadKind,
        Self::Workload,
        Self::Node,
        Self::HostNetwork,
    ];

    /// The name of the label, on series and in `--labels`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::WorkloadKind => "workload_kind",
            Self::Workload => "workload",
            Self::Node => "node",
            Self::HostNetwork => "host_network",
        }
    }
}

impl FromStr for PodinitLabel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|label| label.as_str() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("no such label: {text:?}; there are {names}")
        })
    }
}

/// A list of labels without repetition; the empty text is the empty list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelList(pub Vec<PodinitLabel>);

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
                return Err(format!("{name} stands there twice"));
            }
            labels.push(label);
        }
        Ok(Self(labels))
    }
}

impl fmt::Display for LabelList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|label| label.as_str()).collect();
        f.write_str(&names.join(","))
    }
}

/// The most distinct values, of every label or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelCap {
    /// A label of podinit's or the key of a pod label; `None` is every label without its own cap
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
        let cap = cap
            .parse()
            .map_err(|_| "expected a number above 0, or LABEL=NUMBER".to_owned())?;
        Ok(Self { label, cap })
    }
}

/// The label set of the duration series.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Labels")]
pub struct LabelArgs {
    /// Labels of the duration series, out of namespace, workload_kind, workload, node and
    /// host_network; an empty list is allowed
    #[arg(
        long,
        env = "PODINIT_LABELS",
        value_name = "LIST",
        default_value = "namespace"
    )]
    pub labels: LabelList,

    /// Pod label to carry over to the duration series; may be repeated
    #[arg(
        long = "pod-label",
        env = "PODINIT_POD_LABEL",
        value_name = "KEY",
        value_delimiter = ',',
        value_parser = parse_label_key
    )]
    pub pod_labels: Vec<String>,

    /// Most distinct values of a label, for every label (256) or for one (node=1000); further
    /// values become _other; may be repeated
    #[arg(
        long = "label-cap",
        env = "PODINIT_LABEL_CAP",
        value_name = "[LABEL=]N",
        value_delimiter = ','
    )]
    label_caps: Vec<LabelCap>,
}

impl LabelArgs {
    /// The cap of a label that none was given for ([§7.5](crate::specification#s7-5)).
    pub const DEFAULT_CAP: NonZeroUsize = match NonZeroUsize::new(256) {
        Some(cap) => cap,
        None => unreachable!(),
    };

    /// Whether the series carry this label.
    pub fn has(&self, label: PodinitLabel) -> bool {
        self.labels.0.contains(&label)
    }

    /// The cap of every label that has none of its own. Where it is given more than once, the
    /// last one counts.
    pub fn default_cap(&self) -> NonZeroUsize {
        let general = self.label_caps.iter().rev().find(|cap| cap.label.is_none());
        general.map_or(Self::DEFAULT_CAP, |cap| cap.cap)
    }

    /// The cap of one label: one of podinit's by its name, or a pod label by its key.
    pub fn cap_of(&self, label: &str) -> NonZeroUsize {
        let of_label = |cap: &&LabelCap| cap.label.as_deref() == Some(label);
        let own = self.label_caps.iter().rev().find(of_label);
        own.map_or_else(|| self.default_cap(), |cap| cap.cap)
    }

    /// What the options cannot say each for itself.
    ///
    /// # Errors
    /// One line, where a cap is given for a label that the series do not carry.
    pub(super) fn check(&self) -> Result<(), String> {
        let carried = |label: &str| {
            let named = self.labels.0.iter().any(|known| known.as_str() == label);
            named || self.pod_labels.iter().any(|key| key == label)
        };
        let labels = self
            .label_caps
            .iter()
            .filter_map(|cap| cap.label.as_deref());
        match labels.into_iter().find(|label| !carried(label)) {
            Some(label) => Err(format!(
                "--label-cap {label}=…: the series carry no such label; add it with --labels or \
                 --pod-label"
            )),
            None => Ok(()),
        }
    }
}

/// Checks the syntax of a Kubernetes label key: a name of at most 63 characters, with or without
/// a DNS name of at most 253 and a slash before it.
fn parse_label_key(text: &str) -> Result<String, String> {
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
        Ok(text.to_owned())
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
            assert_eq!(parse_label_key(good), Ok(good.to_owned()));
        }
        for bad in [
            "", "/", "a/", "/a", "-a", "a b", "a/b/c", "a_b/c", "ä", "a=",
        ] {
            assert!(parse_label_key(bad).is_err(), "{bad}");
        }
        assert!(parse_label_key(&"a".repeat(64)).is_err());
    }

    #[test]
    fn label_lists_are_without_repetition() {
        let parse = |text: &str| text.parse::<LabelList>();
        assert_eq!(parse(""), Ok(LabelList(vec![])));
        let both = LabelList(vec![PodinitLabel::Node, PodinitLabel::Namespace]);
        assert_eq!(parse("node, namespace"), Ok(both.clone()));
        assert_eq!(parse(&both.to_string()), Ok(both));
        assert!(parse("node,node").is_err());
        assert!(parse("node,").is_err());
        assert!(parse("pod").is_err());
    }
}
