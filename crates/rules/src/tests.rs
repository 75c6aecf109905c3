#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::options::REFUSED_OBJECTIVE;
use super::*;

fn with_objective(objective: &str) -> SloFile {
    let text = format!(
        "slos: [{{name: a, interval: network, threshold: 1s, objective: {objective}, window: 7d}}]"
    );
    SloFile::parse("f", text.as_bytes()).unwrap()
}

fn options(format: RulesFormat) -> RenderOptions {
    RenderOptions { format, ..RenderOptions::default() }
}

#[test]
fn objectives_too_low_for_burn_rate_alerts_are_refused() {
    let prometheus = options(RulesFormat::Prometheus);
    for (objective, refused) in [("90", true), ("93.06", true), ("93.07", false), ("99", false)] {
        let rules = render(&with_objective(objective), &prometheus);
        assert_eq!(rules.is_err(), refused, "{objective}");
    }
    let error = render(&with_objective("90"), &prometheus).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: a: objective 90 is too low for burn-rate alerts: 14.4 times its error budget is all \
         events or more; choose one above 93.06"
    );
}

#[test]
fn the_lowest_objective_follows_from_the_highest_burn_rate() {
    let needed = |objective: f64| 14.4 * (100.0 - objective) / 100.0;
    assert!((0.999..1.0).contains(&needed(REFUSED_OBJECTIVE)));
    assert!(needed(REFUSED_OBJECTIVE - 0.01) > 1.0);
}

#[test]
fn options_that_would_break_the_rules_are_refused() {
    let file = SloFile::built_in();
    for (job, url, is_valid) in [
        ("monitoring/podinit", "https://docs.example/runbooks.md", true),
        ("", "https://docs.example", false),
        ("a\"b", "https://docs.example", false),
        ("podinit", "https://docs.example/{{ $value }}", false),
        ("podinit", "https://docs example", false),
    ] {
        let options = RenderOptions {
            job: job.to_owned(),
            runbook_url: Some(url.to_owned()),
            ..RenderOptions::default()
        };
        assert_eq!(render(&file, &options).is_ok(), is_valid, "{job} {url}");
    }
}

#[test]
fn no_format_selects_a_bucket_bound() {
    for format in RulesFormat::ALL {
        let text = render(&SloFile::built_in(), &options(format)).unwrap();
        // The input of a unit test has classic histograms, with their bounds.
        let rules = text.lines().filter(|line| !line.contains("- series: "));
        let text: String = rules.collect();
        assert!(!text.contains("le="), "{}", format.as_str());
        for series in text.split("podinit_").filter(|series| series.contains("_bucket")) {
            let allowed =
                ["image_pull_duration_seconds_bucket", "pod_start_sli_duration_seconds_bucket"];
            assert!(allowed.iter().any(|name| series.starts_with(name)), "{series}");
        }
    }
}

#[test]
fn groups_have_one_to_twenty_rules_for_any_number_of_slos() {
    let none = SloFile { slos: vec![] };
    let text = (0..podinit_slo::file::MAX_SLOS).map(|number| {
        format!(
            "- {{name: n{number}, interval: init, threshold: 1s, objective: 99.9, window: 1d}}\n"
        )
    });
    let text = format!("slos:\n{}", text.collect::<String>());
    let most = SloFile::parse("f", text.as_bytes()).unwrap();
    for file in [none, most] {
        for group in groups(&file, &RenderOptions::default()) {
            assert!((1..=20).contains(&group.rules.len()), "{}", group.name);
        }
    }
}

#[test]
fn descriptions_say_which_pods_do_not_count() {
    const SENTENCES: [(&str, &str); 3] = [
        (", capacity: existing", "Pods that waited for a new node do not count."),
        (", images: present", "Pods whose images were pulled do not count."),
        (
            ", capacity: existing, images: present",
            "Pods that waited for a new node, or whose images were pulled, do not count.",
        ),
    ];
    for selection in ["", SENTENCES[0].0, SENTENCES[1].0, SENTENCES[2].0] {
        let text = format!(
            "slos: [{{name: a, interval: network, threshold: 1s, objective: 99, window: 7d{selection}}}]"
        );
        let file = SloFile::parse("f", text.as_bytes()).unwrap();
        for (format, times) in [(RulesFormat::Prometheus, 4), (RulesFormat::OpenSlo, 1)] {
            let text = render(&file, &options(format)).unwrap();
            let words: Vec<&str> = text.split_whitespace().collect();
            let text = words.join(" ");
            for (of, sentence) in SENTENCES {
                let expected = if of == selection { times } else { 0 };
                assert_eq!(text.matches(sentence).count(), expected, "{selection}: {text}");
            }
        }
    }
}

#[test]
fn formats_have_the_names_of_the_command_line() {
    for format in RulesFormat::ALL {
        assert_eq!(format.as_str().parse(), Ok(format));
    }
    assert!("yaml".parse::<RulesFormat>().is_err());
}

#[derive(serde::Deserialize)]
struct Rules {
    groups: Vec<RulesOfGroup>,
}

#[derive(serde::Deserialize)]
struct RulesOfGroup {
    rules: Vec<ReadRule>,
}

#[derive(serde::Deserialize)]
struct ReadRule {
    alert: Option<String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[test]
fn every_alert_links_to_its_runbook_and_to_that_of_its_cause_if_it_has_one() {
    let links = |options: &RenderOptions| {
        let text = render(&SloFile::built_in(), options).unwrap();
        let rules: Rules = serde_saphyr::from_str(&text).unwrap();
        let alerts = rules.groups.into_iter().flat_map(|group| group.rules);
        let linked = alerts.filter_map(|rule| {
            let of = |key: &str| rule.annotations.get(key).cloned();
            Some((rule.alert?, of("runbook_url"), of("cause_runbook_url")))
        });
        linked.collect::<Vec<_>>()
    };
    let (wiki, page) = ("https://wiki.example/runbooks", "https://podinit.example");
    let to_wiki = RenderOptions { runbook_url: Some(wiki.to_owned()), ..RenderOptions::default() };
    let to_page = RenderOptions { page_url: Some(format!("{page}/")), ..RenderOptions::default() };
    for ((name, section, of_cause), (_, on_page, cause_on_page)) in
        links(&to_wiki).into_iter().zip(links(&to_page))
    {
        assert_eq!(section, Some(format!("{wiki}#{}", name.to_lowercase())));
        assert_eq!(on_page, Some(format!("{page}/runbooks/{name}")));
        let has_cause =
            ["PodinitSLOBudgetBurn", "PodinitPodsStuck", "PodinitPodsStillStuck"].contains(&&*name);
        let cause = "{{ $labels.cause }}";
        assert_eq!(of_cause, has_cause.then(|| format!("{wiki}#cause-{cause}")), "{name}");
        assert_eq!(cause_on_page, has_cause.then(|| format!("{page}/runbooks/{cause}")), "{name}");
    }
    assert!(links(&RenderOptions::default()).iter().all(|(_, to, _)| to.is_none()));
}

#[test]
fn alerts_stand_behind_what_they_read_of_causes() {
    for slo in SloFile::built_in().slos {
        let group = slo_alerts::group(&slo, &RenderOptions::default());
        let text = rule_file::document(&group).unwrap();
        let (before, alerts) = text.split_once("- alert:").unwrap();
        let read = alerts.split("job_slo_cause:").skip(1);
        for read in read.map(|rest| rest.split('{').next().unwrap()) {
            assert!(before.contains(&format!("record: job_slo_cause:{read}\n")), "{read}");
        }
        assert!(!alerts.contains("record: "));
    }
}
