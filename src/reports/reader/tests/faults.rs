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
        (
            "[]".into(),
            "line 1, column 1, byte 0 (document 1): a JSON array",
        ),
        (
            r#"{"metadata":{"uid":"a" "b"}}"#.into(),
            "column 24, byte 23 (document 1): invalid JSON: expected `,` or `}`",
        ),
        (
            r#"{"a":1 "b":2}"#.into(),
            "column 8, byte 7 (document 1): invalid JSON: expected `,` or `}`",
        ),
        (r#"{"a":nul}"#.into(), "invalid JSON: expected ident"),
        (
            r#"{"kind":"Service","metadata":{"uid":"a"}}"#.into(),
            "a Service is not a Pod",
        ),
        (
            r#"{"kind":"Secret","type":"Opaque"}"#.into(),
            "a Secret is not a Pod",
        ),
        (
            r#"{"kind":"ServiceList","items":[]}"#.into(),
            "not \"ServiceList\"",
        ),
        (r#"{"kind":"PodList"}"#.into(), "no items"),
        (r#"{"items":[]}"#.into(), "kind PodList or List"),
        ("{}".into(), "no metadata.uid"),
        (
            r#"{"kind":"Pod","metadata":{"name":"x"}}"#.into(),
            "no metadata.uid",
        ),
        (
            r#"{"type":"GONE","object":{}}"#.into(),
            "\"GONE\" is not a type of watch event",
        ),
        (r#"{"type":"ADDED"}"#.into(), "not an object"),
        (
            r#"{"type":"ADDED","object":{"kind":"Service"}}"#.into(),
            "a Service is not a Pod",
        ),
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
        (
            "kind: Service\nmetadata: {uid: a}\n".into(),
            "a Service is not a Pod",
        ),
        (
            "metadata: {uid: a}\n---\nmetadata: {name: b}\n".into(),
            "line 3, column 1, byte 23 (document 2): this pod has no metadata.uid",
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
