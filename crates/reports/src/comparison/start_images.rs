//! What a startup tells of images: which one keeps a pod from starting, and which ones it pulled
//! ([§15.7](crate::specification#s15-7)).

use std::slice;
use std::sync::Arc;

use super::mix::untagged;
use podinit_core::lifecycle::{Milestone, Outcome, Record};
use podinit_core::timestamp::Timestamp;

/// What a startup tells of images, all of them without tags and digests.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StartImages {
    /// The pod became ready, and pulled these
    Pulled { ready: Timestamp, images: Arc<[Arc<str>]> },
    /// The image that its last cause is about
    Failing {
        image: Arc<str>,
        /// When it first had that cause in its stage, where that is one of pulls
        pull_fails_since: Option<Timestamp>,
    },
}

impl StartImages {
    /// What the startup of `record` tells; `pulled` makes one list of the images that it pulled. `None` if it tells nothing.
    pub(super) fn from_record(
        record: &Record,
        pulled: impl FnOnce(Vec<Arc<str>>) -> Arc<[Arc<str>]>,
    ) -> Option<Self> {
        match record.outcome() {
            Some(Outcome::Ready) => {
                let images: Vec<Arc<str>> = record.pulled_images().cloned().collect();
                let ready = record.reached(Milestone::Ready).filter(|_| !images.is_empty())?;
                Some(Self::Pulled { ready, images: pulled(images) })
            }
            Some(Outcome::Completed | Outcome::Rejected) => None,
            outcome => {
                let failed = record.failed_container().filter(|_| outcome == Some(Outcome::Failed));
                let last = record.last_cause().filter(|_| failed.is_none());
                let container = match failed {
                    Some(position) => record.containers.get(position),
                    None => record.container_of(last?),
                };
                let pull = last.filter(|last| last.waiting.cause().is_of_pulls());
                let first = pull.map(|last| {
                    let history = record.causes_in_stage(last.waiting.stage());
                    let first = history.iter().find(|one| one.waiting == last.waiting);
                    first.map_or(last.began, |first| first.began)
                });
                let image = untagged(container?.failing_image()?).into();
                Some(Self::Failing { image, pull_fails_since: first })
            }
        }
    }

    /// The image that keeps the pod from starting.
    pub(super) fn failing(&self) -> &[Arc<str>] {
        match self {
            Self::Pulled { .. } => &[],
            Self::Failing { image, .. } => slice::from_ref(image),
        }
    }

    /// Since when an image cannot be pulled; `None` if something else keeps the pod from starting.
    pub(super) const fn pull_fails_since(&self) -> Option<Timestamp> {
        match self {
            Self::Pulled { .. } => None,
            Self::Failing { pull_fails_since, .. } => *pull_fails_since,
        }
    }

    /// When the pod became ready, and what it had pulled; `None` if it pulled nothing.
    pub(super) fn pulled(&self) -> Option<(Timestamp, &[Arc<str>])> {
        match self {
            Self::Pulled { ready, images } => Some((*ready, images)),
            Self::Failing { .. } => None,
        }
    }
}
