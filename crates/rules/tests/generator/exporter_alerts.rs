//! Tests of the alerts on the exporter.

use super::super::exporter_alerts::alerts;
use super::super::rule_file::{AlertRule, YamlPairs};
use super::super::slo_alerts::BUDGET_BURN;
use super::format::{ELSEWHERE, ExpectedAlert, FIRST, SECOND, Target, Test, TestInputs};

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    let mut tests = vec![
        restart(inputs),
        down(inputs),
        shard_missing(inputs),
        not_synced(inputs),
        some_namespaces_synced(inputs),
        deadlines_not_judged(inputs),
        deliveries_late(inputs),
        evidence_down(inputs),
        reload_failed(inputs),
        web_reload_failed(inputs),
    ];
    tests.extend(watch_errors(inputs));
    tests.extend(label_values_dropped(inputs));
    tests.extend(clock_anomalies(inputs));
    tests.extend(conservation(inputs));
    tests
}

/// Without any series, only one alert fires: `PodinitDown`.
pub(super) fn no_data(inputs: TestInputs<'_>) -> Test {
    let down = named(inputs, "PodinitDown");
    let job = ("job", inputs.options.job.clone());
    let expected = inputs.expected(&down, &vec![job], "");
    inputs
        .test("no data")
        .silent(9, "PodinitDown")
        .fires(10, "PodinitDown", vec![expected])
        .counts(60, "alertname=~\"Podinit.*\"", 1)
        .silent(60, BUDGET_BURN)
}

fn named(inputs: TestInputs<'_>, name: &str) -> AlertRule {
    let alerts = alerts(&inputs.options.job);
    let [first, ..] = &alerts;
    alerts.iter().find(|alert| alert.name == name).unwrap_or(first).clone()
}

/// The alert of that name, firing for the first target.
fn expected(inputs: TestInputs<'_>, name: &str, own: YamlPairs, value: &str) -> Vec<ExpectedAlert> {
    let mut labels = inputs.lasting();
    labels.extend(own);
    vec![inputs.expected(&named(inputs, name), &labels, value)]
}

/// Another exporter takes over within two minutes, with its counters at zero.
fn restart(inputs: TestInputs<'_>) -> Test {
    let mut test = inputs.test("the exporter restarts");
    for (metric, before, after) in [
        ("up", "1x20 stale", "_x20 0x2 1x60"),
        ("podinit_synced", "1x20 stale", "_x23 0x2 1x60"),
        (
            "podinit_deadlines_judged_timestamp_seconds",
            "0+60x20 stale",
            "_x23 1380 1380 1380 1560+60x60",
        ),
        ("podinit_shard_ordinal", "0x20 stale", "_x20 0x65"),
        ("podinit_total_shards", "1x20 stale", "_x20 1x65"),
        ("podinit_watch_errors_total", "5000x20 stale", "_x23 0x62"),
        ("podinit_label_overflow_pods_total", "5000x20 stale", "_x23 0x62"),
        ("podinit_clock_anomalies_total", "5000x20 stale", "_x23 0x62"),
        ("podinit_pods_discovered_total", "0+9x20 stale", "_x23 1000+9x62"),
        ("podinit_pods_finished_total", "0+9x20 stale", "_x23 900+9x62"),
        ("podinit_inflight_pods", "0x20 stale", "_x23 100x62"),
        ("podinit_config_last_reload_successful", "1x20 stale", "_x23 1x62"),
        ("podinit_web_config_last_reload_successful", "1x20 stale", "_x23 1x62"),
    ] {
        test = test.given(metric, FIRST, own(metric), before).given(
            metric,
            SECOND,
            own(metric),
            after,
        );
    }
    let about = "alertname=~\"Podinit.*\", alertname!=\"PodinitSLORulesOutdated\"";
    [10, 22, 24, 30, 80].into_iter().fold(test, |test, minute| test.counts(minute, about, 0))
}

/// A label of the metric and one of its values.
fn own(metric: &str) -> &'static str {
    match metric {
        "podinit_watch_errors_total" => "reason=\"gone\"",
        "podinit_label_overflow_pods_total" => "label=\"namespace\"",
        "podinit_clock_anomalies_total" => "kind=\"skew\"",
        "podinit_pods_finished_total" => "outcome=\"ready\"",
        "podinit_evidence_up" => "source=\"events\"",
        "podinit_inflight_pods" => "stage=\"network\"",
        _ => "",
    }
}

/// Tests a gauge that is 1 in the good state: the alert fires when it has been 0 for `minutes`, and not
/// before or after.
fn gauge(inputs: TestInputs<'_>, name: &'static str, metric: &str, minutes: u64) -> Test {
    let fires = 11 + minutes;
    let well = fires + 2;
    inputs
        .test(format!("{name}: {metric} is 0"))
        .given("up", FIRST, "", format!("1x{}", well + 5))
        .given(metric, FIRST, "", format!("1x10 0x{} 1x3", minutes + 1))
        .silent(fires - 1, name)
        .fires(fires, name, expected(inputs, name, vec![], ""))
        .silent(well, name)
}

fn down(inputs: TestInputs<'_>) -> Test {
    let name = "PodinitDown";
    inputs
        .test(format!("{name}: no target answers, then one of two"))
        .given("up", FIRST, "", "1x10 0x60")
        .given("up", SECOND, "", "_x30 1x40")
        .silent(20, name)
        .fires(21, name, expected(inputs, name, vec![], ""))
        .silent(30, name)
        .silent(70, name)
}

/// One of three goes, and comes back.
fn shard_missing(inputs: TestInputs<'_>) -> Test {
    let name = "PodinitShardMissing";
    let found = [" Prometheus scrapes the shards: 0, 2."];
    let alert = named(inputs, name);
    let expected = inputs.expected_with(&alert, &inputs.lasting(), "1", &found);
    let test = inputs.test(format!("{name}: one of three shards goes, and comes back"));
    [
        (FIRST, 0, "3x120"),
        (SECOND, 1, "3x20 stale _x40 3x59"),
        (Target { number: 3, ..FIRST }, 2, "3x120"),
        (ELSEWHERE, 0, "1x120"),
        (Target { number: 2, ..ELSEWHERE }, 0, "1x120"),
    ]
    .into_iter()
    .fold(test, |test, (target, index, values)| {
        let ordinals =
            values.replace("3x", &format!("{index}x")).replace("1x", &format!("{index}x"));
        test.given("podinit_total_shards", target, "", values).given(
            "podinit_shard_ordinal",
            target,
            "",
            ordinals,
        )
    })
    .silent(30, name)
    .fires(32, name, vec![expected])
    .silent(65, name)
}

fn not_synced(inputs: TestInputs<'_>) -> Test {
    let metric = "podinit_synced";
    gauge(inputs, "PodinitNotSynced", metric, 15)
        .given(metric, ELSEWHERE, "", "1x40")
        .given(metric, SECOND, "", "1x40")
}

/// With one namespace in sync, only the other alert tells of the one that is not.
fn some_namespaces_synced(inputs: TestInputs<'_>) -> Test {
    let namespace = |name| format!("exported_namespace=\"{name}\"");
    let metric = "podinit_namespace_synced";
    inputs
        .test("PodinitNotSynced: one of two namespaces goes, and then both")
        .given("podinit_synced", FIRST, "", "1x10 0x50")
        .given(metric, FIRST, &namespace("a"), "1x30 0x30")
        .given(metric, FIRST, &namespace("b"), "1x10 0x50")
        .silent(45, "PodinitNotSynced")
        .fires(47, "PodinitNotSynced", expected(inputs, "PodinitNotSynced", vec![], ""))
}

/// Time stands still for the deadlines, and goes on. The watch was in sync at many scrapes.
fn deadlines_not_judged(inputs: TestInputs<'_>) -> Test {
    let name = "PodinitDeadlinesNotJudged";
    let metric = "podinit_deadlines_judged_timestamp_seconds";
    inputs
        .test(format!("{name}: the watch breaks again and again before it has caught up"))
        .given("podinit_synced", FIRST, "", "1x10 0 1 0 1 0 1 1x50")
        .given(metric, FIRST, "", "0+60x10 600x19 1860+60x20")
        .given(metric, SECOND, "", "0+60x60")
        .silent(27, name)
        .fires(28, name, expected(inputs, name, vec![], "18m 0s"))
        .silent(31, name)
}

/// The API server delivers 60 s late for ten minutes. Before and after, and where too few bindings tell, there is no lag.
fn deliveries_late(inputs: TestInputs<'_>) -> Test {
    let (name, metric) = ("PodinitDeliveriesLate", "podinit_watch_lag_seconds");
    inputs
        .test(format!("{name}: deliveries are a minute late for ten minutes"))
        .given("up", FIRST, "", "1x30")
        .given(metric, FIRST, "", "0.4x5 stale _x3 59.5x10 0.4x10")
        .given(metric, SECOND, "", "4.9x30")
        .silent(14, name)
        .fires(15, name, expected(inputs, name, vec![], "59.5s"))
        .fires(20, name, expected(inputs, name, vec![], "59.5s"))
        .silent(21, name)
}

fn evidence_down(inputs: TestInputs<'_>) -> Test {
    let (name, metric) = ("PodinitEvidenceDown", "podinit_evidence_up");
    let source = vec![("source", "events".to_owned())];
    inputs
        .test(format!("{name}: the right to read events is taken away, and given back"))
        .given("up", FIRST, "", "1x32")
        .given(metric, FIRST, own(metric), "1x10 0x16 1x5")
        .given(metric, SECOND, own(metric), "1x32")
        .silent(25, name)
        .fires(26, name, expected(inputs, name, source, ""))
        .silent(28, name)
}

fn reload_failed(inputs: TestInputs<'_>) -> Test {
    let metric = "podinit_config_last_reload_successful";
    gauge(inputs, "PodinitConfigReloadFailed", metric, 5)
}

fn web_reload_failed(inputs: TestInputs<'_>) -> Test {
    let metric = "podinit_web_config_last_reload_successful";
    gauge(inputs, "PodinitWebConfigReloadFailed", metric, 5)
}

fn counter(test: Test, metric: &str, target: Target, values: &str) -> Test {
    test.given(metric, target, own(metric), values)
}

fn watch_errors(inputs: TestInputs<'_>) -> [Test; 2] {
    let (name, metric) = ("PodinitWatchErrors", "podinit_watch_errors_total");
    let reason = vec![("reason", "gone".to_owned())];
    let boundary = inputs.test(format!("{name}: one a minute, and two"));
    let boundary = counter(boundary, metric, FIRST, "0+1x20 22+2x60");
    let reset = inputs.test(format!("{name}: counters reset below the boundary"));
    let reset = counter(reset, metric, FIRST, "0+1x20 0+1x60");
    [
        boundary.silent(20, name).silent(34, name).fires(
            60,
            name,
            expected(inputs, name, reason, "30"),
        ),
        reset.silent(25, name).silent(80, name),
    ]
}

fn label_values_dropped(inputs: TestInputs<'_>) -> [Test; 2] {
    let (name, metric) = ("PodinitLabelValuesDropped", "podinit_label_overflow_pods_total");
    let label = vec![("label", "namespace".to_owned())];
    let one = inputs.test(format!("{name}: none, and then a pod each minute"));
    let one = counter(one, metric, FIRST, "0x60 1+1x80");
    let reset = inputs.test(format!("{name}: a counter resets and stays at zero"));
    let reset = counter(reset, metric, FIRST, "7x30 0x60");
    [
        one.silent(60, name).counts(61, &format!("alertname=\"{name}\""), 1).fires(
            130,
            name,
            expected(inputs, name, label, "60"),
        ),
        reset.silent(29, name).silent(60, name),
    ]
}

fn clock_anomalies(inputs: TestInputs<'_>) -> [Test; 3] {
    let name = "PodinitClockAnomalies";
    let given = |what: &str, odd: &str, pods: &str| {
        let test = inputs.test(format!("{name}: {what}"));
        let test = counter(test, "podinit_clock_anomalies_total", FIRST, odd);
        counter(test, "podinit_pods_discovered_total", FIRST, pods)
    };
    let rounded = "kind=\"rounded\"";
    [
        given("one odd time among ten pods, and then one more", "0+10x90 911+11x120", "0+100x210")
            .given("podinit_clock_anomalies_total", FIRST, rounded, "0+100x210")
            .silent(90, name)
            .fires(200, name, expected(inputs, name, vec![], "0.11")),
        given("few odd times among few pods", "0x9 9x60", "0x9 9x60").silent(60, name),
        given("counters reset", "0+9x30 0+9x60", "0+100x30 0+100x60")
            .silent(31, name)
            .silent(90, name),
    ]
}

fn conservation(inputs: TestInputs<'_>) -> [Test; 2] {
    let name = "PodinitConservationBroken";
    let given = |what: &str, finished: &str, inflight: &str| {
        let test = inputs.test(format!("{name}: {what}"));
        let test = counter(test, "podinit_pods_discovered_total", FIRST, "0+10x40");
        let test = counter(test, "podinit_pods_finished_total", FIRST, finished);
        counter(test, "podinit_inflight_pods", FIRST, inflight)
    };
    [
        given("one pod too few, in the end", "0+9x10 99+9x30", "0+1x10 10+1x30")
            .silent(15, name)
            .fires(16, name, expected(inputs, name, vec![], "1")),
        given("a scrape that fails halfway", "0+9x10 90+9x2 126+9x26", "0+1x40")
            .silent(12, name)
            .silent(20, name),
    ]
}
