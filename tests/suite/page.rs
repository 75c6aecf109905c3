//! The live page, of figures and records that are made by hand.
//! `INSTA_UPDATE=always cargo test --test suite page::` renews the snapshots.

use std::sync::Arc;
use std::time::Duration;

use podinit::inspect::explain::{Context, Explanation};
use podinit::inspect::page::history::{History, Sample};
use podinit::inspect::page::{Foot, Overview, pod_page};
use podinit::inspect::problems::Problems;
use podinit::metrics::{Figures, SloFigures};
use podinit_core::lifecycle::{
    Cause, Interval, IntervalResult, Latency, Milestone, MilestoneSource, Outcome, Progress,
    Record, RecordedCause, RecordedContainer, RecordedInterval, RecordedMilestone, Stage,
    WaitReason,
};
use podinit_core::pod::{ContainerKind, PodSnapshot, PodUid, Workload};
use podinit_core::timestamp::Timestamp;

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
        time: Some((at(second), source)),
    };
    let interval = |interval, began, ended: Option<i64>| RecordedInterval {
        interval,
        began: Some(at(began)),
        ended: ended.map(at),
        result: match ended {
            Some(ended) => {
                IntervalResult::Measured(Latency::from(Duration::from_secs((ended - began) as u64)))
            }
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
    pod.workload = Some(Arc::new(Workload {
        kind: "Deployment".into(),
        name: "web".into(),
    }));
    Record {
        uid,
        pod,
        discovered: at(0),
        progress,
        milestones: vec![
            milestone(Milestone::Created, 0, MilestoneSource::CreationTimestamp),
            milestone(Milestone::Scheduled, 2, MilestoneSource::Condition),
        ],
        network_time: None,
        intervals: vec![
            interval(Interval::Stage(Stage::Scheduling), 0, Some(2)),
            interval(Interval::Stage(Stage::Network), 2, end),
            interval(Interval::CreatedToReady, 0, end),
        ],
        containers: vec![RecordedContainer {
            name: "web".into(),
            kind: ContainerKind::Regular,
            image: Some("ghcr.io/shop/web:1.2".into()),
            problem: None,
        }],
        message: Some("<no> address & none left".into()),
        pulls: vec![],
        causes: vec![RecordedCause {
            waiting: waiting(),
            began: at(2),
            container: None,
        }],
        slos: vec![],
    }
}

fn in_flight(name: &str, is_stuck: bool) -> Record {
    let progress = Progress::InFlight {
        waiting: waiting(),
        entered: at(2),
        stuck_after: Duration::from_secs(300),
        is_stuck,
    };
    record(name, progress)
}

fn ready(name: &str) -> Record {
    let (outcome, at) = (Outcome::Ready, at(30));
    record(name, Progress::Ended { outcome, at })
}

fn figures(pods: u64, stuck: u64) -> Figures {
    let mut figures = Figures {
        waiting: vec![(waiting(), pods)],
        slos: vec![SloFigures {
            name: "fast".into(),
            objective_ratio: 0.99,
            interval: Interval::CreatedToReady,
            threshold_seconds: 30.0,
            good: 95,
            bad: 5,
        }],
        network_evidence: [40, 50, 10],
        ..Figures::default()
    };
    figures.stuck[Stage::Network as usize] = stuck;
    figures.oldest[Stage::Network as usize] = Some(at(2));
    figures.finished[Outcome::Ready as usize] = 100;
    figures
}

fn foot() -> Foot {
    Foot {
        version: "1.2.3",
        synced: true,
        ready: "yes".to_owned(),
        live: "yes".to_owned(),
        time: "10:10:00.000".to_owned(),
        refresh: Some(10),
    }
}

/// Two stuck pods on one node, one of them with a name that is markup.
fn small() -> Overview {
    let mut history = History::default();
    history.add(Sample::new(at(0), &figures(0, 0)));
    history.add(Sample::new(at(300), &figures(2, 0)));
    let stuck = vec![
        in_flight("web-1", true),
        in_flight("<script>alert('&\"')</script>", true),
    ];
    Overview {
        figures: figures(2, 2),
        history,
        in_flight: stuck.clone(),
        problems: Problems::find(stuck.clone(), &[], Some(at(600))).problems,
        stuck,
        slowest: vec![ready("web-0")],
        last_ready: Some(at(30)),
        foot: foot(),
    }
}

#[test]
fn a_small_state_as_html() {
    insta::assert_snapshot!(small().render(at(600)).unwrap());
}

#[test]
fn no_name_is_markup_and_nothing_runs_or_loads_from_elsewhere() {
    let hostile = in_flight("<script>alert('&\"')</script>", true);
    let explanation = Explanation::new(&hostile, Context::default(), at(600));
    let pages = [
        small().render(at(600)).unwrap(),
        pod_page(&explanation, Some(foot())).unwrap(),
        pod_page(&explanation, None).unwrap(),
    ];
    for page in pages {
        assert!(!page.contains("<script"), "{page}");
        for inline in [
            " style=",
            " onload=",
            " onclick=",
            "javascript:",
            "http://",
            "https://",
        ] {
            assert!(!page.contains(inline), "{inline}: {page}");
        }
        assert!(
            page.contains("&#60;script&#62;") || page.contains("&lt;script&gt;"),
            "{page}"
        );
    }
}

#[test]
fn a_pod_as_html() {
    let explanation = Explanation::new(&in_flight("web-1", true), Context::default(), at(600));
    insta::assert_snapshot!(pod_page(&explanation, Some(foot())).unwrap());
    let file = pod_page(&explanation, None).unwrap();
    assert!(file.contains("<style>") && !file.contains("stylesheet") && !file.contains("<footer"));
}

#[test]
fn an_idle_cluster_has_a_page() {
    let page = Overview::default().render(at(0)).unwrap();
    assert!(page.contains("No pod is starting up."), "{page}");
    assert!(page.contains("not in sync"), "{page}");
}

/// However many pods are in flight, the page has at most a hundred rows, and says how many it leaves out.
#[test]
fn the_page_is_bounded() {
    let pods = (0..2_000).map(|number| in_flight(&format!("web-{number}"), true));
    let overview = Overview {
        figures: figures(10_000, 10_000),
        stuck: pods.collect(),
        ..small()
    };
    let page = overview.render(at(600)).unwrap();
    assert_eq!(page.matches("<tr><td class=\"name\"><a href").count(), 100);
    assert!(page.contains("and 9900 more"), "{}", page.len());
    assert!(page.len() < 150_000, "{}", page.len());
}
