//! What the server has delivered to each list-watch, and which events it need not deliver.

use crate::proof::history::{History, Nature, Place};
use crate::proof::shard::{HashRange, ShardNumber};

/// An event or a list that was delivered to one list-watch.
#[derive(Clone, Debug)]
pub enum Delivered {
    /// An event; at which nanosecond of the API server's clock
    Event { place: Place, at: i64 },
    /// A list, complete
    List {
        places: Vec<Place>,
        number: u64,
        /// The first one of a server that was restored from a backup
        restored: bool,
    },
}

/// The shards were numbered anew while no process ran.
#[derive(Clone, Copy, Debug)]
pub struct Resharded {
    /// What the list-watch was for until then
    pub before: HashRange,
    /// How much had been delivered to it by then
    pub delivered: usize,
    /// The newest version of the server then
    pub number: u64,
}

/// What one list-watch received, in order. Of what an API server sends to a shard, only its own pods count
/// as delivered.
#[derive(Clone, Debug)]
pub struct DeliveryLog {
    /// The namespace it covers, all where there is none
    pub scope: Option<&'static str>,
    /// The pods that it is for, by the hashes of their UIDs
    pub range: HashRange,
    pub resharded: Option<Resharded>,
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
    pub fn of(scope: Option<&'static str>, range: HashRange) -> Self {
        Self {
            scope,
            range,
            resharded: None,
            delivered: Vec::new(),
            excused: Vec::new(),
            damaged: Vec::new(),
            gap_since: None,
            rolled_back: false,
            listed: None,
        }
    }

    /// Whether the namespace of the pod is watched.
    pub fn watches(&self, pod: &Nature) -> bool {
        self.scope.is_none_or(|scope| scope == pod.namespace)
    }

    /// Whether the pod is one of those that the list-watch is for.
    pub fn covers(&self, pod: &Nature) -> bool {
        self.watches(pod) && self.range.holds(pod.hash)
    }

    /// Whether it was one of those when this version was written.
    pub fn covered(&self, pod: &Nature, number: u64) -> bool {
        let before = self.resharded.filter(|resharded| number <= resharded.number);
        let range = before.map_or(self.range, |resharded| resharded.before);
        self.watches(pod) && range.holds(pod.hash)
    }

    /// A process goes on from the checkpoint of the shard `before`, as the shard `after`.
    pub fn go_on(
        &mut self,
        before: Option<ShardNumber>,
        after: Option<ShardNumber>,
        history: &History,
    ) {
        if before != after {
            self.range = HashRange::of(before);
            self.reshard(HashRange::of(after), history);
        } else if self
            .resharded
            .is_some_and(|resharded| resharded.delivered == self.delivered.len())
        {
            // It had not listed since, and begins with a first list.
            self.listed = None;
        }
    }

    /// The pods of another range are its own now on. Until its next list, anything may be missing.
    fn reshard(&mut self, range: HashRange, history: &History) {
        self.resharded = Some(Resharded {
            before: self.range,
            delivered: self.delivered.len(),
            number: history.number(),
        });
        self.range = range;
        let newest = self.delivered.last().map(|delivered| match delivered {
            Delivered::Event { place, .. } => history.version(*place).number,
            Delivered::List { number, .. } => *number,
        });
        self.gap(newest.unwrap_or_default());
        self.damaged.clear();
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
        self.listed = self.delivered.iter().rev().find_map(|delivered| match delivered {
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
        let restored = std::mem::take(&mut self.rolled_back);
        self.delivered.push(Delivered::List { places, number, restored });
    }
}
