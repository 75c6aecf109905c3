//! What is counted of traces.

use podinit_core::label_values;
use podinit_instruments::{Counter, CounterVec, Gauge, families};

label_values! {
    /// Why a sampled trace was not sent: the values of `reason`.
    pub enum DropReason {
        /// The queue was full, since the collector did not keep up
        QueueFull => "queue_full",
        /// The collector refused it, and would again
        Rejected => "rejected",
    }
}

label_values! {
    /// Why traces could not be sent at once: the values of `reason`.
    pub enum ExportFailure {
        /// No answer came: no connection, or one that broke
        Unreachable => "unreachable",
        /// No answer came in time
        Timeout => "timeout",
        /// The collector asked to try again later
        Unavailable => "unavailable",
        /// The collector refused what it was sent, and would again
        Rejected => "rejected",
    }
}

families! {
    /// What becomes of sampled traces.
    pub struct TraceStats {
        pub(crate) sent: Counter =
            "podinit_traces_sent_total", [], experimental, saved,
            "Startups that the collector of traces accepted.";
        pub(crate) dropped: CounterVec<DropReason> =
            "podinit_traces_dropped_total", ["reason"], experimental, saved,
            "Startups that were sampled and not sent, by reason.";
        pub(crate) rejected_spans: Counter =
            "podinit_trace_spans_rejected_total", [], experimental, saved,
            "Spans that the collector refused in requests that it accepted.";
        pub(crate) failures: CounterVec<ExportFailure> =
            "podinit_trace_export_failures_total", ["reason"], experimental, saved,
            "Requests to the collector of traces that failed, by reason.";
        pub(crate) queued: Gauge =
            "podinit_traces_queued", [], experimental, not_saved,
            "Startups that wait to be sent as traces.";
    }
}

impl TraceStats {
    /// Sampled startups that were not sent for this reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped.with(reason).get()
    }
}
