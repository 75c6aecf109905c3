//! What holds of the frame of every checkpoint file, whatever its content and whatever happens to it.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

type Content = Vec<(u32, Vec<u8>)>;

fn file(content: &Content) -> Vec<u8> {
    let mut writer = SectionWriter::begin();
    for (tag, payload) in content {
        writer.section(*tag, |to| to.extend(payload));
    }
    writer.finish()
}

fn content() -> impl Strategy<Value = Content> {
    vec((any::<u32>(), vec(any::<u8>(), 0..40)), 0..5)
}

/// The same sections with payloads of the same lengths, so that a splice keeps every length.
fn same_shape(content: &Content, byte: u8) -> Content {
    let other = |payload: &Vec<u8>| payload.iter().map(|old| old ^ byte).collect();
    content.iter().map(|(tag, payload)| (*tag, other(payload))).collect()
}

proptest! {
    #[test]
    fn what_was_written_is_read(content in content()) {
        let file = file(&content);
        let sections = read(&file).unwrap();
        let found: Content = sections.iter().map(|(tag, payload)| (tag, payload.to_vec())).collect();
        prop_assert_eq!(found, content);
    }

    #[test]
    fn any_truncation_is_refused(content in content()) {
        let file = file(&content);
        for cut in 0..file.len() {
            match read(&file[..cut]) {
                Err(FrameError::Truncated { found, wanted }) => {
                    prop_assert_eq!(found, cut);
                    prop_assert!(wanted > cut as u64 && wanted <= file.len() as u64);
                }
                other => prop_assert_eq!((cut, other), (0, Err(FrameError::NotACheckpoint))),
            }
        }
    }

    #[test]
    fn any_flipped_bit_is_refused(content in content()) {
        let mut file = file(&content);
        for bit in 0..file.len() * 8 {
            file[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(read(&file).is_err(), "bit {bit}");
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }

    /// The beginning of one checkpoint with the end of another, as a write in place would leave it:
    /// also if both have the same section lengths, and at the borders of sections.
    #[test]
    fn any_splice_of_two_is_refused(content in content(), byte in 1..=u8::MAX, other in content()) {
        let one = file(&content);
        for two in [file(&same_shape(&content, byte)), file(&other)] {
            for at in 0..one.len().min(two.len()) {
                let splice = [&one[..at], &two[at..]].concat();
                let whole = splice == one || splice == two;
                prop_assert_eq!(read(&splice).is_ok(), whole, "at {}", at);
            }
        }
    }

    #[test]
    fn bytes_behind_a_checkpoint_are_refused(content in content(), tail in vec(any::<u8>(), 1..40)) {
        let mut file = file(&content);
        file.extend(tail);
        prop_assert_eq!(read(&file), Err(FrameError::Corrupt("it is longer than it says")));
    }

    /// Sections under a good checksum that are not sections: a writer with a fault.
    #[test]
    fn any_bytes_under_a_good_checksum_are_read_or_refused(bytes in vec(any::<u8>(), 0..100)) {
        let mut writer = SectionWriter::begin();
        writer.0.extend(&bytes);
        let file = writer.finish();
        if let Ok(sections) = read(&file) {
            let length: usize = sections.iter().map(|(_, payload)| 12 + payload.len()).sum();
            prop_assert_eq!(length, bytes.len());
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in vec(any::<u8>(), 0..100), begin in any::<Index>()) {
        prop_assert!(read(&bytes).is_err());
        let begin = begin.index(HEAD_BYTES);
        let file = [&file(&Vec::new())[..begin], &bytes].concat();
        prop_assert!(read(&file).is_err());
    }
}

#[test]
fn other_versions_are_not_reported_as_damage() {
    let file = |version| {
        let mut writer = SectionWriter::version(version);
        writer.section(7, |to| to.extend(b"what only that version understands"));
        writer.finish()
    };
    let error = read(&file(VERSION + 1)).unwrap_err();
    assert_eq!(error, FrameError::FutureVersion(2));
    assert_eq!(
        error.to_string(),
        "its format is version 2, which this podinit does not know (it knows 1)"
    );
    let error = read(&file(VERSION - 1)).unwrap_err();
    assert_eq!(error, FrameError::OldVersion(0));
    assert_eq!(
        error.to_string(),
        "its format is version 0, which this podinit no longer reads (it reads 1)"
    );
}

#[test]
fn the_messages_describe_the_damage() {
    let mut file = file(&vec![(1, vec![2; 20])]);
    assert_eq!(read(&file[..90]).unwrap_err().to_string(), "it is truncated: 90 of 92 bytes");
    file[50] ^= 1;
    assert_eq!(read(&file).unwrap_err().to_string(), "it is corrupt: its checksum does not match");
    assert_eq!(read(b"{}").unwrap_err().to_string(), "it is not a checkpoint");
}

#[test]
fn a_section_is_found_by_its_tag() {
    let file = file(&vec![(3, vec![1]), (1, vec![2, 3])]);
    let sections = read(&file).unwrap();
    assert_eq!(sections.get(1), Some(&[2, 3][..]));
    assert!(sections.get(2).is_none());
}

/// The frame is a promise to checkpoints that exist: change it together with [`VERSION`].
#[test]
fn the_frame_is_that_of_version_1() {
    let mut writer = SectionWriter::begin();
    writer.section(0x0102_0304, |to| to.extend(b"podinit"));
    let file = writer.finish();
    let (hashed, _) = file.split_last_chunk::<HASH_BYTES>().unwrap();
    let wanted = b"podinit chkpnt\n\0\
        \x01\0\0\0\
        \x4f\0\0\0\0\0\0\0\
        \x04\x03\x02\x01\x07\0\0\0\0\0\0\0podinit";
    assert_eq!(hashed, wanted);
}
