//! Pods by themselves: a first list, and then events ([§8.4](crate::specification#s8-4)).

use super::*;

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
    let documents = recordings.into_iter().flatten().map(Result::unwrap);
    let signs = documents.map(|document| match document.body {
        DocumentBody::Pod(_) => 'P',
        DocumentBody::Event(WatchEventKind::Modified(_)) => 'M',
        DocumentBody::Events(_) | DocumentBody::Nodes { .. } | DocumentBody::NodeEvent(_) => '.',
        DocumentBody::List { .. } | DocumentBody::Event(_) => '-',
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
            let so_far = SoFar::default();
            let (first, second) = documents.split_at(cut);
            let files = [first, second].map(|part| recording(part).following(&so_far));
            assert_eq!(told(files), expected, "{documents:?} cut at {cut}");
        }
        let yaml = documents.iter().map(|text| format!("---\n{text}\n"));
        assert_eq!(told([recording(&[yaml.collect()])]), expected);
    }
}

#[test]
fn files_that_do_not_belong_together_begin_anew() {
    let files = [(), ()].map(|()| recording(&[pod("a"), pod("b")]));
    assert_eq!(told(files), "PPPP");
}
