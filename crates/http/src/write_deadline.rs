//! A stream whose peer must read each response within a time.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::activity::ConnectionActivity;

/// Fails a write with [`io::ErrorKind::TimedOut`] when the peer has not taken all that was written
/// within a time, counted from the first write that had to wait, or nothing at all within a shorter one.
///
/// The first time is for the whole response: a peer that reads a byte now and then gains nothing. hyper
/// flushes the stream exactly when its buffer is empty, so a completed flush ends the response and stops
/// the clock.
#[derive(Debug)]
pub(super) struct WriteDeadline<S> {
    stream: S,
    limits: WriteLimits,
    /// What is told when the peer stops to read, and when it reads again
    activity: Arc<ConnectionActivity>,
    deadline: Option<Pin<Box<Sleep>>>,
    stall: Option<Pin<Box<Sleep>>>,
}

/// The times of a [`WriteDeadline`].
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteLimits {
    /// For the whole response
    pub(super) response: Duration,
    /// For its next bytes
    pub(super) stall: Duration,
}

impl<S> WriteDeadline<S> {
    pub(super) const fn new(
        stream: S,
        limits: WriteLimits,
        activity: Arc<ConnectionActivity>,
    ) -> Self {
        Self { stream, limits, activity, deadline: None, stall: None }
    }

    /// The stream itself.
    pub(super) fn into_inner(self) -> S {
        self.stream
    }

    /// Returns the outcome of a write, or an error once a time is over.
    fn check<T>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            if self.stall.take().is_some() {
                self.activity.reads();
            }
        } else if self.stall.is_none() {
            let now = Instant::now();
            self.activity.stalls(now);
            self.stall = Some(Box::pin(sleep_until(now + self.limits.stall)));
            let response = now + self.limits.response;
            self.deadline.get_or_insert_with(|| Box::pin(sleep_until(response)));
        }
        for deadline in [&mut self.stall, &mut self.deadline].into_iter().flatten() {
            if deadline.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        outcome
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

    const LIMITS: WriteLimits =
        WriteLimits { response: Duration::from_secs(30), stall: Duration::from_secs(10) };

    fn limited<S>(stream: S) -> WriteDeadline<S> {
        let activity = ConnectionActivity::new(Instant::now(), [127, 0, 0, 1].into());
        WriteDeadline::new(stream, LIMITS, Arc::new(activity))
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_never_reads_runs_out_of_time() {
        let (near, _far) = duplex(16);
        let started = Instant::now();
        let mut stream = limited(near);
        let activity = Arc::clone(&stream.activity);
        let error = stream.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed(), LIMITS.stall);
        assert_eq!(activity.stalled_since(), Some(started));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_trickles_runs_out_of_time() {
        let (near, mut far) = duplex(16);
        let peer = tokio::spawn(async move {
            while far.read_u8().await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let started = Instant::now();
        let mut stream = limited(near);
        let error = stream.write_all(&[0; 640]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(started.elapsed(), LIMITS.response);
        drop(stream);
        peer.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn each_flushed_response_has_its_own_time() {
        let (near, mut far) = duplex(16);
        let peer = tokio::spawn(async move {
            let mut taken = [0; 64];
            for _ in 0..6 {
                tokio::time::sleep(Duration::from_secs(9)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
        });
        let mut stream = limited(near);
        for _ in 0..6 {
            stream.write_all(&[0; 64]).await.unwrap();
            stream.flush().await.unwrap();
        }
        assert_eq!(stream.activity.stalled_since(), None);
        peer.await.unwrap();
    }
}
