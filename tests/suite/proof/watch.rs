//! Watches: when each version is sent, and how it is damaged.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http::Response;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::time::{Instant, timeout_at};

use crate::proof::batch::{self, Batch};
use crate::proof::server::{BoxError, Reply, Server, State, status};
use crate::proof::server_faults::Break;
use crate::proof::shard::HashRange;

/// The most events that are written at once.
const AT_ONCE: usize = 200;

/// The longest time from a version to its event, without faults.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(9);

/// The API server sends a last bookmark so long before the end.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// An open watch.
#[derive(Debug)]
struct Open {
    source: usize,
    /// The shard that it is cut down to
    shard: Option<HashRange>,
    /// Everything up to this version has been sent
    sent: u64,
    ends: Instant,
    bookmark: Instant,
    held_since: Option<(Instant, Duration)>,
    /// How many breaks were ordered before it was opened, or have been suffered
    broken: usize,
    ended: bool,
}

/// What an open watch does next.
enum Next {
    Write(Bytes),
    /// Writes this and ends
    Last(Option<Bytes>, Break),
    Wait(Instant),
}

pub fn answer(server: &Server, source: usize, query: &HashMap<&str, &str>) -> Reply {
    let number = |name| query.get(name).and_then(|text: &&str| text.parse::<u64>().ok());
    let (from, seconds) = (number("resourceVersion"), number("timeoutSeconds"));
    let (from, seconds) = from.zip(seconds).ok_or("a watch without version or end")?;
    let mut state = server.lock();
    let state = &mut *state;
    if from < state.history.horizon {
        state.logs[source].gap(from);
        return status(410, "too old resource version");
    }
    if from > state.history.number() {
        return status(504, "Too large resource version: ahead of the server");
    }
    let listed = state.logs[source].listed.unwrap_or(from);
    let early = from.saturating_sub(state.rng.below(state.faults.replay + 1));
    let ends = Instant::now() + Duration::from_secs(seconds);
    let open = Open {
        source,
        shard: state.sharding.answers(query, &mut state.rng),
        sent: early.max(listed).max(state.history.horizon).min(from),
        ends,
        bookmark: Instant::now() + BOOKMARK_INTERVAL,
        held_since: None,
        broken: state.faults.broken(),
        ended: false,
    };
    let server = server.clone();
    let frames = stream::unfold(open, move |open| next_frame(server.clone(), open));
    Ok(Response::new(StreamBody::new(frames).boxed_unsync()))
}

async fn next_frame(
    server: Server,
    mut open: Open,
) -> Option<(Result<Frame<Bytes>, BoxError>, Open)> {
    loop {
        let changed = server.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        if open.ended {
            return None;
        }
        let next = open.next(&mut server.lock());
        match next {
            Next::Write(bytes) => return Some((Ok(Frame::data(bytes)), open)),
            Next::Last(bytes, how) => {
                open.ended = true;
                if let Some(bytes) = bytes {
                    // A reset comes after what was written before it.
                    open.ended = !matches!(how, Break::Reset | Break::Torn);
                    open.broken = usize::MAX;
                    return Some((Ok(Frame::data(bytes)), open));
                }
                let reset = matches!(how, Break::Reset | Break::Torn);
                return reset.then(|| (Err("connection reset by peer".into()), open));
            }
            Next::Wait(until) => {
                let _either = timeout_at(until, changed).await;
            }
        }
    }
}

impl Open {
    fn next(&mut self, state: &mut State) -> Next {
        if self.broken == usize::MAX {
            return Next::Last(None, Break::Reset);
        }
        if let Some(until) = state.faults.silence() {
            return Next::Wait(until);
        }
        if let Some(how) = state.faults.next_break(self.broken) {
            self.broken += 1;
            return self.break_by(how, state);
        }
        let now = Instant::now();
        let unsent = state.history.after(self.sent);
        let last = unsent.iter().take(AT_ONCE).next_back().copied();
        let due: Vec<_> = (unsent.iter().take(AT_ONCE).copied())
            .filter(|place| state.answers(self.source, self.shard, *place))
            .collect();
        if let Some(last) = last {
            if let Some(until) = self.held_until(state, now, due.is_empty()) {
                return Next::Wait(until);
            }
            let up_to = state.history.version(last).number;
            if !due.is_empty() {
                return self.write(due, up_to, state);
            }
            self.sent = up_to;
            return self.next(state);
        }
        if now + LAST_BOOKMARK >= self.ends {
            return Next::Last(Some(batch::bookmark(self.sent)), Break::End);
        }
        if now >= self.bookmark && !state.faults.no_bookmarks {
            self.bookmark = now + BOOKMARK_INTERVAL;
            return Next::Write(batch::bookmark(self.sent));
        }
        let until = if state.faults.no_bookmarks {
            self.ends - LAST_BOOKMARK
        } else {
            self.bookmark.min(self.ends - LAST_BOOKMARK)
        };
        Next::Wait(until)
    }

    /// Until when events that are due are held back.
    fn held_until(&mut self, state: &mut State, now: Instant, none: bool) -> Option<Instant> {
        if none || state.faults.hold.is_zero() {
            self.held_since = None;
            return None;
        }
        let longest = u64::try_from(state.faults.hold.as_millis()).unwrap_or(u64::MAX);
        let (since, by) = *self
            .held_since
            .get_or_insert_with(|| (now, Duration::from_millis(state.rng.below(longest))));
        let until = since + by;
        if now < until {
            return Some(until);
        }
        self.held_since = None;
        None
    }

    fn write(&mut self, due: Vec<u32>, up_to: u64, state: &mut State) -> Next {
        let Batch { bytes, sent } = batch::of(due, up_to, self.source, state);
        self.sent = sent;
        if bytes.is_empty() {
            return self.next(state);
        }
        Next::Write(bytes.into())
    }

    fn break_by(&mut self, how: Break, state: &mut State) -> Next {
        let bytes = match how {
            Break::End | Break::Reset => None,
            Break::Torn | Break::Short => {
                let next = state.history.after(self.sent).first().copied();
                next.map(|place| {
                    let line = batch::line(state, place);
                    let kept = state.rng.below(line.len() as u64 - 2) as usize;
                    Bytes::from(line).slice(..kept)
                })
            }
            Break::Gone => {
                state.history.compact();
                state.logs[self.source].gap(self.sent);
                Some(batch::error(410, "too old resource version"))
            }
            Break::Error => Some(batch::error(500, "etcdserver: request timed out")),
        };
        match how {
            Break::Short | Break::Gone | Break::Error => Next::Last(bytes, Break::End),
            other => Next::Last(bytes, other),
        }
    }
}
