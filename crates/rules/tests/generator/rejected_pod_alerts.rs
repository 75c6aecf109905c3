//! Tests of the alert on pods that kubelets reject.

use super::super::rejected_pod_alerts::{STARTUPS_REJECTED, rejected};
use super::format::{FIRST, Test, TestInputs};

const ENDED: &str = "podinit_pods_finished_total";
const OF_OUTCOME: &str = "outcome=\"rejected\"";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    let alert = rejected(&inputs.options.job);
    let labels = inputs.lasting();
    let expected = inputs.expected(&alert, &labels, "10");
    vec![
        inputs
            .test(format!("{STARTUPS_REJECTED}: a pod a minute, for ever"))
            .given(ENDED, FIRST, OF_OUTCOME, "0x10 1+1x60")
            .silent(11, STARTUPS_REJECTED)
            .fires(40, STARTUPS_REJECTED, vec![expected]),
        inputs
            .test(format!("{STARTUPS_REJECTED}: one pod now and then"))
            .given(ENDED, FIRST, OF_OUTCOME, "0x10 1x9 2x9 3x9 4x9")
            .silent(20, STARTUPS_REJECTED)
            .silent(45, STARTUPS_REJECTED),
        inputs
            .test(format!("{STARTUPS_REJECTED}: pods that fail by themselves"))
            .given(ENDED, FIRST, "outcome=\"failed\"", "0+5x60")
            .silent(40, STARTUPS_REJECTED),
    ]
}
