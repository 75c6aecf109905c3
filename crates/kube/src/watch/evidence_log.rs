//! Logs when a source of evidence is no longer read, what then lasts, and when it is read again.

use super::outage::WatchOutage;
use super::stats::WatchErrorReason;
use crate::cluster::api_error::{ApiError, ApiErrorKind};

/// What the log already says about one watch of evidence.
#[derive(Debug)]
pub(super) struct EvidenceLog {
    /// What is watched, as sentences call it
    what: &'static str,
    /// The resource, as rights name it
    resource: &'static str,
    /// Whether `--evidence` can leave it out
    is_optional: bool,
    state: EvidenceLogState,
    /// While it is down
    outage: WatchOutage,
    /// Whether an object that could not be used has been logged as a warning
    warned: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum EvidenceLogState {
    /// Nothing was logged yet
    #[default]
    Unknown,
    Up,
    Down,
}

impl EvidenceLog {
    /// The log of a watch of `what`, whose resource is `resource`.
    pub(super) fn new(what: &'static str, resource: &'static str) -> Self {
        Self {
            what,
            resource,
            is_optional: true,
            state: EvidenceLogState::default(),
            outage: WatchOutage::default(),
            warned: false,
        }
    }

    /// The log of a watch that no flag leaves out.
    pub(super) fn required(what: &'static str, resource: &'static str) -> Self {
        Self { is_optional: false, ..Self::new(what, resource) }
    }

    /// The watch is open.
    pub(super) fn up(&mut self) {
        let what = self.what;
        self.outage = WatchOutage::default();
        match std::mem::replace(&mut self.state, EvidenceLogState::Up) {
            EvidenceLogState::Up => {}
            EvidenceLogState::Unknown => tracing::info!("reading {what}"),
            EvidenceLogState::Down => tracing::info!("podinit reads {what} again"),
        }
    }

    /// The watch cannot be opened.
    pub(super) fn down(&mut self, failure: &ApiError) {
        let (detail, what, resource) = (&failure.detail, self.what, self.resource);
        self.state = EvidenceLogState::Down;
        let reason = WatchErrorReason::from(failure.kind).as_str();
        if !self.outage.is_news(reason, detail) {
            tracing::debug!(detail, "podinit still cannot read {what}");
            return;
        }
        let advice = match failure.kind {
            ApiErrorKind::Forbidden | ApiErrorKind::Unauthorized => {
                let left_out = match self.is_optional {
                    true => format!(", or leave {resource} out of --evidence"),
                    false => String::new(),
                };
                format!("; grant the verbs list and watch on {resource}{left_out}")
            }
            _ => String::new(),
        };
        tracing::warn!(
            detail,
            "podinit cannot read {what}; it goes on without them, and tries again{advice}"
        );
    }

    /// The watch failed, or lost something. What follows shows whether it can be opened again.
    pub(super) fn interrupted(&self, failure: &ApiError) {
        let (detail, what) = (&failure.detail, self.what);
        tracing::debug!(detail, "the watch of {what} was interrupted");
    }

    /// An object could not be used. Logged as a warning once.
    pub(super) fn skipped(&mut self, detail: &str) {
        let what = self.what;
        if std::mem::replace(&mut self.warned, true) {
            tracing::debug!(detail, "one of the {what} was skipped");
        } else {
            tracing::warn!(detail, "podinit skipped one of the {what}; it logs no further ones");
        }
    }
}
