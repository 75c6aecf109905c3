//! Events, from an API server and from a recording, with the messages in them.

use std::io::Cursor;

use podinit_core::image_registry;
use podinit_decode::DecodeOptions;
use podinit_decode::event::go_duration;
use podinit_decode::event::message::{PullMessage, failed_pull, pulled};
use podinit_decode::event::watch::{EventDecoder, EventLine, EventLineKind};
use podinit_recordings::reader::Recording;

/// Each line is a line of a watch, a list, a message of a kubelet, or none of these.
pub fn run(bytes: &[u8]) {
    let mut decoder = EventDecoder::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let read = decoder.line(line);
        assert_eq!(read, EventDecoder::default().line(line), "a decoder remembers texts only");
        let _ = decoder.list_version(line);
        if let Ok(EventLine { kind: EventLineKind::Applied(event), .. }) = read {
            let recording = Recording::from_reader(
                "line",
                Cursor::new(line.to_vec()),
                DecodeOptions::default(),
            );
            let documents: Result<Vec<_>, _> = recording.collect();
            // Without its kind, the object may be a pod; a recording refuses what is neither.
            if let Ok([document]) = documents.as_deref()
                && document.pods.is_none()
                && document.evidence.nodes.is_none()
            {
                let events = &document.evidence.events;
                assert_eq!(events[..], [event], "a recording says what the watch says");
            }
        }
        if let Ok(text) = std::str::from_utf8(line) {
            message(text);
        }
    }
}

fn message(text: &str) {
    let _ = go_duration::parse(text);
    let image = match pulled(text) {
        Some(PullMessage::Present { image }) => Some(image),
        Some(PullMessage::Pulled { image, pull }) => {
            assert!(pull.bytes.is_none() || pull.with_wait.is_some());
            Some(image)
        }
        None => failed_pull(text),
    };
    if let Some(image) = image {
        let registry = image_registry::registry_of(image);
        assert!(registry == "docker.io" || image.starts_with(&format!("{registry}/")));
        assert!(!registry.contains('/') && text.contains(image));
    }
}
