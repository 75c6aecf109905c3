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
        sent: Counter =
            "podinit_traces_sent_total", [], experimental, saved,
            "Startups that the collector of traces accepted.";
        dropped: CounterVec<DropReason> =
            "podinit_traces_dropped_total", ["reason"], experimental, saved,
            "Startups that were sampled and not sent, by reason.";
        rejected_spans: Counter =
            "podinit_trace_spans_rejected_total", [], experimental, saved,
            "Spans that the collector refused in requests that it accepted.";
        failures: CounterVec<ExportFailure> =
            "podinit_trace_export_failures_total", ["reason"], experimental, saved,
            "Requests to the collector of traces that failed, by reason.";
        queued: Gauge =
            "podinit_traces_queued", [], experimental, not_saved,
            "Startups that wait to be sent as traces.";
    }
}

impl TraceStats {
    /// Counts startups that the collector took.
    pub fn count_sent(&self, traces: u64) {
        self.sent.add(traces);
    }

    /// Counts startups that were sampled and not sent.
    pub fn count_dropped(&self, reason: DropReason, traces: u64) {
        self.dropped.with(reason).add(traces);
    }

    /// Counts spans that the collector refused.
    pub fn count_rejected_spans(&self, spans: u64) {
        self.rejected_spans.add(spans);
    }

    /// Counts a request that failed.
    pub fn count_failure(&self, reason: ExportFailure) {
        self.failures.with(reason).increment();
    }

    /// States how many startups wait.
    pub fn set_queued(&self, traces: usize) {
        self.queued.set(traces as u64);
    }

    /// Startups that the collector took.
    pub fn sent(&self) -> u64 {
        self.sent.get()
    }

    /// Sampled startups that were not sent for this reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped.with(reason).get()
    }

    /// Requests that failed for this reason.
    pub fn failures(&self, reason: ExportFailure) -> u64 {
        self.failures.with(reason).get()
    }
}
