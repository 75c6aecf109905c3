//! What access control counts, and whether the web configuration is in force.

use crate::access::AccessVerdict;
use podinit_config::reload::ReloadStatus;
use podinit_core::label_values;
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{Counter, CounterVec, Gauge, OperationResult, TimestampGauge, families};

label_values! {
    /// Why a request was refused.
    pub enum Refusal {
        /// No credentials, or wrong ones (status 401)
        Unauthenticated => "unauthenticated",
        /// Credentials without the right, or no client certificate where one is demanded (403)
        Forbidden => "forbidden",
        /// More requests than the rate limit allows (429)
        RateLimited => "rate_limited",
        /// It could not be decided (503)
        Unavailable => "unavailable",
        /// It was for a host name that is not this server's (403)
        ForeignHost => "foreign_host",
    }
}

impl Refusal {
    const fn from_verdict(verdict: AccessVerdict) -> Option<Self> {
        match verdict {
            AccessVerdict::Granted => None,
            AccessVerdict::Unauthenticated { .. } => Some(Self::Unauthenticated),
            AccessVerdict::Forbidden => Some(Self::Forbidden),
            AccessVerdict::TooManyRequests => Some(Self::RateLimited),
            AccessVerdict::Unavailable => Some(Self::Unavailable),
        }
    }
}

families! {
    /// Counters of refusals, and the state of the web configuration.
    pub struct AccessStats {
        refused: CounterVec<Refusal> =
            "podinit_http_requests_refused_total", ["reason"], experimental, saved,
            "Requests that access control refused, by reason.";
        handshake_failures: Counter =
            "podinit_tls_handshake_failures_total", [], experimental, saved,
            "TLS handshakes that failed or did not complete in time.";
        reloads: CounterVec<OperationResult> =
            "podinit_web_config_reloads_total", ["result"], experimental, saved,
            "Times that the web configuration file, or one that it names, was found changed, by whether it was put in force.";
        successful: Gauge =
            "podinit_web_config_last_reload_successful", [], experimental, not_saved,
            "Whether the present web configuration file is in force (1), or is broken and an earlier one stays in force (0).";
        last_success: TimestampGauge =
            "podinit_web_config_last_reload_success_timestamp_seconds", [], experimental, not_saved,
            "Unix time at which a web configuration was last put in force.";
    }
}

impl AccessStats {
    /// A configuration, or that there is none, was put in force at `now`.
    pub fn new(now: Timestamp) -> Self {
        let stats = Self::default();
        stats.set_status(ReloadStatus { successful: true, last_success: now });
        stats
    }

    /// Counts the refusal, if it is one.
    pub fn count(&self, verdict: AccessVerdict) {
        if let Some(refusal) = Refusal::from_verdict(verdict) {
            self.refused.with(refusal).increment();
        }
    }

    /// Counts a request under a name that is not this server's.
    pub fn count_foreign_host(&self) {
        self.refused.with(Refusal::ForeignHost).increment();
    }

    /// Counts a TLS handshake that failed.
    pub fn count_handshake_failure(&self) {
        self.handshake_failures.increment();
    }

    /// Counts an attempt to put a changed configuration in force.
    pub fn reloaded(&self, status: ReloadStatus) {
        self.reloads.with(status.successful.into()).increment();
        self.set_status(status);
    }

    fn set_status(&self, status: ReloadStatus) {
        self.successful.set(status.successful.into());
        self.last_success.set(Some(status.last_success));
    }

    /// Requests refused for this reason.
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.refused.with(refusal).get()
    }

    /// TLS handshakes that did not complete.
    pub fn handshake_failures(&self) -> u64 {
        self.handshake_failures.get()
    }

    /// Attempts to put a changed configuration in force, by outcome.
    pub fn reloads(&self, successful: bool) -> u64 {
        self.reloads.with(successful.into()).get()
    }

    /// Whether the configuration file as it is now is in force.
    pub fn is_current(&self) -> bool {
        self.successful.get() == 1
    }
}
