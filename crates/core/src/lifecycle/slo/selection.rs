//! Which startups count for an SLO ([§6.10](crate::specification#s6-10)).

use serde::{Deserialize, Serialize};

use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::pod_node::{NodeAge, StartupImages};
use crate::lifecycle::slo_verdict::ExclusionReason;
use crate::lifecycle::startup::Startup;

/// The startups that count for an SLO; all by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selection {
    /// Only those on capacity that was `existing` ([§14.3](crate::specification#s14-3))
    pub existing_capacity: bool,
    /// Only those whose images were `present` ([§14.4](crate::specification#s14-4))
    pub present_images: bool,
}

/// The properties of a startup by which an SLO can select it.
#[derive(Clone, Copy, Debug)]
pub(in crate::lifecycle) struct StartupKind {
    /// `None` before Scheduled is latched
    capacity: Option<NodeAge>,
    /// `Unknown` as long as Events may still tell
    images: StartupImages,
}

/// Whether a startup counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectionVerdict {
    Yes,
    No(ExclusionReason),
    /// Not known yet; the reason why it does not count if it ends so
    NotKnown(ExclusionReason),
}

impl Selection {
    /// Whether a startup may be left out for this reason because of the selection.
    pub fn leaves_out_for(self, reason: ExclusionReason) -> bool {
        match reason {
            ExclusionReason::Capacity => self.existing_capacity,
            ExclusionReason::Images => self.present_images,
            _ => false,
        }
    }

    /// Which pods do not count, as a sentence; `None` where all do.
    pub const fn sentence(self) -> Option<&'static str> {
        match (self.existing_capacity, self.present_images) {
            (false, false) => None,
            (true, false) => Some("Pods that waited for a new node do not count."),
            (false, true) => Some("Pods whose images were pulled do not count."),
            (true, true) => {
                Some("Pods that waited for a new node, or whose images were pulled, do not count.")
            }
        }
    }

    /// Whether a startup of this kind counts. A property that is not selected decides before an unknown one.
    pub(super) fn counts(self, kind: StartupKind) -> SelectionVerdict {
        use ExclusionReason as Reason;
        let capacity = match kind.capacity {
            _ if !self.existing_capacity => SelectionVerdict::Yes,
            None => SelectionVerdict::NotKnown(Reason::Capacity),
            Some(NodeAge::Existing) => SelectionVerdict::Yes,
            Some(NodeAge::New | NodeAge::Unknown) => SelectionVerdict::No(Reason::Capacity),
        };
        let images = match kind.images {
            _ if !self.present_images => SelectionVerdict::Yes,
            StartupImages::Unknown => SelectionVerdict::NotKnown(Reason::Images),
            StartupImages::Present => SelectionVerdict::Yes,
            StartupImages::Pulled => SelectionVerdict::No(Reason::Images),
        };
        match (capacity, images) {
            (SelectionVerdict::No(_), _) => capacity,
            (_, SelectionVerdict::No(_)) | (SelectionVerdict::Yes, _) => images,
            (SelectionVerdict::NotKnown(_), _) => capacity,
        }
    }
}

impl StartupKind {
    /// A kind that every SLO selects: that of a followed pod, which is known to count.
    pub(in crate::lifecycle) const SELECTED: Self =
        Self { capacity: Some(NodeAge::Existing), images: StartupImages::Present };

    /// The kind of a startup with these images so far.
    pub(in crate::lifecycle) fn from_startup(startup: &Startup, images: StartupImages) -> Self {
        let scheduled = startup.reached(Milestone::Scheduled).is_reached();
        Self { capacity: scheduled.then(|| startup.node_age()), images }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_startup_counts_once_all_that_is_selected_by_is_known() {
        use ExclusionReason::{Capacity, Images};
        use NodeAge::{Existing, New, Unknown};
        use SelectionVerdict::{No, NotKnown, Yes};
        use StartupImages::{Present, Pulled};
        let not_known = StartupImages::Unknown;
        for (capacity, images, by_capacity, by_images, by_both) in [
            (None, not_known, NotKnown(Capacity), NotKnown(Images), NotKnown(Capacity)),
            (None, Present, NotKnown(Capacity), Yes, NotKnown(Capacity)),
            (None, Pulled, NotKnown(Capacity), No(Images), No(Images)),
            (Some(Existing), not_known, Yes, NotKnown(Images), NotKnown(Images)),
            (Some(Existing), Present, Yes, Yes, Yes),
            (Some(Existing), Pulled, Yes, No(Images), No(Images)),
            (Some(New), Pulled, No(Capacity), No(Images), No(Capacity)),
            (Some(Unknown), not_known, No(Capacity), NotKnown(Images), No(Capacity)),
        ] {
            let kind = StartupKind { capacity, images };
            let counts = |existing_capacity, present_images| {
                let selection = Selection { existing_capacity, present_images };
                selection.counts(kind)
            };
            assert_eq!(counts(false, false), Yes);
            let found = [counts(true, false), counts(false, true), counts(true, true)];
            assert_eq!(found, [by_capacity, by_images, by_both], "{kind:?}");
        }
    }
}
