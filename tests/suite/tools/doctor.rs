//! `podinit doctor` before an API server in which everything can be wrong: what it finds, what it says
//! of it, and with which status it ends.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::support::doctor::server::Server;
use crate::support::doctor::settings::{Settings, nodes, pod};
use crate::support::doctor::{Findings, Kubeconfig, doctor, said};

const NETWORK: &str = "PodReadyToStartContainers";

/// A text without what differs from run to run (addresses, directories, times taken) or with every
/// family that is added (numbers of series).
fn steady(text: &str, server: &Server, kubeconfig: &Kubeconfig) -> String {
    let text = text
        .replace(&server.url, "http://127.0.0.1:6443/")
        .replace(kubeconfig.path().to_str().unwrap(), "/home/me/.kube/config")
        .replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let mut words = text.split_inclusive(' ').peekable();
    let mut steady = String::new();
    while let Some(word) = words.next() {
        let next = words.peek().and_then(|next| next.lines().next());
        let next = next.unwrap_or_default();
        let unit = next.trim_end_matches([' ', ')', '"', ',']);
        let digits = |c: char| c.is_ascii_digit() || c == '.';
        let number = word.trim_end().trim_start_matches(|c| !digits(c));
        let varies = matches!(unit, "ms" | "s" | "series" | "others");
        if varies && !number.is_empty() && number.chars().all(digits) {
            steady.push_str(&word.replace(number, "N"));
        } else {
            steady.push_str(word);
        }
    }
    steady
}

/// Takes the same out of the JSON.
fn without_times(report: &mut Value) {
    for finding in report["findings"].as_array_mut().unwrap() {
        let details = finding["details"].as_object_mut().unwrap();
        for key in ["milliseconds", "offset_seconds", "uncertainty_seconds", "series"] {
            if let Some(value) = details.get_mut(key) {
                assert!(value.is_number());
                *value = Value::from(0);
            }
        }
    }
}

/// Both forms of what the doctor says.
fn both_forms(settings: Settings, args: &[&str]) -> (i32, String, String) {
    let server = Server::start(settings);
    let kubeconfig = Kubeconfig::of(&server.url);
    let run = |format: &str| {
        let mut command = doctor(&["-o", format, "--kubeconfig"]);
        said(command.arg(kubeconfig.path()).args(args))
    };
    let (text, json) = (run("text"), run("json"));
    assert_eq!(text.status, json.status);
    let mut report: Value = serde_json::from_str(&json.text).unwrap();
    without_times(&mut report);
    let json = serde_json::to_string_pretty(&report).unwrap();
    let steady = |text: &str| steady(text, &server, &kubeconfig);
    (text.status, steady(&text.text), steady(&json))
}

#[test]
fn a_cluster_in_which_all_is_well() {
    let (status, text, json) = both_forms(Settings::default(), &["--listen", "127.0.0.1:0"]);
    assert_eq!(status, 0, "{text}");
    insta::assert_snapshot!("all_well_text", text);
    insta::assert_snapshot!("all_well_json", json);
}

#[test]
fn a_cluster_in_which_much_is_wrong() {
    let settings = Settings {
        granted: vec![("list", "*")],
        pods: ["a", "b", "c"].map(|namespace| pod("p-0", namespace, "node-1", "Other")).to_vec(),
        nodes: Some(nodes(&["v1.28.3", "v1.35.1", "v1.36.0"])),
        ahead: 60,
        ..Settings::default()
    };
    let args = ["--listen", "192.0.2.1:9090", "--label-cap", "2", "--pod-label", "tier"];
    let slo = ["--slo", "/nonexistent/slo.yaml"];
    let (status, text, json) = both_forms(settings, &[&args[..], &slo].concat());
    assert_eq!(status, 4, "{text}");
    insta::assert_snapshot!("much_wrong_text", text);
    insta::assert_snapshot!("much_wrong_json", json);
}

#[test]
fn warnings_have_a_status_of_their_own() {
    let server = Server::start(Settings::default());
    let findings = Findings::of(&server.url, &["--label-cap", "namespace=1"]);
    assert_eq!(findings.status(), 3);
    assert_eq!(findings.report["severity"], "warning");
    findings.says("labels", "ok", &["series a scrape", "namespace 2 values"]);
    findings.says("labels", "warning", &["2 values and a cap of 1", "1 of 3 pods become _other"]);
    assert!(findings.fix("labels").contains("--label-cap namespace=2"));
}

#[test]
fn a_missing_right_is_told_with_the_commands_that_grant_it() {
    let server = Server::start(Settings {
        granted: vec![("list", "*"), ("watch", "data")],
        ..Settings::default()
    });
    let findings = Findings::of(&server.url, &["-n", "shop", "-n", "data"]);
    assert_eq!(findings.status(), 4);
    let found = findings.of_check("permissions");
    assert_eq!(found, ["error: may not watch pods of namespace shop"]);
    let fix = findings.fix("permissions");
    for part in ["kubectl -n shop create role podinit", "--serviceaccount=monitoring:podinit"] {
        assert!(fix.contains(part), "{fix}");
    }
    // What is granted is looked at all the same.
    findings.says("pods", "ok", &["3 pods"]);
    findings.says("watch", "ok", &["opened"]);
}

#[test]
fn where_rights_cannot_be_asked_for_they_are_tried() {
    let refused = |granted| {
        let server =
            Server::start(Settings { reviews: false, user: None, granted, ..Settings::default() });
        Findings::of(&server.url, &[])
    };
    let findings = refused(vec![("list", "*"), ("watch", "*")]);
    assert_eq!(findings.status(), 0);
    findings.says("identity", "skipped", &["does not say who podinit is"]);
    findings.says("permissions", "skipped", &["cannot be asked", "403"]);

    let findings = refused(vec![]);
    assert_eq!(findings.status(), 4);
    findings.says("pods", "error", &["cannot be listed", "pods is forbidden"]);
    assert!(findings.fix("pods").contains("grant the verbs list and watch"));
    findings.says("watch", "skipped", &["no list to start a watch from"]);

    let findings = refused(vec![("list", "*")]);
    assert_eq!(findings.status(), 4);
    findings.says("watch", "error", &["does not open", "403"]);
}

#[test]
fn judging_tokens_takes_more_rights() {
    let with = |granted| {
        let server = Server::start(Settings { granted, ..Settings::default() });
        Findings::of(&server.url, &["--auth", "kubernetes"])
    };
    let findings = with(vec![("list", "*"), ("watch", "*"), ("create", "tokenreviews")]);
    findings.says("permissions", "error", &["may not create subjectaccessreviews,"]);
    assert!(findings.fix("permissions").contains("--clusterrole=system:auth-delegator"));
    findings.says("web-config", "warning", &["in clear text"]);
    let findings = with(vec![("list", "*"), ("watch", "*")]);
    findings.says("permissions", "error", &["tokenreviews and subjectaccessreviews,"]);
}

#[test]
fn reading_events_takes_more_rights() {
    let with = |granted: &[(&'static str, &'static str)], args: &[&str]| {
        let pods = [("list", "*"), ("watch", "*")];
        let server = Server::start(Settings {
            granted: [&pods[..], granted].concat(),
            ..Settings::default()
        });
        Findings::of(&server.url, args)
    };
    let args = ["--evidence", "events"];
    let fine = ["ok: may list and watch pods of all namespaces"];
    let all = [("list", "events"), ("watch", "events")];
    assert_eq!(with(&all, &args).of_check("permissions"), fine);
    assert_eq!(with(&[], &[]).of_check("permissions"), fine);

    let findings = with(&[("list", "events")], &args);
    assert_eq!(findings.status(), 3);
    let missing = "may not watch Events of pods of all namespaces, which --evidence events needs";
    findings.says("permissions", "warning", &[missing]);
    let fix = findings.fix("permissions");
    assert!(
        fix.contains("clusterrole podinit-events --verb=list,watch --resource=events"),
        "{fix}"
    );
    let findings = with(&[], &[&args[..], &["-n", "shop"]].concat());
    let missing = "may not list and watch Events of pods of namespace shop,";
    findings.says("permissions", "warning", &[missing]);
}

#[test]
fn too_many_rights_are_noted() {
    let server = Server::start(Settings { admin: true, ..Settings::default() });
    let findings = Findings::of(&server.url, &[]);
    assert_eq!(findings.status(), 0);
    findings.says("permissions", "ok", &["may list and watch pods of all namespaces"]);
    findings.says("permissions", "note", &["may do anything"]);
}

#[test]
fn the_network_condition_has_two_names_and_may_be_missing() {
    let with = |names: &[&str]| {
        let pods = names.iter().zip(1..);
        let pods = pods.map(|(name, n)| pod(&format!("p-{n}"), "ns", &format!("node-{n}"), name));
        let server = Server::start(Settings { pods: pods.collect(), ..Settings::default() });
        Findings::of(&server.url, &[])
    };
    let findings = with(&["PodHasNetwork"]);
    findings.says("network-condition", "ok", &["PodHasNetwork", "up to 1.27"]);
    let findings = with(&[NETWORK, "PodHasNetwork"]);
    findings.says("network-condition", "ok", &[NETWORK, "PodHasNetwork"]);
    let findings = with(&[NETWORK, "Other"]);
    findings.says("network-condition", "warning", &["1 of 2 pods", "node-2"]);
    assert_eq!(findings.status(), 3);
    let findings = with(&["Other"]);
    findings.says("network-condition", "error", &["none of 1 pod"]);
    assert_eq!(findings.status(), 4);
}

#[test]
fn network_times_are_exact_bounded_or_late() {
    // The condition is True since second 5.
    let started = |name: &str, node: &str, second: u32| {
        let mut pod = pod(name, "ns", node, NETWORK);
        let at = format!("2026-01-01T00:00:{second:02}Z");
        pod["spec"]["containers"] = json!([{"name": "app"}]);
        pod["status"]["containerStatuses"] =
            json!([{"name": "app", "state": {"running": {"startedAt": at}}}]);
        pod
    };
    let server = Server::start(Settings {
        pods: vec![
            started("exact", "node-1", 6),
            started("bounded", "node-1", 4),
            started("late", "node-1", 5),
            started("in-the-same-second", "node-2", 5),
        ],
        nodes: Some(nodes(&["v1.35.0", "v1.36.0"])),
        ..Settings::default()
    });
    let words =
        ["of the network times of 4 pods 2 are exact, 1 bounded", "1 late by an unknown time"];
    let findings = Findings::of(&server.url, &[]);
    findings.says("network-condition", "note", &words);
    assert!(findings.fix("network-condition").contains("--evidence events"));
    let details = &findings.details("network-condition", "late")[0];
    let counts = ["exact", "bounded", "late"].map(|class| details[class].as_u64());
    assert_eq!(counts, [2, 1, 1].map(Some));
    assert_eq!(findings.status(), 0);
    let findings = Findings::of(&server.url, &["--evidence", "events"]);
    findings.says("network-condition", "note", &words);
    assert_eq!(findings.fix("network-condition"), "");
}

#[test]
fn kubelets_are_asked_for_or_inferred() {
    let with = |version: &str, nodes| {
        let server = Server::start(Settings {
            version: Ok(version.to_owned()),
            nodes,
            ..Settings::default()
        });
        let findings = Findings::of(&server.url, &[]);
        assert_eq!(findings.status(), 0, "a note is nothing to fail for");
        findings
    };
    let many: Vec<&str> = vec!["v1.35.0"; 20];
    let findings = with("v1.36.2", Some(nodes(&many)));
    findings.says("kubelets", "note", &["20 of 20 kubelets", "1.35", "and more"]);
    assert!(findings.fix("kubelets").contains("upper bound"));
    let findings = with("v1.35.2", None);
    findings.says("kubelets", "note", &["listing nodes is not allowed", "all kubelets are older"]);
    let findings = with("v1.36.2", None);
    findings.says("kubelets", "skipped", &["listing nodes is not allowed", "may still be older"]);
}

/// `serve` follows the machine's clock up to two seconds of the API server's, and corrects it beyond.
#[test]
fn clocks_are_compared() {
    for (ahead, severity, status, words) in [
        (0, "ok", 0, "within"),
        (2, "warning", 3, "ahead of this machine's"),
        (-2, "warning", 3, "behind this machine's"),
        (600, "note", 0, "podinit serve corrects"),
        (-600, "note", 0, "podinit serve corrects"),
    ] {
        let server = Server::start(Settings { ahead, ..Settings::default() });
        let findings = Findings::of(&server.url, &[]);
        findings.says("clock", severity, &[words]);
        assert_eq!(findings.status(), status, "{ahead}");
    }
}

/// As docs/scale.md says: there each shard costs the API server as much as one process alone.
#[test]
fn no_shards_are_advised_where_the_api_server_does_not_shard() {
    let server = Server::start(Settings::default());
    let findings = Findings::of(&server.url, &[]);
    findings.says("sharding", "ok", &["does not shard", "1 process is enough"]);
    assert_eq!(findings.status(), 0);
    let findings = Findings::of(&server.url, &["--shard", "1/2"]);
    let words = ["does not shard", "each of 2 shards receives the events of all pods"];
    findings.says("sharding", "note", &words);
    assert!(findings.fix("sharding").starts_with("run one process"));
    assert_eq!(findings.status(), 0);
}

#[test]
fn what_events_add_is_in_the_count_of_series() {
    let events = ["--evidence", "events"];
    let with = |pods: Vec<Value>, args: &[&str]| {
        let server = Server::start(Settings {
            granted: vec![("list", "*"), ("watch", "*"), ("list", "events"), ("watch", "events")],
            pods,
            ..Settings::default()
        });
        Findings::of(&server.url, args)
    };
    let pods = |namespaces: usize| -> Vec<Value> {
        let each = 0..namespaces;
        let each = each.map(|n| {
            let mut pod = pod("p", &format!("ns-{n}"), "node-1", NETWORK);
            let app = ["app:1", "registry.example/app:1"][n % 2];
            pod["spec"]["containers"] = json!([{"name": "app", "image": app}]);
            pod["spec"]["initContainers"] = json!([{"name": "init", "image": "init:1"}]);
            pod
        });
        each.collect()
    };
    let findings = with(pods(3), &events);
    let words = ["3 label sets (namespace 3 values) of 308 each", "2 registries of 46 each"];
    findings.says("labels", "ok", &words);
    assert_eq!(findings.status(), 0);
    let details = &findings.details("labels", "series")[0];
    assert_eq!(details["registries"], 2);
    // A stage that only pods with init containers have is one of ten histograms. 330 sets of them are fewer than
    // 100,000 series, and with Events more.
    let capped = ["--label-cap", "namespace=400"];
    let findings = with(pods(330), &capped);
    findings.says("labels", "ok", &["330 label sets", "of 280 each"]);
    assert_eq!(findings.status(), 0);
    let findings = with(pods(330), &[events, capped].concat());
    findings.says("labels", "warning", &["330 label sets", "of 308 each"]);
    assert_eq!(findings.status(), 3);
}

/// By evidence, in docs/scale.md: the series of a namespace whose pods have no conditional stage, and
/// all others, each as classic and as native histograms.
#[test]
fn the_count_of_series_is_documented() {
    let page = include_str!("../../../docs/scale.md");
    let resources = ["*", "events", "nodes"];
    let granted: Vec<_> = resources
        .into_iter()
        .flat_map(|resource| [("list", resource), ("watch", resource)])
        .collect();
    let series = |evidence: &str, namespaces: usize| -> [u64; 2] {
        let pods = (0..namespaces).map(|n| pod("p", &format!("ns-{n}"), "node-1", NETWORK));
        let server = Server::start(Settings {
            granted: granted.clone(),
            pods: pods.collect(),
            ..Settings::default()
        });
        let findings = Findings::of(&server.url, &["--evidence", evidence]);
        let details = &findings.details("labels", "series")[0];
        ["series", "native_series"].map(|key| details[key].as_u64().unwrap())
    };
    for evidence in ["none", "events", "nodes", "events,nodes"] {
        let [one, two] = [1, 2].map(|namespaces| series(evidence, namespaces));
        let [classic, native] = [two[0] - one[0], two[1] - one[1]];
        let others = [one[0] - classic, one[1] - native];
        let row =
            format!("| `{evidence}` | {classic} | {native} | {} | {} |", others[0], others[1]);
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn pods_that_are_not_there_are_missed() {
    let server = Server::start(Settings::default());
    let findings = Findings::of(&server.url, &["-l", "app=nothing"]);
    findings.says("pods", "warning", &["no pod matches the selectors"]);
    findings.says("labels", "skipped", &["no pods"]);
    let findings = Findings::of(&server.url, &["-n", "shop", "-n", "shoq"]);
    findings.says("pods", "warning", &["2 pods", "none of them in shoq"]);
    let findings = Findings::of(&server.url, &["-n", "shoq"]);
    findings.says("pods", "warning", &["there are no pods in shoq"]);
    let findings = Findings::of(&server.url, &["-l", "a in"]);
    findings.says("pods", "error", &["unable to parse"]);
    assert!(findings.fix("pods").contains("--label-selector"));
    let empty = Server::start(Settings { pods: Vec::new(), ..Settings::default() });
    let findings = Findings::of(&empty.url, &[]);
    findings.says("pods", "warning", &["no pods in the cluster"]);
    findings.says("network-condition", "skipped", &[]);
}

#[test]
fn more_pods_than_can_be_remembered_are_told_of() {
    let server = Server::start(Settings::default());
    let findings = Findings::of(&server.url, &["--max-pods", "3"]);
    assert_eq!(findings.status(), 0);
    let findings = Findings::of(&server.url, &["--max-pods", "2"]);
    findings.says("pods", "warning", &["3 pods are more than --max-pods=2"]);
}

#[test]
fn a_list_that_breaks_off_gives_a_lower_bound() {
    let server = Server::start(Settings { fails_at_page: Some(1), ..Settings::default() });
    let findings = Findings::of(&server.url, &[]);
    findings.says("pods", "warning", &["failed after 2", "request timed out"]);
    findings.says("labels", "ok", &["at least"]);
    assert_eq!(findings.status(), 3);
}

#[test]
fn a_server_that_is_none_is_told_with_a_remedy() {
    // A port that was free a moment ago: nobody listens there.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let findings = Findings::of(&format!("http://{free}/"), &[]);
    findings.says("api-server", "error", &["does not answer", "refused"]);
    assert!(findings.fix("api-server").contains("nothing listens there"));
    findings.says("labels", "skipped", &[]);
    assert_eq!(findings.status(), 4);

    let answering = |code: u16, body: &str| {
        let server = Server::start(Settings {
            version: Err((code, body.to_owned())),
            ..Settings::default()
        });
        Findings::of(&server.url, &[])
    };
    let status = |message: &str| format!(r#"{{"kind":"Status","message":"{message}"}}"#);
    let findings = answering(200, "<html>It works!</html>");
    findings.says("api-server", "error", &["not like a Kubernetes API server"]);
    let findings = answering(401, &status("Unauthorized"));
    findings.says("api-server", "error", &["does not accept the credentials"]);
    let findings = answering(503, &status("starting"));
    findings.says("api-server", "warning", &["not ready", "starting"]);
    let findings = answering(403, &status("forbidden"));
    findings.says("api-server", "note", &["not to /version"]);
    assert_eq!(findings.status(), 0);
}

#[test]
fn whoever_is_nobody_is_told() {
    let server = Server::start(Settings {
        user: Some("system:anonymous".to_owned()),
        ..Settings::default()
    });
    let findings = Findings::of(&server.url, &[]);
    findings.says("identity", "warning", &["nobody"]);
}

#[test]
fn a_kubeconfig_that_leads_nowhere_is_told() {
    let good = Kubeconfig::of("http://127.0.0.1:1/");
    let findings = Findings::with(good.path(), &["--context", "there"]);
    findings.says("cluster", "error", &["no context \"there\""]);
    assert!(findings.fix("cluster").contains("choose one with --context: here"));
    let findings = Findings::with(&good.path().join("none"), &[]);
    findings.says("cluster", "error", &["cannot be read"]);
    assert!(findings.fix("cluster").contains("--kubeconfig"));
    let findings = Findings::with(Kubeconfig::text("clusters: [").path(), &[]);
    findings.says("cluster", "error", &["is not a kubeconfig"]);
    // A label set that cannot be is known without a cluster.
    let labels = ["--pod-label", "a.b", "--pod-label", "a/b"];
    let findings = Findings::with(&good.path().join("none"), &labels);
    findings.says("labels", "error", &["both become the label"]);
}
