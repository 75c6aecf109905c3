//! Whether a recording is no more than one list of pods, with or without Events.
//!
//! Such a list shows nothing that happens, so that its pods are observed as far as their times can be
//! trusted. Only the end of the recording shows that it was one.

use crate::recordings::reader::{Body, Document};

/// What a recording has been so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoneList {
    /// No pods yet
    Empty,
    /// Pages of a list whose last page has not come yet
    Pages,
    /// One list
    Whole,
    /// More than one list
    No,
}

impl LoneList {
    /// What it is with one more document.
    pub(super) fn with(self, document: &Document) -> Self {
        match (self, &document.body) {
            (state, Body::Events(_)) => state,
            (Self::No | Self::Whole, _) | (_, Body::Event(_)) => Self::No,
            // The list of the pages before did not complete.
            (Self::Pages, Body::Pod(_)) => Self::No,
            (Self::Empty, Body::Pod(_)) => Self::Whole,
            (Self::Empty | Self::Pages, Body::List { continue_token, .. }) => {
                match continue_token {
                    Some(_) => Self::Pages,
                    None => Self::Whole,
                }
            }
        }
    }
}
