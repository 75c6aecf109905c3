//! Counters of access control. Every access is `Relaxed`: each value stands alone.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::config_file::reload::ReloadStatus;
use crate::server::Verdict;
use crate::timestamp::Timestamp;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No credentials, or wrong ones (status 401)
    Unauthenticated,
    /// Credentials without the right, or no client certificate where one is demanded (403)
    Forbidden,
    /// More requests than the rate limit has room for (429)
    RateLimited,
    /// It could not be decided (503)
    Unavailable,
}

impl Refusal {
    /// In the order of their numbers.
    pub const ALL: [Self; 4] = [
        Self::Unauthenticated,
        Self::Forbidden,
        Self::RateLimited,
        Self::Unavailable,
    ];

    /// As the label `reason` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
        }
    }

    const fn of(verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Granted => None,
            Verdict::Unauthenticated { .. } => Some(Self::Unauthenticated),
            Verdict::Forbidden => Some(Self::Forbidden),
            Verdict::TooManyRequests => Some(Self::RateLimited),
            Verdict::Unavailable => Some(Self::Unavailable),
        }
    }
}

/// Counters of refusals and of reloads of the web configuration.
#[derive(Debug)]
pub struct AccessStats {
    refused: [AtomicU64; Refusal::ALL.len()],
    handshake_failures: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
    successful: AtomicBool,
    /// Nanoseconds since the Unix epoch
    last_success: AtomicI64,
}

/// The counters as they are kept while no process runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedAccess {
    /// Requests refused, by [`Refusal`]
    pub refused: [u64; Refusal::ALL.len()],
    /// TLS handshakes that failed
    pub handshake_failures: u64,
    /// Changed configurations that were put in force
    pub reloads: u64,
    /// Changed configurations that were refused
    pub failed_reloads: u64,
}

impl AccessStats {
    /// What has been counted so far.
    pub fn saved(&self) -> SavedAccess {
        SavedAccess {
            refused: self.refused.each_ref().map(|count| count.load(Relaxed)),
            handshake_failures: self.handshake_failures.load(Relaxed),
            reloads: self.reloads.load(Relaxed),
            failed_reloads: self.failed_reloads.load(Relaxed),
        }
    }

    /// Adds what was counted before.
    pub fn restore(&self, saved: &SavedAccess) {
        for (count, saved) in self.refused.iter().zip(saved.refused) {
            count.fetch_add(saved, Relaxed);
        }
        self.handshake_failures
            .fetch_add(saved.handshake_failures, Relaxed);
        self.reloads.fetch_add(saved.reloads, Relaxed);
        self.failed_reloads.fetch_add(saved.failed_reloads, Relaxed);
    }

    /// Zero counters; the first configuration was put in force at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self {
            refused: Default::default(),
            handshake_failures: AtomicU64::new(0),
            reloads: AtomicU64::new(0),
            failed_reloads: AtomicU64::new(0),
            successful: AtomicBool::new(true),
            last_success: AtomicI64::new(now.as_nanos()),
        }
    }

    pub(super) fn count(&self, verdict: Verdict) {
        if let Some(refusal) = Refusal::of(verdict) {
            self.refused[refusal as usize].fetch_add(1, Relaxed);
        }
    }

    pub(super) fn count_handshake_failure(&self) {
        self.handshake_failures.fetch_add(1, Relaxed);
    }

    /// Counts an attempt to put a changed configuration in force.
    pub fn reloaded(&self, status: ReloadStatus) {
        let count = if status.successful {
            &self.reloads
        } else {
            &self.failed_reloads
        };
        count.fetch_add(1, Relaxed);
        self.successful.store(status.successful, Relaxed);
        self.last_success
            .store(status.last_success.as_nanos(), Relaxed);
    }

    /// Requests refused for this reason.
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.refused[refusal as usize].load(Relaxed)
    }

    /// TLS handshakes that did not complete.
    pub fn handshake_failures(&self) -> u64 {
        self.handshake_failures.load(Relaxed)
    }

    /// Attempts to put a changed configuration in force, by outcome.
    pub fn reloads(&self, successful: bool) -> u64 {
        let count = if successful {
            &self.reloads
        } else {
            &self.failed_reloads
        };
        count.load(Relaxed)
    }

    /// The outcome of the last attempt.
    pub fn status(&self) -> ReloadStatus {
        ReloadStatus {
            successful: self.successful.load(Relaxed),
            last_success: Timestamp::from_nanos(self.last_success.load(Relaxed)),
        }
    }
}
