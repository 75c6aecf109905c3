//! The watch of Events: it begins at the current version, resumes, begins anew after a loss, and is in
//! nobody's way when it cannot be opened or has too much to say.

use std::sync::Arc;
use std::time::Duration;

use podinit_core::kube_event::{EventReason, KubeEvent};
use podinit_core::pod::PodUid;
use podinit_core::shard::Shard;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::events::stats::{EventLossReason, EvidenceStats};
use podinit_kube::watch::events::{DeliveredEvents, EventSink, spawn};
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason, WatchStats};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::support::watch::{Call, Writer, scripted_client};

/// A scripted API server with a watch of Events that talks to it.
pub struct FakeApi {
    calls: mpsc::UnboundedReceiver<Call>,
    events: mpsc::Receiver<DeliveredEvents>,
    pub stats: Arc<EvidenceStats>,
    watch: Arc<WatchStats>,
    _tasks: JoinSet<()>,
}

impl FakeApi {
    /// A watch whose queue holds so many Events.
    pub fn start(queue: usize) -> Self {
        Self::start_shard(queue, None)
    }

    fn start_shard(queue: usize, shard: Option<Shard>) -> Self {
        let (client, calls) = scripted_client();
        let (sender, events) = mpsc::channel(queue);
        let sink = EventSink {
            events: sender,
            stats: Arc::new(EvidenceStats::new(1, false)),
            watch: Arc::new(WatchStats::new(1)),
        };
        let config = WatchConfig {
            scopes: vec![PodScope::Cluster],
            selectors: PodSelectors { shard, ..PodSelectors::default() },
            reflector: ReflectorConfig { seed: Some(1), ..ReflectorConfig::default() },
            ..WatchConfig::default()
        };
        let (mut tasks, cancel) = (JoinSet::new(), CancellationToken::new());
        spawn(&client, &config, &sink, &cancel, &mut tasks);
        Self { calls, events, stats: sink.stats, watch: sink.watch, _tasks: tasks }
    }

    async fn call(&mut self) -> Call {
        self.calls.recv().await.expect("the watch has ended")
    }

    /// Answers the list of one Event, and opens the watch from its version.
    pub async fn begun(&mut self, version: &str) -> Writer {
        let list = self.call().await;
        assert!(
            list.uri.starts_with("/api/v1/events?") && list.uri.ends_with("&limit=1"),
            "{}",
            list.uri
        );
        list.body(&format!(
            r#"{{"kind":"EventList","metadata":{{"resourceVersion":"{version}","continue":"x"}},"items":[{}]}}"#,
            event("old", 1)
        ));
        self.watch_from(version).await.stream()
    }

    /// The next request, which must be a watch from `version`.
    pub async fn watch_from(&mut self, version: &str) -> Call {
        let call = self.call().await;
        assert!(call.uri.contains("watch=true"), "{}", call.uri);
        assert!(call.uri.contains("fieldSelector=involvedObject.kind%3DPod"), "{}", call.uri);
        let wanted = format!("&resourceVersion={version}");
        assert!(call.uri.ends_with(&wanted), "{} from {version}", call.uri);
        call
    }

    pub async fn next(&mut self) -> KubeEvent {
        match self.delivered().await {
            DeliveredEvents::One(event) => event,
            other => panic!("no Event of this shard: {other:?}"),
        }
    }

    async fn delivered(&mut self) -> DeliveredEvents {
        self.events.recv().await.expect("the watch has ended")
    }

    fn anew(&self) -> u64 {
        self.watch.relists(RelistReason::Events)
    }
}

/// An Event about the pod `uid`.
fn event(uid: &str, version: u64) -> String {
    format!(
        r#"{{"kind":"Event","metadata":{{"name":"x.1","resourceVersion":"{version}"}},"involvedObject":{{"kind":"Pod","uid":"{uid}"}},"reason":"Started"}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn it_begins_at_the_current_version_and_resumes_where_it_ended() {
    let mut api = FakeApi::start(8);
    let watch = api.begun("10").await;
    watch.event("ADDED", &event("a", 12));
    let first = api.next().await;
    assert_eq!((first.uid(), first.reason), (Some(PodUid::from_text("a")), EventReason::Started));
    assert!(api.stats.up());
    // A DELETED says that the API server has forgotten an Event, and a bookmark moves on.
    watch.event("DELETED", &event("b", 13));
    watch.bookmark("15");
    drop(watch);
    let watch = api.watch_from("15").await.stream();
    watch.event("MODIFIED", &event("c", 16));
    assert_eq!(api.next().await.uid(), Some(PodUid::from_text("c")));
    watch.reset();
    drop(api.watch_from("16").await);
    assert_eq!(api.anew(), 0);
    // Nothing of it is a fault of the watch of pods.
    assert!(WatchErrorReason::ALL.into_iter().all(|reason| api.watch.errors(reason) == 0));
}

#[tokio::test(start_paused = true)]
async fn after_a_loss_it_begins_anew_at_the_current_version() {
    let mut api = FakeApi::start(8);
    let watch = api.begun("10").await;
    watch.error(410, "too old resource version");
    let watch = api.begun("500").await;
    assert_eq!(api.anew(), 1);
    drop(watch);
    api.watch_from("500").await.refuse(410, "too old resource version");
    let watch = api.begun("900").await;
    assert_eq!(api.anew(), 2);
    watch.event("ADDED", &event("a", 901));
    assert_eq!(api.next().await.uid(), Some(PodUid::from_text("a")));
    assert!(api.stats.up());
}

#[tokio::test(start_paused = true)]
async fn without_the_right_or_without_events_it_is_down_and_tries_again() {
    let mut api = FakeApi::start(8);
    for (code, message) in [(403, "events is forbidden"), (404, "not found"), (503, "starting")] {
        api.call().await.refuse(code, message);
    }
    let began = Instant::now();
    let watch = api.begun("10").await;
    assert!(began.elapsed() <= Duration::from_secs(30));
    watch.bookmark("11");
    drop(watch);
    // The right is taken away while it is up, and given back.
    let refused = api.watch_from("11").await;
    assert!(api.stats.up());
    refused.refuse(403, "events is forbidden");
    let again = api.watch_from("11").await;
    assert!(!api.stats.up());
    let watch = again.stream();
    watch.event("ADDED", &event("a", 12));
    api.next().await;
    assert!(api.stats.up());
    assert_eq!(api.anew(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_for_a_while_costs_no_event() {
    let mut api = FakeApi::start(8);
    let watch = api.begun("10").await;
    watch.event("ADDED", &event("a", 12));
    api.next().await;
    drop(watch);
    for code in [500, 502, 503, 503, 504] {
        api.watch_from("12").await.refuse(code, "starting");
    }
    // What happened meanwhile is still there.
    let watch = api.watch_from("12").await.stream();
    watch.event("ADDED", &event("b", 13));
    assert_eq!(api.next().await.uid(), Some(PodUid::from_text("b")));
    assert_eq!(api.anew(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_drops_events_counts_them_and_goes_on() {
    let mut api = FakeApi::start(10);
    let watch = api.begun("10").await;
    let burst: String = (0..15)
        .map(|n| format!("{{\"type\":\"ADDED\",\"object\":{}}}\n", event(&format!("p{n}"), 11 + n)))
        .collect();
    watch.write(&burst);
    watch.write("not JSON\n");
    drop(watch);
    // It has read all of them: the next watch goes on after the last one.
    let watch = api.watch_from("25").await.stream();
    assert_eq!(api.stats.lost(EventLossReason::QueueFull), 5);
    assert_eq!(api.stats.lost(EventLossReason::Decode), 1);
    for n in 0..10 {
        assert_eq!(api.next().await.uid(), Some(PodUid::from_text(&format!("p{n}"))));
    }
    watch.event("ADDED", &event("late", 26));
    assert_eq!(api.next().await.uid(), Some(PodUid::from_text("late")));
    assert_eq!(api.stats.lost(EventLossReason::QueueFull), 5);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_stays_silent_after_a_restored_backup_begins_anew() {
    let mut api = FakeApi::start(8);
    drop(api.begun("1000").await);
    let mut silent = 0;
    loop {
        let call = api.call().await;
        if !call.uri.contains("watch=true") {
            call.body(r#"{"kind":"EventList","metadata":{"resourceVersion":"50"},"items":[]}"#);
            break;
        }
        silent += 1;
        let watch = call.stream();
        sleep(Duration::from_secs(25)).await;
        drop(watch);
    }
    assert!((3..=5).contains(&silent), "{silent}");
    let watch = api.begun("50").await;
    assert_eq!(api.anew(), 1);
    watch.event("ADDED", &event("a", 51));
    assert_eq!(api.next().await.uid(), Some(PodUid::from_text("a")));
}

/// The hash of `b` is af63df4c8601f1a5, in shard 5 of 8, that of `foobar` 85944171f73967e8, in shard 4.
#[tokio::test(start_paused = true)]
async fn events_of_other_shards_are_dropped_first_and_counted_together() {
    let mut api = FakeApi::start_shard(1, Some("5/8".parse().expect("a shard")));
    let watch = api.begun("1").await;
    let of_others = |versions: [u64; 2]| {
        let lines = versions.map(|version| {
            let object = event("foobar", version);
            format!(r#"{{"type":"MODIFIED","object":{object}}}"#) + "\n"
        });
        lines.concat()
    };
    watch.write(&of_others([2, 3]));
    assert_eq!(api.delivered().await, DeliveredEvents::OtherShards(2));
    // While the queue is full, their number waits for room.
    watch.event("ADDED", &event("b", 4));
    watch.write(&of_others([5, 6]));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(api.next().await.uid(), Some(PodUid::from_text("b")));
    watch.event("DELETED", &event("foobar", 7));
    assert_eq!(api.delivered().await, DeliveredEvents::OtherShards(2));
    assert_eq!(api.stats.lost(EventLossReason::QueueFull), 0);
    drop(watch);
    let _ = api.watch_from("7").await;
}
