//! What `report` and `explain` say of one list, which does not tell everything about the pods that it shows.

use crate::support::process::run;
use serde_json::Value;

fn podinit(command: &str, fixture: &str, flags: &[&str]) -> String {
    let file = format!("tests/fixtures/field/{fixture}.json");
    let flag = if command == "explain" { "--file" } else { "--" };
    let output = run(&[&[command], flags, &[flag, &file]].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(command: &str, fixture: &str, flags: &[&str]) -> Value {
    let flags = [flags, &["-o", "json"]].concat();
    serde_json::from_str(&podinit(command, fixture, &flags)).unwrap()
}

fn has_row(text: &str, name: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.trim_start_matches(['|', ' ']).starts_with(name))
}

#[test]
fn what_a_pod_waited_for_before_it_was_bound_is_one_row_with_a_reason() {
    const FIXTURE: &str = "gate-lost-in-list";
    for format in ["text", "markdown", "html"] {
        let text = podinit("report", FIXTURE, &["-o", format]);
        assert!(text.contains("before binding"), "{format}: {text}");
        assert!(text.contains("one list does not tell whether"), "{format}: {text}");
        assert!(!text.contains(">scheduling<"), "{format}: {text}");
        for untold in ["gated ", "scheduling ", "unschedulable "] {
            assert!(!has_row(&text, untold), "{format}: {untold} {text}");
        }
    }
    let trace = podinit("report", FIXTURE, &["-o", "trace"]);
    assert!(trace.contains(r#""name":"before binding""#), "{trace}");
    // Programs find the figures where they were, and a flag.
    let report = json("report", FIXTURE, &[]);
    assert_eq!(report["lone_list"], true);
    let rows = report["intervals"].as_array().unwrap();
    let scheduling = rows.iter().find(|row| row["interval"] == "scheduling");
    assert_eq!(scheduling.unwrap()["p50"], 10_800.0);
}

#[test]
fn what_was_watched_is_told_apart() {
    let watched = "tests/fixtures/watch.jsonl";
    let text = String::from_utf8(run(&["report", watched]).stdout).unwrap();
    for told in ["gated ", "scheduling ", "unschedulable "] {
        assert!(has_row(&text, told), "{text}");
    }
    assert!(!text.to_lowercase().contains("before binding"), "{text}");
}

#[test]
fn an_explanation_blames_no_stage_for_the_time_before_binding() {
    let text = podinit("explain", "gate-lost-in-list", &["train-0"]);
    assert!(text.contains("Ready after 3h0m4s: all before binding."), "{text}");
    assert!(text.contains("a list does not tell whether it was gated"), "{text}");
    assert!(!has_row(&text, "scheduling"), "{text}");
}

#[test]
fn slow_startups_that_their_probes_allow_are_reported() {
    let report = json("report", "slow-models", &[]);
    assert_eq!(report["finished"]["ready"], 3);
    assert_eq!(report["set_aside"], serde_json::json!({"true_again": 1}));
    let rows = report["intervals"].as_array().unwrap();
    let whole = rows.iter().find(|row| row["interval"] == "created_to_ready");
    assert_eq!(whole.unwrap()["max"], 740.0);
}

#[test]
fn pods_that_ended_days_after_they_ran_are_no_failed_startups() {
    let report = json("report", "ended-after-days", &[]);
    assert_eq!(report["set_aside"], serde_json::json!({"ended_later": 3}));
    let finished = &report["finished"];
    assert_eq!(
        (&finished["disrupted"], &finished["failed"], &finished["ready"]),
        (&1.into(), &1.into(), &1.into()),
        "the one without its image, the one that crashed, and the one that is well: {finished}"
    );
    let worst = podinit("explain", "ended-after-days", &[]);
    assert!(worst.contains("Set aside, startup times lost: ended_later 3"), "{worst}");
    assert!(!worst.contains("shop/killed"), "{worst}");
    let one = podinit("explain", "ended-after-days", &["killed"]);
    assert!(one.contains("it may have been ready until then"), "{one}");
}

#[test]
fn what_a_report_sets_aside_is_none_of_the_worst_startups() {
    let worst = json("explain", "node-reboot", &[]);
    let names: Vec<_> = worst["worst"].as_array().unwrap().iter().collect();
    assert_eq!(names.len(), 1, "{worst}");
    assert_eq!(names[0]["name"], "dns");
    assert_eq!(worst["set_aside"], serde_json::json!({"restarted": 1}));
    let text = podinit("explain", "node-reboot", &[]);
    assert!(text.ends_with("Set aside, startup times lost: restarted 1\n"), "{text}");
}

#[test]
fn a_ready_without_a_time_is_not_measured() {
    let found = json("explain", "no-times-no-network", &["burst-0"]);
    assert_eq!(found["verdict"], "Ready, but nothing says since when: not measured.");
    assert_eq!((&found["seconds"], &found["parts"]), (&Value::Null, &serde_json::json!([])));
    let worst = json("explain", "no-times-no-network", &[]);
    assert!(!worst.to_string().contains("burst-0"), "{worst}");
}

#[test]
fn a_network_that_was_never_seen_is_not_all_of_a_startup() {
    let verdict = |name: &str| json("explain", "no-times-no-network", &[name])["verdict"].clone();
    assert_eq!(
        verdict("old-kubelet"),
        "Ready after 21s: three quarters application, a quarter network or image pull."
    );
    assert_eq!(verdict("no-starts"), "Ready after 21s; where the time went is not known.");
}
