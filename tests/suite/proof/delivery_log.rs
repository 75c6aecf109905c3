//! What the server has delivered to each list-watch, and which events it need not deliver.

use crate::proof::history::Place;

/// An event or a list that was delivered to one list-watch.
#[derive(Clone, Debug)]
pub enum Delivered {
    /// An event; at which nanosecond of the API server's clock
    Event { place: Place, at: i64 },
    /// A list, complete
    List {
        places: Vec<Place>,
        number: u64,
        first: bool,
        /// The first one of a server that was restored from a backup
        restored: bool,
    },
}

/// What one list-watch received, in order.
#[derive(Clone, Debug, Default)]
pub struct DeliveryLog {
    /// The namespace it covers, all where there is none
    pub scope: Option<&'static str>,
    pub delivered: Vec<Delivered>,
    /// Events between these versions (the first excluded) that were not delivered are lost to the
    /// watch and no fault of it: the server refused them, and a list has taken their place
    pub excused: Vec<(u64, u64)>,
    /// Single events that were damaged on their way, or left out
    pub damaged: Vec<Place>,
    /// Since which version events may be missing
    pub gap_since: Option<u64>,
    /// The server was restored from a backup, and no list has shown it yet
    pub rolled_back: bool,
    /// The version of the last list
    pub listed: Option<u64>,
}

impl DeliveryLog {
    /// Nothing yet.
    pub fn of(scope: Option<&'static str>) -> Self {
        Self {
            scope,
            ..Self::default()
        }
    }

    pub fn covers(&self, namespace: &str) -> bool {
        self.scope.is_none_or(|scope| scope == namespace)
    }

    /// Whether the event of this version may be missing.
    pub fn excuses(&self, number: u64) -> bool {
        let mut ranges = self.excused.iter();
        ranges.any(|(after, until)| (after + 1..=*until).contains(&number))
    }

    /// From `number` on, events may be missing until a list completes.
    pub fn gap(&mut self, number: u64) {
        let since = self.gap_since.map_or(number, |since| since.min(number));
        self.gap_since = Some(since);
    }

    /// Forgets all but the first `count` deliveries: the process that received the others was killed.
    pub fn forget_after(&mut self, count: usize) {
        self.delivered.truncate(count);
        self.listed = self
            .delivered
            .iter()
            .rev()
            .find_map(|delivered| match delivered {
                Delivered::List { number, .. } => Some(*number),
                Delivered::Event { .. } => None,
            });
    }

    pub fn event(&mut self, place: Place, at: i64) {
        self.delivered.push(Delivered::Event { place, at });
    }

    /// A list of version `number` is complete.
    pub fn list(&mut self, places: Vec<Place>, number: u64) {
        let first = self.listed.is_none();
        // Events before the first list are never delivered.
        let since = if first { Some(0) } else { self.gap_since };
        if let Some(since) = since {
            self.excused.push((since, number));
        }
        self.gap_since = None;
        self.listed = Some(number);
        self.delivered.push(Delivered::List {
            places,
            number,
            first,
            restored: std::mem::take(&mut self.rolled_back),
        });
    }
}
