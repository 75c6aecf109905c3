//! One step for each document of a recording: its shape is told, and the document is accounted for, or held until its
//! shape is known.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::ReplayEnd;
use super::config::{MomentRule, ReplayConfig};
use super::deliveries::Replay;
use super::first_pods::FirstPods;
use super::held::{HeldDocuments, LoneList};
use super::replay_clock::ReplayClock;
use super::shape::ShapeReader;
use crate::reader::{RecordingDocument, RecordingPosition};
use podinit_core::kube_event::{EventReason, KubeEvent};
use podinit_core::lifecycle::{Observer, Tracker};
use podinit_core::timestamp::Timestamp;
use podinit_kube::watch::stats::WatchStats;

/// Reads the documents of a recording.
pub(super) struct ReplaySteps<S, F, V, L> {
    replay: Replay<S, F>,
    clock: ReplayClock,
    shape: ShapeReader,
    held: HeldDocuments,
    rule: MomentRule,
    /// Whether Events are a source of evidence
    takes_events: bool,
    /// All documents so far are taken for pages of one list, in which something is
    joins: bool,
    has_pages: bool,
    /// Where the newest document begins
    last: Option<RecordingPosition>,
    see: V,
    look: L,
}

/// As what documents are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldAs {
    OneMoment,
    FirstPods,
}

impl<S: Observer, E, F, V, L> ReplaySteps<S, F, V, L>
where
    F: Fn(&Arc<WatchStats>) -> Result<S, E>,
    V: FnMut(&RecordingDocument, bool),
    L: FnMut(&Tracker, &mut S, Timestamp),
{
    /// Nothing was read yet.
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub(super) fn new(config: ReplayConfig, new_sink: F, see: V, look: L) -> Result<Self, E> {
        Ok(Self {
            clock: ReplayClock::new(config.until),
            shape: ShapeReader::default(),
            held: HeldDocuments::default(),
            rule: config.one_moment,
            takes_events: config.tracker.events,
            joins: config.same_moment,
            has_pages: false,
            last: None,
            replay: Replay::new(config, new_sink)?,
            see,
            look,
        })
    }

    /// Reads the next document. Breaks if it is later than [`ReplayConfig::until`].
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub(super) fn read(&mut self, mut document: RecordingDocument) -> Result<ControlFlow<()>, E> {
        self.shape.place_bare_pod(&mut document);
        if !self.joins {
            return self.step(document);
        }
        if document.is_watch_event() {
            self.end_pages()?;
            return self.step(document);
        }
        self.has_pages |= !document.is_of_events();
        self.step(document.into_page())
    }

    /// The list of all documents so far ends.
    fn end_pages(&mut self) -> Result<(), E> {
        let is_list = std::mem::take(&mut self.joins) && self.has_pages;
        if let Some(position) = self.last.filter(|_| is_list) {
            // It has no time, so that it is never too late.
            let _ = self.step(RecordingDocument::last_page(position))?;
        }
        Ok(())
    }

    fn step(&mut self, document: RecordingDocument) -> Result<ControlFlow<()>, E> {
        let before = self.held_as();
        self.shape.read(&document);
        (self.see)(&document, self.shape.is_one_moment());
        self.last = Some(document.position);
        let held_as = self.held_as();
        if held_as != before {
            self.release(before)?;
        }
        if self.clock.advance_to(&document).is_break() {
            self.joins = false;
            return Ok(ControlFlow::Break(()));
        }
        let now = self.clock.now();
        match held_as {
            None => self.replay.account(document, now, &mut self.look)?,
            Some(HeldAs::OneMoment) if self.rule == MomentRule::Present => {
                self.held.push_of_list(document, now, self.takes_events);
            }
            Some(_) => self.held.push(document, now),
        }
        Ok(ControlFlow::Continue(()))
    }

    /// As what the newest document is held; `None` where it is not.
    fn held_as(&self) -> Option<HeldAs> {
        let is_one_moment = match self.rule {
            MomentRule::Ordinary => false,
            MomentRule::Observed => self.shape.is_one_moment() && !self.shape.has_node_events(),
            MomentRule::Present => self.shape.is_one_moment(),
        };
        match self.shape.is_first_pods() {
            true => Some(HeldAs::FirstPods),
            false => is_one_moment.then_some(HeldAs::OneMoment),
        }
    }

    /// Accounts for what was held, in order: no more of it comes.
    fn release(&mut self, held_as: Option<HeldAs>) -> Result<(), E> {
        let held = std::mem::take(&mut self.held).into_documents();
        if held_as == Some(HeldAs::FirstPods)
            && let Some(first) = FirstPods::from_held(&held)
        {
            self.replay.begin_with(first);
        }
        for (document, at) in held {
            self.replay.account(document, at, &mut self.look)?;
        }
        Ok(())
    }

    /// Ends the replay.
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub(super) fn finish(mut self) -> Result<ReplayEnd<S>, E> {
        self.end_pages()?;
        let (held_as, is_complete) = (self.held_as(), self.shape.is_complete());
        let mut causes = None;
        let mut lone_list = None;
        match (self.rule, self.last.filter(|_| is_complete)) {
            (MomentRule::Observed, end) if held_as == Some(HeldAs::OneMoment) => {
                self.replay.observe_first_list();
                self.account_pages(end.map(RecordingDocument::last_page))?;
                lone_list = Some(LoneList { is_observed: false, heartbeat: None });
            }
            (MomentRule::Present, Some(end)) if held_as == Some(HeldAs::OneMoment) => {
                let (last, told) = self.held.gather(end);
                let giving: Vec<_> = last.evidence.events.iter().filter_map(giving_cause).collect();
                causes = Some(giving);
                self.account_pages(Some(last))?;
                lone_list = Some(told);
            }
            _ => self.release(held_as)?,
        }
        if let Some(lists) = self.shape.relists().filter(|_| self.rule == MomentRule::Observed) {
            tracing::warn!(
                "the {lists} lists are taken for states of one cluster at different times, and pods that a later \
                 list lacks for vanished: a namespace is in several of them, or they state when they were \
                 observed; if they show one moment, give --same-moment"
            );
        }
        let (sink, mut tracker) = self.replay.finish(self.clock.advance_to_end());
        if let (Some(causes), Some(now)) = (causes, tracker.accounted_time()) {
            tracker.know_present_causes(&causes, now);
        }
        Ok(ReplayEnd { sink, tracker, lone_list })
    }

    /// Accounts for what was held as pages of one list, up to the last page.
    fn account_pages(&mut self, last: Option<RecordingDocument>) -> Result<(), E> {
        for (document, at) in std::mem::take(&mut self.held).into_documents() {
            self.replay.account(document.into_page(), at, &mut |_, _, _| {})?;
        }
        if let Some(last) = last {
            let _ = self.clock.advance_to(&last);
            self.replay.account(last, self.clock.now(), &mut |_, _, _| {})?;
        }
        Ok(())
    }
}

/// What `event` has to say of a cause or of capacity, without its words, if it may give one.
fn giving_cause(event: &KubeEvent) -> Option<KubeEvent> {
    let gives = matches!(
        event.reason,
        EventReason::Warning(_) | EventReason::Pulling | EventReason::Capacity { .. }
    );
    gives.then(|| KubeEvent {
        pod: event.pod.clone(),
        container: event.container.clone(),
        reason: event.reason.clone(),
        message: None,
        ..*event
    })
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
