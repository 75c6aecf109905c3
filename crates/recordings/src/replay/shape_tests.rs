//! Pods by themselves: a first list, and then events ([§8.4](crate::specification#s8-4)).

#![allow(clippy::unwrap_used)]

use std::io::Cursor;

use super::*;
use crate::reader::Recording;
use podinit_decode::DecodeOptions;

const EVENT: &str = r#"{"kind":"Event","involvedObject":{"kind":"Pod","uid":"a"}}"#;
const NODE: &str = r#"{"kind":"Node","metadata":{"uid":"n"}}"#;
const NODE_EVENT: &str = r#"{"type":"ADDED","object":{"kind":"Node","metadata":{"uid":"n"}}}"#;

fn pod(uid: &str) -> String {
    format!(r#"{{"metadata":{{"uid":"{uid}"}}}}"#)
}

fn listed(uid: &str) -> String {
    format!(r#"{{"kind":"PodList","items":[{}]}}"#, pod(uid))
}

fn event(uid: &str) -> String {
    format!(r#"{{"type":"ADDED","object":{}}}"#, pod(uid))
}

/// `P` for a pod of the first list, `M` for one that is modified, `.` for what has no pods, `-` for the rest.
fn told(recordings: impl IntoIterator<Item = Recording>) -> String {
    let mut shape = ShapeReader::default();
    let documents = recordings.into_iter().flatten().map(Result::unwrap);
    let signs = documents.map(|mut document| {
        shape.place_bare_pod(&mut document);
        shape.read(&document);
        match document.pods {
            Some(RecordedPods::Bare(_)) => 'P',
            Some(RecordedPods::Event(WatchEventKind::Modified(_))) => 'M',
            None => '.',
            Some(RecordedPods::List { .. } | RecordedPods::Event(_)) => '-',
        }
    });
    signs.collect()
}

fn recording(documents: &[String]) -> Recording {
    let text = documents.join("\n");
    Recording::from_reader("test", Cursor::new(text), DecodeOptions::default())
}

#[test]
fn the_first_list_ends_with_a_second_uid_or_any_other_document_of_pods() {
    let [a, b, c] = ["a", "b", "c"].map(pod);
    let aside = [EVENT, NODE, NODE_EVENT].map(str::to_owned);
    let bookmark = r#"{"type":"BOOKMARK","object":{"kind":"Pod"}}"#.to_owned();
    let error = r#"{"type":"ERROR","object":{"kind":"Status"}}"#.to_owned();
    let empty = r#"{"kind":"List","items":[]}"#.to_owned();
    let cases: [(&[&String], &str); 9] = [
        (&[&a, &b, &c], "PPP"),
        (&[&a, &b, &a, &c], "PPMM"),
        (&[&a, &aside[0], &b, &aside[1], &c, &aside[2], &b], "P.P.P.M"),
        (&[&aside[0], &aside[1], &a, &b], "..PP"),
        (&[&a, &bookmark, &b], "P-M"),
        (&[&a, &error, &b], "P-M"),
        (&[&empty, &a, &b], "-MM"),
        (&[&listed("c"), &a, &a], "-MM"),
        (&[&event("c"), &a, &b], "-MM"),
    ];
    for (documents, expected) in cases {
        let documents: Vec<String> = documents.iter().copied().cloned().collect();
        assert_eq!(told([recording(&documents)]), expected, "{documents:?}");
        // The same in several files, and in YAML.
        for cut in 0..documents.len() {
            let (first, second) = documents.split_at(cut);
            assert_eq!(
                told([first, second].map(recording)),
                expected,
                "{documents:?} cut at {cut}"
            );
        }
        let yaml = documents.iter().map(|text| format!("---\n{text}\n"));
        assert_eq!(told([recording(&[yaml.collect()])]), expected);
    }
}

/// Whether it may be a lone list, whether the pods may be the first of a watch, and how many lists are relists.
fn shape(documents: &[String]) -> (bool, bool, Option<usize>) {
    let mut shape = ShapeReader::default();
    for document in recording(documents) {
        let mut document = document.unwrap();
        shape.place_bare_pod(&mut document);
        shape.read(&document);
    }
    (shape.is_one_moment(), shape.is_first_pods(), shape.relists())
}

#[test]
fn a_recording_has_one_shape() {
    let list = |namespace: &str, goes_on: &str| {
        format!(
            r#"{{"kind":"List","metadata":{{"continue":{goes_on}}},"items":[{{"metadata":{{"uid":"{namespace}","namespace":"{namespace}"}}}}]}}"#
        )
    };
    let [shop, pay] = ["shop", "pay"].map(|namespace| list(namespace, "null"));
    let (page, observed) =
        (list("shop", "\"x\""), pay.replacen('{', r#"{"observedAt":"2026-01-01T00:00:00Z","#, 1));
    let newer = event("a").replace(r#""uid""#, r#""resourceVersion":"2","uid""#);
    let (one_moment, first_pods, watched) =
        ((true, false, None), (false, true, None), (false, false, None));
    let cases: [(&[&str], _); 12] = [
        (&[], one_moment),
        (&[&pod("a"), EVENT], one_moment),
        (&[&shop, NODE_EVENT, &pay], one_moment),
        (&[&page, &shop, &pay], one_moment),
        (&[&shop, &shop], (false, false, Some(2))),
        (&[&shop, &observed], (false, false, Some(2))),
        (&[&shop, &shop, NODE_EVENT], watched),
        (&[EVENT, &event("a"), NODE_EVENT, &event("b"), &event("a")], first_pods),
        (&[&page, &event("a")], first_pods),
        (&[&shop, &event("a")], watched),
        (&[&event("a"), &newer], watched),
        (&[&event("a"), &shop], watched),
    ];
    for (documents, expected) in cases {
        let documents: Vec<String> = documents.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(shape(&documents), expected, "{documents:?}");
    }
}
