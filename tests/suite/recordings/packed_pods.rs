//! The pods of a list are held packed: every pod that was recorded of real clusters comes out as it went in.

use podinit_core::pod::PodSnapshot;
use podinit_core::pod::packed::PackedPods;
use podinit_decode::{DecodeOptions, PodDecoder, WatchEventKind};

use crate::recordings::protobuf::{events, everything};

fn recorded(options: DecodeOptions) -> Vec<PodSnapshot> {
    let mut decoder = PodDecoder::new(options);
    let events = events().into_iter().filter_map(|event| {
        let decoded = decoder.watch_event(event.to_string().as_bytes()).ok()?;
        match decoded.kind {
            WatchEventKind::Added(pod)
            | WatchEventKind::Modified(pod)
            | WatchEventKind::Deleted(pod) => Some(pod),
            _ => None,
        }
    });
    events.collect()
}

#[test]
fn every_recorded_pod_comes_out_of_a_list_as_it_went_in() {
    let as_exporters_ask = DecodeOptions { probes: false, ..everything() };
    for options in [everything(), as_exporters_ask, DecodeOptions::default()] {
        let pods = recorded(options);
        assert!(pods.len() > 1000, "{}", pods.len());
        let packed: PackedPods = pods.iter().cloned().collect();
        assert_eq!(packed.len(), pods.len());
        assert!(packed.into_iter().eq(pods));
    }
}
