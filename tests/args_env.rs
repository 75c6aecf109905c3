//! Options from the environment. One test, in a process of its own, since the environment
//! belongs to a whole process and other threads must not read it meanwhile.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::ffi::OsString;

use podinit::args::{Command, PodinitLabel, ServeArgs};

fn serve(line: &[&str]) -> ServeArgs {
    match Command::parse(line.iter().map(OsString::from)).unwrap() {
        Command::Serve(args) => args,
        other => panic!("not serve: {other:?}"),
    }
}

#[test]
fn variables_stand_in_for_flags_and_flags_win() {
    for (name, value) in [
        ("PODINIT_LISTEN", "127.0.0.1:1"),
        ("PODINIT_NAMESPACE", "b,a"),
        ("PODINIT_LABELS", ""),
        ("PODINIT_POD_LABEL", "app,tier"),
        ("PODINIT_LABEL_CAP", "10,app=20"),
    ] {
        // SAFETY: no other thread of this process reads or writes the environment: the harness
        // runs this one test, and its main thread waits for it.
        unsafe { std::env::set_var(name, value) };
    }
    let args = serve(&["podinit"]);
    assert_eq!(args.exporter.listen.port(), 1);
    assert_eq!(args.cluster.namespaces(), ["a", "b"]);
    assert!(!args.exporter.labels.has(PodinitLabel::Namespace));
    assert_eq!(args.exporter.labels.pod_labels, ["app", "tier"]);
    assert_eq!(args.exporter.labels.cap_of("tier").get(), 10);
    assert_eq!(args.exporter.labels.cap_of("app").get(), 20);

    let args = serve(&["podinit", "--listen", ":2", "-n", "c", "--labels", "node"]);
    assert_eq!(args.exporter.listen.port(), 2);
    assert_eq!(args.cluster.namespaces(), ["c"]);
    assert!(args.exporter.labels.has(PodinitLabel::Node));

    // SAFETY: as above.
    unsafe { std::env::set_var("PODINIT_NAMESPACE", "") };
    assert!(serve(&["podinit"]).cluster.namespaces().is_empty());
}
