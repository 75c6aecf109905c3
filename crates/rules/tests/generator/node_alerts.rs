//! Tests of the alert on nodes that start.

use super::super::node_alerts::{NODES_LATE, late};
use super::format::{FIRST, Test, TestInputs};

const LATE: &str = "podinit_late_nodes";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    let alert = late(&inputs.options.job);
    let labels = inputs.lasting();
    vec![
        inputs
            .test(format!("{NODES_LATE}: three nodes keep a startup taint"))
            .given(LATE, FIRST, "", "0x10 3x20 0x10")
            .silent(14, NODES_LATE)
            .fires(20, NODES_LATE, vec![inputs.expected(&alert, &labels, "3")])
            .silent(32, NODES_LATE),
        inputs
            .test(format!("{NODES_LATE}: one node is a little late"))
            .given(LATE, FIRST, "", "0x10 1x3 0x20")
            .silent(13, NODES_LATE)
            .silent(20, NODES_LATE),
    ]
}
