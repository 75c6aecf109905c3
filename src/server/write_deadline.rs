//! A stream whose peer must read each response within a time.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Fails a write with [`io::ErrorKind::TimedOut`] when the peer has not taken all that was written
/// within the time, counted from the first write that had to wait.
///
/// The time is for the whole response, not for its next byte: a peer that reads a byte now and then
/// gains nothing. hyper flushes the stream exactly when its buffer is empty, so a completed flush ends
/// the response and stops the clock.
#[derive(Debug)]
pub(super) struct WriteDeadline<S> {
    stream: S,
    timeout: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteDeadline<S> {
    pub(super) const fn new(stream: S, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            deadline: None,
        }
    }

    /// The stream itself.
    pub(super) fn into_inner(self) -> S {
        self.stream
    }

    /// Returns the outcome of a write, or an error once the time is over.
    fn check<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_pending() && self.deadline.is_none() {
            self.deadline = Some(Box::pin(sleep_until(Instant::now() + self.timeout)));
        }
        match &mut self.deadline {
            Some(deadline) => match deadline.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => outcome,
            },
            None => outcome,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.check(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        ready!(self.check(cx, outcome))?;
        self.deadline = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.check(cx, outcome)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    const TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_never_reads_runs_out_of_time() {
        let (near, _far) = duplex(16);
        let started = Instant::now();
        let error = WriteDeadline::new(near, TIMEOUT)
            .write_all(&[0; 64])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(started.elapsed() >= TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_trickles_runs_out_of_time() {
        let (near, mut far) = duplex(16);
        let peer = tokio::spawn(async move {
            while far.read_u8().await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let mut stream = WriteDeadline::new(near, TIMEOUT);
        let error = stream.write_all(&[0; 640]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(stream);
        peer.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn each_flushed_response_has_its_own_time() {
        let (near, mut far) = duplex(16);
        let peer = tokio::spawn(async move {
            let mut taken = [0; 64];
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
        });
        let mut stream = WriteDeadline::new(near, TIMEOUT);
        for _ in 0..3 {
            stream.write_all(&[0; 64]).await.unwrap();
            stream.flush().await.unwrap();
        }
        peer.await.unwrap();
    }
}
