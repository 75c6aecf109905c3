//! A short queue in front of something that only one can do at a time, with equal turns for all clients.
//!
//! With a queue in order of arrival, one client that always has many requests on their way keeps all
//! others out. Here the next turn is that of the client who had the fewest of the last ones, and a client
//! who has few requests in a full queue takes the place of the newest of who has most. What holds among
//! clients holds among the users of one client too. Among the requests of one user the newest is next: who
//! sends one request does not wait for all that others have sent before in the same name. Who has waited
//! too long is sent away.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::credentials::Fingerprint;

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    /// Where it comes from; `None` where that is unknown
    pub(super) client: Option<IpAddr>,
    /// The user that it names
    pub(super) user: Fingerprint,
}

/// The queue. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct FairQueue(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    most: usize,
    longest_wait: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_busy: bool,
    /// In order of arrival
    waiting: Vec<Waiting>,
    /// Who had the last turns, as many as may wait
    served: VecDeque<Asker>,
}

#[derive(Debug)]
struct Waiting {
    asker: Asker,
    turn: oneshot::Sender<Turn>,
}

/// The right to go. Dropping it gives it to the next.
#[derive(Debug)]
pub(super) struct Turn(Option<FairQueue>);

/// The queue is full, or the wait was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl FairQueue {
    /// A queue for at most `most` that wait, each for at most `longest_wait`.
    pub(super) fn new(most: usize, longest_wait: Duration) -> Self {
        Self(Arc::new(Inner { most, longest_wait, state: Mutex::default() }))
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// When there is no place, it has gone to a client that has fewer, or the wait was too long.
    pub(super) async fn turn(&self, asker: Asker) -> Result<Turn, Full> {
        let waiting = {
            let mut state = self.state();
            if !state.is_busy {
                state.is_busy = true;
                state.note_served(asker, self.0.most);
                return Ok(Turn(Some(self.clone())));
            }
            state.waiting.retain(|waiting| !waiting.turn.is_closed());
            if state.waiting.len() >= self.0.most {
                let displaced = state.displaced_by(asker).ok_or(Full)?;
                // Its receiver learns that the queue is full for it.
                state.waiting.remove(displaced);
            }
            let (turn, waiting) = oneshot::channel();
            state.waiting.push(Waiting { asker, turn });
            waiting
        };
        match tokio::time::timeout(self.0.longest_wait, waiting).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => Err(Full),
        }
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let state = self.state();
        let waiting = state.waiting.iter();
        waiting.filter(|waiting| !waiting.turn.is_closed()).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the turn to the next, or to nobody.
    fn pass_on(&self) {
        let mut turn = Turn(Some(self.clone()));
        loop {
            let next = {
                let mut state = self.state();
                let Some(next) = state.next() else {
                    state.is_busy = false;
                    break;
                };
                let next = state.waiting.remove(next);
                state.note_served(next.asker, self.0.most);
                next
            };
            match next.turn.send(turn) {
                Ok(()) => return,
                // Its client has disconnected.
                Err(returned) => turn = returned,
            }
        }
        // Nobody waits: nothing is left to pass on.
        turn.0 = None;
    }
}

impl State {
    fn note_served(&mut self, asker: Asker, most: usize) {
        if self.served.len() >= most {
            self.served.pop_front();
        }
        self.served.push_back(asker);
    }

    /// The place of who is next: of the client with the fewest turns of late, and of its users the one
    /// with the fewest, who came last.
    fn next(&self) -> Option<usize> {
        let turns = |asker: Asker| {
            let of_client = self.served.iter().filter(|served| served.client == asker.client);
            let of_user = self.served.iter().filter(|served| **served == asker);
            (of_client.count(), of_user.count())
        };
        let places = self.waiting.iter().enumerate();
        let next = places.min_by_key(|(place, waiting)| (turns(waiting.asker), Reverse(*place)));
        next.map(|(place, _)| place)
    }

    /// The place that a newcomer takes in a full queue: the newest of who has most, if that makes the
    /// shares more equal.
    fn displaced_by(&self, newcomer: Asker) -> Option<usize> {
        let of_client = |asker: Asker| {
            let waiting = self.waiting.iter();
            waiting.filter(|waiting| waiting.asker.client == asker.client).count()
        };
        let of_user = |asker: Asker| {
            let waiting = self.waiting.iter();
            waiting.filter(|waiting| waiting.asker == asker).count()
        };
        let places = || self.waiting.iter().enumerate();
        let (place, greatest) =
            places().max_by_key(|(place, waiting)| (of_client(waiting.asker), *place))?;
        if of_client(newcomer) + 1 < of_client(greatest.asker) {
            return Some(place);
        }
        let own = places().filter(|(_, waiting)| waiting.asker.client == newcomer.client);
        let (place, greatest) =
            own.max_by_key(|(place, waiting)| (of_user(waiting.asker), *place))?;
        (of_user(newcomer) + 1 < of_user(greatest.asker)).then_some(place)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.pass_on();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tokio::task::{JoinHandle, yield_now};

    use super::super::credentials::Fingerprints;
    use super::*;

    const LONGEST_WAIT: Duration = Duration::from_secs(10);

    struct Fixture {
        queue: FairQueue,
        fingerprints: Fingerprints,
        served: Arc<Mutex<Vec<String>>>,
    }

    impl Fixture {
        fn new() -> Self {
            Self {
                queue: FairQueue::new(16, LONGEST_WAIT),
                fingerprints: Fingerprints::new().unwrap(),
                served: Arc::default(),
            }
        }

        fn asker(&self, client: &str, user: &str) -> Asker {
            Asker {
                client: Some(client.parse().unwrap()),
                user: self.fingerprints.of(&[user.as_bytes()]),
            }
        }

        async fn turn(&self, client: &str, user: &str) -> Result<Turn, Full> {
            self.queue.turn(self.asker(client, user)).await
        }

        /// A request that notes its turn and is done.
        async fn asks(&self, client: &str, user: &str) -> JoinHandle<Result<(), Full>> {
            let (queue, asker) = (self.queue.clone(), self.asker(client, user));
            let (served, name) = (Arc::clone(&self.served), format!("{client} {user}"));
            let asks = tokio::spawn(async move {
                let _turn = queue.turn(asker).await?;
                served.lock().unwrap().push(name);
                Ok(())
            });
            yield_now().await;
            asks
        }

        fn place_of(&self, name: &str) -> Option<usize> {
            let served = self.served.lock().unwrap();
            served.iter().position(|served| served == name)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_with_one_request_is_served_among_forty_of_another() {
        let fixture = Fixture::new();
        let turn = fixture.turn("10.0.0.1", "x").await.unwrap();
        let mut crowd = Vec::new();
        for number in 0..40 {
            crowd.push(fixture.asks("10.0.0.1", &number.to_string()).await);
        }
        assert_eq!(fixture.queue.len(), 16);
        let scraper = fixture.asks("10.0.0.2", "prometheus").await;
        assert_eq!(fixture.queue.len(), 16);
        drop(turn);
        assert_eq!(scraper.await.unwrap(), Ok(()));
        assert_eq!(fixture.place_of("10.0.0.2 prometheus"), Some(0));
        let mut served = 0;
        for one in crowd {
            served += usize::from(one.await.unwrap().is_ok());
        }
        assert_eq!(served, 15);
    }

    #[tokio::test(start_paused = true)]
    async fn so_is_another_user_of_the_same_client() {
        let fixture = Fixture::new();
        let turn = fixture.turn("10.0.0.1", "eve").await.unwrap();
        for _ in 0..40 {
            fixture.asks("10.0.0.1", "eve").await;
        }
        let scraper = fixture.asks("10.0.0.1", "prometheus").await;
        drop(turn);
        assert_eq!(scraper.await.unwrap(), Ok(()));
        assert_eq!(fixture.place_of("10.0.0.1 prometheus"), Some(0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_left_holds_nothing_up() {
        let fixture = Fixture::new();
        let turn = fixture.turn("10.0.0.1", "x").await.unwrap();
        let leaves = fixture.asks("10.0.0.2", "y").await;
        let stays = fixture.asks("10.0.0.3", "z").await;
        leaves.abort();
        assert!(leaves.await.unwrap_err().is_cancelled());
        drop(turn);
        assert_eq!(stays.await.unwrap(), Ok(()));
        assert!(fixture.turn("10.0.0.1", "x").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_without_end() {
        let fixture = Fixture::new();
        let _turn = fixture.turn("10.0.0.1", "x").await.unwrap();
        let began = tokio::time::Instant::now();
        assert_eq!(fixture.turn("10.0.0.2", "y").await.unwrap_err(), Full);
        assert_eq!(began.elapsed(), LONGEST_WAIT);
        assert_eq!(fixture.queue.len(), 0);
    }
}
