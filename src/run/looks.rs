//! When files of settings are looked at again.

use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// A change of a ConfigMap or a Secret takes the kubelet up to a minute.
const LOOK: Duration = Duration::from_secs(5);

/// The moments at which to look.
pub(super) struct Looks(Interval);

impl Looks {
    /// The first moment is at once.
    pub(super) fn begin() -> Self {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self(looks)
    }

    /// Waits for the next moment; false once `shutdown` is cancelled.
    pub(super) async fn next(&mut self, shutdown: &CancellationToken) -> bool {
        shutdown.run_until_cancelled(self.0.tick()).await.is_some()
    }
}
