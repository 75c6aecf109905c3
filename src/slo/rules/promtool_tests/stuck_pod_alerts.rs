//! Tests of the alerts on stuck pods.

use super::super::stuck_pod_alerts::{age, alert};
use super::format::{Context, ELSEWHERE, FIRST, SECOND, Test};
use crate::lifecycle::Stage;

const OLDEST: &str = "podinit_oldest_inflight_pod_timestamp_seconds";

pub(super) fn tests(context: Context<'_>) -> Vec<Test> {
    let of = |stage| {
        [
            one_pod(context, stage),
            not_in_sync(context, stage),
            exporter_restarts(context, stage),
        ]
    };
    Stage::ALL.into_iter().flat_map(of).collect()
}

/// When a pod entered the stage that reaches the allowed age at `minute`.
fn entered(context: Context<'_>, stage: Stage, minute: u64) -> String {
    let age = age(stage, context.file).as_seconds();
    format!("{}", i128::from(minute * 60) - i128::from(age))
}

fn own(stage: Stage) -> String {
    format!("stage=\"{}\"", stage.as_str())
}

/// No other pod starts.
fn one_pod(context: Context<'_>, stage: Stage) -> Test {
    let alert = alert(stage, context.file, &context.options.job);
    let mut labels = context.lasting();
    labels.push(("stage", stage.as_str().to_owned()));
    let seconds = age(stage, context.file).as_seconds() + 60;
    let expected = context.expected(&alert, &labels, &humanized(seconds));
    let entered = entered(context, stage, 5);
    // The pod leaves at minute 8; another one enters then.
    Test::new(format!("{}: one pod is stuck, then leaves", stage.as_str()))
        .given(context, "podinit_synced", FIRST, "", "1x12")
        .given(
            context,
            OLDEST,
            FIRST,
            &own(stage),
            format!("{entered}x7 480x4"),
        )
        .silent(5, alert.name)
        .fires(6, alert.name, vec![expected])
        .silent(8, alert.name)
}

fn not_in_sync(context: Context<'_>, stage: Stage) -> Test {
    let alert = alert(stage, context.file, &context.options.job);
    let entered = entered(context, stage, 1);
    Test::new(format!(
        "{}: an exporter that is not in sync is ignored",
        stage.as_str()
    ))
    .given(context, "podinit_synced", FIRST, "", "0x5 1x5")
    .given(context, OLDEST, FIRST, &own(stage), format!("{entered}x10"))
    .silent(5, alert.name)
    .evaluates(6, firing(alert.name), 1)
}

fn exporter_restarts(context: Context<'_>, stage: Stage) -> Test {
    let alert = alert(stage, context.file, &context.options.job);
    let before = entered(context, stage, 1);
    let fresh = entered(context, stage, 30);
    Test::new(format!("{}: the exporter restarts", stage.as_str()))
        .given(context, "podinit_synced", FIRST, "", "1x4 stale")
        .given(context, "podinit_synced", SECOND, "", "_x6 1x6")
        .given(
            context,
            OLDEST,
            FIRST,
            &own(stage),
            format!("{before}x4 stale"),
        )
        .given(
            context,
            OLDEST,
            SECOND,
            &own(stage),
            format!("_x6 {before}x6"),
        )
        .given(context, "podinit_synced", ELSEWHERE, "", "1x12")
        .given(
            context,
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
