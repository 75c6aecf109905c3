//! A checkpoint of the last podinit that kept each histogram without a label set in a shape of its own.

use podinit_checkpoint::{content, frame};
use podinit_core::lifecycle::SavedPod;
use podinit_expo::metrics::saved::RestoredDurations;
use podinit_expo::metrics::{ExpositionBuilder, ExpositionFormat, LabelConfig};

/// The families that were kept so.
const FAMILIES: [&str; 8] = [
    "podinit_cold_start_duration_seconds",
    "podinit_gate_duration_seconds",
    "podinit_image_pull_duration_seconds",
    "podinit_image_pull_wait_seconds",
    "podinit_inplace_update_duration_seconds",
    "podinit_node_startup_duration_seconds",
    "podinit_resize_duration_seconds",
    "podinit_watch_delivery_seconds",
];

#[test]
fn it_is_read_whole() {
    let file = include_bytes!("../../fixtures/checkpoints/before_families");
    let sections = frame::read(file).unwrap();
    let content::DecodedCheckpoint { content, pods, skipped } =
        content::decode(&sections, podinit::families()).unwrap();
    assert_eq!(skipped, 0);
    let builder = ExpositionBuilder::new(LabelConfig::default()).events(true).nodes(true);
    let (mut recorder, exposition) = builder.build().unwrap();
    let durations = recorder.restore(&content.metrics, pods.iter().filter_map(SavedPod::in_flight));
    assert_eq!(durations, RestoredDurations::Continued);
    let text = String::from_utf8(exposition.encode(ExpositionFormat::Text).unwrap()).unwrap();
    let is_counted = |line: &&str| !line.ends_with(" 0") && !line.contains("_bucket{");
    let is_kept_so = |line: &&str| FAMILIES.iter().any(|family| line.starts_with(family));
    let lines: Vec<&str> = text.lines().filter(is_counted).filter(is_kept_so).collect();
    let expected = include_str!("../../fixtures/checkpoints/before_families.txt");
    assert_eq!(lines.join("\n"), expected.trim_end());
}
