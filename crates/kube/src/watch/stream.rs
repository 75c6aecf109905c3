//! One open watch: from the first byte of its body to its end.

use std::future::pending;
use std::pin::pin;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use tokio::time::{Instant, sleep_until};

use super::config::ReflectorConfig;
use super::delivery_sender::{DeliverySender, ReceiverGone};
use super::event_reader::EventReader;
use super::follow::{StreamEnd, StreamReport, WatchLoop};
use super::line_reader::FramedEvent;
use super::negotiation::AnswerHead;
use super::reconciliation::ListReconciliation;
use super::resume_point::ResumePoint;
use super::signs::WatchSigns;
use super::stall_guard::{IN_TIME, PassedDeadlines, SettledState, StallGuard, StatedVersion};
use super::stats::{EventType, RelistReason, WatchErrorReason};
use super::watch_log::WatchLog;
use crate::cluster::api_error::ApiError;
use crate::cluster::transport::timed_out;
use podinit_core::lifecycle::PodEvent;
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::{DecodeError, ObjectEncoding, PodDecoder, WatchEventKind};

/// An open watch.
pub(super) struct OpenWatch<'a> {
    watch: &'a WatchLoop,
    config: &'a ReflectorConfig,
    decoder: &'a mut PodDecoder,
    sender: &'a mut DeliverySender,
    log: &'a mut WatchLog,
    resume_point: &'a mut ResumePoint,
    signs: &'a mut WatchSigns,
    reconciliation: Option<&'a mut ListReconciliation>,
    guard: StallGuard,
    made_progress: bool,
    /// The watch before broke, so that this one may be of an API server that was restored from a backup: its version
    /// is to be asked for
    doubtful: bool,
    /// The API server has stated that it is not behind
    confirmed: bool,
    /// Pods of other shards have moved the resume point since the last delivery
    saw_other_shard: bool,
}

impl<'a> OpenWatch<'a> {
    /// A watch from `resume_point` whose body is about to be read.
    pub(super) fn opened(
        watch: &'a WatchLoop,
        decoder: &'a mut PodDecoder,
        sender: &'a mut DeliverySender,
        log: &'a mut WatchLog,
        resume_point: &'a mut ResumePoint,
        signs: &'a mut WatchSigns,
    ) -> Self {
        sender.answered();
        let guard = StallGuard::opened(sender.synced() || signs.doubts_history());
        Self {
            watch,
            config: &watch.config,
            decoder,
            sender,
            log,
            resume_point,
            signs,
            reconciliation: None,
            guard,
            made_progress: false,
            doubtful: watch.doubtful,
            confirmed: false,
            saw_other_shard: false,
        }
    }

    /// The same, beside which these reconciliations are made.
    pub(super) fn reconciling(
        mut self,
        reconciliation: Option<&'a mut ListReconciliation>,
    ) -> Self {
        self.reconciliation = reconciliation;
        self
    }

    /// Reads the watch to its end.
    pub(super) async fn read(mut self, answer: AnswerHead) -> Result<StreamReport, ReceiverGone> {
        let AnswerHead { encoding, mut body, .. } = answer;
        let mut events = EventReader::new(encoding, self.config.max_line_bytes);
        let mut alarm = pin!(sleep_until(self.next_due()));
        let mut asked: Option<VersionQuery<'_>> = None;
        let end = loop {
            let due = self.next_due();
            if alarm.deadline() != due {
                alarm.as_mut().reset(due);
            }
            if asked.is_none() && (self.doubtful || self.guard.wants_version()) {
                self.doubtful = false;
                let from = self.resume_point.number();
                asked = Some((from, Box::pin(self.watch.list_of_one())));
            }
            // Polls the body before it looks at the time, so that a passed deadline never hides
            // bytes that have arrived.
            let frame = tokio::select! {
                biased;
                frame = body.frame() => Some(frame),
                answered = answer_of(&mut asked) => {
                    asked = None;
                    match self.version_stated(answered).await? {
                        Some(end) => break end,
                        None => continue,
                    }
                }
                () = &mut alarm => None,
            };
            let mut now = Instant::now();
            let chunk = match frame {
                None => None,
                Some(None) => {
                    self.sender.heard_at(now);
                    if self.guard.open_for() <= self.watch.asked + IN_TIME {
                        self.sender.in_time();
                    }
                    break StreamEnd::Finished;
                }
                Some(Some(Err(error))) => break StreamEnd::Failed(ApiError::from_client(&error)),
                Some(Some(Ok(frame))) => frame.into_data().ok(),
            };
            if let Some(chunk) = chunk {
                // A process that was stopped finds data and a passed deadline at the same time: the data
                // is what it has missed.
                if self.due(now).stale {
                    self.fall_silent().await?;
                }
                if let Some(end) = self.chunk(&chunk, now, &mut events).await? {
                    break end;
                }
                if self.sender.has_waited() {
                    // Time spent waiting for the receiver is not silence of the API server.
                    now = Instant::now();
                    self.guard.heard(now, self.needs_no_proof());
                }
            }
            if let Some(end) = self.check_deadlines(now).await? {
                break end;
            }
        };
        // The answer may have come together with the end.
        let answered = asked.and_then(|(from, answer)| Some((from, answer.now_or_never()?)));
        let end = match answered {
            Some(answered) if !matches!(end, StreamEnd::Lost(_)) => {
                self.version_stated(answered).await?.unwrap_or(end)
            }
            _ => end,
        };
        Ok(StreamReport {
            end,
            open_for: self.guard.open_for(),
            opened: true,
            has_data: self.guard.has_data(),
            behind: false,
            made_progress: self.made_progress,
            confirmed: self.confirmed,
        })
    }

    fn next_due(&self) -> Instant {
        let (synced, silent) = (self.sender.synced(), self.sender.silent());
        let due = self.guard.next_due(self.config, synced, silent, self.made_progress);
        self.signs.due_at().map_or(due, |list| due.min(list))
    }

    /// Whether the watch is in sync, or nothing that it brings can make it so.
    fn needs_no_proof(&self) -> bool {
        self.sender.synced() || self.signs.doubts_history()
    }

    fn due(&self, now: Instant) -> PassedDeadlines {
        self.guard.due(self.config, now, self.sender.synced(), self.sender.silent())
    }

    /// Delivers the events of a chunk that arrived at `now`. All of them have the same arrival, the time at
    /// which the bytes were read.
    async fn chunk(
        &mut self,
        chunk: &Bytes,
        now: Instant,
        events: &mut EventReader,
    ) -> Result<Option<StreamEnd>, ReceiverGone> {
        let arrived = self.sender.now();
        self.sender.heard_at(now);
        self.guard.heard(now, self.needs_no_proof());
        let mut rest: &[u8] = chunk;
        let encoding = events.encoding();
        while let Some(event) = events.next(&mut rest) {
            let end = match event {
                FramedEvent::Whole(event) => self.event(encoding, event, arrived).await?,
                FramedEvent::TooLong(head) => {
                    let limit = self.config.max_line_bytes;
                    let detail = format!("a watch event longer than {limit} bytes");
                    let may_be_deletion = encoding.may_be_deletion(head);
                    self.skip(WatchErrorReason::LineTooLong, &detail, may_be_deletion).await?
                }
            };
            if end.is_some() {
                return Ok(end);
            }
            self.compare_versions().await?;
        }
        self.report_other_shards(arrived).await?;
        Ok(None)
    }

    async fn event(
        &mut self,
        encoding: ObjectEncoding,
        event: &[u8],
        arrived: Timestamp,
    ) -> Result<Option<StreamEnd>, ReceiverGone> {
        let event = match self.decoder.decode_event(encoding, event) {
            Ok(event) => event,
            Err(error) => {
                if let DecodeError::Object { resource_version: Some(version), .. } = error {
                    self.moved(version);
                }
                let may_be_deletion = encoding.may_be_deletion(event);
                let (reason, detail) = (WatchErrorReason::Decode, error.to_string());
                return self.skip(reason, &detail, may_be_deletion).await;
            }
        };
        match event.kind {
            WatchEventKind::Added(pod) => {
                self.count(EventType::Added);
                self.deliver(pod, PodEvent::Applied, arrived).await?;
            }
            WatchEventKind::Modified(pod) => {
                self.count(EventType::Modified);
                self.deliver(pod, PodEvent::Applied, arrived).await?;
            }
            WatchEventKind::Deleted(pod) => {
                self.count(EventType::Deleted);
                self.deliver(pod, PodEvent::Deleted, arrived).await?;
            }
            WatchEventKind::OtherShard { event_type, resource_version } => {
                self.count(event_type.into());
                self.saw_other_shard = true;
                if let Some(version) = resource_version {
                    self.moved(version);
                }
            }
            WatchEventKind::Bookmark { resource_version, .. } => {
                self.count(EventType::Bookmark);
                let version = resource_version.unwrap_or_default();
                if self.resume_point.is_lost_with(&version) {
                    return Ok(Some(StreamEnd::Lost(RelistReason::UnusableVersion)));
                }
                if self.resume_point.advance(&version) {
                    self.prove();
                } else if ResumePoint::of_list(version).is_behind(self.resume_point) {
                    return self.sign(RelistReason::Restored).await;
                }
                let version = self.resume_point.version();
                self.sender.event(PodEvent::Bookmark, arrived, version).await?;
                self.saw_other_shard = false;
                // Everything before a bookmark has been delivered.
                if !self.sender.silent() {
                    self.settled(SettledState::Known).await?;
                }
            }
            WatchEventKind::Error(status) => {
                self.count(EventType::Error);
                return Ok(Some(StreamEnd::Failed(ApiError::from_event(&status))));
            }
        }
        Ok(None)
    }

    /// The resume point moves after the pod has been delivered: a process that stops in between resumes
    /// with this event.
    async fn deliver(
        &mut self,
        pod: PodSnapshot,
        event: fn(PodSnapshot) -> PodEvent,
        arrived: Timestamp,
    ) -> Result<(), ReceiverGone> {
        let number = pod.resource_version;
        let version = self.resume_point.after(number);
        self.sender.event(event(pod), arrived, version).await?;
        self.saw_other_shard = false;
        if let Some(number) = number {
            self.moved(number);
        }
        Ok(())
    }

    /// States how far the watch has come with events of other shards, which are not delivered: once for
    /// all those that arrived together.
    async fn report_other_shards(&mut self, arrived: Timestamp) -> Result<(), ReceiverGone> {
        if std::mem::take(&mut self.saw_other_shard) {
            let version = self.resume_point.version();
            let event = PodEvent::OtherShard;
            self.sender.event(event, arrived, version).await?;
        }
        Ok(())
    }

    fn moved(&mut self, version: u64) {
        if self.resume_point.advance_to(version) {
            self.prove();
        }
    }

    /// Skips an event that cannot be used. The next event of the pod makes up for it; but after a
    /// deletion, or what may have been one, there is no next event, so the pods are listed again.
    async fn skip(
        &mut self,
        reason: WatchErrorReason,
        detail: &str,
        may_be_deletion: bool,
    ) -> Result<Option<StreamEnd>, ReceiverGone> {
        self.sender.stats().count_errors(reason, 1);
        self.log.skipped(reason, detail);
        match may_be_deletion {
            true => self.sign(RelistReason::LostDelete).await,
            false => Ok(None),
        }
    }

    /// A sign asks for a list. The end of the watch, if that may come at once.
    async fn sign(&mut self, reason: RelistReason) -> Result<Option<StreamEnd>, ReceiverGone> {
        let at_once = self.signs.see(reason);
        if self.signs.doubts_history() {
            self.sender.lose_sync().await?;
        }
        Ok(at_once.then_some(StreamEnd::Lost(reason)))
    }

    fn count(&self, kind: EventType) {
        self.sender.stats().count_event(kind);
    }

    fn prove(&mut self) {
        if !self.made_progress {
            self.made_progress = true;
            self.log.works();
        }
    }

    /// The API server has stated its version, or failed to. What was missed was all before that version: it was
    /// asked for when the watch was open.
    async fn version_stated(
        &mut self,
        (from, answered): AnsweredVersion,
    ) -> Result<Option<StreamEnd>, ReceiverGone> {
        let stated = answered.and_then(|(encoding, list)| self.version_of(encoding, &list));
        match stated {
            // It was restored from a backup: a watch from its future stays silent.
            Ok(Some(version)) if Some(version) < from => {
                self.guard.states(StatedVersion::Unknown);
                return self.sign(RelistReason::Restored).await;
            }
            Ok(Some(_)) if self.resume_point.number().is_none() => {
                return Ok(Some(StreamEnd::Lost(RelistReason::UnusableVersion)));
            }
            Ok(Some(version)) => {
                self.confirmed = true;
                self.guard.states(StatedVersion::Version(version, Instant::now()));
            }
            Ok(None) => {
                self.confirmed = true;
                self.guard.states(StatedVersion::Unknown);
            }
            Err(failure) => {
                self.guard.states(StatedVersion::Unknown);
                // In sync, the watch works: it is asked again with the next one.
                if !self.sender.synced() {
                    self.sender.stats().count_errors(failure.kind.into(), 1);
                    self.sender.set_trouble(&failure);
                    self.log.failed(&failure);
                }
            }
        }
        self.compare_versions().await?;
        Ok(None)
    }

    /// The version of a list, where it is a number.
    fn version_of(
        &mut self,
        encoding: ObjectEncoding,
        list: &[u8],
    ) -> Result<Option<u64>, ApiError> {
        let mut buffer = Vec::new();
        let mut page = self.decoder.page(encoding, &mut buffer);
        page.push(list)?;
        let version = page.finish()?.resource_version;
        Ok(version.and_then(|version| ResumePoint::of_list(version).number()))
    }

    /// Whether the watch has come as far as the API server was.
    async fn compare_versions(&mut self) -> Result<(), ReceiverGone> {
        if self.guard.has_come_to(self.resume_point.number(), self.sender.silent()) {
            self.settled(SettledState::Known).await?;
        }
        Ok(())
    }

    /// No more in sync, since the watch is silent.
    async fn fall_silent(&mut self) -> Result<(), ReceiverGone> {
        if self.sender.synced() {
            self.log.silent();
        }
        self.sender.fall_silent().await
    }

    async fn settled(&mut self, how: SettledState) -> Result<(), ReceiverGone> {
        if self.guard.settle() && !self.signs.doubts_history() {
            if let Some(reconciliation) = &mut self.reconciliation {
                reconciliation.resumed();
            }
            self.log.in_sync();
            self.sender.regain_sync(how == SettledState::Known).await?;
        }
        Ok(())
    }

    async fn check_deadlines(&mut self, now: Instant) -> Result<Option<StreamEnd>, ReceiverGone> {
        if self.sender.take_lost_deletion() {
            self.signs.see(RelistReason::LostDelete);
        }
        if let Some(reason) = self.signs.due() {
            return Ok(Some(StreamEnd::Lost(reason)));
        }
        let (at, synced) = (self.resume_point.number(), self.sender.synced());
        let reconciliation = self.reconciliation.as_mut();
        if let Some(list) = reconciliation.and_then(|lists| lists.poll(now, at, synced)) {
            self.sender.reconciled(list).await?;
        }
        let due = self.due(now);
        if due.dead {
            let failure = timed_out("no byte in the watch", self.config.idle_timeout);
            return Ok(Some(StreamEnd::Failed(failure)));
        }
        if due.made_progress {
            self.prove();
        }
        if let Some(how) = due.settled {
            self.settled(how).await?;
        }
        if due.stale {
            self.fall_silent().await?;
        }
        Ok(None)
    }
}

/// Where the watch was when the API server was asked for its version, and the answer.
type AnsweredVersion = (Option<u64>, Result<(ObjectEncoding, Vec<u8>), ApiError>);

/// A question for the version that the API server is at.
type VersionQuery<'a> = (Option<u64>, BoxFuture<'a, Result<(ObjectEncoding, Vec<u8>), ApiError>>);

/// Waits for the answer, for ever where nothing was asked.
async fn answer_of(asked: &mut Option<VersionQuery<'_>>) -> AnsweredVersion {
    match asked {
        Some((from, answer)) => (*from, answer.await),
        None => pending().await,
    }
}
