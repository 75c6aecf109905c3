//! Tests of the alerts on stuck pods.

use super::super::rule_file::Pairs;
use super::super::stuck_pod_alerts::{PODS_STUCK, alert};
use super::format::{ELSEWHERE, FIRST, SECOND, Test, TestInputs};
use crate::lifecycle::Stage;

const STUCK: &str = "podinit_stuck_pods";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    let mut tests: Vec<Test> = Stage::ALL
        .map(|stage| one_pod(inputs, stage))
        .into_iter()
        .collect();
    tests.extend([
        eternal_pod_hides_nothing(inputs),
        crashing_pod(inputs),
        crashing_release(inputs),
        not_in_sync(inputs),
        exporter_restarts(inputs),
        namespaces(inputs),
        clusters_do_not_mix(inputs),
    ]);
    tests
}

fn own(stage: Stage, cause: &str) -> String {
    format!("stage=\"{}\", cause=\"{cause}\"", stage.as_str())
}

/// The labels of the alert for the first target, the stage aside.
fn labels(inputs: TestInputs<'_>, cause: &str) -> Pairs {
    let mut labels = inputs.lasting_of_pods();
    labels.push(("cause", cause.to_owned()));
    labels
}

fn all(cause: &str) -> String {
    format!("alertname=\"{PODS_STUCK}\", cause=\"{cause}\"")
}

/// No other pod starts. It counts from the middle of the quarter of an hour over which the mean is taken.
fn one_pod(inputs: TestInputs<'_>, stage: Stage) -> Test {
    let alert = alert(stage, inputs.file, &inputs.options.job);
    let cause = "unknown";
    let expected = inputs.expected(&alert, &labels(inputs, cause), "1");
    Test::new(format!("{}: one pod is stuck, then leaves", stage.as_str()))
        .given(inputs, "podinit_synced", FIRST, "", "1x80")
        .given(inputs, STUCK, FIRST, &own(stage, cause), "0x20 1x30 0x30")
        .silent(26, PODS_STUCK)
        .fires(32, PODS_STUCK, vec![expected])
        .counts(70, &all(cause), 0)
}

/// A pod is stuck for days. After a day it fires nothing, and the alert fires for the next ones.
fn eternal_pod_hides_nothing(inputs: TestInputs<'_>) -> Test {
    let crash = own(Stage::Containers, "crash");
    let image = own(Stage::Containers, "image");
    Test::new("a pod that is stuck for ever does not hide the next incident")
        .given(inputs, "podinit_synced", FIRST, "", "1x1530")
        .given(inputs, STUCK, FIRST, &crash, "0x20 1x1460 5x40")
        .given(inputs, STUCK, FIRST, &image, "0x1480 40x40")
        .counts(60, &all("crash"), 1)
        .counts(1400, &all("crash"), 1)
        .counts(1480, "alertname=\"PodinitPodsStuck\"", 0)
        .counts(1483, &all("image"), 1)
        .counts(1490, &all("crash"), 1)
}

/// Each restart moves the pod from `crash` to `probe` for two of seven minutes.
fn crashing_pod(inputs: TestInputs<'_>) -> Test {
    let cycle = |crash: u8, probe: u8| {
        let cycle = format!("{crash}x4 {probe}x1 ");
        format!("0x19 {}", cycle.repeat(10).trim_end())
    };
    Test::new("a pod that crashes again and again is stuck for one cause")
        .given(inputs, "podinit_synced", FIRST, "", "1x90")
        .given(
            inputs,
            STUCK,
            FIRST,
            &own(Stage::Containers, "crash"),
            cycle(1, 0),
        )
        .given(
            inputs,
            STUCK,
            FIRST,
            &own(Stage::Containers, "probe"),
            cycle(0, 1),
        )
        .counts(40, &all("crash"), 1)
        .counts(60, &all("crash"), 1)
        .counts(80, &all("crash"), 1)
        .counts(40, &all("probe"), 0)
        .counts(80, &all("probe"), 0)
}

/// Of a hundred pods that crash again and again, some run or are pulled at any moment. A worse share of them
/// does not crash.
fn crashing_release(inputs: TestInputs<'_>) -> Test {
    let [crash, probe, pull] =
        ["crash", "probe", "pull"].map(|cause| own(Stage::Containers, cause));
    Test::new("what pods do between their crashes is no cause of its own")
        .given(inputs, "podinit_synced", FIRST, "", "1x80")
        .given(inputs, STUCK, FIRST, &crash, "0x10 100x70")
        .given(inputs, STUCK, FIRST, &probe, "0x10 6x70")
        .given(inputs, STUCK, FIRST, &pull, "0x10 2x30 40x40")
        .counts(40, &all("crash"), 1)
        .counts(40, &all("probe"), 0)
        .counts(40, &all("pull"), 0)
        .counts(70, &all("probe"), 0)
        .counts(70, &all("pull"), 1)
}

fn not_in_sync(inputs: TestInputs<'_>) -> Test {
    Test::new("stuck pods of an exporter that is not in sync are not counted")
        .given(inputs, "podinit_synced", FIRST, "", "1x10 0x30 1x30")
        .given(
            inputs,
            STUCK,
            FIRST,
            &own(Stage::Network, "cni"),
            "0x10 7x60",
        )
        .counts(40, &all("cni"), 0)
        .counts(50, &all("cni"), 1)
}

/// The pods that were stuck before are stuck in the new exporter's eyes too.
fn exporter_restarts(inputs: TestInputs<'_>) -> Test {
    let stuck = own(Stage::Network, "volume");
    Test::new("the exporter restarts, and finds the stuck pods again")
        .given(inputs, "podinit_synced", FIRST, "", "1x1490 stale")
        .given(inputs, "podinit_synced", SECOND, "", "_x1492 0x2 1x60")
        .given(inputs, STUCK, FIRST, &stuck, "0x20 3x1470 stale")
        .given(inputs, STUCK, SECOND, &stuck, "_x1492 0x3 3x60")
        .counts(100, &all("volume"), 1)
        .counts(1485, &all("volume"), 0)
        .counts(1494, &all("volume"), 0)
        .counts(1502, &all("volume"), 0)
        .counts(1540, &all("volume"), 0)
}

/// Counted by namespace, in both ways in which Prometheus can name the label.
fn namespaces(inputs: TestInputs<'_>) -> Test {
    let stage = Stage::Init;
    let alert = alert(stage, inputs.file, &inputs.options.job);
    let found = [" Namespaces: team-b 5, team-a 2."];
    let labels = labels(inputs, "config");
    let expected = inputs.expected_with(&alert, &labels, "7", &found);
    let test = Test::new("stuck pods are counted by namespace").given(
        inputs,
        "podinit_synced",
        FIRST,
        "",
        "1x60",
    );
    [("team-a", "2"), ("team-b", "5")]
        .into_iter()
        .fold(test, |test, (namespace, pods)| {
            let own = format!(
                "{}, exported_namespace=\"{namespace}\"",
                own(stage, "config")
            );
            test.given(inputs, STUCK, FIRST, &own, format!("0x20 {pods}x40"))
                .given(
                    inputs,
                    "podinit_waiting_pods",
                    FIRST,
                    &own,
                    format!("{pods}x60"),
                )
        })
        .fires(40, PODS_STUCK, vec![expected])
}

fn clusters_do_not_mix(inputs: TestInputs<'_>) -> Test {
    let image = own(Stage::Containers, "image");
    Test::new("stuck pods of another cluster")
        .given(inputs, "podinit_synced", FIRST, "", "1x60")
        .given(inputs, "podinit_synced", ELSEWHERE, "", "1x60")
        .given(inputs, STUCK, FIRST, &image, "0x20 9x40")
        .given(inputs, STUCK, ELSEWHERE, &image, "20x20 0x40")
        .counts(40, &format!("{}, cluster=\"here\"", all("image")), 1)
        .counts(40, &format!("{}, cluster=\"there\"", all("image")), 0)
}
