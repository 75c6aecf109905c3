//! The pages of a list, joined (§8). A list of which a page is missing did not complete, and
//! nothing is inferred from it (§5 rule 4).

use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

/// A list, or as much of it as was read.
#[derive(Debug)]
pub(super) struct Pages {
    /// The pods of all pages so far
    pub(super) pods: Vec<PodSnapshot>,
    /// `observedAt` of the first page
    pub(super) observed: Option<Timestamp>,
}

impl Pages {
    /// The list so far with one more page: `pending` is what earlier pages held, if this page goes
    /// on where they ended.
    pub(super) fn join(
        pending: Option<Self>,
        pods: Vec<PodSnapshot>,
        observed: Option<Timestamp>,
    ) -> Self {
        match pending {
            None => Self { pods, observed },
            Some(mut list) => {
                list.pods.extend(pods);
                list
            }
        }
    }
}

/// The greatest API time in a list of `pods`.
pub(super) fn latest_api_time(pods: &[PodSnapshot]) -> Option<Timestamp> {
    pods.iter().filter_map(|pod| pod.latest_api_time).max()
}
