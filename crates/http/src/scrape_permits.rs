//! The places for scrapes in progress, which bound the expositions in memory.
//!
//! A client that does not read its response would keep its place until the deadline. So when there is no
//! place for a new scrape, the connection that has taken nothing for longest is closed and its place is
//! given away. And no client has more than half of the places: one that fills them cannot keep others
//! out, even for the moment in which it seems to read.

use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::{Duration, Instant};

use super::activity::ConnectionActivity;
use super::limits::ServerLimits;

/// The places for scrapes.
#[derive(Debug)]
pub(super) struct ScrapePermits {
    most: usize,
    most_of_one_client: usize,
    min_stall: Duration,
    taken: Mutex<Vec<Arc<ConnectionActivity>>>,
}

impl ScrapePermits {
    pub(super) fn new(limits: &ServerLimits) -> Self {
        Self {
            most: limits.max_scrapes,
            most_of_one_client: limits.max_scrapes.div_ceil(2),
            min_stall: limits.min_stall,
            taken: Mutex::default(),
        }
    }

    /// A place for a scrape on the connection with this activity, at the expense of one that does not
    /// read if need be. `None` if there is none.
    pub(super) fn take(
        self: &Arc<Self>,
        activity: &Arc<ConnectionActivity>,
        now: Instant,
    ) -> Option<ScrapePermit> {
        let client = activity.client();
        let mut taken = self.taken.lock();
        let of_client = taken.iter().filter(|other| other.client() == client);
        let has_its_share = of_client.count() >= self.most_of_one_client;
        if has_its_share || taken.len() >= self.most {
            let only = has_its_share.then_some(client);
            let stalled = self.longest_stalled(&taken, only, now)?;
            taken.swap_remove(stalled).evict();
        }
        taken.push(Arc::clone(activity));
        Some(ScrapePermit { permits: Arc::clone(self), activity: Arc::clone(activity) })
    }

    /// Which of the connections, of `only` one client or of all, has waited longest for its client to
    /// read; none, if none has waited for a while.
    fn longest_stalled(
        &self,
        taken: &[Arc<ConnectionActivity>],
        only: Option<IpAddr>,
        now: Instant,
    ) -> Option<usize> {
        let stalled = taken.iter().enumerate().filter_map(|(index, activity)| {
            let is_eligible = only.is_none_or(|client| activity.client() == client);
            let since = activity.stalled_since().filter(|_| is_eligible)?;
            (now.saturating_duration_since(since) >= self.min_stall).then_some((since, index))
        });
        stalled.min().map(|(_, index)| index)
    }
}

/// A place for a scrape, given back when it is dropped.
#[derive(Debug)]
pub(super) struct ScrapePermit {
    permits: Arc<ScrapePermits>,
    activity: Arc<ConnectionActivity>,
}

impl Drop for ScrapePermit {
    fn drop(&mut self) {
        let mut taken = self.permits.taken.lock();
        // It is not there any more if the place was given away.
        let index = taken.iter().position(|other| Arc::ptr_eq(other, &self.activity));
        if let Some(index) = index {
            taken.swap_remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn connection(client: &str) -> Arc<ConnectionActivity> {
        Arc::new(ConnectionActivity::new(Instant::now(), client.parse().unwrap()))
    }

    fn permits() -> Arc<ScrapePermits> {
        Arc::new(ScrapePermits::new(&ServerLimits { max_scrapes: 4, ..ServerLimits::default() }))
    }

    #[tokio::test(start_paused = true)]
    async fn no_client_has_more_than_half_of_the_places() {
        let permits = permits();
        let now = Instant::now();
        let one = ["10.0.0.1"; 3].map(connection);
        let held: Vec<_> = one.iter().map(|one| permits.take(one, now)).collect();
        assert_eq!(held.iter().flatten().count(), 2);
        let others = ["10.0.0.2", "10.0.0.3", "10.0.0.4"].map(connection);
        let more: Vec<_> = others.iter().map(|other| permits.take(other, now)).collect();
        assert_eq!(more.iter().flatten().count(), 2);
        drop(held);
        assert!(permits.take(&one[2], now).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn the_place_of_who_has_stalled_longest_is_given_away() {
        let permits = permits();
        let began = Instant::now();
        let readers = ["10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.2"].map(connection);
        let held: Vec<_> = readers.iter().map(|reader| permits.take(reader, began)).collect();
        readers[1].stalls(began + Duration::from_millis(2));
        readers[3].stalls(began + Duration::from_millis(1));
        let newcomer = connection("10.0.0.3");
        let shortly = began + Duration::from_millis(100);
        assert!(permits.take(&newcomer, shortly).is_none(), "they may be reading");
        let later = began + ServerLimits::default().min_stall + Duration::from_millis(5);
        let place = permits.take(&newcomer, later).unwrap();
        assert!(readers[3].is_evicted() && !readers[1].is_evicted());
        // Who has its share gets only what is its own.
        let again = connection("10.0.0.1");
        readers[2].stalls(began);
        assert!(permits.take(&again, later).is_some());
        assert!(readers[1].is_evicted() && !readers[2].is_evicted());
        drop((held, place));
        assert!(permits.taken.lock().is_empty());
    }
}
