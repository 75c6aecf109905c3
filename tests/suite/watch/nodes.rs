//! The list-watch of nodes: its pages are one list, its gaps are closed by another one, nothing is dropped, and
//! nothing waits for it ([§14.1](crate::specification#s14-1)).

use std::sync::Arc;
use std::time::Duration;

use podinit_core::lifecycle::{Delivery, NodeEvent, PodEvent};
use podinit_core::node::NodeSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::node::NodeOptions;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::events::stats::EvidenceStats;
use podinit_kube::watch::nodes::{NodeSink, spawn};
use podinit_kube::watch::stats::{RelistReason, WatchStats};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::support::watch::{Call, START, Writer, scripted_client};

/// A scripted API server with a list-watch of nodes that talks to it.
struct FakeApi {
    calls: mpsc::UnboundedReceiver<Call>,
    deliveries: mpsc::Receiver<Delivery>,
    stats: Arc<EvidenceStats>,
    watch: Arc<WatchStats>,
    _tasks: JoinSet<()>,
}

impl FakeApi {
    fn start() -> Self {
        let (client, calls) = scripted_client();
        // Of one: whoever delivers more waits.
        let (sender, deliveries) = mpsc::channel(1);
        let sink = NodeSink {
            deliveries: sender,
            clock: Arc::new(|| START),
            stats: Arc::new(EvidenceStats::new(0, true)),
            watch: Arc::new(WatchStats::new(1)),
        };
        let (stats, watch) = (Arc::clone(&sink.stats), Arc::clone(&sink.watch));
        let config = WatchConfig {
            reflector: ReflectorConfig { seed: Some(1), ..ReflectorConfig::default() },
            ..WatchConfig::default()
        };
        let (mut tasks, cancel) = (JoinSet::new(), CancellationToken::new());
        spawn(&client, &config, NodeOptions::default(), sink, &cancel, &mut tasks);
        Self { calls, deliveries, stats, watch, _tasks: tasks }
    }

    async fn call(&mut self) -> Call {
        self.calls.recv().await.expect("the list-watch has ended")
    }

    /// The next request, which must be one for the page after `token`, or for the first one.
    async fn page(&mut self, token: Option<&str>) -> Call {
        let call = self.call().await;
        assert!(
            call.uri.starts_with("/api/v1/nodes?") && call.uri.contains("limit=100"),
            "{}",
            call.uri
        );
        let asked = call.uri.split_once("continue=").map(|(_, rest)| rest);
        assert_eq!(asked, token, "{}", call.uri);
        call
    }

    /// The next request, which must be a watch from `version`.
    async fn watch_from(&mut self, version: &str) -> Call {
        let call = self.call().await;
        assert!(call.uri.contains("watch=true"), "{}", call.uri);
        let wanted = format!("&resourceVersion={version}");
        assert!(call.uri.ends_with(&wanted), "{} from {version}", call.uri);
        call
    }

    /// Answers the first list, and opens the watch from its version.
    async fn begun(&mut self, version: &str, nodes: &[String]) -> Writer {
        list(self.page(None).await, version, None, nodes);
        assert!(self.next().await.starts_with("Listed"));
        self.watch_from(version).await.stream()
    }

    /// The next delivery, in words.
    async fn next(&mut self) -> String {
        let delivery = self.deliveries.recv().await;
        let delivery = delivery.expect("the list-watch has ended");
        // Nodes do not move time.
        assert_eq!(delivery.now, Timestamp::EPOCH);
        let PodEvent::Nodes(event) = delivery.event else {
            panic!("{:?} is not of nodes", delivery.event);
        };
        let one = |node: &NodeSnapshot| {
            format!("{}@{}", node.name, node.resource_version.unwrap_or_default())
        };
        let (text, observed) = match event {
            NodeEvent::Applied(node) => (format!("Applied {}", one(&node)), Some(START)),
            NodeEvent::Deleted(node) => (format!("Deleted {}", one(&node)), Some(START)),
            NodeEvent::Listed { nodes, began } => {
                assert_eq!(began, START);
                let nodes: Vec<String> = nodes.iter().map(one).collect();
                (format!("Listed {}", nodes.join(" ")), None)
            }
            NodeEvent::StreamedListClosed { listed } => (format!("Closed {}", listed.len()), None),
            NodeEvent::RolledBack => ("RolledBack".to_owned(), None),
        };
        assert_eq!(delivery.observed, observed, "{text}");
        text
    }

    fn is_up(&self) -> bool {
        self.stats.nodes_up() == Some(true)
    }

    fn lists_after_gaps(&self) -> u64 {
        self.watch.relists(RelistReason::Nodes)
    }
}

fn node(name: &str, version: u64) -> String {
    format!(
        r#"{{"kind":"Node","metadata":{{"name":"{name}","uid":"uid-{name}","resourceVersion":"{version}"}}}}"#
    )
}

/// Answers with a page of a list.
fn list(call: Call, version: &str, token: Option<&str>, nodes: &[String]) {
    let token = token.map_or_else(String::new, |token| format!(r#","continue":"{token}""#));
    let items = nodes.join(",");
    call.body(&format!(
        r#"{{"kind":"NodeList","metadata":{{"resourceVersion":"{version}"{token}}},"items":[{items}]}}"#
    ));
}

#[tokio::test(start_paused = true)]
async fn pages_are_one_list_and_what_happens_between_them_follows_it() {
    let mut api = FakeApi::start();
    list(api.page(None).await, "10", Some("2"), &[node("a", 3), node("b", 4)]);
    let second = api.page(Some("2")).await;
    assert!(api.deliveries.is_empty() && !api.is_up());
    // An item that is no node costs only itself.
    list(second, "10", Some("3"), &["7".to_owned(), node("c", 5)]);
    list(api.page(Some("3")).await, "10", None, &[node("d", 6)]);
    assert_eq!(api.next().await, "Listed a@3 b@4 c@5 d@6");
    let watch = api.watch_from("10").await.stream();
    watch.event("MODIFIED", &node("a", 11));
    watch.event("DELETED", &node("b", 12));
    watch.event("ADDED", &node("e", 13));
    for expected in ["Applied a@11", "Deleted b@12", "Applied e@13"] {
        assert_eq!(api.next().await, expected);
    }
    assert!(api.is_up());
    assert_eq!(api.lists_after_gaps(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_expires_between_its_pages_is_begun_anew() {
    let mut api = FakeApi::start();
    list(api.page(None).await, "10", Some("2"), &[node("gone", 3)]);
    api.page(Some("2")).await.refuse(410, "The provided continue parameter is too old");
    list(api.page(None).await, "90", Some("x"), &[node("a", 80)]);
    drop(api.page(Some("x")).await);
    list(api.page(None).await, "91", Some("y"), &[node("a", 80)]);
    list(api.page(Some("y")).await, "91", None, &[node("b", 81)]);
    // Nothing is concluded from a list that was not completed.
    assert_eq!(api.next().await, "Listed a@80 b@81");
    let _ = api.watch_from("91").await;
}

#[tokio::test(start_paused = true)]
async fn a_gap_is_closed_by_a_list_and_a_watch_that_ends_is_none() {
    let mut api = FakeApi::start();
    let watch = api.begun("10", &[node("a", 3)]).await;
    watch.event("MODIFIED", &node("a", 12));
    assert_eq!(api.next().await, "Applied a@12");
    watch.event("BOOKMARK", r#"{"kind":"Node","metadata":{"resourceVersion":"15"}}"#);
    drop(watch);
    let watch = api.watch_from("15").await.stream();
    // What is no node is left out, and not read again.
    watch.event("MODIFIED", r#"{"kind":"Node","metadata":{"resourceVersion":"16"}}"#);
    watch.reset();
    let watch = api.watch_from("16").await.stream();
    assert_eq!(api.lists_after_gaps(), 0);
    watch.error(410, "too old resource version");
    list(api.page(None).await, "500", None, &[node("b", 400)]);
    assert_eq!(api.next().await, "Listed b@400");
    assert_eq!(api.lists_after_gaps(), 1);
    let watch = api.watch_from("500").await.stream();
    watch.event("MODIFIED", &node("b", 501));
    assert_eq!(api.next().await, "Applied b@501");
}

#[tokio::test(start_paused = true)]
async fn without_the_right_it_is_down_and_tries_again() {
    let mut api = FakeApi::start();
    for code in [403, 503] {
        api.page(None).await.refuse(code, "nodes is forbidden");
        assert!(!api.is_up());
    }
    let began = Instant::now();
    let watch = api.begun("10", &[]).await;
    watch.event("ADDED", &node("a", 12));
    assert_eq!(api.next().await, "Applied a@12");
    assert!(began.elapsed() <= Duration::from_secs(30) && api.is_up());
    drop(watch);
    // The right is taken away while it is up, and given back.
    api.watch_from("12").await.refuse(403, "nodes is forbidden");
    let again = api.watch_from("12").await;
    assert!(!api.is_up());
    again.stream().event("MODIFIED", &node("a", 13));
    assert_eq!(api.next().await, "Applied a@13");
    assert!(api.is_up());
    assert_eq!(api.lists_after_gaps(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_makes_it_wait_and_loses_nothing() {
    let mut api = FakeApi::start();
    let watch = api.begun("10", &[]).await;
    for version in 11..40 {
        watch.event("MODIFIED", &node("a", version));
    }
    sleep(Duration::from_secs(60)).await;
    for version in 11..40 {
        assert_eq!(api.next().await, format!("Applied a@{version}"));
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_restored_backup_older_versions_are_current() {
    let mut api = FakeApi::start();
    drop(api.begun("1000", &[node("a", 900)]).await);
    loop {
        let call = api.call().await;
        if !call.uri.contains("watch=true") {
            list(call, "50", None, &[]);
            break;
        }
        let watch = call.stream();
        sleep(Duration::from_secs(25)).await;
        drop(watch);
    }
    assert_eq!(api.next().await, "RolledBack");
    list(api.page(None).await, "50", None, &[node("a", 40)]);
    assert_eq!(api.next().await, "Listed a@40");
    assert_eq!(api.lists_after_gaps(), 1);
    let _ = api.watch_from("50").await;
}
