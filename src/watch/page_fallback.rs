//! When a list is requested in pages although it was to be requested otherwise.

/// After this many consecutive lists that had to be requested in pages, all are.
const GIVE_UP_AFTER: u32 = 2;

/// After this many consecutive answers that were cut short, the list is requested in pages: a proxy may let
/// no answer last that long.
const CUTS: u32 = 3;

/// Whether lists are requested otherwise than in pages.
#[derive(Debug)]
pub(super) struct PageFallback {
    wanted: bool,
    failed: u32,
    cuts: u32,
}

impl PageFallback {
    /// Requests lists otherwise where that is `wanted`, until it turns out not to work.
    pub(super) const fn new(wanted: bool) -> Self {
        Self {
            wanted,
            failed: 0,
            cuts: 0,
        }
    }

    /// Whether to request a list otherwise.
    pub(super) const fn wanted(&self) -> bool {
        self.wanted
    }

    /// A list that was requested otherwise has completed.
    pub(super) const fn completed(&mut self) {
        (self.failed, self.cuts) = (0, 0);
    }

    /// Such a list broke off. True when that has been so too often.
    pub(super) const fn was_cut(&mut self) -> bool {
        self.cuts += 1;
        let often = self.cuts >= CUTS;
        if often {
            self.cuts = 0;
        }
        often
    }

    /// The list is to be taken in pages, because it cannot be had otherwise, or, where the API server has
    /// `refused`, none can. True when all lists will be requested in pages.
    pub(super) const fn fell_back(&mut self, refused: bool) -> bool {
        self.failed += 1;
        if refused || self.failed >= GIVE_UP_AFTER {
            self.wanted = false;
        }
        !self.wanted
    }
}
