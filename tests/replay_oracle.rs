//! `podinit replay` against an oracle: a plain, slow reading of the specification that shares no
//! code with the implementation.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod oracle;

use oracle::examples;
use oracle::reading;

#[test]
fn the_oracle_agrees_with_the_figures_computed_by_hand() {
    let mut faults = Vec::new();
    for example in examples::all() {
        let figures = reading::read(&example.documents, &example.options).exposition();
        for fault in examples::faults(&example, &figures) {
            faults.push(format!("{}\n    {fault}", example.says));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
