//! The messages of kubelets, as `docs/measuring.md` shows them, are read as it says.

use std::path::Path;

use podinit_core::image_registry;
use podinit_decode::event::message::{PullMessage, failed_pull, pulled};

/// The rows of the table of messages: reason, message, what it is read as.
fn rows() -> Vec<[String; 3]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/measuring.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, table) = text.split_once("| kubelet | reason |").unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let rows = rows.map(|row| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, _, reason, message, meaning, _] = cells[..] else {
            panic!("not five cells: {row}");
        };
        [reason, message, meaning].map(|cell| cell.trim_matches('`').to_owned())
    });
    rows.collect()
}

/// What the decoder makes of an Event, in the words of the table.
fn read_as(reason: &str, message: &str) -> String {
    let docker = |image| assert_eq!(image_registry::of(image), "docker.io");
    match reason {
        "Pulled" => match pulled(message) {
            Some(PullMessage::Present { image }) => {
                docker(image);
                "present".to_owned()
            }
            Some(PullMessage::Pulled { image, pull }) => {
                docker(image);
                let mut text = format!("pulled, {} s", pull.duration.as_secs_f64());
                if let Some(with_wait) = pull.with_wait {
                    text += &format!(", {} s with wait", with_wait.as_secs_f64());
                }
                if let Some(bytes) = pull.bytes {
                    text += &format!(", {bytes} bytes");
                }
                text
            }
            None => "nothing".to_owned(),
        },
        "Failed" => match failed_pull(message) {
            Some(image) => {
                docker(image);
                "failed".to_owned()
            }
            None => "nothing".to_owned(),
        },
        "Pulling" => "a pull has begun".to_owned(),
        _ => "nothing".to_owned(),
    }
}

#[test]
fn the_messages_that_are_documented_are_read_as_the_table_says() {
    let rows = rows();
    assert!(rows.len() >= 10, "{rows:?}");
    for [reason, message, meaning] in rows {
        assert_eq!(read_as(&reason, &message), meaning, "{message}");
    }
}
