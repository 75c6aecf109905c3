//! The slowest pods of a recording, in bounded memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use podinit_core::lifecycle::Latency;
use podinit_core::pod::PodInfo;

/// A pod and how long it took from Scheduled to Ready, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SlowPod {
    pub namespace: String,
    pub name: String,
    pub(super) scheduled_to_ready: f64,
}

/// Ordered by latency; among equals, the first by name counts as slower.
type SlowestPod = (Latency, Reverse<(String, String)>);

/// The pods that took longest. Among equals, the first by name are kept.
#[derive(Debug)]
pub(super) struct SlowestPods {
    most: usize,
    /// The fastest of them on top
    pods: BinaryHeap<Reverse<SlowestPod>>,
}

impl SlowestPods {
    pub(super) fn new(most: usize) -> Self {
        Self { most, pods: BinaryHeap::new() }
    }

    pub(super) fn add(&mut self, pod: &PodInfo, latency: Latency) {
        let is_slow = |Reverse((least, _)): &Reverse<SlowestPod>| latency >= *least;
        if self.pods.len() >= self.most && !self.pods.peek().is_some_and(is_slow) {
            return;
        }
        let name = Reverse((pod.namespace.to_string(), pod.name.to_string()));
        self.pods.push(Reverse((latency, name)));
        if self.pods.len() > self.most {
            self.pods.pop();
        }
    }

    /// The pods, the slowest first.
    pub(super) fn into_pods(self) -> Vec<SlowPod> {
        let sorted = self.pods.into_sorted_vec().into_iter();
        sorted
            .map(|Reverse((latency, Reverse((namespace, name))))| SlowPod {
                namespace,
                name,
                scheduled_to_ready: latency.as_seconds_f64(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::pod::{PodSnapshot, PodUid};

    #[test]
    fn the_slowest_pods_are_kept_and_come_first() {
        let mut slowest = SlowestPods::new(3);
        for (name, seconds) in [("d", 4), ("a", 9), ("c", 4), ("b", 1), ("e", 5)] {
            let pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name).info;
            slowest.add(&pod, Latency::from_nanos(seconds * 1_000_000_000));
        }
        let names: Vec<String> = slowest.into_pods().into_iter().map(|pod| pod.name).collect();
        assert_eq!(names, ["a", "e", "c"]);
        assert!(SlowestPods::new(0).into_pods().is_empty());
    }
}
