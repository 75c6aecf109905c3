//! From Kubernetes (or a file) to events: everything that reads pods.
//!
//! One task per [`requests::Scope`] lists and watches pods and sends what happens as
//! [`Delivery`] values into one queue. The tasks share nothing but the counters in
//! [`stats::WatchStats`].

use std::sync::Arc;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::cluster::clock::Clock;
use crate::decode::{DecodeOptions, PodDecoder};
use crate::lifecycle::delivery::{Delivery, SourceId};
use crate::lifecycle::version::Version;

pub mod backoff;
pub mod config;
mod health;
pub mod lines;
mod list;
mod outlet;
pub mod probe;
mod pulse;
pub mod reasons;
mod reflector;
pub mod requests;
pub mod saved;
pub mod stats;
mod stream;
mod streamed_list;
pub mod version;

use version::Position;

/// What is to be watched, and how.
#[derive(Clone, Debug, Default)]
pub struct WatchConfig {
    /// One list-watch is made for each of these; the n-th is `SourceId(n)`
    pub scopes: Vec<requests::Scope>,
    /// Which pods of them
    pub selectors: requests::Selectors,
    /// By scope: the version from which the watch goes on, for a receiver that has accounted for
    /// everything up to it. Without one it begins with a list, as it does when the API server no
    /// longer has what came after the version.
    pub resume: Vec<Option<Version>>,
    /// What is read of each pod
    pub decode: DecodeOptions,
    /// Deadlines, sizes and waits
    pub reflector: config::ReflectorConfig,
}

/// Starts the list-watches. They end when `cancel` is cancelled or the receiver of `deliveries` is
/// gone, and never otherwise: whatever the API server does is counted in `stats` and survived. A
/// task that ends in any other way has panicked, which the returned set tells.
///
/// The deliveries of one source are in order. Those of different sources are merged as they
/// arrive, so that `now` can go back by the time that one of them waited for the queue; so it can
/// when `clock` is stepped. Whoever accounts by it keeps it from going back.
///
/// `stats` must have been made for as many sources as there are scopes; there can be 65,536.
pub fn spawn(
    client: &Client,
    config: &WatchConfig,
    clock: Arc<dyn Clock>,
    stats: &Arc<stats::WatchStats>,
    deliveries: &mpsc::Sender<Delivery>,
    cancel: &CancellationToken,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let resume = config.resume.iter().map(Option::as_ref);
    let resume = resume.chain(std::iter::repeat(None));
    for ((index, scope), resume) in (0..=u16::MAX).zip(&config.scopes).zip(resume) {
        let outlet = outlet::Outlet::new(
            SourceId(index),
            deliveries.clone(),
            Arc::clone(&clock),
            Arc::clone(stats),
        );
        let mut reflector = reflector::Reflector::new(
            client.clone(),
            scope,
            &config.selectors,
            config.reflector.clone(),
            PodDecoder::new(config.decode.clone()),
            outlet,
        );
        let cancel = cancel.clone();
        let resume = resume.map(|version| Position::of_list(version.to_string()));
        // An error span, so that every level of the log shows which source a line is about.
        let span = tracing::error_span!("watch", source = %scope);
        let task = async move {
            // Ends by cancellation, or because nobody receives; both are the end of the process.
            let _ = cancel.run_until_cancelled(reflector.run(resume)).await;
        };
        tasks.spawn(task.instrument(span));
    }
    tasks
}
