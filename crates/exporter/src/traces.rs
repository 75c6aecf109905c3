//! What sends the startups of an exporter as traces, as somebody gives it to one.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use podinit_core::lifecycle::{EndedStartup, Interval};
use podinit_core::pod::PodUid;
use podinit_expo::metrics::TraceStats;
use podinit_instruments::SpanRef;

/// Takes startups that have ended from the task that accounts, which never waits for it.
pub trait TraceSink: Send + Sync {
    /// Takes a startup, if it is sampled and there is room. Returns whether it is going to be sent.
    fn offer(&self, startup: &Arc<EndedStartup>) -> bool;

    /// The span that stands for an interval of the startup of this pod.
    fn span(&self, pod: PodUid, interval: Interval) -> SpanRef;
}

/// Sends startups to a collector.
pub struct TraceExport {
    /// What is counted of it
    pub stats: Arc<TraceStats>,
    /// Takes the startups
    pub sink: Box<dyn TraceSink>,
    /// Sends them. It ends by itself, soon after the accounting has ended, at which the token is cancelled
    pub sender: TraceSender,
}

/// Makes the task that sends.
pub(super) type TraceSender =
    Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, ()> + Send + Sync>;
