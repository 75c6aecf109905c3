//! The families whose values do not outlive the process.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::instruments::{Encoder, Head, Label, Number};
use crate::metrics::families;

static SAVED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let saved = families().iter().filter(|family| family.saved);
    saved.map(|family| family.name).collect()
});

/// Passes on all families but those that a checkpoint restores.
pub(super) struct Unsaved<'a, E> {
    encoder: &'a mut E,
    is_saved: bool,
}

impl<'a, E: Encoder> Unsaved<'a, E> {
    pub(super) fn new(encoder: &'a mut E) -> Self {
        let is_saved = false;
        Self { encoder, is_saved }
    }
}

impl<E: Encoder> Encoder for Unsaved<'_, E> {
    fn family(&mut self, head: Head<'_>) {
        self.is_saved = SAVED.contains(head.name);
        if !self.is_saved {
            self.encoder.family(head);
        }
    }

    fn number(&mut self, labels: &[Label<'_>], value: Number) {
        if !self.is_saved {
            self.encoder.number(labels, value);
        }
    }
}
