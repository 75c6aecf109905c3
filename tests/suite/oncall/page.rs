//! The live page, of figures and records that are made by hand.
//! `INSTA_UPDATE=always cargo test --test suite oncall::page::` renews the snapshots.

use std::sync::Arc;
use std::time::Duration;

use podinit_core::lifecycle::{
    Cause, Interval, IntervalKind, IntervalResult, Milestone, MilestoneSource, NodeFaults, Outcome,
    Progress, Record, RecordedCause, RecordedContainer, RecordedInterval, RecordedMilestone,
    SloRule, Stage, WaitReason,
};
use podinit_core::pod::{Ending, PodSnapshot, PodUid, Workload};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{DurationDistribution, PodFigures, SloDoc, SloFigures};
use podinit_http::MetricsPath;
use podinit_oncall::explain::{Explanation, ExplanationContext};
use podinit_oncall::freshness::{Freshness, FreshnessState};
use podinit_oncall::page::history::{HistorySample, OverviewHistory};
use podinit_oncall::page::{Overview, PageFooter, pod_page};
use podinit_oncall::problems::{PodFilter, ProblemSnapshot};
use podinit_testing::records;

/// 10:00 on 2026-03-01, and so many seconds later.
fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_772_359_200 + second)
}

fn waiting() -> WaitReason {
    WaitReason::new(Stage::Network, Cause::Cni).unwrap()
}

/// A pod that was created at second 0 and bound at second 2.
fn record(name: &str, progress: Progress) -> Record {
    let milestone = |milestone, second, source| RecordedMilestone {
        milestone,
        time: Some(at(second)),
        source: Some(source),
    };
    let interval = |interval, began, ended: Option<i64>| RecordedInterval {
        interval,
        kind: IntervalKind::from_interval(interval),
        began: Some(at(began)),
        ended: ended.map(at),
        result: match ended {
            Some(ended) => IntervalResult::Measured {
                seconds: Duration::from_secs((ended - began) as u64).into(),
            },
            None => IntervalResult::Open,
        },
    };
    let end = match progress {
        Progress::InFlight { .. } => None,
        Progress::Ended { .. } => Some(30),
    };
    let uid = PodUid::from_text(name);
    let mut pod = PodSnapshot::bare(uid, "shop", name).info;
    pod.node = Some("node-a0".into());
    pod.workload = Some(Arc::new(Workload { kind: "Deployment".into(), name: "web".into() }));
    Record {
        pod,
        discovered: at(0),
        progress,
        milestones: vec![
            milestone(Milestone::Created, 0, MilestoneSource::CreationTimestamp),
            milestone(Milestone::Scheduled, 2, MilestoneSource::Condition),
        ],
        intervals: vec![
            interval(Interval::Stage(Stage::Scheduling), 0, Some(2)),
            interval(Interval::Stage(Stage::Network), 2, end),
            interval(Interval::CreatedToReady, 0, end),
        ],
        containers: vec![RecordedContainer {
            volume_image: None,
            name: "web".into(),
            init: false,
            is_sidecar: false,
            image: Some("ghcr.io/shop/web:1.2".into()),
            registry: None,
            problem: None,
        }],
        message: Some("<no> address & none left".into()),
        causes: vec![RecordedCause { waiting: waiting(), began: at(2), container: None }],
        ..records::record("shop", name)
    }
}

fn in_flight(name: &str, is_stuck: bool) -> Record {
    let progress = Progress::InFlight {
        waiting: waiting(),
        entered: at(2),
        stuck_at: at(302),
        is_stuck,
        is_never_ready: false,
    };
    record(name, progress)
}

fn ready(name: &str) -> Record {
    let progress = Progress::Ended { outcome: Outcome::Ready, at: at(30), ending: None };
    record(name, progress)
}

fn figures(pods: u64, stuck: u64) -> PodFigures {
    let mut figures = PodFigures {
        waiting: vec![(waiting(), pods)],
        slos: vec![SloFigures {
            doc: SloDoc::new(
                &SloRule {
                    name: "fast".into(),
                    interval: Interval::CreatedToReady.into(),
                    threshold: Duration::from_secs(30),
                    ..SloRule::default()
                },
                0.99,
                604_800.0,
            ),
            good: 95,
            bad: 5,
        }],
        network_evidence: [40, 50, 10],
        ..PodFigures::default()
    };
    figures.stuck[Stage::Network as usize] = stuck;
    figures.finished[Outcome::Ready as usize] = 100;
    figures
}

fn foot() -> PageFooter {
    PageFooter {
        version: "1.2.3",
        metrics: MetricsPath::default(),
        ready: "yes".to_owned(),
        live: "yes".to_owned(),
        time: "10:10:00".to_owned(),
        refresh: Some(10),
        runbook_url: None,
    }
}

fn current() -> Freshness {
    Freshness {
        state: FreshnessState::Current,
        in_sync: true,
        started: at(0),
        since: at(0),
        waits_for: None,
        age_seconds: Some(1.0),
        adopted_everything: false,
        shard: None,
        kubeconfig: None,
        clock_unchecked: false,
    }
}

/// These pods in flight, of which those that are wanted are shown.
fn overview(in_flight: Vec<Record>, wanted: PodFilter) -> Overview {
    let (pods, stuck) = (in_flight.len() as u64, in_flight.len() as u64);
    let seen = ProblemSnapshot::from_records(in_flight, &[], NodeFaults::default(), Some(at(600)));
    let mut history = OverviewHistory::default();
    history.add(HistorySample::new(at(0), &figures(0, 0), &[]));
    history.add(HistorySample::new(at(300), &figures(2, 0), &seen.problems.problems));
    history.add_durations(at(0), Default::default);
    let second = DurationDistribution::of_nanos([1_000_000_000]);
    Overview {
        cluster: Some("prod-eu-1".to_owned()),
        freshness: current(),
        figures: figures(pods, stuck),
        durations: std::array::from_fn(|_| second.clone()),
        history,
        seen: Arc::new(seen),
        unanswered: None,
        wanted,
        slowest: vec![ready("web-0")],
        last_ready: Some(at(30)),
        foot: foot(),
    }
}

/// Two stuck pods on one node, one of them with a name that is markup.
fn small() -> Overview {
    let stuck = vec![in_flight("web-1", true), in_flight("<script>alert('&\"')</script>", true)];
    overview(stuck, PodFilter::default())
}

#[test]
fn a_small_state_as_html() {
    insta::assert_snapshot!(small().render(at(600)).unwrap());
}

#[test]
fn pods_that_the_kubelet_rejects_are_said_first_and_beside_the_next_one_that_starts() {
    let waiting = WaitReason::new(Stage::Network, Cause::Acknowledge).unwrap();
    let progress = Progress::InFlight {
        waiting,
        entered: at(599),
        stuck_at: at(899),
        is_stuck: false,
        is_never_ready: false,
    };
    let mut starting = record("web-99", progress);
    starting.causes[0] = RecordedCause { waiting, began: at(599), container: None };
    let ending = Ending {
        reason: Some("OutOfcpu".into()),
        message: Some("Pod was rejected: no cpu".into()),
        ..Ending::default()
    };
    let rejected = (0..12).map(|number| {
        let progress = Progress::Ended {
            outcome: Outcome::Rejected,
            at: at(590),
            ending: Some(Box::new(ending.clone())),
        };
        record(&format!("web-{number}"), progress)
    });
    let rejected: Vec<Record> = rejected.collect();
    let seen = ProblemSnapshot::from_records(
        vec![starting],
        &rejected,
        NodeFaults::default(),
        Some(at(600)),
    );
    let page = Overview { seen: Arc::new(seen), ..overview(Vec::new(), PodFilter::default()) };
    let page = page.render(at(600)).unwrap();
    for said in [
        "<p class=\"word\">Broken</p>",
        "<h1>Pods of shop/Deployment/web were rejected by the kubelet: OutOfcpu: no cpu</h1>",
        "<p class=\"quiet\">12 pods since 10:09, on 1 node, of 1 workload, in 1 namespace, rejected in the last 10 minutes</p>",
        "<h2 id=\"pods\">1 pods in flight</h2>",
        "<span>rejected</span><span class=\"wait\">at 10:09</span>",
        "<h3>Starting as usual: 1</h3>",
        "<span class=\"alarm\">12 others have failed</span>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

#[test]
fn no_name_is_markup_and_nothing_runs_or_loads_from_elsewhere() {
    let hostile = in_flight("<script>alert('&\"')</script>", true);
    let explanation = Explanation::new(&hostile, ExplanationContext::default(), at(600));
    let pages = [
        small().render(at(600)).unwrap(),
        pod_page(&explanation, Some(foot()), None).unwrap(),
        pod_page(&explanation, None, None).unwrap(),
    ];
    for page in pages {
        let own = "<script src=\"../../page.js\" defer></script>";
        let page = page.replace(own, "").replace(&own.replace("../../", ""), "");
        assert!(!page.contains("<script"), "{page}");
        for inline in [" style=", " onload=", " onclick=", "javascript:", "http://", "https://"] {
            assert!(!page.contains(inline), "{inline}: {page}");
        }
        assert!(page.contains("&#60;script&#62;") || page.contains("&lt;script&gt;"), "{page}");
    }
}

#[test]
fn a_pod_as_html() {
    let explanation =
        Explanation::new(&in_flight("web-1", true), ExplanationContext::default(), at(600));
    insta::assert_snapshot!(pod_page(&explanation, Some(foot()), None).unwrap());
    let file = pod_page(&explanation, None, None).unwrap();
    assert!(file.contains("<style>") && !file.contains("stylesheet") && !file.contains("<footer"));
}

#[test]
fn an_exporter_that_knows_nothing_does_not_say_that_all_is_well() {
    let page = Overview::default().render(at(0)).unwrap();
    assert!(page.contains("No problem is known: no pod is starting up."), "{page}");
    assert!(page.contains("podinit waits since") && !page.contains("All well"), "{page}");
    let blind = Overview {
        freshness: Freshness { state: FreshnessState::Blind, in_sync: false, ..current() },
        ..small()
    };
    let page = blind.render(at(600)).unwrap();
    assert!(page.contains("<p class=\"word\">Blind</p>"), "{page}");
    assert!(page.contains("podinit is blind since"), "{page}");
}

/// Ten thousand pods in flight, in many problems and workloads.
fn crowd(wanted: PodFilter) -> Overview {
    let pods = (0..10_000).map(|number| {
        let mut pod = in_flight(&format!("web-with-a-rather-long-name-{number}"), number % 2 == 0);
        pod.pod.namespace = format!("namespace-{}", number % 50).into();
        pod.pod.node = Some(format!("node-{}.example.com", number % 400).into());
        pod.pod.workload = Some(Arc::new(Workload {
            kind: "Deployment".into(),
            name: format!("workload-{}", number % 300).into(),
        }));
        pod
    });
    overview(pods.collect(), wanted)
}

/// However many pods are in flight, the page stays small, and its totals agree.
#[test]
fn the_page_is_bounded() {
    let overview = crowd(PodFilter::default());
    let began = std::time::Instant::now();
    let page = overview.render(at(600)).unwrap();
    println!("10,000 pods in flight: {} bytes in {:?}", page.len(), began.elapsed());
    assert!(page.len() < 200_000, "{}", page.len());
    assert!(page.contains("<h1>Pods cannot get a network: "), "{page}");
    assert!(page.contains("<p class=\"quiet\">10,000 pods since 10:00, on 400 nodes, "), "{page}");
    assert!(page.contains("<h2 id=\"pods\">10,000 pods in flight</h2>"));
    assert!(page.contains("<h3>cni: 10,000, <span class=\"alarm\">5,000 stuck</span></h3>"));
    assert!(page.contains("and 9,796 pods of 294 more workloads"), "{page}");
}

#[test]
fn a_filter_shows_the_pods_that_fit_and_how_many_of_the_problem_they_are() {
    let wanted = PodFilter {
        namespace: Some("namespace-7".to_owned()),
        workload: Some("Deployment/workload-7".to_owned()),
        ..PodFilter::default()
    };
    let page = crowd(wanted).render(at(600)).unwrap();
    assert!(page.contains("<dd>34 of its 10,000 pods</dd>"), "{page}");
    assert!(!page.contains("5,000 stuck"), "{page}");
    assert!(page.contains("<h2 id=\"pods\">34 pods in flight</h2>"), "{page}");
    // The first line is about the whole cluster.
    assert!(page.contains("<p class=\"quiet\">10,000 pods since 10:00, "), "{page}");
    // So is what says it, and nothing else.
    let (_, below) = page.split_once("class=\"wanted\"").unwrap();
    for whole in [
        "namespaces, whole cluster</p>",
        "Pods of this problem, whole cluster<",
        "SLOs, whole cluster<",
        "Pods in flight by stage, whole cluster<",
        ">Left it, whole cluster<",
        ">Median, whole cluster<",
        ">Distribution, whole cluster<",
        "This exporter, whole cluster<",
    ] {
        assert!(below.contains(whole), "{whole}: {below}");
    }
    assert!(below.contains("<td class=\"number\" data-name=\"in it now\">34</td>"), "{below}");
    assert!(!crowd(PodFilter::default()).render(at(600)).unwrap().contains("whole cluster"));
    let cause = |cause| PodFilter { cause: Some(cause), ..PodFilter::default() };
    let none = crowd(cause(Cause::Image)).render(at(600)).unwrap();
    assert!(none.contains(": 0 in flight.") && !none.contains("id=\"problems\""), "{none}");
    let all = crowd(cause(Cause::Cni)).render(at(600)).unwrap();
    assert!(all.contains(": 10,000 in flight."), "{all}");
}

/// Pods that wait for what others of a problem wait for are no sign that all is well, and neither is a list of those
/// that became ready.
#[test]
fn pods_too_new_to_tell_do_not_start_as_usual() {
    let new = record(
        "web-99",
        Progress::InFlight {
            waiting: waiting(),
            entered: at(595),
            stuck_at: at(895),
            is_stuck: false,
            is_never_ready: false,
        },
    );
    let new = Record {
        causes: vec![RecordedCause { waiting: waiting(), began: at(595), container: None }],
        ..new
    };
    let page = overview(vec![in_flight("web-1", true), new], PodFilter::default());
    let page = page.render(at(600)).unwrap();
    for said in [
        "<h3>Too new to tell, with the cause of a problem (cni): 1</h3>",
        "<td class=\"number\" data-name=\"longest wait now\">9m58s</td>",
        "<details data-key=\"slowest\"><summary>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("Starting as usual"), "{page}");
    let calm = overview(Vec::new(), PodFilter::default()).render(at(600)).unwrap();
    assert!(!calm.contains("data-key=\"slowest\"") && calm.contains("id=\"slowest\""), "{calm}");
}

#[test]
fn the_page_of_a_pod_says_what_it_waits_for_and_leads_to_its_problem() {
    let image = WaitReason::new(Stage::Init, Cause::Image).unwrap();
    let mut pod = record(
        "web-1",
        Progress::InFlight {
            waiting: image,
            entered: at(2),
            stuck_at: at(302),
            is_stuck: true,
            is_never_ready: false,
        },
    );
    pod.message = Some("ghcr.io/shop/web:1.2: not found".into());
    pod.intervals[1].interval = Interval::Stage(Stage::Init);
    pod.causes = vec![RecordedCause { waiting: image, began: at(2), container: Some(0) }];
    let seen =
        ProblemSnapshot::from_records(vec![pod.clone()], &[], NodeFaults::default(), Some(at(722)));
    let explanation = Explanation::new(&pod, ExplanationContext::default(), at(722));
    let problem = seen.problem_of(pod.uid);
    let page = pod_page(&explanation, Some(foot()), problem).unwrap();
    for said in [
        "<section class=\"status bad\"",
        "<h1>Has waited 12m0s for image ghcr.io/shop/web:1.2: ",
        "<a href=\"../../?cause=image#problems\">The only pod</a>: ",
        "<th scope=\"row\">an image that cannot be pulled</th><td class=\"number\">12m0s</td>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let ready = Explanation::new(&ready("web-0"), ExplanationContext::default(), at(722));
    let page = pod_page(&ready, Some(foot()), None).unwrap();
    assert!(page.contains("<section class=\"status calm\""), "{page}");
}
