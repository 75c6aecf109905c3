//! Fault injection: what can go wrong between an API server and its clients.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use super::status::StatusFailure;

/// The requests that a fault can be meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultTarget {
    /// A LIST, or its first page
    List,
    /// A further page of a LIST
    NextPage,
    /// The opening of a watch
    Watch,
}

/// How a request is answered instead of correctly.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultAnswer {
    /// Not at all: the connection stays open and nothing is sent
    Never,
    /// With this failure
    Fail(StatusFailure),
    /// 410, as this kind of request gets it: a version or a continue token that is too old
    Expired,
    /// With the first half of the body; then the connection breaks or, if it `hangs`, stays open
    Half {
        /// Whether it stays open
        hangs: bool,
    },
}

/// A fault of every open watch stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamFault {
    /// It ends plainly, as under load
    End,
    /// The connection breaks
    Cut,
    /// An ERROR event says that the version is too old (code 410); then it ends
    Gone,
    /// An ERROR event with this failure; then it ends
    Fail(StatusFailure),
    /// One line is not JSON; then it continues
    Corrupt,
    /// It ends in the middle of a line
    Truncated,
    /// One line is this many bytes long; then it continues
    Oversized(usize),
    /// These bytes are sent; then it continues
    Raw(Bytes),
}

/// Faults that last until they are cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FaultModes {
    /// Open streams say nothing and never end
    pub silent_streams: bool,
    /// Every event is sent twice
    pub duplicate_events: bool,
    /// No bookmarks are sent but the one that ends a streamed list
    pub no_bookmarks: bool,
    /// Lists that may be served from the cache are this many versions behind
    pub list_lag: u64,
    /// Watches show nothing after this version: what they are served from is behind
    pub watches_until: Option<u64>,
    /// Lists and watches are answered 403
    pub forbidden: bool,
    /// Which requests reach an API server that shards
    pub sharding: ShardingSupport,
    /// What becomes of requests for protobuf
    pub protobuf: ProtobufSupport,
}

/// Whether objects are served as protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProtobufSupport {
    /// They are, to clients that ask for it
    #[default]
    Offered,
    /// They are not: a client gets what else it takes
    Absent,
    /// What stands before the API server answers 406 to everyone who asks for it
    Refused,
}

/// Which requests reach an API server that knows `shardSelector` (KEP-5866). The others ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ShardingSupport {
    /// None
    #[default]
    Off,
    /// All
    On,
    /// Every other one: two API servers are behind one address, and one of them is upgraded
    Mixed,
}

/// One request that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// Its kind
    pub target: FaultTarget,
    /// Its path
    pub path: String,
    /// Its query, as it was sent
    pub query: String,
}

/// Orders the faults. Clones order them for the same server.
#[derive(Clone, Debug, Default)]
pub struct FaultHandle(Arc<watch::Sender<FaultState>>);

/// The faults that are ordered, and the requests so far.
#[derive(Debug, Default)]
pub(super) struct FaultState {
    /// Each with how often it is still to be given
    answers: Vec<(FaultTarget, FaultAnswer, u32)>,
    stream: VecDeque<StreamFault>,
    /// How many stream faults have been dropped from the front of `stream`.
    dropped: u64,
    modes: FaultModes,
    requests: VecDeque<ReceivedRequest>,
    /// How many have been received of each kind
    received: [u64; 3],
}

/// How many stream faults and requests are remembered.
const REMEMBERED: usize = 1024;

impl FaultHandle {
    /// The next `times` requests of the kind `target` are answered with `answer`, after those
    /// that were ordered before.
    pub fn answer(&self, target: FaultTarget, times: u32, answer: FaultAnswer) {
        (self.0).send_modify(|state| state.answers.push((target, answer, times)));
    }

    /// Injects `fault` into every watch stream that is open now.
    pub fn stream(&self, fault: StreamFault) {
        self.0.send_modify(|state| {
            state.stream.push_back(fault);
            if state.stream.len() > REMEMBERED {
                state.stream.pop_front();
                state.dropped += 1;
            }
        });
    }

    /// Changes the faults that last until they are cleared.
    pub fn set_modes(&self, set: impl FnOnce(&mut FaultModes)) {
        self.0.send_modify(|state| set(&mut state.modes));
    }

    /// Whether the request that was received last has reached an API server that shards.
    pub(super) fn shards(&self) -> bool {
        let state = self.0.borrow();
        match state.modes.sharding {
            ShardingSupport::Off => false,
            ShardingSupport::On => true,
            ShardingSupport::Mixed => state.received.iter().sum::<u64>().is_multiple_of(2),
        }
    }

    /// The lasting faults at present.
    pub fn modes(&self) -> FaultModes {
        self.0.borrow().modes
    }

    /// Clears every mode and every answer that has not been given yet. Requests that are held
    /// without an answer stay held.
    pub fn clear(&self) {
        self.0.send_modify(|state| {
            state.answers.clear();
            state.modes = FaultModes::default();
        });
    }

    /// The last requests, oldest first, at most 1,024.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.0.borrow().requests.iter().cloned().collect()
    }

    /// How many requests of a kind have been received, including those that are no longer
    /// remembered.
    pub fn received(&self, target: FaultTarget) -> u64 {
        self.0.borrow().received[target as usize]
    }

    /// Waits until `wanted` accepts the requests so far, and returns them.
    pub async fn requests_until(
        &self,
        wanted: impl Fn(&[ReceivedRequest]) -> bool,
    ) -> Vec<ReceivedRequest> {
        let mut changed = self.0.subscribe();
        loop {
            changed.mark_unchanged();
            let requests = self.requests();
            // The sender lives as long as `self`, so that waiting cannot fail.
            if wanted(&requests) || changed.changed().await.is_err() {
                return requests;
            }
        }
    }

    /// Notes a request and returns the answer ordered for it, if any.
    pub(super) fn receive(&self, request: ReceivedRequest) -> Option<FaultAnswer> {
        let mut answer = None;
        self.0.send_modify(|state| {
            let target = request.target;
            state.received[target as usize] += 1;
            state.requests.push_back(request);
            if state.requests.len() > REMEMBERED {
                state.requests.pop_front();
            }
            let ordered = (state.answers.iter_mut()).find(|(of, ..)| *of == target);
            if let Some((_, ordered, times)) = ordered {
                answer = Some(ordered.clone());
                *times = times.saturating_sub(1);
            }
            state.answers.retain(|(_, _, times)| *times > 0);
        });
        answer
    }

    /// The number of the next stream fault.
    pub(super) fn next_stream_fault(&self) -> u64 {
        let state = self.0.borrow();
        state.dropped + state.stream.len() as u64
    }

    /// The stream fault of that number, if it has been ordered.
    pub(super) fn stream_fault(&self, number: u64) -> Option<StreamFault> {
        let state = self.0.borrow();
        let index = usize::try_from(number.saturating_sub(state.dropped)).ok()?;
        state.stream.get(index).cloned()
    }

    /// Notifies of every change from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<FaultState> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: FaultTarget) -> ReceivedRequest {
        ReceivedRequest { target, path: "/api/v1/pods".to_owned(), query: String::new() }
    }

    #[test]
    fn answers_are_given_in_order_and_as_often_as_ordered() {
        let faults = FaultHandle::default();
        faults.answer(FaultTarget::List, 2, FaultAnswer::Never);
        faults.answer(FaultTarget::List, 1, FaultAnswer::Expired);
        assert_eq!(faults.receive(request(FaultTarget::Watch)), None);
        let given: Vec<Option<FaultAnswer>> =
            (0..4).map(|_| faults.receive(request(FaultTarget::List))).collect();
        let never = Some(FaultAnswer::Never);
        assert_eq!(given, [never.clone(), never, Some(FaultAnswer::Expired), None]);
        assert_eq!(faults.requests().len(), 5);
    }

    #[test]
    fn a_stream_is_told_only_of_what_is_ordered_after_its_opening() {
        let faults = FaultHandle::default();
        faults.stream(StreamFault::End);
        let number = faults.next_stream_fault();
        assert_eq!(faults.stream_fault(number), None);
        faults.stream(StreamFault::Gone);
        assert_eq!(faults.stream_fault(number), Some(StreamFault::Gone));
    }
}
