//! How a pod that is not ready has ended, by what its status says.

use serde::Serialize;

use podinit_core::lifecycle::{Milestone, Outcome, Record};
use podinit_core::pod::{Ending, Termination};
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::{seconds, since};
use podinit_text::words::count;

/// How the explained pod ended, and what was unknown when it was first seen.
#[derive(Debug, Default)]
pub(super) struct ExplainedEnd {
    /// How the pod ended by its status; empty where that has nothing
    pub ending: Ending,
    /// It had ended when it was first seen, so that only its status says where its time went
    pub is_over_at_first_sight: bool,
    /// It was bound when it was first seen, so that nothing says what it waited for before
    pub(crate) is_bound_at_first_sight: bool,
}

/// Whether anything says when a startup ended. A Ready may have no time.
pub(super) fn is_end_known(record: &Record) -> bool {
    record.outcome() != Some(Outcome::Ready) || record.reached(Milestone::Ready).is_some()
}

/// How a container has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EndedLine {
    pub exit_code: Option<u64>,
    pub signal: Option<u64>,
    pub reason: Option<String>,
    pub message: Option<String>,
    /// How often it had been restarted before
    pub restarts: u64,
    /// All of it as a sentence for people
    #[serde(skip)]
    pub words: String,
}

impl From<&Termination> for EndedLine {
    fn from(one: &Termination) -> Self {
        let text = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
        Self {
            exit_code: one.exit_code,
            signal: one.signal,
            reason: text(&one.reason),
            message: text(&one.message),
            restarts: one.restarts,
            words: words(one),
        }
    }
}

impl ExplainedEnd {
    /// How the container at a position ended; `None` where its status does not say.
    pub(super) fn of_container(&self, position: usize) -> Option<&Termination> {
        let mut all = self.ending.containers.iter();
        all.find(|one| one.container == position)
    }

    /// The reason in words: that of the pod, and the container that failed first or else ended last.
    pub(super) fn in_words(&self, record: &Record) -> Option<String> {
        let pod = match (&self.ending.reason, &self.ending.message) {
            (Some(reason), Some(message)) => Some(format!("{reason} ({message})")),
            (Some(text), None) | (None, Some(text)) => Some(text.to_string()),
            (None, None) => None,
        };
        let container = self.decisive().map(|one| {
            let found = record.containers.get(one.container);
            let kind = match found.is_some_and(|container| container.init) {
                true => "init container",
                false => "container",
            };
            let name = found.map_or("", |container| &*container.name);
            format!("{kind} {name} {}", words(one))
        });
        let both: Vec<String> = pod.into_iter().chain(container).collect();
        (!both.is_empty()).then(|| both.join("; "))
    }

    /// The container that failed first, or else the one that ended last.
    fn decisive(&self) -> Option<&Termination> {
        let failed = self.ending.containers.iter().filter(|one| one.has_failed());
        // Containers without a time come last.
        let first = failed.min_by_key(|one| (one.finished.is_none(), one.finished));
        let last = || (self.ending.containers.iter()).max_by_key(|one| one.finished);
        first.or_else(last)
    }

    /// When containers of a kind ran: from the first start to the last end, where one started.
    pub(super) fn run(&self, record: &Record, is_init: bool) -> Option<(Timestamp, Timestamp)> {
        let of_kind = |one: &&Termination| {
            let found = record.containers.get(one.container);
            found.is_some_and(|found| found.init == is_init)
        };
        let all = || self.ending.containers.iter().filter(of_kind);
        let from = all().filter_map(|one| one.started).min()?;
        let to = all().filter_map(|one| one.finished).max();
        Some((from, to.unwrap_or(from).max(from)))
    }
}

/// How a container ended, in words: `exited with code 137 after 6s (OOMKilled)`.
fn words(one: &Termination) -> String {
    let code = match one.exit_code {
        Some(code) => format!("exited with code {code}"),
        None => "exited with a code that is not known".to_owned(),
    };
    let signal = one.signal.map(|signal| format!("by signal {signal}"));
    let took = one.started.zip(one.finished);
    let took = took.map(|(from, to)| format!("after {}", seconds(since(from, to))));
    let restarts = match one.restarts {
        0 => None,
        restarts => Some(format!("after {}", count(restarts, "restart", "restarts"))),
    };
    // What every container says that ends well, or without anything better.
    let reason = one.reason.as_deref();
    let reason = reason.filter(|reason| !["Completed", "Error"].contains(reason));
    let reason = reason.map(|reason| format!("({reason})"));
    let parts = [Some(code), signal, took, restarts, reason];
    let words = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let lines = one.message.as_deref().unwrap_or_default().lines();
    match lines.map(str::trim).rfind(|line| !line.is_empty()) {
        Some(last) => format!("{words}: {last}"),
        None => words,
    }
}
