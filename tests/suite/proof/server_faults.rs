//! The faults of the API server at present. The server asks for them before it answers.

use std::time::Duration;

use podinit_sim::rng::Rng;
use tokio::time::Instant;

/// How an open watch is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// It ends as watches do
    End,
    /// The connection is reset between two events
    Reset,
    /// The connection is reset within an event
    Torn,
    /// The body ends within an event, as if it were complete
    Short,
    /// An ERROR event says that the version is too old
    Gone,
    /// An ERROR event of another kind
    Error,
}

/// How a page of a list fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFault {
    /// 410: its token has expired
    Expired,
    /// 500
    Refused,
    /// The connection is reset within it
    Torn,
    /// It never ends
    Hangs,
}

/// The faults at present. Probabilities are per event unless said otherwise.
#[derive(Clone, Debug)]
pub struct ServerFaults {
    /// The event comes twice
    pub duplicate: f64,
    /// A watch that is opened begins up to this many versions too early
    pub replay: u64,
    /// Of several events of a pod that are due, an earlier one is left out
    pub coalesce: f64,
    /// Events of different pods change places
    pub shuffle: bool,
    /// The event is no pod
    pub corrupt: f64,
    /// The event is no JSON
    pub garble: f64,
    /// The event is too long to be read
    pub oversize: f64,
    /// How long events are held back, at the most
    pub hold: Duration,
    /// A list comes from a cache that lags
    pub lagging: bool,
    /// A page of a list fails
    pub page_fault: f64,
    /// No bookmarks but the last
    pub no_bookmarks: bool,
    /// Until then nothing is written into open watches
    pub silent_until: Option<Instant>,
    /// Until then requests are refused
    pub refused_until: Option<Instant>,
    /// The breaks so far; each open watch gets those that it has not had
    breaks: Vec<Break>,
    /// Versions that are left out without a trace: an injected bug
    pub lose: f64,
}

impl Default for ServerFaults {
    fn default() -> Self {
        Self {
            duplicate: 0.0,
            replay: 0,
            coalesce: 0.0,
            shuffle: false,
            corrupt: 0.0,
            garble: 0.0,
            oversize: 0.0,
            hold: Duration::ZERO,
            lagging: false,
            page_fault: 0.0,
            no_bookmarks: false,
            silent_until: None,
            refused_until: None,
            breaks: Vec::new(),
            lose: 0.0,
        }
    }
}

impl ServerFaults {
    /// Breaks every open watch, once.
    pub fn break_watches(&mut self, how: Break) {
        self.breaks.push(how);
    }

    /// How many breaks there have been, for a watch that opens now.
    pub fn broken(&self) -> usize {
        self.breaks.len()
    }

    /// The next break for a watch that has had `suffered` of them.
    pub fn next_break(&self, suffered: usize) -> Option<Break> {
        self.breaks.get(suffered).copied()
    }

    /// Whether requests are refused now.
    pub fn refuses(&self) -> bool {
        self.refused_until.is_some_and(|until| Instant::now() < until)
    }

    /// Until when nothing is written into open watches.
    pub fn silence(&self) -> Option<Instant> {
        self.silent_until.filter(|until| Instant::now() < *until)
    }

    /// Whether, and how, a page fails.
    pub fn page_fault(&self, first: bool, rng: &mut Rng) -> Option<PageFault> {
        use PageFault::{Expired, Hangs, Refused, Torn};
        if !rng.chance(self.page_fault) {
            return None;
        }
        let faults: &[PageFault] =
            if first { &[Refused, Torn, Hangs] } else { &[Expired, Expired, Refused, Torn, Hangs] };
        Some(*rng.pick(faults))
    }

    /// Ends all faults.
    pub fn clear(&mut self) {
        let breaks = std::mem::take(&mut self.breaks);
        *self = Self { breaks, ..Self::default() };
    }
}
