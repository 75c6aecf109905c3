#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::time::Duration;

use super::*;
use podinit_core::lifecycle::{CustomMilestone, Interval, Stage};

fn message(text: &str) -> String {
    SloFile::parse("slo.yaml", text.as_bytes()).unwrap_err().to_string()
}

/// An SLO file with one line left out or replaced.
fn with(key: &str, line: &str) -> String {
    let lines =
        ["name: fast", "interval: network", "threshold: 10s", "objective: 99", "window: 30d"];
    let mut text = "slos:\n  -\n".to_owned();
    for known in lines.iter().filter(|known| !known.starts_with(&format!("{key}:"))) {
        text += &format!("    {known}\n");
    }
    if !line.is_empty() {
        text += &format!("    {line}\n");
    }
    text
}

#[test]
fn the_built_in_slos_are_valid() {
    let file = SloFile::built_in();
    let names: Vec<_> = file.slos.iter().map(|slo| &*slo.rule.name).collect();
    assert_eq!(names, ["network-ready", "scheduled-pod-ready"]);
    let network = &file.slos[0];
    assert_eq!(network.rule.interval, Interval::Stage(Stage::Network).into());
    assert_eq!(network.rule.threshold, Duration::from_secs(10));
    assert_eq!(network.rule.grace, Duration::from_secs(5));
    assert_eq!(network.objective_ratio(), 0.99);
    assert_eq!(network.budget_ratio(), 0.01);
    assert_eq!(network.window, PrometheusDuration::from_days(30));
    let kube_system = Namespaces::Exclude(vec!["kube-system".into()]);
    assert_eq!(network.rule.namespaces, kube_system);
}

#[test]
fn every_key_is_read() {
    let text = "
slos:
  - name: a
    interval: created_to_ready
    threshold: 1h30m
    objective: 99.9
    window: 4w
    namespaces:
      include: [one, two]
    owner_kinds: [StatefulSet]
    grace: 0s
    capacity: existing
    images: present
";
    let file = SloFile::parse("f", text.as_bytes()).unwrap();
    let slo = &file.slos[0];
    assert_eq!(slo.rule.interval, Interval::CreatedToReady.into());
    assert_eq!(slo.threshold_seconds(), 5400.0);
    assert_eq!(slo.objective_ratio(), 0.999);
    assert_eq!(slo.budget_ratio(), 0.001);
    assert_eq!(slo.rule.grace, Duration::ZERO);
    let both = Namespaces::Include(vec!["one".into(), "two".into()]);
    assert_eq!(slo.rule.namespaces, both);
    assert_eq!(*slo.rule.owner_kinds, ["StatefulSet".into()]);
    assert!(slo.rule.selection.existing_capacity && slo.rule.selection.present_images);
    assert_eq!(slo.line, 3);
}

#[test]
fn a_file_may_have_no_slos() {
    assert_eq!(SloFile::parse("f", b"slos: []").unwrap().slos, []);
}

#[test]
fn errors_name_the_place() {
    let percentage =
        "slo.yaml:7:16: objective must be a percentage above 1 and below 100, such as 99.5";
    let ratio =
        |meant| format!("slo.yaml:7:16: the objective is in percent: did you mean {meant}?");
    let empty = "the value is empty; write one, or leave out its key";
    for (key, line, expected) in [
        ("name", "", "slo.yaml:6:5: name is missing"),
        ("window", "", "slo.yaml:6:5: window is missing"),
        ("", "treshold: 5s", "slo.yaml:8:5: unknown key; did you mean threshold?"),
        (
            "",
            "colour: red",
            "slo.yaml:8:5: unknown key; known are name, interval, threshold, objective, window, \
             namespaces, owner_kinds, grace, capacity, images",
        ),
        (
            "interval",
            "interval: networks",
            "slo.yaml:7:15: unknown interval; did you mean network?",
        ),
        (
            "interval",
            "interval: ttfb",
            "slo.yaml:7:15: unknown interval; known are gated, scheduling, unschedulable, network, \
             init, containers, readiness, scheduled_to_ready, created_to_ready, acknowledge, \
             sandbox, start, probe",
        ),
        (
            "threshold",
            "threshold: 10",
            "slo.yaml:7:16: not a duration: write it as 500ms, 10s, 2m, 1h30m, 7d or 4w",
        ),
        ("threshold", "threshold: 0s", "slo.yaml:7:16: threshold must be more than 0"),
        (
            "threshold",
            "threshold: -5s",
            "slo.yaml:7:16: not a duration: write it as 500ms, 10s, 2m, 1h30m, 7d or 4w",
        ),
        ("threshold", "threshold: 31d", "slo.yaml:7:16: threshold must be at most 30d"),
        ("window", "window: 1h", ""),
        ("window", "window: 59s", "slo.yaml:7:13: window must be at least 1m"),
        ("window", "window: 1h1s", "slo.yaml:7:13: window must be of whole minutes"),
        ("window", "window: 53w", "slo.yaml:7:13: window must be at most 366d"),
        ("objective", "objective: 100", percentage),
        ("objective", "objective: .nan", percentage),
        ("objective", "objective: -5", percentage),
        ("objective", "objective: 1", percentage),
        ("objective", "objective: 1.5", ""),
        ("objective", "objective: 0.99", &ratio("99")),
        ("objective", "objective: .999", &ratio("99.9")),
        ("objective", "objective: 0.07", &ratio("7")),
        ("objective", "objective: 99%", "slo.yaml:7:16: must be a number"),
        ("objective", "objective: true", "slo.yaml:7:16: must be a number"),
        ("objective", "objective:", "slo.yaml:7:14: must be a number"),
        ("name", "name: Pod_ready.v2", ""),
        ("name", "name: 5", ""),
        (
            "name",
            "name: _fast",
            "slo.yaml:7:11: name must be 1 to 63 letters, digits and inner hyphens, underscores or \
             dots",
        ),
        ("name", "name: [a]", "slo.yaml:7:11: must be text"),
        (
            "",
            "namespaces: {include: [a], exclude: [b]}",
            "slo.yaml:8:41: exclude cannot be used with include; keep one of them",
        ),
        ("", "namespaces: {includes: [a]}", "slo.yaml:8:18: unknown key; did you mean include?"),
        (
            "",
            "namespaces: {}",
            "slo.yaml:8:17: namespaces must have include or exclude, has neither",
        ),
        ("", "namespaces:", &format!("slo.yaml:8:15: {empty}")),
        ("", "namespaces: {include: []}", "slo.yaml:8:27: must have from 1 to 256 items, has 0"),
        (
            "",
            "namespaces: {include: [a_b]}",
            "slo.yaml:8:28: a namespace must be 1 to 63 lower-case letters, digits and inner hyphens",
        ),
        ("", "owner_kinds: Job", "slo.yaml:8:18: must be a list"),
        ("", "owner_kinds: [job]", "slo.yaml:8:19: must be a kind such as StatefulSet"),
        ("", "grace: 2h", "slo.yaml:8:12: grace must be at most 1h"),
        ("", "capacity: new", "slo.yaml:8:15: unknown value; known are existing"),
        ("", "images: pulled", "slo.yaml:8:13: unknown value; known are present"),
        ("", "images: true", "slo.yaml:8:13: unknown value; known are present"),
        ("", "images:", &format!("slo.yaml:8:11: {empty}")),
    ] {
        let text = with(key, line);
        if expected.is_empty() {
            SloFile::parse("slo.yaml", text.as_bytes()).unwrap();
            continue;
        }
        assert_eq!(message(&text), expected);
    }
}

#[test]
fn a_selection_needs_the_source_that_tells_of_it() {
    const ONLY_IMAGES: &str = "images: present";
    const BOTH: &str = "capacity: existing\n    images: present";
    let none = [false, false];
    for (selection, [events, nodes], expected) in [
        ("", none, None),
        ("capacity: existing", [false, true], None),
        (ONLY_IMAGES, [true, false], None),
        (BOTH, [true, true], None),
        (
            "capacity: existing",
            none,
            Some("8:15: capacity needs nodes as evidence; add --evidence nodes"),
        ),
        (
            "capacity: existing",
            [true, false],
            Some("8:15: capacity needs nodes as evidence; add --evidence events,nodes"),
        ),
        (ONLY_IMAGES, none, Some("8:13: images needs Events as evidence; add --evidence events")),
        (BOTH, none, Some("8:15: capacity needs nodes as evidence; add --evidence events,nodes")),
        (
            BOTH,
            [false, true],
            Some("9:13: images needs Events as evidence; add --evidence events,nodes"),
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("slo.yaml");
        std::fs::write(&path, with("", selection)).unwrap();
        let read = SloFile::read(&path, EvidenceSources { events, nodes });
        let found = read.err().map(|error| error.to_string());
        let expected = expected.map(|why| format!("{}:{why}", path.display()));
        assert_eq!(found, expected);
    }
}

#[test]
fn a_threshold_is_at_most_the_window() {
    let text = with("window", "window: 1h").replace("10s", "61m");
    assert_eq!(message(&text), "slo.yaml:5:16: threshold must be at most as long as the window");
}

#[test]
fn names_are_unique() {
    let one = with("", "");
    let text = format!(
        "{one}  - {{name: fast, interval: init, threshold: 1s, objective: 99, window: 1d}}\n"
    );
    assert_eq!(message(&text), "slo.yaml:8:12: the SLO on line 3 has this name already");
}

#[test]
fn the_number_of_slos_is_bounded() {
    let mut text = "slos:\n".to_owned();
    for number in 0..=MAX_SLOS {
        text += &format!(
            "- {{name: n{number}, interval: init, threshold: 1s, objective: 99, window: 1d}}\n"
        );
    }
    assert_eq!(message(&text), "slo.yaml:2:3: has 65 SLOs; at most 64 are allowed");
    let allowed: Vec<&str> = text.lines().take(1 + MAX_SLOS).collect();
    let file = SloFile::parse("f", allowed.join("\n").as_bytes()).unwrap();
    assert_eq!(file.slos.len(), MAX_SLOS);
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    assert_eq!(message(""), "slo.yaml: is empty; write slos: [] for no settings");
    assert_eq!(message("slo: []"), "slo.yaml:1:1: unknown key; did you mean slos?");
    assert_eq!(message("{}"), "slo.yaml:1:1: slos is missing");
    assert_eq!(message("slos:"), "slo.yaml:1:5: slos must be a list ([] for none), is empty");
    for (text, line) in [
        ("slos: [", Some(1)),
        ("slos:\n\t- a", Some(2)),
        ("slos: []\nslos: []", Some(2)),
        ("slos: []\n---\nslos: []", Some(3)),
        ("slos: *gone", Some(1)),
    ] {
        let error = SloFile::parse("slo.yaml", text.as_bytes()).unwrap_err();
        assert_eq!(error.line(), line, "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    let error = SloFile::parse("slo.yaml", b"slos:\n- \xff").unwrap_err();
    assert_eq!(error.to_string(), "slo.yaml:2:3: is not UTF-8 text");
    let long = vec![b'#'; MAX_BYTES + 1];
    let error = SloFile::parse("slo.yaml", &long).unwrap_err();
    assert_eq!(error.to_string(), "slo.yaml: is longer than 262144 bytes");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..700, byte in any::<u8>()) {
        let _ = SloFile::parse("f", &bytes);
        let mut near = DEFAULT_TEXT.as_bytes().to_vec();
        let at = near.len() - 1 - at % near.len();
        near[at] = byte;
        let _ = SloFile::parse("f", &near);
    }
}

#[test]
fn the_swap_of_a_config_map_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("slo.yaml");
    let one = "slos: [{name: one, interval: init, threshold: 1s, objective: 99, window: 1d}]";
    for (version, text) in [("..1", "slos: []"), ("..2", one)] {
        std::fs::create_dir(dir.path().join(version)).unwrap();
        std::fs::write(dir.path().join(version).join("slo.yaml"), text).unwrap();
    }
    let data = dir.path().join("..data");
    std::os::unix::fs::symlink("..1", &data).unwrap();
    std::os::unix::fs::symlink("..data/slo.yaml", &path).unwrap();
    let before = SloFile::inspect(&path, &AvailableEvidence::ALL);
    assert_eq!(SloFile::inspect(&path, &AvailableEvidence::ALL).files, before.files);
    let next = dir.path().join("..next");
    std::os::unix::fs::symlink("..2", &next).unwrap();
    std::fs::rename(&next, &data).unwrap();
    let after = SloFile::inspect(&path, &AvailableEvidence::ALL);
    assert_ne!(after.files, before.files);
    assert_eq!(after.result.unwrap().slos.len(), 1);
}

#[test]
fn an_slo_can_name_a_milestone_of_your_own_that_is_configured() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slo.yaml");
    let text = "slos:\n- {name: loaded, interval: containers_started_to_model_loaded, threshold: 60s, \
                objective: 99, window: 7d}";
    std::fs::write(&path, text).unwrap();
    let file = SloFile::read(&path, EvidenceSources::NONE).unwrap();
    let interval = file.slos[0].rule.interval.text();
    assert_eq!(interval, "containers_started_to_model_loaded");
    let read = |names: &[&str]| {
        let all = names.iter().map(|name| {
            CustomMilestone::parse(&format!("{name}=condition:example.com/{name}")).unwrap()
        });
        let milestones = Some(std::sync::Arc::new(all.collect()));
        SloFile::read(&path, AvailableEvidence { sources: EvidenceSources::NONE, milestones })
    };
    assert!(read(&["other", "model_loaded"]).is_ok());
    let error = read(&["other"]).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "slo.yaml:2:28: this interval ends with a milestone of your own; add --milestone \
             model_loaded=condition:TYPE"
        ),
        "{error}"
    );
}
