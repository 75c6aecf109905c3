//! What promtool makes of the checked-in rules and of what was scraped in a scene.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use podinit_sim::scene::Scene;
use serde_json::{Value, json};

use super::{A_MINUTE, BROKEN, Fires, Story};
use crate::support::scene::{SCRAPED, SceneRecording, recorded};

/// The group of the rules that the alerts of SLOs read, and the name of its last quarter.
const WINDOWS: &str = "podinit-slo-windows";
const REST: &str = "podinit-slo-windows-rest";

/// The checked-in rules, with the rules about windows in two groups.
fn divided_rules() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/prometheus-rules.yaml");
    let mut rules: Value = serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let groups = rules["groups"].as_array_mut().unwrap();
    let at = groups.iter().position(|group| group["name"] == WINDOWS).unwrap();
    let all = groups[at]["rules"].as_array_mut().unwrap();
    let rest = all.split_off(all.len() - all.len() / 4);
    groups.insert(at + 1, json!({"name": REST, "rules": rest}));
    rules
}

/// The names of groups in an order of evaluation: with the alerts of SLOs behind all that they read, or amid.
fn order(rules: &Value, amid: bool) -> Vec<&str> {
    let groups = rules["groups"].as_array().unwrap();
    let mut names: Vec<&str> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    if amid {
        names.retain(|name| *name != REST);
        names.push(REST);
    }
    names
}

/// A unit test for promtool, with what was scraped as input, of the rules in that file.
fn promtool_test(
    recording: &SceneRecording,
    alerts: &[Fires],
    (file, rules): (&Path, &Value),
    amid: bool,
) -> String {
    let text = rules.to_string();
    let words: BTreeSet<&str> = text
        .split(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
        .collect();
    let firing = |labels: &str| format!("group(ALERTS{{alertstate=\"firing\",{labels}}})");
    let end = recording.samples.len() - 1;
    let none = json!([]);
    let one = json!([{"labels": "{}", "value": 1}]);
    let every = SCRAPED.as_secs();
    let check = |sample: usize, expr: &str, samples: &Value| json!({"eval_time": format!("{}s", sample as u64 * every), "expr": expr, "exp_samples": samples});
    let allowed: String =
        (alerts.iter()).map(|alert| format!(" unless ALERTS{{{}}}", alert.labels)).collect();
    let others = format!("group(ALERTS{{alertstate=\"firing\"}}{allowed})");
    let mut checks: Vec<Value> = (0..=end).map(|sample| check(sample, &others, &none)).collect();
    for alert in alerts {
        let expr = firing(&alert.labels);
        // Amid, it reads some of what the evaluation before recorded.
        let within = (BROKEN + alert.within) * A_MINUTE + usize::from(amid);
        let broken = BROKEN * A_MINUTE;
        checks.extend((0..=broken).map(|sample| check(sample, &expr, &none)));
        checks.extend((within..=end).map(|sample| check(sample, &expr, &one)));
    }
    let interval = format!("{every}s");
    let tests = json!({
        "rule_files": [file],
        "evaluation_interval": interval,
        // Else promtool evaluates alerts before or after what is recorded for them, as it happens.
        "group_eval_order": order(rules, amid),
        "tests": [{
            "interval": interval,
            "input_series": recording.input_series(|name| words.contains(name)),
            "promql_expr_test": checks,
        }],
    });
    tests.to_string()
}

/// promtool fires what the story of the scene says, and nothing else; nothing without a scene.
pub(super) async fn assert_promtool_agrees(scene: Option<Scene>) {
    let recording = recorded(scene).await;
    let alerts = scene.map_or_else(Vec::new, |scene| Story::of(scene).alerts());
    let dir = tempfile::tempdir().unwrap();
    let (rules, file) = (divided_rules(), dir.path().join("rules.yaml"));
    fs::write(&file, rules.to_string()).unwrap();
    let promtool = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    let mut run = Command::new(promtool);
    run.args(["test", "rules"]);
    for (name, amid) in [("behind.yaml", false), ("amid.yaml", true)] {
        let path = dir.path().join(name);
        fs::write(&path, promtool_test(recording, &alerts, (&file, &rules), amid)).unwrap();
        run.arg(path);
    }
    let output = run.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{scene:?}: {said}");
}
