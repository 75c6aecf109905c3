//! One encoding for all scrapes that arrive at about the same time.
//!
//! A scrape must not see a state older than its arrival: a client that has seen a value and then
//! scrapes has to find it. So a scrape never joins an encoding that has begun. It joins the next one of
//! its kind, which begins when the running one ends, and shares it with all scrapes that arrive until
//! then. Whatever the number of scrapers, one encoding runs and at most one of each kind (format and
//! coding) waits.
//!
//! After the encoding a scrape waits until what was encoded is durable ([`ScrapeTarget::made_durable`]).
//! That wait takes no processor time and may be long, so it does not hold up other encodings.

use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, Semaphore};

use super::negotiation::ContentCoding;
use super::scrape::{ScrapeError, ScrapeTarget};
use podinit_instruments::ExpositionFormat;

const KINDS: usize = ExpositionFormat::ALL.len() * ContentCoding::ALL.len();

type EncodingOutcome = Result<Bytes, ScrapeError>;

/// A body, and the wait until what it shows is durable, which all that share the body share.
type EncodedBody = (Bytes, Shared<BoxFuture<'static, bool>>);

/// An encoding for one or more scrapes.
type EncodingFlight = Arc<OnceCell<Result<EncodedBody, ScrapeError>>>;

/// Encodes a [`ScrapeTarget`] for all clients.
pub(super) struct SharedEncodings {
    source: Arc<dyn ScrapeTarget>,
    /// One permit: encoding takes noticeable processor time, and scrapes must not take more than one
    /// core from the other tasks.
    encoder: Arc<Semaphore>,
    /// For each kind the flight that has not begun; new scrapes join it
    waiting: [Mutex<Option<EncodingFlight>>; KINDS],
}

impl SharedEncodings {
    pub(super) fn new(source: Arc<dyn ScrapeTarget>) -> Self {
        Self { source, encoder: Arc::new(Semaphore::new(1)), waiting: Default::default() }
    }

    /// Encodes the state after this call, and waits until it is durable. A body that says it is, when the
    /// disk has failed, is not given out: the next one says so.
    pub(super) async fn encode(
        &self,
        format: ExpositionFormat,
        coding: ContentCoding,
    ) -> EncodingOutcome {
        let (body, durable) = self.encoded(format, coding).await?;
        if durable.await {
            return Ok(body);
        }
        let (body, durable) = self.encoded(format, coding).await?;
        durable.await;
        Ok(body)
    }

    async fn encoded(
        &self,
        format: ExpositionFormat,
        coding: ContentCoding,
    ) -> Result<EncodedBody, ScrapeError> {
        let slot = &self.waiting[format as usize * ContentCoding::ALL.len() + coding as usize];
        let flight = Arc::clone(slot.lock().get_or_insert_default());
        // The first scrape of a flight carries it out. If its client disconnects meanwhile, the cell
        // stays empty and the next waiting scrape takes over.
        let encoded = flight.get_or_init(|| self.carry_out(slot, &flight, format, coding));
        encoded.await.clone()
    }

    async fn carry_out(
        &self,
        slot: &Mutex<Option<EncodingFlight>>,
        flight: &EncodingFlight,
        format: ExpositionFormat,
        coding: ContentCoding,
    ) -> Result<EncodedBody, ScrapeError> {
        let permit = Arc::clone(&self.encoder).acquire_owned().await;
        // From here on no scrape joins; only then does the encoding begin. After a takeover the slot
        // may already hold a later flight, which stays.
        {
            let mut waiting = slot.lock();
            if waiting.as_ref().is_some_and(|next| Arc::ptr_eq(next, flight)) {
                *waiting = None;
            }
        }
        let source = Arc::clone(&self.source);
        let encoding = tokio::task::spawn_blocking(move || {
            // Held by the thread, since it continues when the scrape that began it is dropped.
            let _permit = permit;
            let said = source.says_durable();
            let body = source.encode(format)?;
            // Requested after the body was encoded, so that it covers all that the body shows.
            let durable = source.made_durable(said).shared();
            let body = coding.apply(body).map_err(|error| ScrapeError(error.to_string()))?;
            // Shrunk, since slow clients can hold a body for a while.
            Ok((Bytes::from(body.into_boxed_slice()), durable))
        });
        match encoding.await {
            Ok(encoded) => encoded,
            Err(_) => Err(ScrapeError("the encoder panicked".to_owned())),
        }
    }
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

    /// Its body is the number of the encoding. Each encoding waits for a message to the gate.
    struct Gated {
        begun: AtomicU64,
        gate: Mutex<mpsc::Receiver<()>>,
    }

    impl ScrapeTarget for Gated {
        fn encode(&self, _: ExpositionFormat) -> Result<Vec<u8>, ScrapeError> {
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            self.gate.lock().recv().unwrap();
            Ok(number.to_string().into_bytes())
        }
    }

    struct Panics;

    impl ScrapeTarget for Panics {
        fn encode(&self, _: ExpositionFormat) -> Result<Vec<u8>, ScrapeError> {
            panic!("as a bug would")
        }
    }

    fn gated() -> (Arc<Gated>, Arc<SharedEncodings>, mpsc::Sender<()>) {
        let (open, gate) = mpsc::channel();
        let source = Arc::new(Gated { begun: AtomicU64::new(0), gate: Mutex::new(gate) });
        let encodings =
            Arc::new(SharedEncodings::new(Arc::clone(&source) as Arc<dyn ScrapeTarget>));
        (source, encodings, open)
    }

    fn scrape(encodings: &Arc<SharedEncodings>) -> tokio::task::JoinHandle<EncodingOutcome> {
        let encodings = Arc::clone(encodings);
        tokio::spawn(async move {
            encodings.encode(ExpositionFormat::Text, ContentCoding::Identity).await
        })
    }

    async fn until_begun(source: &Gated, count: u64) {
        while source.begun.load(Ordering::SeqCst) < count {
            yield_now().await;
        }
    }

    #[tokio::test]
    async fn scrapes_that_arrive_during_an_encoding_share_the_next_one() {
        let (source, encodings, open) = gated();
        let first = scrape(&encodings);
        until_begun(&source, 1).await;
        let later: Vec<_> = (0..100).map(|_| scrape(&encodings)).collect();
        // On a current-thread runtime each yield lets at least one other task run as far as it can.
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
        let (source, encodings, open) = gated();
        let first = scrape(&encodings);
        let second = scrape(&encodings);
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

    impl ScrapeTarget for Hanging {
        fn encode(&self, _: ExpositionFormat) -> Result<Vec<u8>, ScrapeError> {
            Ok(Vec::new())
        }

        fn made_durable(&self, _: bool) -> BoxFuture<'static, bool> {
            tokio::time::sleep(LONGEST_COMMIT).map(|()| true).boxed()
        }
    }

    /// Its body is the number of the encoding; each turns out to be wrong.
    #[derive(Default)]
    struct Failing(AtomicU64);

    impl ScrapeTarget for Failing {
        fn encode(&self, _: ExpositionFormat) -> Result<Vec<u8>, ScrapeError> {
            let number = self.0.fetch_add(1, Ordering::SeqCst) + 1;
            Ok(number.to_string().into_bytes())
        }

        fn made_durable(&self, _: bool) -> BoxFuture<'static, bool> {
            futures::future::ready(false).boxed()
        }
    }

    #[tokio::test]
    async fn what_turns_out_to_be_wrong_is_encoded_once_more() {
        let encodings = Arc::new(SharedEncodings::new(Arc::new(Failing::default())));
        assert_eq!(scrape(&encodings).await.unwrap().unwrap(), "2");
        assert_eq!(scrape(&encodings).await.unwrap().unwrap(), "4");
    }

    #[tokio::test(start_paused = true)]
    async fn scrapes_in_several_formats_wait_for_the_disk_at_the_same_time() {
        let encodings = Arc::new(SharedEncodings::new(Arc::new(Hanging)));
        let began = Instant::now();
        let scrapes = ExpositionFormat::ALL.map(|format| {
            let encodings = Arc::clone(&encodings);
            tokio::spawn(async move { encodings.encode(format, ContentCoding::Identity).await })
        });
        for scrape in scrapes {
            scrape.await.unwrap().unwrap();
        }
        assert_eq!(began.elapsed(), LONGEST_COMMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_given_out_before_it_is_durable() {
        let encodings = Arc::new(SharedEncodings::new(Arc::new(Hanging)));
        let scrapes = [scrape(&encodings), scrape(&encodings)];
        tokio::time::sleep(LONGEST_COMMIT - Duration::from_millis(1)).await;
        assert!(scrapes.iter().all(|scrape| !scrape.is_finished()));
        for scrape in scrapes {
            scrape.await.unwrap().unwrap();
        }
    }

    /// A client that goes away while it waits does not make another that shares its body wait longer.
    #[tokio::test(start_paused = true)]
    async fn a_scrape_that_leaves_does_not_prolong_the_wait_of_others() {
        let encodings = Arc::new(SharedEncodings::new(Arc::new(Hanging)));
        let began = Instant::now();
        let leaves = scrape(&encodings);
        let stays = scrape(&encodings);
        tokio::time::sleep(LONGEST_COMMIT / 2).await;
        leaves.abort();
        stays.await.unwrap().unwrap();
        assert_eq!(began.elapsed(), LONGEST_COMMIT);
    }

    #[tokio::test]
    async fn a_panic_fails_its_own_scrape_and_no_other() {
        let encodings = Arc::new(SharedEncodings::new(Arc::new(Panics)));
        for _ in 0..2 {
            let error = scrape(&encodings).await.unwrap().unwrap_err();
            assert_eq!(error.to_string(), "cannot encode the metrics: the encoder panicked");
        }
    }
}
