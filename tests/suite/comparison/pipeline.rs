//! What a pipeline sees of a comparison: the rules that fail, the comment of a pull request, and the page.

use super::command::{on_node_b, pods, report, report_on, with_rejected};
use serde_json::{Value, json};

fn text_of(output: std::process::Output) -> String {
    String::from_utf8(output.stdout).unwrap()
}

/// The cells of the rows of the first table.
fn first_rows(markdown: &str) -> Vec<Vec<&str>> {
    let lines = markdown.lines().skip_while(|line| !line.starts_with("| "));
    let rows = lines.skip(2).take_while(|line| line.starts_with("| "));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn a_comment_begins_with_the_answer_and_few_rows() {
    let text = text_of(report(3, 9, &["-o", "markdown"]));
    let (head, folded) =
        text.split_once("\n<details>\n<summary>All figures</summary>\n\n").unwrap();
    assert!(
        head.starts_with("**The slowest tenth of startups is slower: ")
            || head.starts_with("**Startups are slower: "),
        "{head}"
    );
    assert!(
        head.contains(
            "\n\nAll pods:\n\n| interval | verdict | p50 | change | p90 | change | pods |\n"
        ),
        "{head}"
    );
    let rows = first_rows(head);
    assert!(rows.len() <= 10, "{head}");
    let names: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(names[..3], ["created_to_ready", "scheduled_to_ready", "network"], "{head}");
    assert_eq!((rows[2][1], rows[2][4], rows[2][6]), ("slower", "3s → 9s", "120 → 120"));
    assert!(folded.contains("| interval | verdict | pods | p50 |"), "{folded}");
    assert!(folded.ends_with("\n</details>\n"), "{folded}");
    // A terminal has no such table: it shows all.
    let text = text_of(report(3, 9, &[]));
    assert!(!text.contains("All pods:") && !text.contains("<details>"), "{text}");
}

#[test]
fn pods_that_do_not_start_are_the_first_row_and_say_that_the_status_is_theirs() {
    let sides = [on_node_b("before", 3), with_rejected("after")].map(|list| list.to_string());
    let unasked = "The status is 3, because more pods do not start.";
    for format in ["text", "markdown", "html"] {
        let text = text_of(report_on(sides.clone(), &["-o", format]));
        assert!(text.contains(unasked), "{text}");
        assert!(!text.contains("Failed:") && !text.contains("Failed**"), "{text}");
        let text =
            text_of(report_on(sides.clone(), &["-o", format, "--fail-on", "not_started>+5%"]));
        assert!(!text.contains(unasked), "{text}");
    }
    let text = text_of(report_on(sides, &["-o", "markdown"]));
    let pods = "0 of 120 → 30 of 120 (+25 pp)";
    assert_eq!(first_rows(&text)[0], ["not_started", "worse", "-", "-", "-", "-", pods], "{text}");
}

#[test]
fn the_rules_that_fail_come_first_and_json_has_all() {
    let rules = ["network:p90>+20%", "containers:p50>+1s", "init:p50>+1s"];
    let flags: Vec<&str> = rules.iter().flat_map(|rule| ["--fail-on", rule]).collect();
    let said = |more: &[&str]| text_of(report(3, 9, &[&flags, more].concat()));
    let (failed, unclear) = (
        "network:p90>+20%: 3s before, 9s after (+6s)",
        "init:p50>+1s: init was observed for fewer than 5 pods on one side",
    );
    let text = said(&["--strict"]);
    assert!(text.starts_with(&format!("Failed: {failed}.\nCannot tell: {unclear}.\n")), "{text}");
    let text = said(&[]);
    assert!(text.starts_with(&format!("Failed: {failed}.\n")) && !text.contains(unclear), "{text}");
    let text = said(&["-o", "markdown"]);
    let escaped = failed.replace('>', "\\>");
    assert!(text.starts_with(&format!("**Failed**: {escaped}.\n\n**")), "{text}");
    let text = said(&["-o", "html"]);
    let escaped = failed.replace('>', "&#62;");
    assert!(text.contains(&format!("<strong>Failed</strong>: {escaped}.</p>\n<h1>")), "{text}");
    let found: Value = serde_json::from_str(&said(&["-o", "json"])).unwrap();
    let checks = json!([
        {"rule": rules[0], "result": "exceeded", "text": failed},
        {"rule": rules[1], "result": "kept", "text": "containers:p50>+1s: 4s before, 4s after (0s)"},
        {"rule": rules[2], "result": "unclear", "text": unclear},
    ]);
    assert_eq!(found["checks"], checks);
    let none: Value = serde_json::from_str(&text_of(report(3, 9, &["-o", "json"]))).unwrap();
    assert_eq!(none["checks"], json!([]));
}

/// Names are as long as Kubernetes lets them be, and of each kind there are as many as are told.
#[test]
fn a_comment_is_as_short_as_github_wants_it() {
    let comment = |length: usize| {
        let long = |what: &str, number: usize| format!("{what}{number}-{}", "n".repeat(length));
        let recording = |name: &str, network| {
            let mut list = pods(name, 240, 6, |_| network);
            for (number, pod) in list["items"].as_array_mut().unwrap().iter_mut().enumerate() {
                let number = number % 20;
                pod["metadata"]["namespace"] = long("s", number).into();
                let owner =
                    json!({"kind": "StatefulSet", "name": long("w", number), "controller": true});
                pod["metadata"]["ownerReferences"] = json!([owner]);
                pod["spec"]["nodeName"] = long(name, number).into();
                pod["spec"]["containers"][0]["image"] = long("i", number).into();
                let gates: Vec<String> = (0..8).map(|gate| long("g", gate)).collect();
                let gate = |gate| json!({"conditionType": gate});
                pod["spec"]["readinessGates"] = gates.iter().map(gate).collect();
                // Containers start a second after the network is ready, and are ready later after.
                let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
                let at: jiff::Timestamp =
                    conditions[1]["lastTransitionTime"].as_str().unwrap().parse().unwrap();
                let later = |seconds| (at + jiff::SignedDuration::from_secs(seconds)).to_string();
                let ready = json!(later(network));
                for condition in &mut conditions[3..] {
                    condition["lastTransitionTime"] = ready.clone();
                }
                let met =
                    |gate| json!({"type": gate, "status": "True", "lastTransitionTime": ready});
                conditions.extend(gates.iter().map(met));
                let running = json!({"name": "c", "state": {"running": {"startedAt": later(1)}}});
                pod["status"]["containerStatuses"] = json!([running]);
            }
            list.to_string()
        };
        let sides = [recording("a", 3), recording("b", 9)];
        let text = text_of(report_on(sides, &["-o", "markdown"]));
        assert!(text.starts_with("**Startups are slower: "), "{text}");
        assert!(text.ends_with("\n</details>\n"), "{text}");
        let length = text.chars().count();
        assert!(length < 65_536, "{length}");
        text
    };
    assert!(!comment(10).contains("left out"));
    let cut = comment(248);
    assert!(cut.contains(" more rows are left out.\n"), "{cut}");
}

#[test]
fn a_verdict_has_its_colour_on_the_page() {
    let text = text_of(report(3, 9, &["-o", "html"]));
    assert!(text.contains(r#"<td data-name="verdict" class="slower">slower</td>"#), "{text}");
    for verdict in ["slower", "faster", "mixed", "same", "unclear", "worse", "better"] {
        assert!(
            text.contains(&format!(".{verdict}{{color:")) || text.contains(&format!(".{verdict},")),
            "{verdict}"
        );
    }
}
