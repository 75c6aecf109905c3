//! An outage in the demo's cluster, on simulated time: after a healthy hour no sandbox comes up any
//! more. The latency histogram shows nothing, since nothing ends; the deadlines do (specification
//! [§6](crate::specification#s6)), and the page comes when the arithmetic of the burn rates says
//! so.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support::page::{Events, Page};
use crate::support::samples::{INTERVAL, Samples};
use crate::support::slo::JudgedCluster;
use podinit_sim::ClusterConfig;
use podinit_sim::scene::Scene;
use podinit_slo::{Slo, SloFile};
use serde_json::{Value, json};

/// Pods per second.
const RATE: f64 = 0.2;
/// The minute in which the outage begins.
const OUTAGE: usize = 60;
/// The last minute.
const END: usize = 75;
/// Seconds of simulated time between two looks at the cluster.
const STEP: u64 = 2;

/// What was scraped, minute by minute.
struct Hour {
    network: Slo,
    events: Events,
    /// The observations of the stage that the SLO is about
    observed: Samples,
}

async fn an_hour_and_an_outage() -> Hour {
    let config = ClusterConfig {
        rate: RATE,
        scene: Some((Scene::CniOutage, Duration::from_secs(OUTAGE as u64 * 60))),
        population: 300,
        ..ClusterConfig::manual()
    };
    let mut world = JudgedCluster::start(config, SloFile::built_in()).await;
    let network =
        (world.slos.slos.iter()).find(|slo| &*slo.rule.name == "network-ready").unwrap().clone();
    let mut events = Events::default();
    let mut observed = Samples::default();
    for minute in 0..=END {
        if minute > 0 {
            for _ in 0..INTERVAL as u64 / STEP {
                world.step(Duration::from_secs(STEP)).await;
            }
        }
        let scrape = world.scrape(|_| world.pods());
        let result = |result| {
            let labels = format!("slo=\"{}\",result=\"{result}\"", network.rule.name);
            let series = format!("podinit_slo_events_total{{{labels}}}");
            scrape.value(&series).expect("it is there from the start")
        };
        events.good.push(result("good"));
        events.bad.push(result("bad"));
        let stage = &*network.rule.interval.text();
        let name = "podinit_stage_duration_seconds_count";
        observed.push(scrape.sum_where(name, "stage", stage));
    }
    world.pipeline.end().await;
    Hour { network, events, observed }
}

/// The minute by which the page has come, one sample after the arithmetic says so.
fn predicted(network: &Slo, page: &Page) -> usize {
    let rule = &network.rule;
    let deadline = (rule.threshold + rule.grace).as_secs_f64();
    let seconds = page.holds_after(RATE, deadline);
    OUTAGE + (seconds / INTERVAL).ceil() as usize + 1
}

/// The first minute in which the page's condition holds.
fn paged(hour: &Hour, page: &Page) -> usize {
    let holds = |minute: &usize| page.holds(&hour.events, *minute);
    (0..=END).find(holds).expect("the outage pages")
}

#[tokio::test]
async fn the_page_comes_in_time_while_the_histogram_shows_nothing() {
    let hour = an_hour_and_an_outage().await;
    let (bad, observed) = (&hour.events.bad, &hour.observed);
    let share = bad.at(OUTAGE) / (bad.at(OUTAGE) + hour.events.good.at(OUTAGE));
    let page = Page::of(&hour.network);
    assert!(share < page.factor * page.budget, "no healthy hour");

    // Kubelets up to 1.35 tell of the last sandboxes seconds late.
    let last = observed.at(OUTAGE + 1);
    assert!(last > 0.5 * RATE * page.long, "not much was observed");
    for minute in OUTAGE + 1..=END {
        assert_eq!(observed.at(minute), last, "the stage ended for a pod");
        assert!(bad.at(minute) > bad.at(minute - 1), "minute {minute}");
    }

    let (paged, predicted) = (paged(&hour, &page), predicted(&hour.network, &page));
    assert!(paged > OUTAGE, "a page in minute {paged} of a healthy hour");
    assert!(paged <= predicted, "a page in minute {paged}, not {predicted}");
    assert!((paged..=END).all(|minute| page.holds(&hour.events, minute)));
}

/// Unit tests for promtool, with what was scraped as input.
fn promtool_tests(hour: &Hour, checks: &[(usize, bool)]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("deploy/prometheus-rules.yaml");
    let rules: Value = serde_saphyr::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let groups = rules["groups"].as_array().unwrap();
    // Else promtool evaluates alerts before or after what is recorded for them, as it happens.
    let order: Vec<&Value> = groups.iter().map(|group| &group["name"]).collect();
    let slo = &hour.network.rule.name;
    let series = |result: &str, samples: &Samples| {
        let labels = format!("job=\"podinit\", instance=\"i\", slo=\"{slo}\"");
        json!({
            "series": format!("podinit_slo_events_total{{{labels}, result=\"{result}\"}}"),
            "values": samples.written(),
        })
    };
    let alert = format!(
        "ALERTS{{alertname=\"PodinitSLOBudgetBurn\", alertstate=\"firing\", \
         severity=\"critical\", slo=\"{slo}\", long_window=\"1h\"}}"
    );
    let check = |(minute, fires): &(usize, bool)| {
        let one = json!([{"labels": "{}", "value": 1}]);
        json!({
            "eval_time": format!("{minute}m"),
            "expr": format!("count({alert})"),
            "exp_samples": if *fires { one } else { json!([]) },
        })
    };
    let tests = json!({
        "rule_files": [file],
        "evaluation_interval": "1m",
        "group_eval_order": order,
        "tests": [{
            "interval": "1m",
            "input_series": [series("good", &hour.events.good), series("bad", &hour.events.bad)],
            "promql_expr_test": checks.iter().map(check).collect::<Vec<_>>(),
        }],
    });
    tests.to_string()
}

#[tokio::test]
#[ignore = "needs promtool (tests/e2e/run)"]
async fn promtool_fires_the_page_of_the_checked_in_rules_in_time() {
    let hour = an_hour_and_an_outage().await;
    let page = Page::of(&hour.network);
    let (paged, predicted) = (paged(&hour, &page), predicted(&hour.network, &page));
    // In each minute as this test has it, and in the predicted one by itself.
    let mut checks: Vec<(usize, bool)> =
        (0..=END).map(|minute| (minute, minute >= paged)).collect();
    checks.push((predicted, true));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("outage.yaml");
    fs::write(&path, promtool_tests(&hour, &checks)).unwrap();
    let promtool = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    let run = Command::new(promtool).args(["test", "rules"]).arg(&path).output();
    let output = run.unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}
