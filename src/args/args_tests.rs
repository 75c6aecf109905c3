//! Command lines as people type them. Variables are left to `tests/suite/command_line/environment.rs`, since the
//! environment belongs to a whole process.

#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use podinit_connect::options::ServerOptions;
use podinit_core::lifecycle::TimestampMode;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::SeriesLabel;
use podinit_rules::{RenderOptions, RulesFormat};
use std::time::Duration;

fn parse(line: &str) -> Result<Command, clap::Error> {
    let program = std::iter::once("podinit");
    Command::parse(program.chain(line.split_whitespace()).map(OsString::from))
}

fn serve(line: &str) -> ServeArgs {
    match parse(line).unwrap() {
        Command::Serve(args) => args,
        other => panic!("not serve: {other:?}"),
    }
}

/// The first line of a usage error.
fn complaint(line: &str) -> String {
    let error = parse(line).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{line}");
    error.to_string().lines().next().unwrap().to_owned()
}

#[test]
fn the_command_line_is_consistent() {
    command_line().debug_assert();
}

#[test]
fn serve_is_the_default() {
    let args = serve("");
    assert_eq!(args.exporter.listen.to_string(), "[::]:8080");
    assert_eq!(args.exporter.timestamps, TimestampMode::Fused);
    assert_eq!(args.exporter.log.log_level, "info");
    assert_eq!(args.exporter.log.log_format, LogFormat::Text);
    assert!(args.cluster.namespaces.chosen().is_empty());
    assert!(args.exporter.labels.config().labels.contains(&SeriesLabel::Namespace));
    assert!(!args.exporter.labels.config().labels.contains(&SeriesLabel::Node));
    assert_eq!(args.exporter.metrics_path.as_str(), "/metrics");
    let args = serve("--listen 127.0.0.1:0");
    assert_eq!(args.exporter.listen.to_string(), "127.0.0.1:0");
    let args = serve("serve --timestamps api -n b -n a --namespace=b");
    assert_eq!(args.exporter.timestamps, TimestampMode::Api);
    assert_eq!(args.cluster.namespaces.chosen(), ["a", "b"]);
}

#[test]
fn caps_are_general_or_of_one_label() {
    let args = serve("--labels node --pod-label app --label-cap node=1000 --label-cap 50");
    let labels = args.exporter.labels.config();
    assert!(!labels.labels.contains(&SeriesLabel::Namespace));
    let app = SeriesLabel::PodLabel("app".to_owned());
    assert_eq!(labels.labels, [SeriesLabel::Node, app]);
    assert_eq!(labels.max_values, 50);
    assert_eq!((labels.cap_of("node"), labels.cap_of("app")), (1000, 50));
    assert_eq!(serve("").exporter.labels.config().cap_of("namespace"), 256);
    let caps = "--evidence events,nodes --label-cap gate=1,registry=2,nodepool=3";
    let labels = serve(caps).exporter.labels.config();
    assert_eq!(["gate", "registry", "nodepool"].map(|label| labels.cap_of(label)), [1, 2, 3]);
    assert_eq!(serve("--label-cap gate=7").exporter.labels.config().cap_of("gate"), 7);
    for label in ["registry", "nodepool", "zone"] {
        let says = complaint(&format!("--label-cap {label}=2"));
        assert!(says.contains("the series carry no such label"), "{says}");
    }
    assert!(complaint("--label-cap registry=2").contains("--evidence events"));
}

#[test]
fn the_demo_has_the_options_of_serve_but_no_cluster() {
    let line = "demo --rate 0.5 --speed 10 --seed 7 --outage-after 1h --duration 1m30s --listen :0 \
                --labels node";
    let Ok(Command::Demo(args)) = parse(line) else {
        panic!("not demo");
    };
    assert_eq!(args.simulation.rate, 0.5);
    assert_eq!(args.simulation.speed, 10.0);
    assert_eq!(args.simulation.seed, 7);
    let outage_after = args.simulation.outage_after;
    assert_eq!(outage_after, Some(Duration::from_secs(3600)));
    assert_eq!(args.simulation.duration, Some(Duration::from_secs(90)));
    assert_eq!(args.exporter.listen.port(), 0);
    assert!(complaint("demo --kubeconfig x").contains("--kubeconfig"));
}

#[test]
fn who_may_scrape_is_said_as_exporters_and_people_say_it() {
    let args = serve("");
    assert_eq!(args.auth.auth, AuthMode::None);
    assert_eq!(args.exporter.web_config, None);
    for line in ["--web-config a.yaml", "--web.config.file=a.yaml", "demo --web-config a.yaml"] {
        let exporter = match parse(line).unwrap() {
            Command::Serve(args) => args.exporter,
            Command::Demo(args) => args.exporter,
            other => panic!("serves nothing: {other:?}"),
        };
        assert_eq!(exporter.web_config.as_deref(), Some("a.yaml".as_ref()));
    }
    let named_as_of_others = "--web.listen-address=:9100 --web.telemetry-path=/podinit/metrics";
    let exporter = serve(named_as_of_others).exporter;
    assert_eq!(exporter.listen.to_string(), "[::]:9100");
    assert_eq!(exporter.metrics_path.as_str(), "/podinit/metrics");
    let args = serve("--auth kubernetes --auth-audience podinit --auth-audience b,c");
    assert_eq!(args.auth.auth, AuthMode::Kubernetes);
    assert_eq!(args.auth.audiences(), ["podinit", "b", "c"]);
}

#[test]
fn recordings_are_measured_in_api_time() {
    let line = "replay --backfill --until 2026-01-31T12:00:00.5Z -o openmetrics a.json -";
    let Ok(Command::Replay(args)) = parse(line) else {
        panic!("not replay");
    };
    assert_eq!(args.recording.timestamps, TimestampMode::Api);
    assert!(args.recording.backfill);
    let until = Timestamp::from_nanos(1_769_860_800_500_000_000);
    assert_eq!(args.recording.until, Some(until));
    assert_eq!(args.output, ReplayFormat::OpenMetrics);
    assert_eq!(args.files.len(), 2);

    let Ok(Command::Report(args)) = parse("report -o markdown --top 3 -") else {
        panic!("not report");
    };
    assert_eq!(args.output, ReportFormat::Markdown);
    assert_eq!(args.top, 3);
}

#[test]
fn rules_are_written_as_they_are_asked_for() {
    let line =
        "rules --slo a.yaml -o openslo --job a/b --runbook-url https://x --dashboard-url /g/d";
    let Ok(Command::Rules(args)) = parse(line) else {
        panic!("not rules");
    };
    assert_eq!(args.slo.as_deref(), Some("a.yaml".as_ref()));
    let options = args.options();
    assert_eq!(options.format, RulesFormat::OpenSlo);
    assert_eq!(options.job, "a/b");
    assert_eq!(options.runbook_url.as_deref(), Some("https://x"));
    assert_eq!(options.dashboard_url.as_deref(), Some("/g/d"));
    let Ok(Command::Rules(args)) = parse("rules") else {
        panic!("not rules");
    };
    assert_eq!(args.options(), RenderOptions::default());
}

#[test]
fn usage_errors_say_what_is_wrong() {
    for (line, part) in [
        ("--listen 8080", "such as [::]:8080"),
        ("--metrics-path metrics", "a path that begins with /"),
        ("--metrics-path /metrics/", "a path that begins with /"),
        ("--metrics-path /readyz", "/readyz is a probe"),
        ("--web.telemetry-path /", "podinit answers this path itself"),
        ("demo --metrics-path /page.js", "podinit answers this path itself"),
        ("doctor --metrics-path /api/v1/problems", "podinit answers this path itself"),
        ("--timestamps best", "--timestamps"),
        ("--labels pod", "no such label: \"pod\""),
        ("--label-cap 0", "a number above 0"),
        ("--label-cap node=5", "--label-cap node=…: the series carry no such label"),
        ("--pod-label a/b/c", "not a label key"),
        ("--log-level podinit=loud", "expected a level"),
        ("--log-level wran", "\"wran\" is no level"),
        ("--log-level info,watch", "\"watch\" is no level"),
        ("--log-level info,podinit::watch=debug", "podinit has no module podinit::watch"),
        ("--log-level podinit_watch", "podinit has no module podinit_watch"),
        ("-n Bad_NS!", "not the name of a namespace"),
        ("-n a,-b", "not the name of a namespace"),
        ("--max-pods 0", "a number above 0"),
        ("--max-pods -5", "a number above 0"),
        ("--max-pods many", "a number above 0"),
        ("--label-cap -5", "a number above 0"),
        ("--log-format xml", "xml"),
        ("sevre", "sevre"),
        ("serve extra", "extra"),
        ("--auth basic", "--auth <MODE>"),
        ("--auth-audience a", "--auth-audience needs --auth kubernetes"),
        ("demo --auth kubernetes", "--auth"),
        ("demo --rate 0", "a number above 0"),
        ("demo --rate -1", "a number above 0"),
        ("demo --duration 0s", "a duration above 0"),
        ("doctor --timeout 0s", "a duration above 0"),
        ("demo --speed inf", "a number above 0"),
        ("demo --duration 5", "not a duration"),
        ("replay", "name a recording: a file, or - for standard input"),
        ("report", "or name a running exporter with --url"),
        ("replay - -", "standard input (-) can be read only once"),
        ("replay --until yesterday -", "expected a time"),
        ("report -o openmetrics -", "openmetrics"),
        ("report --labels node -", "--labels"),
        ("rules -o yaml", "yaml"),
        ("--shard 4", "expected I/N, such as 0/4"),
        ("--shard 1/0", "expected I/N, such as 0/4"),
        ("demo --shard=-1/4", "expected I/N, such as 0/4"),
        ("--shard -1/4", "expected I/N, such as 0/4"),
        ("replay --shard 4/4 -", "the last is 3/4"),
        ("report --shard 5/4 -", "the last is 3/4"),
    ] {
        let complaint = complaint(line);
        assert!(complaint.contains(part), "{line}: {complaint}");
    }
}

#[test]
fn a_log_level_is_a_level_or_a_list_by_module() {
    for level in [
        "info",
        "WARN",
        "off",
        "info,podinit_kube::watch=debug",
        "podinit_kube::watch",
        "podinit::commands=debug",
        "podinit=trace",
        "podinit",
        "warn,hyper=debug",
        "[watch{source=all}]=trace",
    ] {
        assert_eq!(serve(&format!("--log-level {level}")).exporter.log.log_level, level);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for line in ["--help", "-h", "--version", "-V", "serve --help", "replay -h"] {
        assert_eq!(parse(line).unwrap_err().exit_code(), 0, "{line}");
    }
}

/// The name that the help promises: the flag in capitals, with underscores. `-o` and `--output`
/// mean something else for each command, so that each has a variable of its own. So have the flags by
/// which `explain` finds its pod: a variable that is meant for an exporter must not choose it.
#[test]
fn every_flag_has_the_variable_of_its_name() {
    for command in command_line().get_subcommands() {
        for argument in command.get_arguments() {
            let Some(flag) = argument.get_long() else {
                continue;
            };
            let flag = match (command.get_name(), flag) {
                (command, "output")
                | (command @ "explain", "namespace" | "file" | "url")
                | (command @ "report", "url")
                | (command @ "wait", "namespace" | "label-selector" | "timeout") => {
                    format!("{command}-{flag}")
                }
                (_, flag) => flag.to_owned(),
            };
            let expected = format!("PODINIT_{}", flag.to_uppercase().replace('-', "_"));
            let variable = argument.get_env().and_then(OsStr::to_str);
            if !["help", "version"].contains(&flag.as_str()) {
                assert_eq!(variable, Some(expected.as_str()), "{flag}");
            }
        }
    }
}

/// The secrets that each exporter of `report` is shown: its token or its user and password.
fn secrets(line: &str) -> Vec<String> {
    let Ok(Command::Report(args)) = parse(&format!("report {line}")) else {
        panic!("{line}");
    };
    let sides = [Some(args.source()), args.baseline()];
    let exporters = sides.into_iter().flatten().flat_map(|side| match side {
        ReportSource::Exporters(exporters) => exporters,
        ReportSource::Recording(_) => Vec::new(),
    });
    let secret = |exporter: ServerOptions| {
        let file = exporter.token_file.or(exporter.password_file);
        let file = file.map(|file| file.display().to_string());
        let parts = exporter.username.into_iter().chain(file);
        parts.collect::<Vec<_>>().join(" ")
    };
    exporters.map(secret).collect()
}

#[test]
fn a_secret_is_for_one_server() {
    for (line, expected) in [
        ("--url http://a --url http://b --token-file t", &["t", ""][..]),
        ("--url http://a --baseline http://a:80/ --token-file t", &["t", "t"]),
        ("--url http://a --baseline https://a --token-file t", &["t", ""]),
        ("--url http://a --url http://b --token-file http://b=u", &["", "u"]),
        ("--url http://a --url http://b --token-file t --token-file http://B:80/x=u", &["t", "u"]),
        ("--baseline http://a --baseline http://b --token-file t file", &["t", ""]),
        ("--url http://a --url http://b --username me --password-file p", &["me p", ""]),
        (
            "--url http://a --baseline http://b --username me --password-file p --password-file http://b=q=r",
            &["me p", "me q=r"],
        ),
    ] {
        assert_eq!(secrets(line), expected, "{line}");
    }
}
