//! What the shipped rules make of each scene of the demo: the right alerts, with the right cause, and no
//! others. A healthy hour fires none.
//!
//! The pages are evaluated here, as [`Page`] reads them back from the rules. promtool evaluates
//! everything: each alert of the checked-in rules, every 15 s. Prometheus evaluates each group of rules at a time of its own,
//! so promtool also evaluates the alerts amid the rules that they read.

use podinit_sim::scene::Scene;
use podinit_slo::{Slo, SloFile};

use crate::support::page::{Events, Page};
use crate::support::scene::{SCRAPED, SceneRecording, recorded};
use crate::support::scrape::Scrape;

mod promtool;

use promtool::assert_promtool_agrees;

/// The minute in which a scene begins.
const BROKEN: usize = 10;

/// An alert that fires in a scene.
struct Fires {
    /// As matchers of PromQL
    labels: String,
    /// After how many minutes, at the latest
    within: usize,
}

/// What fires in a scene, and from then on does.
struct Story {
    scene: Scene,
    /// The SLOs whose pages fire, with which cause, and after how many minutes
    pages: &'static [(&'static str, &'static str, usize)],
    /// The stages in which pods get stuck, for which cause, and after how many minutes
    stuck: &'static [(&'static str, &'static str, usize)],
    /// The registry that fails
    registry: Option<&'static str>,
}

/// After more minutes than a scene has: an alert that may fire.
const MAY: usize = 1_000;

const REGISTRY: Option<&str> = Some("registry.example.com");

const STORIES: [Story; Scene::ALL.len()] = [
    Story {
        scene: Scene::RegistryDown,
        // With other seeds too.
        pages: &[("scheduled-pod-ready", "image", 6)],
        stuck: &[("init", "image", 33), ("containers", "image", 33)],
        registry: REGISTRY,
    },
    Story {
        scene: Scene::CniOutage,
        pages: &[("network-ready", "cni", 1), ("scheduled-pod-ready", "cni", 3)],
        stuck: &[("network", "cni", 12)],
        registry: None,
    },
    Story {
        scene: Scene::BadNode,
        // With other seeds too.
        pages: &[("network-ready", "sandbox", 4), ("scheduled-pod-ready", "sandbox", 6)],
        stuck: &[("network", "sandbox", 12)],
        registry: None,
    },
    Story {
        scene: Scene::NoCapacity,
        // What no node takes, the shipped SLOs leave to whoever pays for nodes: a ticket.
        pages: &[],
        stuck: &[("unschedulable", "resources", 33)],
        registry: None,
    },
    Story {
        scene: Scene::CrashLoop,
        pages: &[("scheduled-pod-ready", "crash", 5)],
        stuck: &[("containers", "crash", 33)],
        registry: None,
    },
    Story {
        scene: Scene::Gang,
        pages: &[],
        // Gangs come seldom: the first one does not come at once.
        stuck: &[("unschedulable", "gang", 35)],
        registry: None,
    },
    Story {
        scene: Scene::TwoProblems,
        // More pods are on the node than have an image that is not there yet.
        pages: &[("network-ready", "sandbox", 4), ("scheduled-pod-ready", "sandbox", 6)],
        stuck: &[("network", "sandbox", 12), ("init", "image", 35), ("containers", "image", 33)],
        registry: REGISTRY,
    },
    Story {
        scene: Scene::BadImage,
        pages: &[("scheduled-pod-ready", "image", 6)],
        stuck: &[("containers", "image", 33)],
        // It answers, but two of five pulls from it fail.
        registry: REGISTRY,
    },
    Story {
        scene: Scene::ZoneOutage,
        pages: &[("network-ready", "cni", 3), ("scheduled-pod-ready", "cni", 5)],
        stuck: &[("network", "cni", 12)],
        registry: None,
    },
    Story {
        scene: Scene::SecretMissing,
        pages: &[("scheduled-pod-ready", "config", 9)],
        stuck: &[("containers", "config", 33)],
        registry: None,
    },
    Story {
        scene: Scene::SlowNodes,
        // A ticket, as with no capacity at all.
        pages: &[],
        stuck: &[("unschedulable", "resources", 33)],
        registry: None,
    },
    Story {
        scene: Scene::DevicePluginGone,
        pages: &[("network-ready", "rejected", 3), ("scheduled-pod-ready", "rejected", 3)],
        // They have ended: none of them is stuck.
        stuck: &[],
        registry: None,
    },
    Story {
        scene: Scene::GateForgotten,
        // Queues hold pods for hours by design: that is a problem of its own, and an alert after a day.
        pages: &[],
        stuck: &[],
        registry: None,
    },
    Story {
        scene: Scene::WrongClocks,
        // Nobody waits longer.
        pages: &[],
        stuck: &[],
        registry: None,
    },
    Story {
        scene: Scene::TwoRegistries,
        pages: &[("scheduled-pod-ready", "image", 6)],
        stuck: &[("init", "image", 33), ("containers", "image", 33)],
        registry: REGISTRY,
    },
    Story {
        scene: Scene::BadRollout,
        // Five pods are no burnt budget: the Deployment keeps the others.
        pages: &[],
        stuck: &[("containers", "image", 33)],
        registry: None,
    },
];

impl Story {
    fn of(scene: Scene) -> &'static Self {
        let found = STORIES.iter().find(|story| story.scene == scene);
        found.expect("every scene has its story")
    }

    fn alerts(&self) -> Vec<Fires> {
        let budgets = self.pages.iter().flat_map(|(slo, cause, within)| {
            ["critical", "warning"].map(|severity| Fires {
                labels: format!(
                    "alertname=\"PodinitSLOBudgetBurn\",severity=\"{severity}\",slo=\"{slo}\",\
                     cause=\"{cause}\""
                ),
                within: *within,
            })
        });
        let stuck = self.stuck.iter().map(|(stage, cause, within)| Fires {
            labels: format!(
                "alertname=\"PodinitPodsStuck\",severity=\"warning\",stage=\"{stage}\",\
                 cause=\"{cause}\""
            ),
            within: *within,
        });
        // The first node that keeps its taint is late after a quarter of an hour, and five minutes later that is news.
        let nodes = (self.scene == Scene::SlowNodes).then(|| Fires {
            labels: "alertname=\"PodinitNodesLate\",severity=\"warning\"".to_owned(),
            within: 22,
        });
        // The startup SLI takes the times of kubelets as they are, and is high with a clock that is ahead.
        let of_clocks = [("PodinitClockAnomalies", 20), ("PodinitStartupSLIHigh", 30)];
        let clocks = of_clocks.map(|(name, within)| Fires {
            labels: format!("alertname=\"{name}\",severity=\"warning\""),
            within,
        });
        let clocks = clocks.into_iter().filter(|_| self.scene == Scene::WrongClocks);
        let default_registry = (self.scene == Scene::TwoRegistries).then_some("docker.io");
        let registries = self.registry.into_iter().chain(default_registry);
        let registries = registries.map(|registry| Fires {
            labels: format!(
                "alertname=\"PodinitRegistryFailing\",severity=\"warning\",registry=\"{registry}\""
            ),
            within: 5,
        });
        let rejected = (self.scene == Scene::DevicePluginGone).then(|| Fires {
            labels: "alertname=\"PodinitStartupsRejected\",severity=\"warning\"".to_owned(),
            within: 2,
        });
        let may: &[&str] = match self.scene {
            // Each of two causes may have half of the bad pods for a while.
            Scene::TwoProblems => {
                &["alertname=\"PodinitSLOBudgetBurn\",slo=\"scheduled-pod-ready\",cause=\"image\""]
            }
            // Five pods, and their pulls, are much of what the first minutes have seen.
            Scene::BadRollout => &[
                "alertname=\"PodinitSLOBudgetBurn\",severity=\"warning\",cause=\"image\"",
                "alertname=\"PodinitRegistryFailing\",registry=\"registry.example.com\"",
            ],
            _ => &[],
        };
        let may = may.iter().map(|labels| Fires { labels: (*labels).to_owned(), within: MAY });
        let nodes = nodes.into_iter().chain(clocks).chain(may);
        let others = nodes.chain(registries).chain(rejected);
        budgets.chain(stuck).chain(others).collect()
    }
}

/// How many samples there are in a minute.
const A_MINUTE: usize = 60 / SCRAPED.as_secs() as usize;

/// What was sampled at each full minute.
fn each_minute(recording: &SceneRecording) -> impl ExactSizeIterator<Item = &Scrape> {
    recording.samples.iter().map(|(_, scrape)| scrape).step_by(A_MINUTE)
}

fn events_of(recording: &SceneRecording, slo: &Slo) -> Events {
    let mut events = Events::default();
    for scrape in each_minute(recording) {
        let result = |result| {
            let name = &slo.rule.name;
            let series = format!("podinit_slo_events_total{{slo=\"{name}\",result=\"{result}\"}}");
            scrape.value(&series).expect("it is there from the start")
        };
        events.good.push(result("good"));
        events.bad.push(result("bad"));
    }
    events
}

/// In which minutes any alert of the SLO pages.
fn paging(recording: &SceneRecording, slo: &Slo) -> Vec<usize> {
    let events = events_of(recording, slo);
    let pages = Page::all_of(slo);
    assert_eq!(pages.len(), 2, "over an hour and over six");
    (0..each_minute(recording).len())
        .filter(|minute| pages.iter().any(|page| page.holds(&events, *minute)))
        .collect()
}

/// The share of the SLO's bad events of the 5 minutes before that minute that were counted with this cause.
fn share(recording: &SceneRecording, slo: &Slo, cause: &str, minute: usize) -> f64 {
    let count = |minute: usize| {
        let (_, scrape) = &recording.samples[minute * A_MINUTE];
        let of_slo = format!("slo=\"{}\"", slo.rule.name);
        let (mut of_cause, mut all) = (0.0, 0.0);
        for (series, value) in scrape.of_name("podinit_slo_bad_causes_total") {
            if series.contains(&of_slo) {
                all += value;
                if series.contains(&format!("cause=\"{cause}\"")) {
                    of_cause += value;
                }
            }
        }
        (of_cause, all)
    };
    let ((before, all_before), (now, all_now)) = (count(minute.saturating_sub(5)), count(minute));
    (now - before) / (all_now - all_before)
}

async fn assert_told(scene: Scene) {
    let (story, recording) = (Story::of(scene), recorded(Some(scene)).await);
    let end = each_minute(recording).len() - 1;
    for slo in &SloFile::built_in().slos {
        let minutes = paging(recording, slo);
        let expected = (story.pages.iter()).find(|(name, ..)| *name == &*slo.rule.name);
        let Some((name, cause, within)) = expected else {
            assert!(minutes.is_empty(), "{scene:?}: {} pages", slo.rule.name);
            continue;
        };
        let first = minutes.first().expect("it pages");
        assert!(
            *first > BROKEN && *first <= BROKEN + within,
            "{scene:?}: {name} pages in minute {first}"
        );
        assert!(minutes.iter().copied().eq(*first..=end), "{minutes:?}");
        for minute in minutes {
            let share = share(recording, slo, cause, minute);
            assert!(share >= 0.5, "{scene:?}: {share} of {name} at {minute}");
        }
    }
    // Most of the stuck pods of a stage have its cause, and there are none in other stages.
    let all = recording.last().of_name("podinit_stuck_pods");
    let all: Vec<_> = all.filter(|(_, pods)| *pods > 0.0).collect();
    let expected: Vec<String> = (story.stuck.iter())
        .map(|(stage, cause, _)| format!("stage=\"{stage}\",cause=\"{cause}\""))
        .collect();
    for labels in &expected {
        let is_there = all.iter().any(|(series, _)| series.contains(labels));
        assert!(is_there, "{scene:?}: {labels} of {all:?}");
    }
    let is_expected = |series: &str| expected.iter().any(|labels| series.contains(labels));
    let (right, wrong): (Vec<_>, Vec<_>) =
        (all.into_iter()).partition(|(series, _)| is_expected(series));
    let count = |pods: &[(&str, f64)]| pods.iter().map(|(_, pods)| pods).sum::<f64>();
    assert!(count(&wrong) <= 0.05 * count(&right), "{scene:?}: {wrong:?}, {right:?}");
}

#[tokio::test]
#[ignore = "takes long; .ci/run full runs it"]
async fn a_healthy_hour_pages_nobody() {
    let recording = recorded(None).await;
    for slo in &SloFile::built_in().slos {
        assert!(paging(recording, slo).is_empty(), "{}", slo.rule.name);
    }
}

#[tokio::test]
#[ignore = "needs promtool (tests/e2e/run)"]
async fn promtool_fires_nothing_in_a_healthy_hour() {
    assert_promtool_agrees(None).await;
}

macro_rules! scenes {
    ($($name:ident: $scene:ident),*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            #[ignore = "takes long; .ci/run full runs it"]
            async fn fires_its_pages_with_its_cause_and_no_others() {
                assert_told(Scene::$scene).await;
            }

            #[tokio::test]
            #[ignore = "needs promtool (tests/e2e/run)"]
            async fn promtool_fires_its_alerts_and_no_others() {
                assert_promtool_agrees(Some(Scene::$scene)).await;
            }
        }
    )*};
}

scenes! {
    registry_down: RegistryDown,
    cni_outage: CniOutage,
    bad_node: BadNode,
    no_capacity: NoCapacity,
    crashloop: CrashLoop,
    gang: Gang,
    two_problems: TwoProblems,
    bad_image: BadImage,
    zone_outage: ZoneOutage,
    secret_missing: SecretMissing,
    slow_nodes: SlowNodes,
    device_plugin_gone: DevicePluginGone,
    gate_forgotten: GateForgotten,
    wrong_clocks: WrongClocks,
    two_registries: TwoRegistries,
    bad_rollout: BadRollout
}

#[test]
fn every_scene_is_told_of() {
    assert_eq!(STORIES.each_ref().map(|story| story.scene), Scene::ALL);
}
