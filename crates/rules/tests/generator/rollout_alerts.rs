//! Tests of the alert on rollouts.

use super::super::rollout_alerts::{ROLLOUT_STUCK, stuck};
use super::format::{FIRST, Test, TestInputs};

const STUCK: &str = "podinit_rollouts_stuck";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    let alert = stuck(&inputs.options.job);
    let labels = inputs.lasting();
    vec![
        inputs
            .test(format!("{ROLLOUT_STUCK}: a rollout waits for its pods"))
            .given(STUCK, FIRST, "", "0x10 1x20 0x10")
            .silent(9, ROLLOUT_STUCK)
            .fires(20, ROLLOUT_STUCK, vec![inputs.expected(&alert, &labels, "1")])
            .silent(35, ROLLOUT_STUCK),
    ]
}
