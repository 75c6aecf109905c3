//! What a command has printed.

use std::process::Output;

use serde_json::Value;

/// The document that a command with `args` has printed, having succeeded without another word.
pub fn json_of(output: &Output, args: &[&str]) -> Value {
    assert!(output.status.success(), "{args:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The one line that a command has printed which failed.
pub fn one_line(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(output.stdout.is_empty(), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}
