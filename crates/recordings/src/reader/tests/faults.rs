//! Errors in a recording are one line: where, what is wrong, and how to fix it.

use super::*;

fn error(bytes: impl AsRef<[u8]>) -> String {
    let text = read(bytes).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

#[test]
fn each_error_is_one_line_with_its_position() {
    let pod = r#"{"metadata":{"uid":"a"}}"#;
    let cases = [
        (
            format!("{pod}\n{{\"metadata\":\n{{"),
            "test: line 3, column 2, byte 39 (document 2): the input ends within a document that began at line 2",
        ),
        (
            format!("{pod}\n}}"),
            "line 2, column 1, byte 25 (document 2): invalid JSON: a document must begin with `{`",
        ),
        (format!("{pod}\n[{pod}]"), "(document 2): a JSON array"),
        ("[]".into(), "line 1, column 1, byte 0 (document 1): a JSON array"),
        (
            r#"{"metadata":{"uid":"a" "b"}}"#.into(),
            "column 24, byte 23 (document 1): invalid JSON: expected `,` or `}`",
        ),
        (
            r#"{"a":1 "b":2}"#.into(),
            "column 8, byte 7 (document 1): invalid JSON: expected `,` or `}`",
        ),
        (r#"{"a":nul}"#.into(), "invalid JSON: expected ident"),
        (r#"{"kind":"Service","metadata":{"uid":"a"}}"#.into(), "a Service is not a Pod"),
        (r#"{"kind":"Secret","type":"Opaque"}"#.into(), "a Secret is not a Pod"),
        (r#"{"kind":"ServiceList","items":[]}"#.into(), "not \"ServiceList\""),
        (r#"{"kind":"PodList"}"#.into(), "no items"),
        (r#"{"items":[]}"#.into(), "kind PodList or List"),
        ("{}".into(), "no metadata.uid"),
        (r#"{"kind":"Pod","metadata":{"name":"x"}}"#.into(), "no metadata.uid"),
        (r#"{"type":"GONE","object":{}}"#.into(), "\"GONE\" is not a type of watch event"),
        (r#"{"type":"ADDED"}"#.into(), "not an object"),
        (r#"{"type":"ADDED","object":{"kind":"Service"}}"#.into(), "a Service is not a Pod"),
        (
            format!(r#"{{"observedAt":"now","type":"ADDED","object":{pod}}}"#),
            "observedAt is not a time",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod},\n {{\"kind\":\"Service\"}}]}}"),
            "line 2, column 2, byte 51 (document 1): item 2 of the list: a Service is not a Pod",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod},5]}}"),
            "item 2 of the list: this is not an object",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod},]}}"),
            "column 50, byte 49 (document 1): invalid JSON: expected a value",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod} {pod}]}}"),
            "invalid JSON: expected `,` or `]`",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod}],\n\"metadata\":{{\"x\" 1}}}}"),
            "line 2, column 17, byte 67 (document 1): invalid JSON: expected `:`",
        ),
        ("hello\n".into(), "this is not an object"),
        ("a: 1\nb: [\n".into(), "invalid YAML"),
        ("a: 1\nb: c: d\n".into(), "line 2"),
        ("kind: Service\nmetadata: {uid: a}\n".into(), "a Service is not a Pod"),
        (
            "metadata: {uid: a}\n---\nmetadata: {name: b}\n".into(),
            "line 3, column 1, byte 23 (document 2): this is an object without a kind and with no metadata.uid",
        ),
        (
            "kind: List\nitems:\n- metadata: {uid: a}\n- kind: Service\n".into(),
            "item 2 of the list: a Service is not a Pod",
        ),
    ];
    for (text, expected) in cases {
        let said = error(&text);
        assert!(said.contains(expected), "{text}\n{said}\n{expected}");
        assert!(read_in_steps(text.as_bytes(), 1).is_err());
    }
}

#[test]
fn what_is_no_recording_is_named() {
    let pod = r#"{"metadata":{"uid":"a"}}"#;
    let cases = [
        ("<!DOCTYPE html>\n<p>Bad gateway: no: upstream\n", "a web page"),
        ("# HELP up x\n# TYPE up gauge\nup 1\n", "metrics of Prometheus"),
        ("podinit_x{a=\"b: c\"} 1\n", "metrics of Prometheus"),
        ("NAME    READY   STATUS\nweb-0   1/1     Running\n", "a table for people"),
        ("NAMESPACE   NAME    READY\nshop   web-0   1/1\n", "a table for people"),
        (r#"{"kind":"Table","rows":[]}"#, "a table for people"),
        ("pod/web-0\npod/web-1\n", "names of pods alone"),
        ("Name:             web-0\nEvents:\n  a: b: c\n", "kubectl describe"),
        (
            "Error from server (Forbidden): pods is forbidden: no\n",
            "what kubectl says in place of pods (Error from server (Forbidden): pods is forbidden: no)",
        ),
        ("No resources found in shop namespace.\n", "in place of pods"),
        ("I1120 10:00:00.000000       1 main.go:12] a: b: c\n", "a log of Kubernetes"),
        ("&Pod{ObjectMeta:{web-0  shop  }}\n", "as Go prints it"),
        ("{'api_version': 'v1'}", "as Python prints it"),
        (
            r#"{"kind":"Status","status":"Failure","message":"pods is forbidden"}"#,
            "an answer of the API server without pods (pods is forbidden)",
        ),
        ("kind: Pod\nmetadata: {name: x}\n", "the manifest of a pod"),
        (r#"{"level":"info","msg":"hi"}"#, "without a kind"),
        (
            r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"x"}"#,
            "a line of an audit log",
        ),
        (
            r#"{"type":"ADDED","object":{"kind":"Event","apiVersion":"audit.k8s.io/v1"}}"#,
            "a line of an audit log",
        ),
        (
            r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"auditID":"x"}]}"#,
            "item 1 of the list: this is a line of an audit log",
        ),
        ("kind: EventList\napiVersion: audit.k8s.io/v1\nitems: []\n", "a line of an audit log"),
        (
            r#"{"kind":"Event","apiVersion":"example.com/v1"}"#,
            "kind Event of example.com/v1 is not the Event of Kubernetes",
        ),
        (
            r#"{"kind":"Node","apiVersion":"longhorn.io/v1beta2","metadata":{"uid":"a"}}"#,
            "kind Node of longhorn.io/v1beta2 is not the Node of Kubernetes",
        ),
        (
            r#"{"api_version":"v1","kind":"Pod","metadata":{"uid":"a","name":"x"}}"#,
            "to_dict() of the Python client",
        ),
        (
            r#"{"type":"ADDED","object":{"metadata":{"uid":"a","creation_timestamp":"x"}}}"#,
            "sanitize_for_serialization",
        ),
        (
            r#"{"items":[{"kind":null,"metadata":{"uid":"a","creation_timestamp":"x"}}],"kind":"PodList"}"#,
            "item 1 of the list: this is to_dict()",
        ),
        (
            "items:\n- metadata: {uid: a, resource_version: '1'}\nkind: PodList\n",
            "item 1 of the list: this is to_dict()",
        ),
        (r#"{"Name":"a","ObjectMeta":{"UID":"u"},"Status":{}}"#, "the names of Go"),
        ("objectmeta: {uid: a}\ntypemeta: {kind: Pod}\n", "the names of Go"),
        (r#"{"metadata":{"UID":"u","Name":"x"}}"#, "the names of Go"),
    ];
    for (text, expected) in cases {
        let said = error(text);
        assert!(said.contains(expected), "{text}\n{said}\n{expected}");
        assert!(said.contains("line 1, column"), "{said}");
        assert!(said.contains("(kubectl get pods,events "), "{said}");
        if !text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.starts_with('{') {
            let second = error(format!("{pod}\n{text}"));
            assert!(second.contains("line 2") && second.contains(expected), "{second}");
        }
    }
    // None of these is a misfit.
    for text in [
        r#"{"kind":"Event","apiVersion":"v1","involvedObject":{}}"#,
        r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","regarding":{}}"#,
        r#"{"kind":"Event"}"#,
        "name: x\nmetadata: {uid: a}\n",
        "# recorded\nmetadata: {uid: a}\n",
    ] {
        assert_eq!(bodies(text).len(), 1, "{text}");
    }
}

#[test]
fn binary_data_is_named_as_such() {
    assert!(error(b"\x7fELF\x02\x01\x01\0\0\0").contains("binary data"));
    assert!(error(b"\xff\xfe{\0").contains("binary data"));
    assert!(error(b"{\"metadata\": \xff\xff\0}").contains("invalid JSON"));
    let mut late = "metadata: {uid: a}\n---\n".repeat(1_000).into_bytes();
    late.extend(b"a: \xff\xff\n");
    let said = error(late);
    assert!(said.contains("(document 1001): invalid YAML"), "{said}");
}

#[test]
fn damaged_gzip_has_its_own_error() {
    let packed = gzip(LIST.repeat(50).as_bytes());
    assert!(error(&packed[..packed.len() / 2]).contains("cut off"));
    assert!(error(&packed[..2]).contains("gzip data is"));
    let mut damaged = packed.clone();
    let middle = damaged.len() - 6;
    damaged[middle] ^= 0xff;
    assert!(error(damaged).contains("gzip data is damaged"));
}

#[test]
fn an_endless_object_or_line_is_refused_before_it_fills_the_memory() {
    let endless = |head: &'static str| {
        let input = Cursor::new(head).chain(std::io::repeat(b'a'));
        let mut recording = Recording::from_reader("test", input, DecodeOptions::default());
        let said = recording.next().unwrap().unwrap_err().to_string();
        assert!(recording.next().is_none());
        assert!(recording.progress().bytes_read() < 3 * OBJECT_LIMIT as u64);
        said
    };
    let limit = "longer than 16 MiB";
    assert!(endless("{\"type\":\"").contains(limit));
    assert!(endless("{\"items\":[{\"metadata\":{\"name\":\"").contains(limit));
    assert!(endless("hello").contains(limit));
    assert!(endless("metadata:\n  name: ").contains("line 2, column 1, byte 10 (document 1)"));
}

#[test]
fn a_missing_file_and_a_directory_have_their_own_errors() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| match Recording::open(path, DecodeOptions::default()) {
        Ok(_) => panic!("opened"),
        Err(error) => error.to_string(),
    };
    let said = open(&folder.path().join("no\nsuch.json"));
    assert!(said.contains("no such.json: cannot be opened: "), "{said}");
    assert!(open(folder.path()).contains("directory"));
}
