//! One encoding for all scrapers of a moment.
//!
//! A scrape must not see a state older than its own arrival: whoever waits for a value to appear
//! and then scrapes has to find it. So a scrape never joins an encoding that has begun. It joins
//! the next one of its kind, which begins when the running one ends, and every scrape that comes
//! until then shares that. However many scrapers there are, one encoding runs and at most one of
//! each kind (format and coding) waits.
//!
//! After the encoding a scrape waits until what was encoded is durable ([`Scrape::made_durable`]).
//! That wait takes no processor time and may be long, so it does not hold up other encodings.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use tokio::sync::{OnceCell, Semaphore};

use super::compression::ContentCoding;
use super::negotiation::Format;
use super::{Scrape, ScrapeError};

const KINDS: usize = Format::ALL.len() * ContentCoding::ALL.len();

type Outcome = Result<Bytes, ScrapeError>;

/// A body, and the wait until what it shows is durable, which all that share the body share.
type Encoded = (Bytes, Shared<BoxFuture<'static, ()>>);

/// An encoding that one or more scrapes wait for.
type Flight = Arc<OnceCell<Result<Encoded, ScrapeError>>>;

/// Takes snapshots of a [`Scrape`] for scrapers that come at the same time.
pub(super) struct Snapshots {
    source: Arc<dyn Scrape>,
    /// One permit: encoding is the one thing here that takes real processor time, and scrapers
    /// must not take more than one core from the rest.
    encoder: Arc<Semaphore>,
    /// For each kind the flight that has not begun, which new scrapes join
    waiting: [Mutex<Option<Flight>>; KINDS],
}

impl Snapshots {
    pub(super) fn new(source: Arc<dyn Scrape>) -> Self {
        Self {
            source,
            encoder: Arc::new(Semaphore::new(1)),
            waiting: Default::default(),
        }
    }

    /// A snapshot that was begun after this call, and is durable.
    pub(super) async fn take(&self, format: Format, coding: ContentCoding) -> Outcome {
        let slot = &self.waiting[format as usize * ContentCoding::ALL.len() + coding as usize];
        let flight = Arc::clone(lock(slot).get_or_insert_default());
        // The first scrape of a flight carries it out. If its client goes away meanwhile, the
        // cell stays empty and the next scrape that waits for it takes over.
        let encoded = flight.get_or_init(|| self.encode(slot, &flight, format, coding));
        let (body, durable) = encoded.await.clone()?;
        durable.await;
        Ok(body)
    }

    async fn encode(
        &self,
        slot: &Mutex<Option<Flight>>,
        flight: &Flight,
        format: Format,
        coding: ContentCoding,
    ) -> Result<Encoded, ScrapeError> {
        let permit = Arc::clone(&self.encoder).acquire_owned().await;
        // From here on nobody joins, and only then does the encoding begin. After a take-over
        // the slot may hold a later flight already, which stays.
        {
            let mut waiting = lock(slot);
            if waiting
                .as_ref()
                .is_some_and(|next| Arc::ptr_eq(next, flight))
            {
                *waiting = None;
            }
        }
        let source = Arc::clone(&self.source);
        let encoding = tokio::task::spawn_blocking(move || {
            // Held by the thread, since it goes on when the scrape that began it is gone.
            let _permit = permit;
            let body = source.encode(format)?;
            // Asked for after the body was encoded, so that it covers all that the body shows.
            let durable = source.made_durable().shared();
            let body = coding
                .apply(body)
                .map_err(|error| ScrapeError(error.to_string()))?;
            // Shrunk, since slow clients can hold a snapshot for a while.
            Ok((Bytes::from(body.into_boxed_slice()), durable))
        });
        match encoding.await {
            Ok(encoded) => encoded,
            Err(_) => Err(ScrapeError("the encoder panicked".to_owned())),
        }
    }
}

/// What the mutex guards is replaced as a whole, so poison is no reason to fail.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;
    use tokio::task::yield_now;
    use tokio::time::Instant;

    /// Answers with the number of the encoding, each of which waits to be let through.
    struct Gated {
        begun: AtomicU64,
        gate: Mutex<mpsc::Receiver<()>>,
    }

    impl Scrape for Gated {
        fn encode(&self, _: Format) -> Result<Vec<u8>, ScrapeError> {
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            self.gate.lock().unwrap().recv().unwrap();
            Ok(number.to_string().into_bytes())
        }
    }

    struct Panics;

    impl Scrape for Panics {
        fn encode(&self, _: Format) -> Result<Vec<u8>, ScrapeError> {
            panic!("as a bug would")
        }
    }

    fn gated() -> (Arc<Gated>, Arc<Snapshots>, mpsc::Sender<()>) {
        let (open, gate) = mpsc::channel();
        let source = Arc::new(Gated {
            begun: AtomicU64::new(0),
            gate: Mutex::new(gate),
        });
        let snapshots = Arc::new(Snapshots::new(Arc::clone(&source) as Arc<dyn Scrape>));
        (source, snapshots, open)
    }

    fn scrape(snapshots: &Arc<Snapshots>) -> tokio::task::JoinHandle<Outcome> {
        let snapshots = Arc::clone(snapshots);
        tokio::spawn(async move { snapshots.take(Format::Text, ContentCoding::Identity).await })
    }

    async fn until_begun(source: &Gated, count: u64) {
        while source.begun.load(Ordering::SeqCst) < count {
            yield_now().await;
        }
    }

    #[tokio::test]
    async fn those_who_come_during_an_encoding_share_the_next_one() {
        let (source, snapshots, open) = gated();
        let first = scrape(&snapshots);
        until_begun(&source, 1).await;
        let later: Vec<_> = (0..100).map(|_| scrape(&snapshots)).collect();
        // A current-thread runtime: between two turns of this task at least one other has its turn,
        // and runs as far as it can.
        for _ in 0..later.len() {
            yield_now().await;
        }
        open.send(()).unwrap();
        open.send(()).unwrap();
        assert_eq!(first.await.unwrap().unwrap(), "1");
        for scrape in later {
            assert_eq!(scrape.await.unwrap().unwrap(), "2");
        }
        assert_eq!(source.begun.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_flight_outlives_the_scrape_that_began_it() {
        let (source, snapshots, open) = gated();
        let first = scrape(&snapshots);
        let second = scrape(&snapshots);
        until_begun(&source, 1).await;
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        open.send(()).unwrap();
        open.send(()).unwrap();
        assert_eq!(second.await.unwrap().unwrap(), "2");
    }

    /// Encodes at once, and takes two seconds to make that durable.
    struct Hanging;

    const LONGEST_COMMIT: Duration = Duration::from_secs(2);

    impl Scrape for Hanging {
        fn encode(&self, _: Format) -> Result<Vec<u8>, ScrapeError> {
            Ok(Vec::new())
        }

        fn made_durable(&self) -> BoxFuture<'static, ()> {
            tokio::time::sleep(LONGEST_COMMIT).boxed()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn scrapes_in_several_formats_wait_for_the_disk_at_the_same_time() {
        let snapshots = Arc::new(Snapshots::new(Arc::new(Hanging)));
        let began = Instant::now();
        let scrapes = Format::ALL.map(|format| {
            let snapshots = Arc::clone(&snapshots);
            tokio::spawn(async move { snapshots.take(format, ContentCoding::Identity).await })
        });
        for scrape in scrapes {
            scrape.await.unwrap().unwrap();
        }
        assert_eq!(began.elapsed(), LONGEST_COMMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_given_out_before_it_is_durable() {
        let snapshots = Arc::new(Snapshots::new(Arc::new(Hanging)));
        let scrapes = [scrape(&snapshots), scrape(&snapshots)];
        tokio::time::sleep(LONGEST_COMMIT - Duration::from_millis(1)).await;
        assert!(scrapes.iter().all(|scrape| !scrape.is_finished()));
        for scrape in scrapes {
            scrape.await.unwrap().unwrap();
        }
    }

    /// A client that goes away while it waits does not make another that shares its body wait anew.
    #[tokio::test(start_paused = true)]
    async fn a_scrape_that_leaves_does_not_prolong_the_wait_of_others() {
        let snapshots = Arc::new(Snapshots::new(Arc::new(Hanging)));
        let began = Instant::now();
        let leaves = scrape(&snapshots);
        let stays = scrape(&snapshots);
        tokio::time::sleep(LONGEST_COMMIT / 2).await;
        leaves.abort();
        stays.await.unwrap().unwrap();
        assert_eq!(began.elapsed(), LONGEST_COMMIT);
    }

    #[tokio::test]
    async fn a_panic_fails_its_own_scrape_and_no_other() {
        let snapshots = Arc::new(Snapshots::new(Arc::new(Panics)));
        for _ in 0..2 {
            let error = scrape(&snapshots).await.unwrap().unwrap_err();
            assert_eq!(
                error.to_string(),
                "cannot encode the metrics: the encoder panicked"
            );
        }
    }
}
