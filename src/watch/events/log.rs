//! Logs when Events are no longer read and when they are again, and nothing in between.

use crate::cluster::api_error::{ApiError, ApiErrorKind};

/// What the log already says about one watch of Events.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    state: State,
    /// Whether an Event that could not be used has been logged as a warning
    warned: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing was logged yet
    #[default]
    Unknown,
    Up,
    Down,
}

impl EventLog {
    /// The watch is open.
    pub(super) fn up(&mut self) {
        match std::mem::replace(&mut self.state, State::Up) {
            State::Up => {}
            State::Unknown => tracing::info!("reading Events"),
            State::Down => tracing::info!("Events are read again"),
        }
    }

    /// The watch cannot be opened.
    pub(super) fn down(&mut self, failure: &ApiError) {
        let detail = &failure.detail;
        if std::mem::replace(&mut self.state, State::Down) == State::Down {
            tracing::debug!(detail, "Events are still not read");
            return;
        }
        let advice = match failure.kind {
            ApiErrorKind::Forbidden | ApiErrorKind::Unauthorized => {
                "; grant the verbs list and watch on events, or leave --evidence out"
            }
            _ => "",
        };
        tracing::warn!(
            detail,
            "Events cannot be read; going on without them, and trying again{advice}"
        );
    }

    /// The watch failed, or lost Events. What follows shows whether it can be opened again.
    pub(super) fn interrupted(&self, failure: &ApiError) {
        let detail = &failure.detail;
        tracing::debug!(detail, "the watch of Events was interrupted");
    }

    /// An Event could not be used. Logged as a warning once; the metric counts all.
    pub(super) fn skipped(&mut self, detail: &str) {
        if std::mem::replace(&mut self.warned, true) {
            tracing::debug!(detail, "an Event was skipped");
        } else {
            tracing::warn!(
                detail,
                "an Event was skipped; further ones are only counted"
            );
        }
    }
}
