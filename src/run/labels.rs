//! From the label options to what the decoder reads and what the metrics carry.

use crate::args::{LabelArgs, PodinitLabel};
use crate::decode::DecodeOptions;
use crate::metrics::LabelConfig;

/// What the decoder has to read of each pod.
pub(super) fn decode_options(args: &LabelArgs) -> DecodeOptions {
    DecodeOptions {
        pod_labels: args.pod_labels.clone(),
        node: args.has(PodinitLabel::Node),
        workload: args.has(PodinitLabel::Workload) || args.has(PodinitLabel::WorkloadKind),
    }
}

/// The label set of the duration series.
pub(super) fn label_config(args: &LabelArgs) -> LabelConfig {
    let own = PodinitLabel::ALL.map(PodinitLabel::as_str).into_iter();
    let names = own.chain(args.pod_labels.iter().map(String::as_str));
    LabelConfig {
        namespace: args.has(PodinitLabel::Namespace),
        workload_kind: args.has(PodinitLabel::WorkloadKind),
        workload: args.has(PodinitLabel::Workload),
        node: args.has(PodinitLabel::Node),
        host_network: args.has(PodinitLabel::HostNetwork),
        pod_labels: args.pod_labels.clone(),
        max_values: args.default_cap().get(),
        max_values_of: names
            .map(|name| (name.to_owned(), args.cap_of(name).get()))
            .collect(),
        ..LabelConfig::default()
    }
}
