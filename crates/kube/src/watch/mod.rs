//! Lists and watches pods: one task per [`requests::PodScope`], all sending [`Delivery`] values into one
//! queue. The tasks share nothing but the counters in [`stats::WatchStats`].
//!
//! - `follow`: the engine of all list-watches: opens a watch, resumes it, and says when it cannot be resumed.
//! - `reflector`: the loop of one task: list, follow, list again.
//! - `whole_list`, `paged_list`, `streamed_list`: one list. `pages`: its pages, one after the other. `stream`: one
//!   open watch.
//! - `requests`: what is sent. `negotiation`: in which encoding it is answered.
//! - `event_reader`: splits a watch's body into events, by `line_reader` or `frame_reader`.
//! - `backoff`, `stall_guard`, `config`: waits and deadlines.
//! - `resume_point`: the version at which a watch resumes. `signs`: how often a list is asked for.
//! - `delivery_sender`, `watch_log`, `stats`: the deliveries, the log and the metrics. `outage`: which failures are
//!   logged.
//! - `reconciliation`: a list now and then that finds what a watch has lost.
//! - `probe`: one request before the watch begins.
//! - `events`: watches the Events about pods, which share nothing with these tasks but the client.
//! - `objects`: lists and watches the objects of any resource.
//! - `nodes`: lists and watches nodes. `evidence`: how Events and nodes are read; `evidence_log`: what is logged of
//!   them.

use std::sync::Arc;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::cluster::clock::DeliveryClock;
use podinit_core::lifecycle::{Delivery, SourceId, Version};
use podinit_decode::{DecodeOptions, PodDecoder};

pub mod backoff;
pub mod config;
mod delivery_sender;
pub mod event_reader;
pub mod events;
mod evidence;
mod evidence_log;
pub mod follow;
pub mod frame_reader;
pub mod line_reader;
pub mod negotiation;
pub mod nodes;
pub mod objects;
pub mod one_shot_list;
pub mod outage;
mod paged_list;
pub mod pages;
pub mod probe;
mod reasons;
mod reconciliation;
mod reflector;
pub mod requests;
pub mod resume_point;
pub mod signs;
mod stall_guard;
pub mod stats;
mod stream;
mod streamed_list;
mod streamed_pods;
mod watch_log;
mod whole_list;

use reconciliation::{ListReconciliation, ReconciliationLists};
use resume_point::ResumePoint;

/// What to watch, and how.
#[derive(Clone, Debug, Default)]
pub struct WatchConfig {
    /// One list-watch runs for each of these; the n-th is `SourceId(n)`
    pub scopes: Vec<requests::PodScope>,
    /// Which of their pods
    pub selectors: requests::PodSelectors,
    /// By scope: the version at which the watch resumes, for a receiver that has accounted for
    /// everything up to it. Without one, or when the API server no longer has the events after it, the
    /// watch begins with a list.
    pub resume: Vec<Option<Version>>,
    /// Whether the receiver knows pods already, restored from a checkpoint. Then no list may be older than
    /// the most recent state
    pub knows_pods: bool,
    /// By scope: whether the list that was made before, to look for the API server, was answered by one
    /// that shards (KEP-5866)
    pub server_shards: Vec<bool>,
    /// By scope: the version that this list stated. It was of the most recent state, so an API server that is behind
    /// `resume` was restored from a backup
    pub stated: Vec<Option<Version>>,
    /// The optional fields to read of each pod
    pub decode: DecodeOptions,
    /// Deadlines, sizes and waits
    pub reflector: config::ReflectorConfig,
}

/// The version that the API server has stated for the scope with this number.
fn stated_by(stated: &[Option<Version>], index: u16) -> Option<ResumePoint> {
    let version = stated.get(usize::from(index))?.as_ref()?;
    Some(ResumePoint::of_list(version.to_string()))
}

/// Starts the list-watches. They end when `cancel` is cancelled or the receiver of `deliveries` is
/// gone, and never otherwise: whatever the API server does, they count it in `stats` and go on. A
/// task that ends in any other way has panicked, which the returned set reports.
///
/// The deliveries of one source are in order. Those of different sources are merged as they
/// arrive, so that `now` can go back by the time that one of them waited for the queue, and when
/// `clock` is stepped. Accounting must keep its time from going back.
///
/// `stats` must have been made for as many sources as there are scopes; there can be 65,536.
pub fn spawn(
    client: &Client,
    config: &WatchConfig,
    clock: Arc<dyn DeliveryClock>,
    stats: &Arc<stats::WatchStats>,
    deliveries: &mpsc::Sender<Delivery>,
    cancel: &CancellationToken,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let resume = config.resume.iter().map(Option::as_ref);
    let resume = resume.chain(std::iter::repeat(None));
    for ((index, scope), resume) in (0..=u16::MAX).zip(&config.scopes).zip(resume) {
        let sender = || {
            delivery_sender::DeliverySender::new(
                SourceId(index),
                deliveries.clone(),
                Arc::clone(&clock),
                Arc::clone(stats),
            )
        };
        let decoder = || {
            PodDecoder::new(config.decode.clone())
                .of_shard(config.selectors.shard)
                .one_in(config.scopes.len())
        };
        let reconciliation = config.reflector.reconcile_interval.map(|interval| {
            let lists = ReconciliationLists::new(
                client.clone(),
                (scope, &config.selectors),
                config.reflector.clone(),
                decoder(),
                sender(),
            );
            ListReconciliation::new(interval, lists)
        });
        let mut reflector = reflector::Reflector::new(
            client.clone(),
            scope,
            &config.selectors,
            config.reflector.clone(),
            decoder(),
            sender(),
        )
        .reconciling(reconciliation)
        // The pods of a shard may have been another shard's before, which has seen more than a cache has.
        .most_recent_first(config.knows_pods || config.selectors.shard.is_some())
        .after_version(stated_by(&config.stated, index))
        .after_list(config.server_shards.get(usize::from(index)) == Some(&true));
        let cancel = cancel.clone();
        let resume = resume.map(|version| ResumePoint::of_list(version.to_string()));
        // An error span, so that every level of the log shows which source a line is about.
        let span = tracing::error_span!("watch", source = %scope);
        let task = async move {
            // Ends by cancellation, or because the receiver is gone; both are the end of the process.
            let _ = cancel.run_until_cancelled(reflector.run(resume)).await;
        };
        tasks.spawn(task.instrument(span));
    }
    tasks
}
