//! The body of a watch and of a list in protobuf, from an API server that may send anything.

use podinit_decode::event::watch::EventDecoder;
use podinit_decode::protobuf::error_status;
use podinit_decode::{DecodeOptions, ObjectEncoding, PodDecoder, SpecField};
use podinit_kube::watch::frame_reader::FrameReader;
use podinit_kube::watch::line_reader::FramedEvent;

/// In bytes; so short that the fuzzer produces frames that are too long.
const LIMIT: usize = 2048;

/// The first byte chooses how the body is cut into chunks.
pub fn run(bytes: &[u8]) {
    let Some((chunk, body)) = bytes.split_first() else {
        return;
    };
    let chunk = usize::from(*chunk) + 1;
    let frames = framed(body, body.len().max(1));
    assert_eq!(frames, framed(body, chunk));
    let mut decoder = PodDecoder::new(DecodeOptions {
        pod_labels: vec!["app".to_owned(), "team".to_owned()],
        spec_fields: SpecField::ALL.into(),
        node: true,
        workload: true,
        probes: true,
        images: true,
        messages: true,
        endings: true,
        claims: false,
        nodes: None,
        milestones: vec!["example.com/Loaded".into()],
    });
    let mut events = EventDecoder::default();
    // The body is also taken for one event, so that the fuzzer need not guess its length.
    let all = frames.iter().filter_map(|frame| frame.as_deref().ok());
    for frame in all.chain([body]) {
        let event = decoder.watch_frame(frame);
        assert_eq!(event, decoder.watch_frame(frame), "what a decoder remembers changes nothing");
        if event.is_err() {
            let _ = ObjectEncoding::Protobuf.may_be_deletion(frame);
        }
        let event = events.frame(frame);
        assert_eq!(event, events.frame(frame), "a decoder remembers texts only");
    }
    let _ = events.version_of_protobuf_list(body);
    let _ = error_status(body);
    let whole = page(&mut decoder, body, body.len().max(1));
    assert_eq!(whole, page(&mut decoder, body, chunk));
}

/// The page that the body is, or that it is none.
fn page(decoder: &mut PodDecoder, body: &[u8], chunk: usize) -> Option<podinit_decode::ListPage> {
    let mut buffer = Vec::new();
    let mut reader = decoder.page(ObjectEncoding::Protobuf, &mut buffer);
    for chunk in body.chunks(chunk) {
        reader.push(chunk).ok()?;
    }
    reader.finish().ok()
}

/// The frames, and the beginnings of those that are too long.
fn framed(body: &[u8], chunk: usize) -> Vec<Result<Vec<u8>, Vec<u8>>> {
    let mut framing = FrameReader::new(LIMIT);
    let mut frames = Vec::new();
    for mut chunk in body.chunks(chunk) {
        while let Some(frame) = framing.next(&mut chunk) {
            frames.push(match frame {
                FramedEvent::Whole(frame) => {
                    assert!(frame.len() <= LIMIT && !frame.is_empty());
                    Ok(frame.to_vec())
                }
                FramedEvent::TooLong(head) => Err(head.to_vec()),
            });
        }
    }
    frames
}
