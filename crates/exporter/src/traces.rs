//! What sends the startups of an exporter as traces, as somebody gives it to one.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use podinit_core::lifecycle::{EndedStartup, Interval};
use podinit_core::pod::PodUid;
use podinit_instruments::{FamilySource, SpanRef};

/// Takes a startup, if it is sampled and there is room. Returns whether it is going to be sent.
type OfferStartup = Box<dyn Fn(&Arc<EndedStartup>) -> bool + Send + Sync>;

/// Takes startups that have ended from the task that accounts, which never waits for it.
pub struct TraceSink {
    pub offer: OfferStartup,
    /// The span that stands for an interval of the startup of a pod
    pub span: fn(PodUid, Interval) -> SpanRef,
}

/// Sends startups to a collector.
pub struct TraceExport {
    /// What is counted of it
    pub stats: Box<dyn FamilySource>,
    /// Takes the startups
    pub sink: TraceSink,
    /// Sends them. It ends by itself, soon after the accounting has ended, at which the token is cancelled
    pub sender: TraceSender,
}

/// Makes the task that sends.
pub(super) type TraceSender =
    Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, ()> + Send + Sync>;
