//! The manifests as they are checked in: safe, least in rights, and of this version. What takes
//! kustomize, Helm or an API server to know is in `tests/deploy/run` and `tests/e2e/run`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use podinit::args::command_line;
use podinit_core::lifecycle::TimestampMode;
use podinit_expo::metrics::SeriesLabel;
use serde_json::{Value, json};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn yaml(name: &str) -> Value {
    serde_saphyr::from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The one object of a kind in `deploy/install.yaml`.
fn installed(kind: &str) -> Value {
    let objects: Vec<Value> = serde_saphyr::from_multiple(&read("deploy/install.yaml")).unwrap();
    let mut found = objects.into_iter().filter(|object| object["kind"] == kind);
    let object = found.next().expect(kind);
    assert!(found.next().is_none(), "more than one {kind}");
    object
}

#[test]
fn it_may_list_and_watch_pods_and_nothing_else() {
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]}]);
    assert_eq!(installed("ClusterRole")["rules"], rules);
    let role: Vec<Value> =
        serde_saphyr::from_multiple(&read("deploy/namespace-access/role.yaml")).unwrap();
    assert_eq!(role[0]["rules"], rules);
    let text = read("deploy/install.yaml");
    for kind in ["Role", "RoleBinding", "Secret"] {
        assert!(!text.contains(&format!("\nkind: {kind}\n")), "{kind}");
    }
}

/// Events are asked for only where they are evidence, and then nothing else is.
#[test]
fn the_evidence_component_adds_events_and_nothing_else() {
    let added = yaml("deploy/components/evidence/events.yaml");
    let rule = json!({"apiGroups": [""], "resources": ["events"], "verbs": ["list", "watch"]});
    assert_eq!(added, json!([{"op": "add", "path": "/rules/-", "value": rule}]));
    assert!(!read("deploy/install.yaml").contains("events"));
}

#[test]
fn it_runs_under_pod_security_restricted() {
    let namespace = installed("Namespace");
    let enforced = &namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"];
    assert_eq!(enforced, "restricted");
    let pod = &installed("Deployment")["spec"]["template"]["spec"];
    let security = &pod["securityContext"];
    assert_eq!(security["runAsNonRoot"], true);
    // The image has a user, and OpenShift refuses one that it has not given.
    assert_eq!(security["runAsUser"], Value::Null);
    assert_eq!(security["seccompProfile"]["type"], "RuntimeDefault");
    assert_eq!(
        pod["containers"][0]["securityContext"],
        json!({
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        })
    );
    for sharing in ["hostNetwork", "hostPID", "hostIPC", "volumes"] {
        assert!(pod[sharing].is_null(), "{sharing}");
    }
}

#[test]
fn the_token_is_mounted_by_the_pod_that_needs_it_alone() {
    let account = installed("ServiceAccount");
    assert_eq!(account["automountServiceAccountToken"], false);
    let deployment = installed("Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(pod["automountServiceAccountToken"], true);
}

#[test]
fn two_never_count_the_same_pods() {
    let spec = &installed("Deployment")["spec"];
    assert_eq!(spec["replicas"], 1);
    assert_eq!(spec["strategy"], json!({"type": "Recreate"}));
}

#[test]
fn everything_is_of_this_version() {
    let chart = yaml("deploy/chart/podinit/Chart.yaml");
    assert_eq!(chart["version"], VERSION);
    assert_eq!(chart["appVersion"], VERSION);
    let deployment = installed("Deployment");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], format!("podinit:{VERSION}"));
    for kind in ["ServiceAccount", "ClusterRole", "Service", "Deployment"] {
        let object = installed(kind);
        let label = &object["metadata"]["labels"]["app.kubernetes.io/version"];
        assert_eq!(label, VERSION, "{kind}");
    }
}

#[test]
fn the_icon_of_the_chart_is_its_file() {
    let chart = yaml("deploy/chart/podinit/Chart.yaml");
    let icon = chart["icon"].as_str().unwrap();
    let icon = icon.strip_prefix("data:image/svg+xml;base64,").unwrap();
    let file = read("deploy/chart/podinit/icon.svg");
    assert_eq!(icon, base64::engine::general_purpose::STANDARD.encode(file));
    for list in ["artifacthub.io/changes", "artifacthub.io/recommendations"] {
        let text = chart["annotations"][list].as_str().unwrap();
        let items: Vec<Value> = serde_saphyr::from_str(text).unwrap();
        assert!(!items.is_empty(), "{list}");
    }
}

/// Paths of the fields of the chart's values, down to where a schema says no more of them.
fn fields(schema: &Value, values: &Value, path: &str) -> BTreeSet<String> {
    let Some(properties) = schema["properties"].as_object() else {
        return BTreeSet::new();
    };
    let given = values.as_object().unwrap_or_else(|| panic!("{path}"));
    assert_eq!(schema["additionalProperties"], false, "{path}");
    let mut missing: BTreeSet<String> = BTreeSet::new();
    for name in given.keys().filter(|name| !properties.contains_key(*name)) {
        missing.insert(format!("{path}.{name}: not in the schema"));
    }
    for (name, schema) in properties {
        let path = format!("{path}.{name}");
        match given.get(name) {
            Some(value) => missing.extend(fields(schema, value, &path)),
            // A flag that is not given has podinit's default; `global` is a parent chart's.
            None if path.starts_with(".options.") || path == ".global" => {}
            None => drop(missing.insert(format!("{path}: not in values.yaml"))),
        }
    }
    missing
}

#[test]
fn the_chart_has_a_schema_for_each_of_its_values() {
    let schema: Value =
        serde_json::from_str(&read("deploy/chart/podinit/values.schema.json")).unwrap();
    let values = yaml("deploy/chart/podinit/values.yaml");
    assert_eq!(fields(&schema, &values, ""), BTreeSet::new());
}

/// Flags of `podinit serve` that manifests and chart set themselves, or that make no sense in a pod.
const MANAGED: [&str; 12] = [
    "auth",
    "context",
    "field-selector",
    "kubeconfig",
    "label-selector",
    "evidence",
    "listen",
    "namespace",
    "shard",
    "slo",
    "state-dir",
    "web-config",
];

/// The long names and the variables of the flags of `podinit serve`.
fn flags() -> BTreeSet<(String, String)> {
    let commands = command_line();
    let serve = commands.find_subcommand("serve").unwrap();
    let named = serve.get_arguments().filter_map(|argument| {
        let variable = argument.get_env()?.to_str()?.to_owned();
        Some((argument.get_long()?.to_owned(), variable))
    });
    named.collect()
}

#[test]
fn the_charts_options_are_the_flags_that_it_does_not_set_itself() {
    let schema: Value =
        serde_json::from_str(&read("deploy/chart/podinit/values.schema.json")).unwrap();
    let options = schema["properties"]["options"]["properties"].as_object();
    let options: BTreeSet<&str> = options.unwrap().keys().map(String::as_str).collect();
    let flags = flags();
    let left = flags.iter().map(|(flag, _)| flag.as_str());
    let left: BTreeSet<&str> = left.filter(|flag| !MANAGED.contains(flag)).collect();
    assert_eq!(options, left);
}

/// The values that a flag of `podinit serve` can have, where they can be listed.
fn possible_values(flag: &str) -> Vec<String> {
    let commands = command_line();
    let serve = commands.find_subcommand("serve").unwrap();
    let argument = serve.get_arguments().find(|argument| argument.get_long() == Some(flag));
    let values = argument.unwrap().get_possible_values();
    values.iter().map(|value| value.get_name().to_owned()).collect()
}

/// A typing error in a value is found by Helm, and not by a pod that does not start.
#[test]
fn the_chart_refuses_options_that_podinit_refuses() {
    let schema: Value =
        serde_json::from_str(&read("deploy/chart/podinit/values.schema.json")).unwrap();
    let options = &schema["properties"]["options"]["properties"];
    let labels = SeriesLabel::OF_ANY_POD.map(|label| label.key().to_owned());
    let one = labels.join("|");
    let twice = labels.iter().map(|label| format!("{label},(.*,)?{label}"));
    let twice = twice.collect::<Vec<_>>().join("|");
    assert_eq!(
        options["labels"],
        json!({
            "type": ["string", "array"],
            "pattern": format!("^$|^({one})(,({one}))*$"),
            "items": {"enum": labels},
            "uniqueItems": true,
            "not": {"type": "string", "pattern": format!("(^|,)({twice})(,|$)")},
        })
    );
    let modes = [TimestampMode::Api, TimestampMode::Fused].map(|mode| mode.to_string());
    assert_eq!(options["timestamps"]["enum"], json!(modes));
    assert_eq!(options["log-format"]["enum"], json!(possible_values("log-format")));
    for (flag, option) in options.as_object().unwrap() {
        // Any text can be an audience, or name a cluster.
        let is_any = flag == "auth-audience" || flag == "cluster-name";
        let is_checked = is_any || !option["enum"].is_null() || !option["pattern"].is_null();
        assert!(is_checked, "{flag}: {option}");
    }
}

/// Every file below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn every_variable_that_is_set_is_one_of_podinit() {
    let known: BTreeSet<String> = flags().into_iter().map(|(_, variable)| variable).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let mut found = 0;
    for directory in ["base", "components", "chart/podinit/templates"] {
        for path in files(&root.join(directory)) {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.lines().filter_map(|line| {
                let name = line.trim_start().strip_prefix("- name: ")?;
                // The chart makes the names of its options from flags, which a schema lists.
                (name.starts_with("PODINIT_") && !name.contains("{{")).then_some(name)
            });
            for name in names {
                assert!(known.contains(name), "{}: {name}", path.display());
                found += 1;
            }
        }
    }
    assert!(found > 5, "{found}");
}

/// Whether `labels` has all that the selector wants.
fn selects(selector: &Value, labels: &Value) -> bool {
    let wanted = selector["matchLabels"].as_object().unwrap();
    !wanted.is_empty() && wanted.iter().all(|(name, value)| labels[name] == *value)
}

/// What the page offers for scraping finds what is installed: by labels, by the name of the port, as the job of the rules.
#[test]
fn what_the_page_offers_for_scraping_finds_podinit() {
    let page = read("deploy/README.md");
    let blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let objects = blocks.map(|block| serde_saphyr::from_str::<Value>(block).unwrap());
    let template = installed("Deployment")["spec"]["template"].clone();
    let pod_ports = template["spec"]["containers"][0]["ports"].clone();
    let service = installed("Service");
    let of_pod = (&template["metadata"]["labels"], &pod_ports);
    let of_service = (&service["metadata"]["labels"], &service["spec"]["ports"]);
    let mut found = BTreeSet::new();
    for object in objects.filter(|object| object["kind"] != "Kustomization") {
        let kind = object["kind"].as_str().unwrap().to_owned();
        let (version, endpoints, (labels, ports)) = match kind.as_str() {
            "PodMonitor" => ("monitoring.coreos.com/v1", "podMetricsEndpoints", of_pod),
            "PodMonitoring" => ("monitoring.googleapis.com/v1", "endpoints", of_pod),
            "VMServiceScrape" => ("operator.victoriametrics.com/v1beta1", "endpoints", of_service),
            other => panic!("what is {other}?"),
        };
        assert_eq!(object["apiVersion"], version);
        assert_eq!(object["metadata"]["namespace"], service["metadata"]["namespace"], "{kind}");
        let spec = &object["spec"];
        assert!(selects(&spec["selector"], labels), "{kind}");
        let [endpoint] = &spec[endpoints].as_array().unwrap()[..] else {
            panic!("{kind}: {spec}");
        };
        assert_eq!(endpoint["port"], ports[0]["name"], "{kind}");
        // Google's collector names the job as the object, and takes no labels of targets for their own.
        let (job, honours) = match kind.as_str() {
            "PodMonitoring" => (&object["metadata"]["name"], Value::Null),
            _ => (&labels[spec["jobLabel"].as_str().unwrap()], Value::Bool(true)),
        };
        assert_eq!(job, "podinit", "{kind}");
        assert_eq!(endpoint["honorLabels"], honours, "{kind}");
        found.insert(kind);
    }
    assert_eq!(found.len(), 3, "{found:?}");
}
