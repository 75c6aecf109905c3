//! What the server exposes: an exposition to encode.

use futures::future::BoxFuture;

use podinit_instruments::ExpositionFormat;

/// What the server exposes.
pub trait ScrapeTarget: Send + Sync + 'static {
    /// Encodes the current exposition in `format`. Called on a thread that may block, by one caller
    /// at a time.
    ///
    /// # Errors
    /// One line that says what could not be encoded. The scrape is answered with it and status 500.
    fn encode(&self, format: ExpositionFormat) -> Result<Vec<u8>, ScrapeError>;

    /// Completes when there is all to encode that is going to be in a moment, or when waiting longer
    /// would be worse than to answer. Nothing is encoded before.
    fn settled(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether a body that is encoded now says that all that it shows is durable.
    fn says_durable(&self) -> bool {
        true
    }

    /// Completes when everything that was encoded before this call is durable, or when waiting
    /// longer would be worse than to answer; at once where the body does not say that it is. No body is sent before.
    /// `said` is [`says_durable`](Self::says_durable) just before the encoding. False where what was encoded says
    /// that all is durable and that has turned out to be wrong: then it is encoded again, once.
    fn made_durable(&self, _said: bool) -> BoxFuture<'static, bool> {
        Box::pin(std::future::ready(true))
    }
}

/// Why an exposition could not be encoded: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot encode the metrics: {0}")]
pub struct ScrapeError(pub String);
