//! Records what `replay` and `report` read: lists of pods, the events of a watch, the Events of pods, and nodes.
//!
//! - `list_watch`: lists and watches one resource. `document`: what it reads of an event.
//! - `recorder`: a document as it is recorded.
//! - `output`: files that are rotated, or standard output.
//! - `anonymize`: takes the names out.
//! - `startups`: how many startups were recorded.
//!
//! A recording is a stream of JSON documents, one to a line, each with the time of its arrival
//! (`observedAt`). Each file begins with a list of all pods, so that it can be read by itself.
//!
//! It knows the client and what decoding can read. It must not know flags, how a command prints, nor a running
//! exporter.

#![forbid(unsafe_code)]

#[doc(no_inline)]
pub use podinit_core::specification;

mod anonymize;
mod list_watch;
mod output;
mod recorder;
mod startups;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use tokio::sync::Mutex;
use tokio::time::MissedTickBehavior;

pub use self::anonymize::Anonymizer;
use self::list_watch::{ListWatch, ListWatchOutput, RecordedResource};
pub use self::output::{CaptureDestination, CaptureOutput, OutputConfig};
pub use self::recorder::{DocumentRecorder, RecorderCounts};
use self::startups::StartupCounter;
pub use self::startups::{CapturedStartups, StartupCounts};
use podinit_decode::ObjectEncoding;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::follow::WatchLoop;
use podinit_kube::watch::nodes::PAGE as NODES_OF_PAGE;
use podinit_kube::watch::requests::{PodScope, PodSelectors, RequestBuilder};
use podinit_kube::watch::signs::WatchSigns;

/// How long a document may wait until it is on disk.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// What is recorded.
pub struct CaptureConfig {
    /// The pods of the cluster, or of one namespace. Lists of several namespaces in one recording
    /// would each say that the pods of the others are gone.
    pub scope: PodScope,
    /// Which of its pods
    pub selectors: PodSelectors,
    /// Also the Events of pods
    pub events: bool,
    /// Also the nodes
    pub nodes: bool,
    /// What becomes of each document
    pub recorder: Arc<DocumentRecorder>,
    /// Where the startups are counted that the recording holds
    pub startups: Arc<StartupCounts>,
    /// Deadlines and sizes of requests
    pub reflector: ReflectorConfig,
}

/// Records until the future is dropped; the caller then calls [`CaptureOutput::flush`].
///
/// # Errors
/// If the recording cannot be written.
pub async fn capture(
    client: &Client,
    config: CaptureConfig,
    clock: Arc<dyn DeliveryClock>,
    output: Arc<Mutex<CaptureOutput>>,
) -> io::Result<()> {
    let reflector = ReflectorConfig {
        // Documents are recorded as they come.
        encoding: ObjectEncoding::Json,
        ..config.reflector
    };
    let of_nodes = ReflectorConfig { page_limit: NODES_OF_PAGE, ..reflector.clone() };
    let new_files = output.lock().await.new_files();
    let list_watch = |resource, requests| ListWatch {
        watch: WatchLoop::new(
            client.clone(),
            requests,
            match resource {
                RecordedResource::Nodes => of_nodes.clone(),
                RecordedResource::Pods | RecordedResource::Events => reflector.clone(),
            },
        ),
        recording: ListWatchOutput {
            resource,
            clock: Arc::clone(&clock),
            output: Arc::clone(&output),
            recorder: Arc::clone(&config.recorder),
            counter: StartupCounter::new(),
            startups: Arc::clone(&config.startups),
            failing: false,
            signs: WatchSigns::default(),
            new_files: new_files.clone(),
        },
    };
    let pods =
        list_watch(RecordedResource::Pods, RequestBuilder::new(&config.scope, &config.selectors));
    let events = config
        .events
        .then(|| list_watch(RecordedResource::Events, RequestBuilder::of_events(&config.scope)));
    let nodes =
        config.nodes.then(|| list_watch(RecordedResource::Nodes, RequestBuilder::of_nodes()));
    let recorded = async |list_watch: Option<ListWatch>| match list_watch {
        Some(list_watch) => list_watch.run().await,
        None => std::future::pending().await,
    };
    tokio::select! {
        ended = pods.run() => ended,
        ended = recorded(events) => ended,
        ended = recorded(nodes) => ended,
        ended = flush(&output) => ended,
    }
}

async fn flush(output: &Mutex<CaptureOutput>) -> io::Result<()> {
    let mut ticks = tokio::time::interval(FLUSH_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        output.lock().await.flush()?;
    }
}

#[cfg(test)]
mod canary_tests;
