//! A lone list ([§13.2](crate::specification#s13-2)): a recording of one list of pods, or of several of one moment, and
//! of nothing that happened to pods after it. All of it is one moment, its Events too.
//!
//! ```text
//! documents → Held, while they may be a lone list ─┬─ something of pods follows ─▶ as they are ─▶ replay
//!                                                  └─ the end ─▶ pages, then their Events by time ─▶ replay
//! ```

mod held;

use std::collections::VecDeque;

use super::reader::RecordingDocument;
use super::replay::{ReplayConfig, replayed};
use held::HeldDocuments;
pub use held::LoneList;
use podinit_core::kube_event::{EventReason, KubeEvent};
use podinit_core::lifecycle::{Observer, Tracker};

/// A recording at its end.
pub struct AtEnd<S> {
    pub sink: S,
    /// With the pods that are in flight
    pub tracker: Tracker,
    /// What tells its time, if the recording is a lone list
    pub lone_list: Option<LoneList>,
}

/// Replays `documents` to their end, those of a lone list as one moment ([§13.2](crate::specification#s13-2)). `see` sees
/// every document before, and whether all up to it may be a lone list.
///
/// # Errors
/// The first error among the documents: nothing is said of a part of a recording.
pub fn replayed_to_end<S: Observer, E>(
    documents: impl IntoIterator<Item = Result<RecordingDocument, E>>,
    config: ReplayConfig,
    new_sink: impl Fn() -> S,
    see: impl FnMut(&RecordingDocument, bool),
) -> Result<AtEnd<S>, E> {
    let mut documents = AtOnce {
        documents: documents.into_iter().fuse(),
        see,
        held: Some(HeldDocuments::new(config.tracker.events)),
        ready: VecDeque::new(),
        lone_list: None,
    };
    let (sink, mut tracker) = replayed(&mut documents, config, new_sink, |_| {})?;
    if let (Some((events, _)), Some(now)) = (&documents.lone_list, tracker.accounted_time()) {
        tracker.know_present_causes(events, now);
    }
    Ok(AtEnd { sink, tracker, lone_list: documents.lone_list.map(|(_, told)| told) })
}

/// Documents as they are, or those of a lone list at once.
struct AtOnce<I, F> {
    documents: std::iter::Fuse<I>,
    see: F,
    /// What was read, as long as it may be a lone list
    held: Option<HeldDocuments>,
    /// What comes next
    ready: VecDeque<RecordingDocument>,
    /// Of a lone list, the Events that may give causes, and what tells its time
    lone_list: Option<(Vec<KubeEvent>, LoneList)>,
}

impl<I, E, F> Iterator for AtOnce<I, F>
where
    I: Iterator<Item = Result<RecordingDocument, E>>,
    F: FnMut(&RecordingDocument, bool),
{
    type Item = Result<RecordingDocument, E>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(document) = self.ready.pop_front() {
                return Some(Ok(document));
            }
            match self.documents.next() {
                Some(Ok(document)) => {
                    let holds = (self.held.as_mut()).is_some_and(|held| held.holds_with(&document));
                    (self.see)(&document, holds);
                    match &mut self.held {
                        Some(held) if holds => held.push(document),
                        _ => {
                            let before = self.held.take().map(HeldDocuments::into_documents);
                            self.ready.extend(before.unwrap_or_default());
                            self.ready.push_back(document);
                        }
                    }
                }
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    let held = self.held.take()?;
                    self.end(held);
                }
            }
        }
    }
}

impl<I, F> AtOnce<I, F> {
    /// Nothing comes behind what was held.
    fn end(&mut self, held: HeldDocuments) {
        self.ready = match held.into_moment() {
            Ok((pages, last, told)) => {
                let events = last.body.events().iter();
                self.lone_list = Some((events.filter_map(giving_cause).collect(), told));
                pages.into_iter().chain([last]).collect()
            }
            Err(documents) => documents.into(),
        };
    }
}

/// What `event` has to say of a cause, without its words, if it may give one.
fn giving_cause(event: &KubeEvent) -> Option<KubeEvent> {
    let gives = matches!(event.reason, EventReason::Warning(_) | EventReason::Pulling);
    gives.then(|| KubeEvent {
        pod: event.pod.clone(),
        container: event.container.clone(),
        reason: event.reason.clone(),
        message: None,
        ..*event
    })
}

#[cfg(test)]
mod tests;
