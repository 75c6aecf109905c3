//! Tests of the alerts on stuck pods.

use super::super::rule_file::YamlPairs;
use super::super::stuck_pod_alerts::{PODS_STUCK, STILL_STUCK, alert, still_stuck};
use super::format::{ELSEWHERE, FIRST, SECOND, Target, Test, TestInputs};
use podinit_core::lifecycle::Stage;

const STUCK: &str = "podinit_stuck_pods";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    let mut tests: Vec<Test> = Stage::ALL.map(|stage| one_pod(inputs, stage)).into_iter().collect();
    tests.extend([
        eternal_pod_hides_nothing(inputs),
        abandoned_pods(inputs),
        weekend(inputs),
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
fn labels(inputs: TestInputs<'_>, cause: &str) -> YamlPairs {
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
    inputs
        .test(format!("{}: one pod is stuck, then leaves", stage.as_str()))
        .given("podinit_synced", FIRST, "", "1x90")
        .given(STUCK, FIRST, &own(stage, cause), "0x20 1x30 0x40")
        .silent(26, PODS_STUCK)
        .fires(32, PODS_STUCK, vec![expected])
        .counts(80, &all(cause), 0)
}

/// A pod is stuck for days. After a day it only reminds, and the alert fires for the next ones.
fn eternal_pod_hides_nothing(inputs: TestInputs<'_>) -> Test {
    let crash = own(Stage::Containers, "crash");
    let image = own(Stage::Containers, "image");
    inputs
        .test("a pod that stays stuck does not hide the next incident")
        .given("podinit_synced", FIRST, "", "1x1550")
        .given(STUCK, FIRST, &crash, "0x20 1x1480 5x40")
        .given(STUCK, FIRST, &image, "0x1500 40x40")
        .counts(60, &all("crash"), 1)
        .counts(1400, &all("crash"), 1)
        .counts(1495, "alertname=\"PodinitPodsStuck\"", 0)
        .counts(1503, &all("image"), 1)
        .counts(1510, &all("crash"), 1)
}

/// Pods that are abandoned, each kind in a cluster of its own, from the first scrape on. In the end one more
/// is stuck in some of them.
fn abandoned_pods(inputs: TestInputs<'_>) -> Test {
    const END: usize = 1600;
    let of = |cluster, number| Target { cluster, number };
    let crashing = |crash: &str, probe: &str, times| {
        [("crash", crash), ("probe", probe)].map(|(cause, cycle)| {
            let cycles = vec![cycle; times].join(" ");
            (own(Stage::Containers, cause), cycles)
        })
    };
    let stuck = |stage, cause, values: &str| (own(stage, cause), values.to_owned());
    let mut series = vec![
        (of("two", 1), stuck(Stage::Containers, "image", "2x1500 3x100")),
        (of("ten", 1), stuck(Stage::Containers, "crash", "10x1500 11x100")),
    ];
    // Five minutes between crashes; at times more of the pods run, and fewer wait.
    let noise = crashing("97x10 85", "3x10 15", END / 12);
    series.extend(noise.map(|values| (of("noise", 1), values)));
    let [before, after] = [crashing("10x4 9", "0x4 1", 250), crashing("11x4 10", "0x4 1", 20)];
    let both = before.into_iter().zip(after);
    series.extend(
        both.map(|((own, before), (_, after))| {
            (of("loops", 1), (own, format!("{before} {after}")))
        }),
    );
    // One of two shards is restarted at minute 1480, and finds its pods a minute after its sync.
    let cni = |values| stuck(Stage::Network, "cni", values);
    series.push((of("shards", 1), cni("10x1600")));
    series.push((of("shards", 2), cni("10x1480 stale _x11 0 10x100")));
    let test = ["two", "ten", "noise", "loops", "shards"].into_iter().fold(
        inputs.test("abandoned pods, and one more: where 2 and where 10 are"),
        |test, cluster| {
            let count = if cluster == "shards" { 2 } else { 1 };
            test.given("podinit_synced", of(cluster, 1), "", format!("1x{END}"))
                .given("podinit_shard_ordinal", of(cluster, 1), "", format!("0x{END}"))
                .given("podinit_total_shards", of(cluster, 1), "", format!("{count}x{END}"))
        },
    );
    let second = of("shards", 2);
    let test = test
        .given("podinit_synced", second, "", "1x1480 stale _x9 0x1 1x100")
        .given("podinit_shard_ordinal", second, "", "1x1480 stale _x9 1x102")
        .given("podinit_total_shards", second, "", "2x1480 stale _x9 2x102");
    let test = series
        .into_iter()
        .fold(test, |test, (target, (own, values))| test.given(STUCK, target, &own, values));
    let check = |test: Test, minute, cluster, newly, still| {
        let of = |name| format!("alertname=\"{name}\", cluster=\"{cluster}\"");
        test.counts(minute, &of(PODS_STUCK), newly).counts(minute, &of(STILL_STUCK), still)
    };
    let mut test = test;
    for cluster in ["two", "ten", "noise", "loops", "shards"] {
        // All are news on the first day, since what was before it is not known.
        for (minute, newly, still) in [(30, 1, 0), (1430, 1, 0), (1478, 0, 1)] {
            test = check(test, minute, cluster, newly, still);
        }
    }
    for cluster in ["two", "ten", "loops"] {
        test = check(test, 1500, cluster, 0, 1);
        test = check(test, 1530, cluster, 1, 1);
    }
    for minute in (1481..END as u64).step_by(7) {
        test = check(test, minute, "noise", 0, 1);
        test = check(test, minute, "shards", 0, 1);
    }
    test
}

/// Stuck from Friday evening until Monday, and then deleted.
fn weekend(inputs: TestInputs<'_>) -> Test {
    let alert = still_stuck(&inputs.options.job);
    let mut labels = labels(inputs, "volume");
    labels.push(("stage", "network".to_owned()));
    let reminder = inputs.expected(&alert, &labels, "3");
    let (all, still) = (all("volume"), format!("alertname=\"{STILL_STUCK}\""));
    inputs
        .test("pods that are stuck over a weekend are not forgotten")
        .given("podinit_synced", FIRST, "", "1x4000")
        .given(STUCK, FIRST, &own(Stage::Network, "volume"), "0x60 3x3840 0x90")
        .counts(50, &all, 0)
        .counts(75, &all, 1)
        .counts(1480, &all, 1)
        .counts(1540, &all, 0)
        .counts(1540, &still, 1)
        .fires(3840, STILL_STUCK, vec![reminder])
        .counts(3940, &still, 0)
        .counts(3940, &all, 0)
}

/// Each restart moves the pod from `crash` to `probe` for two of seven minutes.
fn crashing_pod(inputs: TestInputs<'_>) -> Test {
    let cycle = |crash: u8, probe: u8| {
        let cycle = format!("{crash}x4 {probe}x1 ");
        format!("0x19 {}", cycle.repeat(10).trim_end())
    };
    inputs
        .test("a pod that crashes again and again is stuck for one cause")
        .given("podinit_synced", FIRST, "", "1x90")
        .given(STUCK, FIRST, &own(Stage::Containers, "crash"), cycle(1, 0))
        .given(STUCK, FIRST, &own(Stage::Containers, "probe"), cycle(0, 1))
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
    inputs
        .test("what pods do between their crashes is no cause of its own")
        .given("podinit_synced", FIRST, "", "1x80")
        .given(STUCK, FIRST, &crash, "0x10 100x70")
        .given(STUCK, FIRST, &probe, "0x10 6x70")
        .given(STUCK, FIRST, &pull, "0x10 2x30 40x40")
        .counts(40, &all("crash"), 1)
        .counts(40, &all("probe"), 0)
        .counts(40, &all("pull"), 0)
        .counts(70, &all("probe"), 0)
        .counts(70, &all("pull"), 1)
}

fn not_in_sync(inputs: TestInputs<'_>) -> Test {
    inputs
        .test("stuck pods of an exporter that is not in sync are not counted")
        .given("podinit_synced", FIRST, "", "1x10 0x30 1x30")
        .given(STUCK, FIRST, &own(Stage::Network, "cni"), "0x10 7x60")
        .counts(40, &all("cni"), 0)
        .counts(50, &all("cni"), 1)
}

/// The pods that were stuck before are stuck in the new exporter's eyes too, a minute after its sync.
fn exporter_restarts(inputs: TestInputs<'_>) -> Test {
    let stuck = own(Stage::Network, "volume");
    let test = inputs
        .test("the exporter restarts, and finds the stuck pods again")
        .given("podinit_shard_ordinal", FIRST, "", "0x1520 stale")
        .given("podinit_shard_ordinal", SECOND, "", "_x1522 0x63")
        .given("podinit_total_shards", FIRST, "", "1x1520 stale")
        .given("podinit_total_shards", SECOND, "", "_x1522 1x63")
        .given("podinit_synced", FIRST, "", "1x1520 stale")
        .given("podinit_synced", SECOND, "", "_x1522 0x2 1x60")
        .given(STUCK, FIRST, &stuck, "0x20 10x1500 stale")
        .given(STUCK, SECOND, &stuck, "_x1522 0x3 10x60")
        .counts(100, &all("volume"), 1);
    [1515, 1524, 1532, 1570].into_iter().fold(test, |test, minute| {
        test.counts(minute, &all("volume"), 0).counts(
            minute,
            &format!("alertname=\"{STILL_STUCK}\""),
            1,
        )
    })
}

/// Counted by namespace, in both ways in which Prometheus can name the label.
fn namespaces(inputs: TestInputs<'_>) -> Test {
    let stage = Stage::Init;
    let alert = alert(stage, inputs.file, &inputs.options.job);
    let found = [" The largest problem is config: 7 pods.", " Namespaces: team-b 5, team-a 2."];
    let labels = labels(inputs, "config");
    let expected = inputs.expected_with(&alert, &labels, "7", &found);
    let test = inputs.test("stuck pods are counted by namespace").given(
        "podinit_synced",
        FIRST,
        "",
        "1x60",
    );
    let test = [("config", "7"), ("image", "122")].into_iter().fold(test, |test, (cause, pods)| {
        let own = format!("cause=\"{cause}\", dimension=\"none\", value=\"\"");
        test.given("podinit_problem_pods", FIRST, &own, format!("{pods}x60"))
    });
    [("team-a", "2"), ("team-b", "5")]
        .into_iter()
        .fold(test, |test, (namespace, pods)| {
            let own = format!("{}, exported_namespace=\"{namespace}\"", own(stage, "config"));
            test.given(STUCK, FIRST, &own, format!("0x20 {pods}x40")).given(
                "podinit_waiting_pods",
                FIRST,
                &own,
                format!("{pods}x60"),
            )
        })
        // Another cluster's, of an exporter that is not in sync, so that it has no alert of its own.
        .given(
            STUCK,
            ELSEWHERE,
            &format!("{}, exported_namespace=\"team-c\"", own(stage, "config")),
            "0x20 9x40",
        )
        .fires(40, PODS_STUCK, vec![expected])
}

fn clusters_do_not_mix(inputs: TestInputs<'_>) -> Test {
    let image = own(Stage::Containers, "image");
    inputs
        .test("stuck pods of another cluster")
        .given("podinit_synced", FIRST, "", "1x90")
        .given("podinit_synced", ELSEWHERE, "", "1x90")
        .given(STUCK, FIRST, &image, "0x40 9x50")
        .given(STUCK, ELSEWHERE, &image, "20x20 0x70")
        .counts(70, &format!("{}, cluster=\"here\"", all("image")), 1)
        .counts(70, &format!("{}, cluster=\"there\"", all("image")), 0)
}
