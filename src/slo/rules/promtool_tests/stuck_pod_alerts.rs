//! Tests of the alerts on stuck pods.

use super::super::stuck_pod_alerts::{age, alert};
use super::format::{ELSEWHERE, FIRST, SECOND, Test, TestInputs};
use crate::lifecycle::Stage;

const OLDEST: &str = "podinit_oldest_inflight_pod_timestamp_seconds";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    let of = |stage| {
        [
            one_pod(inputs, stage),
            not_in_sync(inputs, stage),
            exporter_restarts(inputs, stage),
        ]
    };
    Stage::ALL.into_iter().flat_map(of).collect()
}

/// When a pod entered the stage that reaches the allowed age at `minute`.
fn entered(inputs: TestInputs<'_>, stage: Stage, minute: u64) -> String {
    let age = age(stage, inputs.file).as_seconds();
    format!("{}", i128::from(minute * 60) - i128::from(age))
}

fn own(stage: Stage) -> String {
    format!("stage=\"{}\"", stage.as_str())
}

/// No other pod starts.
fn one_pod(inputs: TestInputs<'_>, stage: Stage) -> Test {
    let alert = alert(stage, inputs.file, &inputs.options.job);
    let mut labels = inputs.lasting();
    labels.push(("stage", stage.as_str().to_owned()));
    let seconds = age(stage, inputs.file).as_seconds() + 60;
    let expected = inputs.expected(&alert, &labels, &humanized(seconds));
    let entered = entered(inputs, stage, 5);
    // The pod leaves at minute 8; another one enters then.
    Test::new(format!("{}: one pod is stuck, then leaves", stage.as_str()))
        .given(inputs, "podinit_synced", FIRST, "", "1x12")
        .given(
            inputs,
            OLDEST,
            FIRST,
            &own(stage),
            format!("{entered}x7 480x4"),
        )
        .silent(5, alert.name)
        .fires(6, alert.name, vec![expected])
        .silent(8, alert.name)
}

fn not_in_sync(inputs: TestInputs<'_>, stage: Stage) -> Test {
    let alert = alert(stage, inputs.file, &inputs.options.job);
    let entered = entered(inputs, stage, 1);
    Test::new(format!(
        "{}: an exporter that is not in sync is ignored",
        stage.as_str()
    ))
    .given(inputs, "podinit_synced", FIRST, "", "0x5 1x5")
    .given(inputs, OLDEST, FIRST, &own(stage), format!("{entered}x10"))
    .silent(5, alert.name)
    .evaluates(6, firing(alert.name), 1)
}

fn exporter_restarts(inputs: TestInputs<'_>, stage: Stage) -> Test {
    let alert = alert(stage, inputs.file, &inputs.options.job);
    let before = entered(inputs, stage, 1);
    let fresh = entered(inputs, stage, 30);
    Test::new(format!("{}: the exporter restarts", stage.as_str()))
        .given(inputs, "podinit_synced", FIRST, "", "1x4 stale")
        .given(inputs, "podinit_synced", SECOND, "", "_x6 1x6")
        .given(
            inputs,
            OLDEST,
            FIRST,
            &own(stage),
            format!("{before}x4 stale"),
        )
        .given(
            inputs,
            OLDEST,
            SECOND,
            &own(stage),
            format!("_x6 {before}x6"),
        )
        .given(inputs, "podinit_synced", ELSEWHERE, "", "1x12")
        .given(
            inputs,
            OLDEST,
            ELSEWHERE,
            &own(stage),
            format!("{fresh}x12"),
        )
        .evaluates(4, firing(alert.name), 1)
        .evaluates(8, firing(alert.name), 1)
}

fn firing(alert: &str) -> String {
    format!("count(ALERTS{{alertstate=\"firing\", alertname=\"{alert}\"}})")
}

/// Formats whole seconds as Prometheus' `humanizeDuration` does.
fn humanized(seconds: u64) -> String {
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
    ];
    let shown = parts
        .iter()
        .skip_while(|(count, unit)| *count == 0 && *unit != "s");
    let shown: Vec<String> = shown
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    shown.join(" ")
}
