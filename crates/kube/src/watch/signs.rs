//! Signs that ask for a list ([§5.4](crate::specification#s5-4)): `restored`, `lost_delete` and `unusable_version`.
//! However often they come, their lists are few.

use std::time::Duration;

use tokio::time::Instant;

use super::stats::RelistReason;

/// From the first list that a sign asks for to the next; twice as long after each.
const FIRST_WAIT: Duration = Duration::from_secs(10);

const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// The same of an unusable version: nothing else shows what happens then.
const LONGEST_BLIND: Duration = Duration::from_secs(30);

/// Without a sign for so long, the next one is a first one.
const CALM: Duration = Duration::from_secs(600);

/// The signs of one list-watch.
#[derive(Debug, Default)]
pub struct WatchSigns {
    /// What has asked for the next list
    pending: Option<RelistReason>,
    /// When the last sign came
    seen: Option<Instant>,
    /// When the last list came that a sign had asked for, and how long to wait from then on
    listed: Option<(Instant, Duration)>,
    /// A list after `restored` was no older than what was known, so that a cache lags
    lags: bool,
}

impl WatchSigns {
    /// A sign has come. True if its list may come at once.
    pub fn see(&mut self, reason: RelistReason) -> bool {
        let now = Instant::now();
        if self.seen.is_none_or(|seen| now >= seen + CALM) {
            *self = Self::default();
        }
        self.seen = Some(now);
        // A list after any of the others shows a lost deletion too.
        if self.pending.is_none() || reason != RelistReason::LostDelete {
            self.pending = Some(reason);
        }
        self.due().is_some()
    }

    /// What asks for a list that may come now.
    pub fn due(&self) -> Option<RelistReason> {
        let reason = self.pending?;
        let at = self.due_at();
        at.is_none_or(|at| Instant::now() >= at).then_some(reason)
    }

    /// When the list may come that was asked for; `None` if that is at once, or none was.
    pub(super) fn due_at(&self) -> Option<Instant> {
        let longest = match self.pending? {
            RelistReason::UnusableVersion => LONGEST_BLIND,
            _ => LONGEST_WAIT,
        };
        self.listed.map(|(listed, wait)| listed + wait.min(longest))
    }

    /// Whether what the watch brings may be of another history, until the list that was asked for.
    pub(super) fn doubts_history(&self) -> bool {
        match self.pending {
            Some(RelistReason::Restored) => !self.lags,
            reason => reason == Some(RelistReason::UnusableVersion),
        }
    }

    /// Whether the list that was asked for has to show if the API server was restored from a backup, since nothing
    /// says that a cache lags.
    pub(super) fn suspects_restore(&self) -> bool {
        self.pending == Some(RelistReason::Restored) && !self.lags
    }

    /// Whether the list that was asked for may be of any version.
    pub(super) fn asks_for_most_recent(&self) -> bool {
        matches!(self.pending, Some(RelistReason::Restored | RelistReason::UnusableVersion))
    }

    /// A list has come, which is `older` than what was known or not.
    pub fn listed(&mut self, older: bool) {
        let Some(reason) = self.pending.take() else {
            return;
        };
        self.lags |= reason == RelistReason::Restored && !older;
        let wait = self.listed.map_or(FIRST_WAIT, |(_, wait)| (wait * 2).min(LONGEST_WAIT));
        self.listed = Some((Instant::now(), wait));
    }
}

#[cfg(test)]
mod tests {
    use super::RelistReason::{LostDelete, Restored, UnusableVersion};
    use super::*;
    use tokio::time::advance;

    /// Sees a sign each second, and says at which seconds lists come.
    async fn lists(signs: &mut WatchSigns, reason: RelistReason, seconds: u64) -> Vec<u64> {
        let mut lists = Vec::new();
        for second in 0..seconds {
            if signs.see(reason) {
                assert_eq!(signs.due(), Some(reason));
                signs.listed(false);
                lists.push(second);
            }
            advance(Duration::from_secs(1)).await;
        }
        lists
    }

    #[tokio::test(start_paused = true)]
    async fn lists_become_rare_while_signs_come_and_are_quick_again_after_ten_minutes() {
        let mut signs = WatchSigns::default();
        assert_eq!(
            lists(&mut signs, LostDelete, 1300).await,
            [0, 10, 30, 70, 150, 310, 610, 910, 1210]
        );
        // A list is due since long, and the sign after it is not a first one.
        advance(Duration::from_secs(598)).await;
        assert!(signs.see(LostDelete));
        signs.listed(false);
        assert!(!signs.see(LostDelete));
        advance(Duration::from_secs(600)).await;
        assert!(signs.see(LostDelete));
        assert_eq!(lists(&mut signs, UnusableVersion, 120).await, [0, 10, 30, 60, 90]);
    }

    #[tokio::test(start_paused = true)]
    async fn signs_that_come_meanwhile_ask_for_one_list() {
        let mut signs = WatchSigns::default();
        assert!(signs.see(Restored) && signs.doubts_history());
        signs.listed(true);
        assert!(!signs.see(Restored) && signs.doubts_history());
        assert!(!signs.see(LostDelete) && signs.doubts_history());
        advance(Duration::from_secs(10)).await;
        assert_eq!(signs.due(), Some(Restored));
        // It was no older than what was known: a cache lags.
        signs.listed(false);
        assert_eq!((signs.due(), signs.due_at()), (None, None));
        assert!(!signs.see(Restored) && !signs.doubts_history());
        assert!(!signs.see(UnusableVersion) && signs.doubts_history());
    }
}
