//! Names, images and messages are chosen by whoever makes pods. Each text of one list goes to every command and page,
//! in every format: none acts there, and programs read it was.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::process::Output;

use podinit_core::lifecycle::{
    Delivery, EndedStartup, NodeFaults, Observer, PodEvent, Progress, Record, SourceId, Tracker,
    TrackerConfig,
};
use podinit_core::pod::{NotScheduled, NotScheduledReason, PodSnapshot, PodUid, Workload};
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_doctor::report as doctor_text;
use podinit_doctor::report::{Check, DoctorReport, Finding};
use podinit_http::ServerLimits;
use podinit_oncall::api;
use podinit_oncall::explain::{Explanation, ExplanationContext};
use podinit_oncall::page::{Overview, pod_page};
use podinit_oncall::problems::{PodFilter, ProblemSnapshot};
use podinit_oncall::records;
use podinit_oncall::stuck::{StuckPod, StuckPods};
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::{self, ReplayConfig};
use podinit_text::document::TerminalStyle;
use podinit_text::strangers_text::{LONGEST_LABEL, acts, escaped_json, lines_shown, shown};
use serde_json::{Value, json};

use crate::support::freshness::freshness;
use crate::support::hostile::{HOSTILE, events, harmless, hostile, recording};
use crate::support::output::one_line;
use crate::support::parsed_exposition::samples_of_json;
use crate::support::process::run_with;
use crate::support::server::{Source, start_routes};
use crate::support::sinks::Kept;

const PLAIN: TerminalStyle = TerminalStyle { colour: false, width: 80 };

fn report(format: &str, texts: &[String]) -> String {
    let args = ["report", "--top", "1000", "-o", format, "-"];
    let output = run_with(&args, recording(texts));
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn replayed(format: &str, texts: &[String]) -> String {
    let labels = "namespace,workload_type,workload,node";
    let args = ["replay", "--backfill", "-o", format];
    let args = [&args[..], &["--labels", labels, "--pod-label", "team", "-"]].concat();
    let output = run_with(&args, recording(texts));
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The records of startups that have ended.
#[derive(Default)]
struct EndedRecords(Vec<Record>);

impl Observer for EndedRecords {
    fn ended(&mut self, startup: EndedStartup) {
        self.0.push(startup.record());
    }
}

/// The startups of the pods of [`recording`].
fn startups(texts: &[String]) -> Vec<Record> {
    let options = DecodeOptions {
        node: true,
        workload: true,
        probes: true,
        images: true,
        messages: true,
        ..DecodeOptions::default()
    };
    let documents = Recording::from_reader("test", Cursor::new(recording(texts)), options);
    let new_sink = |_: &_| Ok(EndedRecords::default());
    let config = ReplayConfig::default().observed();
    let end = replay::replayed(documents, config, new_sink, |_, _| {}).unwrap();
    let EndedRecords(mut records) = end.sink;
    records.extend(end.tracker.in_flight_after(None).map(|(_, pod)| pod.record()));
    assert!(records.len() >= texts.len() * 7, "{}", records.len());
    records
}

fn now() -> Timestamp {
    Timestamp::from_seconds(1_772_359_200 + 600)
}

fn explanations(texts: &[String]) -> Vec<Explanation> {
    let doubts = |record: &Record| ExplanationContext {
        doubts: vec![format!("the answer says {}", record.pod.name)],
        ..ExplanationContext::default()
    };
    let records = startups(texts);
    let explained = records.iter();
    explained.map(|record| Explanation::new(record, doubts(record), now())).collect()
}

fn stuck(texts: &[String]) -> StuckPods {
    let rows = startups(texts).into_iter().filter_map(|mut record| {
        record.message = Some(record.pod.name.as_ref().into());
        if let Progress::InFlight { is_stuck, .. } = &mut record.progress {
            *is_stuck = true;
        }
        StuckPod::from_record(&record, now())
    });
    let pods: Vec<_> = rows.collect();
    assert_eq!(pods.len(), texts.len());
    StuckPods {
        fresh: true,
        freshness: None,
        time: None,
        pods,
        complete: true,
        ..StuckPods::default()
    }
}

fn doctor() -> DoctorReport {
    let findings = HOSTILE.map(|text| {
        let finding = Finding::warning(Check::Labels, format!("the server says {text}"));
        finding.fix(format!("rename {text}"))
    });
    DoctorReport { findings: findings.into(), complete: true }
}

/// Every text stands in what is for a terminal, and acts nowhere.
#[track_caller]
fn for_a_terminal(text: &str) {
    let acting = text.chars().find(|char| acts(*char) && *char != '\n');
    assert_eq!(acting, None, "{text:?}");
    for hostile in HOSTILE {
        // A table ends its lines without blanks.
        let expected = shown(hostile);
        assert!(text.contains(expected.trim_end()), "{expected:?} in {text}");
    }
}

#[test]
fn nothing_acts_on_a_terminal() {
    for_a_terminal(&report("text", &hostile()));
    let explained = explanations(&hostile());
    let explained: String = explained.iter().map(|one| one.to_text(PLAIN)).collect();
    for_a_terminal(&explained);
    let stuck = stuck(&hostile());
    for_a_terminal(&stuck.to_table(false, false));
    for_a_terminal(&stuck.to_table(true, false));
    let doctor = doctor();
    let lines = doctor.findings.iter().map(|one| doctor_text::line(one, false));
    for_a_terminal(&lines.collect::<String>());
}

/// A terminal that is shown what programs read gets the same lines.
#[test]
fn what_is_for_programs_does_not_act_on_a_terminal_either() {
    for format in ["text", "openmetrics"] {
        let exposition = replayed(format, &hostile());
        let on_terminal = lines_shown(&exposition);
        assert!(!on_terminal.contains(|char| acts(char) && char != '\n'));
        assert_eq!(on_terminal.lines().count(), exposition.lines().count());
    }
    let on_terminal = lines_shown(&report("csv", &hostile()));
    assert!(!on_terminal.replace("\r\n", "\n").contains(|char| acts(char) && char != '\n'));
}

/// The values of labels that an API server checks are those of the pods, whatever they are, in the escapes of the
/// format.
#[test]
fn an_exposition_states_texts_as_they_are() {
    let kept = |text: String| {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!(",namespace=\"{escaped}\",")
    };
    for format in ["text", "openmetrics"] {
        let exposition = replayed(format, &hostile());
        for hostile in hostile() {
            assert!(exposition.contains(&kept(hostile.clone())), "{format}: {hostile:?}");
        }
        let lines = |text: &str| text.split('\n').count();
        assert_eq!(lines(&exposition), lines(&replayed(format, &harmless())));
    }
    let of_json = samples_of_json(&replayed("json", &hostile()));
    for hostile in HOSTILE {
        let quoted = format!("{hostile:?}");
        assert!(of_json.keys().any(|series| series.contains(&quoted)), "{hostile:?}");
    }
}

/// The values of a label, in the escapes of the format but for quotes and backslashes.
fn values(exposition: &str, label: &str) -> BTreeSet<String> {
    let begin = format!("{label}=\"");
    let found = exposition.lines().filter_map(|line| {
        let (_, rest) = line.split_once(&begin)?;
        let value = rest.replace("\\\\", "?").replace("\\\"", "?");
        Some(value.split('"').next()?.to_owned())
    });
    found.collect()
}

/// No API server checks the names of images, and alerts quote them.
#[test]
fn no_label_of_an_image_has_a_text_that_acts_or_is_long() {
    let mut texts = hostile();
    texts.extend(["\u{1b}", "x"].map(|one| one.repeat(5_000)));
    // So that each is the registry of an image.
    let texts: Vec<String> = texts.iter().map(|text| format!(".{text}/app")).collect();
    let args = ["replay", "--backfill", "-o", "openmetrics", "--evidence", "events", "-"];
    let input = [recording(&texts), events(&texts)].join("\n");
    let output = run_with(&args, &input);
    assert!(output.status.success(), "{output:?}");
    let exposition = String::from_utf8(output.stdout).unwrap();
    let values = values(&exposition, "registry");
    assert!(values.len() > HOSTILE.len(), "{values:?}");
    for value in values {
        assert!(value.len() <= LONGEST_LABEL && !value.contains(acts), "{value:?}");
    }
}

/// The texts of a document.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        _ => {}
    }
}

#[track_caller]
fn for_programs(json: &str) {
    assert!(!json.contains(|char| acts(char) && char != '\n'), "{json}");
    let mut found = Vec::new();
    texts(&serde_json::from_str(json).unwrap(), &mut found);
    for hostile in HOSTILE {
        let as_it_was = found.iter().any(|text| text.contains(hostile));
        assert!(as_it_was, "{hostile:?} in {json}");
    }
}

#[test]
fn json_has_the_texts_as_they_are_and_nothing_that_acts() {
    for_programs(&report("json", &hostile()));
    for_programs(&report("trace", &hostile()));
    assert!(!replayed("json", &hostile()).contains(|char| acts(char) && char != '\n'));
    let explained = explanations(&hostile());
    let all: Vec<Value> = explained
        .iter()
        .map(|one| {
            let json = one.to_json().unwrap();
            assert!(!json.contains(|char| acts(char) && char != '\n'), "{json}");
            let trace = one.to_trace().unwrap();
            assert!(!trace.contains(|char| acts(char) && char != '\n'), "{trace}");
            serde_json::from_str(&json).unwrap()
        })
        .collect();
    let mut found = Vec::new();
    texts(&Value::Array(all), &mut found);
    assert!(HOSTILE.iter().all(|hostile| found.iter().any(|text| text == hostile)));
    for_programs(&stuck(&hostile()).to_json().unwrap());
    // A finding is a line of text, for whom it is anyway.
    let doctor = doctor().to_json().unwrap();
    assert!(!doctor.contains(|char| acts(char) && char != '\n'));
}

/// Each text once as a pod in flight.
fn world() -> (Tracker, Kept) {
    let mut tracker = Tracker::new(TrackerConfig::default());
    let mut kept = Kept::default();
    for text in HOSTILE {
        let mut pod = PodSnapshot::bare(PodUid::from_text(text), text, text);
        pod.created = Some(now());
        pod.info.node = Some(text.into());
        pod.info.workload =
            Some(std::sync::Arc::new(Workload { kind: text.into(), name: text.into() }));
        pod.not_scheduled = Some(Box::new(NotScheduled {
            is_false: true,
            reason: NotScheduledReason::SchedulingGated,
            message: text.into(),
        }));
        let delivery = Delivery {
            source: SourceId(0),
            event: PodEvent::Applied(pod),
            now: now(),
            observed: Some(now()),
            version: None,
        };
        tracker.apply(delivery, &mut kept);
    }
    (tracker, kept)
}

#[tokio::test]
async fn the_api_has_the_texts_as_they_are_and_nothing_that_acts() {
    let (client, mut queries) = records::channel();
    queries.begin();
    tokio::spawn(async move {
        let (tracker, kept) = world();
        loop {
            queries.waiting().await;
            queries.step(&tracker, &kept.0);
        }
    });
    let routes = api::router(client, Vec::new(), freshness(true));
    let server = start_routes(Source::default(), ServerLimits::default(), routes, None);
    for_programs(server.get("/api/v1/inflight").await.text());
    let wrong = server.get("/api/v1/inflight?stage=%1b%5b2J%e2%80%ae").await;
    assert_eq!(wrong.status, 400);
    assert!(!wrong.text().contains(acts), "{}", wrong.text());
}

/// How often each tag stands in a page.
fn tags(page: &str) -> BTreeMap<String, usize> {
    let mut tags = BTreeMap::new();
    for part in page.split('<').skip(1) {
        let name = part.split([' ', '>', '\n']).next().unwrap_or_default();
        *tags.entry(name.to_owned()).or_default() += 1;
    }
    tags
}

/// Attributes of elements, without their values.
fn attributes(page: &str) -> BTreeMap<String, usize> {
    let mut attributes = BTreeMap::new();
    for part in page.split('<').skip(1) {
        let element = part.split('>').next().unwrap_or_default();
        for (number, piece) in element.split('"').enumerate() {
            // What stands between quotes is a value.
            if number % 2 == 0 {
                for name in piece.split_whitespace().filter(|name| name.ends_with('=')) {
                    *attributes.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
    }
    attributes
}

/// A page of hostile texts has the elements of one of harmless texts.
#[track_caller]
fn for_browsers(hostile: &str, harmless: &str) {
    assert!(!hostile.contains(|char| acts(char) && char != '\n'), "{hostile}");
    assert_eq!(tags(hostile), tags(harmless));
    assert_eq!(attributes(hostile), attributes(harmless));
}

fn overview(texts: &[String]) -> String {
    let records = startups(texts);
    let ended = |record: &&Record| record.outcome().is_some();
    let in_flight: Vec<Record> = records.iter().filter(|one| !ended(one)).cloned().collect();
    let wanted = PodFilter { node: Some(texts[0].clone()), ..PodFilter::default() };
    let mut seen =
        ProblemSnapshot::from_records(in_flight, &[], NodeFaults::default(), Some(now()));
    // The header names two problems, whatever the texts make of the pods.
    let problems = &mut seen.problems.problems;
    problems.truncate(1);
    problems.push(problems[0].clone());
    let overview = Overview {
        cluster: Some(texts[0].clone()),
        seen: seen.into(),
        wanted,
        slowest: records.iter().filter(ended).take(5).cloned().collect(),
        ..Overview::default()
    };
    overview.render(now()).unwrap()
}

#[test]
fn no_text_is_markup_in_a_page() {
    for_browsers(&report("html", &hostile()), &report("html", &harmless()));
    for_browsers(&overview(&hostile()), &overview(&harmless()));
    let (hostile, harmless) = (explanations(&hostile()), explanations(&harmless()));
    let page = |one: &Explanation| pod_page(one, None, None).unwrap();
    for_browsers(
        &hostile.iter().map(page).collect::<String>(),
        &harmless.iter().map(page).collect::<String>(),
    );
}

#[test]
fn no_text_is_a_formula_in_a_spreadsheet_and_numbers_stay_numbers() {
    let table = report("csv", &hostile());
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let head = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), HOSTILE.len() * 8);
    for row in &rows {
        for (column, cell) in head.iter().zip(row) {
            let is_number = column.ends_with("_seconds") && !cell.is_empty();
            match is_number {
                true => assert!(cell.parse::<f64>().is_ok(), "{column}: {cell}"),
                false => assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}"),
            }
        }
    }
    for column in ["namespace", "pod", "node", "workload_type", "workload", "images"] {
        let place = head.iter().position(|name| name == column).unwrap();
        for hostile in HOSTILE {
            let hostile = match column {
                "workload_type" => hostile.to_ascii_lowercase(),
                _ => hostile.to_owned(),
            };
            let cells = rows.iter().filter(|row| {
                row[place].trim_start_matches('\'') == hostile.trim_start_matches('\'')
            });
            assert_eq!(cells.count(), 8, "{column}: {hostile:?}");
        }
    }
}

#[test]
fn no_text_is_markup_in_markdown() {
    let table = report("markdown", &hostile());
    assert!(!table.contains(|char| acts(char) && char != '\n'), "{table}");
    let mut spans = Vec::new();
    let mut cells = 0;
    for line in table.lines() {
        let pieces: Vec<&str> = line.split('`').collect();
        assert!(pieces.len() % 2 == 1, "a code span has no end: {line}");
        spans.extend(pieces.iter().skip(1).step_by(2).copied());
        let outside: String = pieces.iter().step_by(2).copied().collect();
        let markup = ["<", "[", "\\", "www.", "http", "@"];
        assert!(!markup.iter().any(|text| outside.contains(text)), "{line}");
        // A bar divides cells, in code spans too.
        if line.starts_with("| `") || line.contains(" | `") {
            cells += 1;
            assert_eq!(line.matches('|').count(), outside.matches('|').count(), "{line}");
        }
    }
    assert!(cells > HOSTILE.len(), "{table}");
    for hostile in HOSTILE {
        let text = shown(hostile).replace(['`', '|', '\\'], "?");
        assert!(spans.iter().any(|span| span.contains(&text)), "{text:?} in {table}");
    }
}

/// The line of a command that failed, in which nothing acts.
#[track_caller]
fn harmless_line(output: &Output) -> String {
    let line = one_line(output);
    assert!(!line.trim_end_matches('\n').contains(acts), "{line:?}");
    line
}

#[test]
fn an_error_is_one_line_in_which_nothing_acts() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let file = path.to_str().unwrap();
    for hostile in HOSTILE {
        let quoted = escaped_json(&json!(hostile).to_string()).into_owned();
        let object = format!("{{\"kind\": {quoted}, \"metadata\": {{\"uid\": \"u\"}}}}");
        for command in [&["report", "-"][..], &["replay", "-"], &["explain", "--file", "-", "web"]]
        {
            harmless_line(&run_with(command, &object));
        }
        std::fs::write(&path, format!("{quoted}: 1")).unwrap();
        harmless_line(&run_with(&["rules", "--slo", file], ""));
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: {quoted}\nclusters: [{{name: {quoted}, cluster: {{}}}}]\n\
             contexts: [{{name: {quoted}, context: {{cluster: {quoted}, user: {quoted}}}}}]\n"
        );
        std::fs::write(&path, config).unwrap();
        let line = harmless_line(&run_with(&["stuck", "--kubeconfig", file], ""));
        assert!(line.contains("has no server"), "{line}");
        if !hostile.contains('\0') {
            harmless_line(&run_with(&["report", &format!("nosuch{hostile}")], ""));
        }
    }
}
