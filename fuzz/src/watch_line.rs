//! The body of a watch, from an API server that may send anything.

use podinit_decode::{
    DecodeError, DecodeOptions, ObjectFault, PodDecoder, SpecField, WatchEvent, WatchEventKind,
};
use podinit_kube::watch::line_reader::{FramedEvent, LineReader};

/// In bytes; so short that the fuzzer produces lines that are too long.
const LIMIT: usize = 2048;

/// The first byte chooses how the body is cut into chunks.
pub fn run(bytes: &[u8]) {
    let Some((chunk, body)) = bytes.split_first() else {
        return;
    };
    let lines = framed(body, body.len().max(1));
    assert_eq!(lines, framed(body, usize::from(*chunk) + 1));

    let mut all = PodDecoder::new(DecodeOptions {
        pod_labels: vec!["app".to_owned(), "team".to_owned()],
        spec_fields: SpecField::ALL.into(),
        node: true,
        workload: true,
        probes: true,
        images: true,
        messages: true,
        endings: true,
        claims: true,
        nodes: None,
        milestones: Vec::new(),
    });
    let mut plain = PodDecoder::new(DecodeOptions::default());
    for line in lines.iter().filter_map(|line| line.as_ref().ok()) {
        let event = all.watch_event(line);
        assert_eq!(event, all.watch_event(line), "a decoder remembers texts only");
        match (event, plain.watch_event(line)) {
            (Ok(event), Ok(plain)) => assert_eq!(without_labels(event), without_labels(plain)),
            (Err(_), Err(_)) => {}
            // A text that is not valid Unicode makes the pod undecodable, if the text is read at all.
            (Err(DecodeError::Object { fault, .. }), Ok(_)) => {
                assert_eq!(fault, ObjectFault::Unreadable);
            }
            (event, plain) => panic!("{event:?} with labels, {plain:?} without"),
        }
        assert_eq!(all.list_page(line), all.list_page(line));
    }
}

/// The lines, and the beginnings of those that are too long.
fn framed(body: &[u8], chunk: usize) -> Vec<Result<Vec<u8>, Vec<u8>>> {
    let mut framing = LineReader::new(LIMIT);
    let mut lines = Vec::new();
    for mut chunk in body.chunks(chunk) {
        while let Some(line) = framing.next(&mut chunk) {
            lines.push(match line {
                FramedEvent::Whole(line) => {
                    assert!(line.len() <= LIMIT && !line.is_empty() && !line.contains(&b'\n'));
                    Ok(line.to_vec())
                }
                FramedEvent::TooLong(head) => Err(head.to_vec()),
            });
        }
    }
    lines
}

/// The counts must not depend on which labels are configured, nor on what only records show.
fn without_labels(mut event: WatchEvent) -> WatchEvent {
    match &mut event.kind {
        WatchEventKind::Added(pod)
        | WatchEventKind::Modified(pod)
        | WatchEventKind::Deleted(pod) => {
            pod.info.node = None;
            pod.info.workload = None;
            pod.info.pod_labels = std::sync::Arc::default();
            pod.info.images = None;
            pod.waiting_messages = None;
            pod.ending = None;
        }
        WatchEventKind::OtherShard { .. }
        | WatchEventKind::Bookmark { .. }
        | WatchEventKind::Error(_) => {}
    }
    event
}
