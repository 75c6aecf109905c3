//! Nodes whose clocks are off ([§13.12](crate::specification#s13-12)): each is a problem of the pods in flight on it,
//! whatever else affects them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::affected::is_old;
use super::found_pods::FoundPods;
use super::kind::ProblemKind;
use super::over_time::StatedAsIs;
use super::problem::FoundProblem;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Cause, NodeClock};
use podinit_core::timestamp::Timestamp;

/// The clocks that are off, each with the places of the pods on its node.
#[derive(Debug, Default)]
pub(super) struct ClockProblems {
    by_node: BTreeMap<Arc<str>, (NodeClock, Vec<u32>)>,
}

impl ClockProblems {
    /// Those of these clocks. No pod is known yet.
    pub(super) fn new(clocks: &[NodeClock]) -> Self {
        let clocks = clocks.iter();
        let by_node = clocks.map(|clock| (Arc::clone(&clock.node), (clock.clone(), Vec::new())));
        Self { by_node: by_node.collect() }
    }

    /// Adds the pod in flight at `place`, if it is on one of the nodes.
    pub(super) fn add(&mut self, place: u32, found: &FoundPods) {
        let node = found.node(place);
        if let Some((_, places)) = node.and_then(|node| self.by_node.get_mut(node)) {
            places.push(place);
        }
    }

    /// The problems, each with its pods, those that have been in their stage longest first.
    pub(super) fn into_problems(
        self,
        found: &FoundPods,
        now: Timestamp,
    ) -> impl Iterator<Item = StatedAsIs> {
        let with_pods = (self.by_node.into_iter()).filter(|(_, (_, places))| !places.is_empty());
        with_pods.map(move |(node, (clock, mut places))| {
            places.sort_by_key(|place| {
                let state = found.state(*place);
                (state.map(|state| state.entered()), found.uid(*place))
            });
            places.shrink_to_fit();
            let key = (Cause::Clock, Some((Dimension::Node, node)));
            let problem = FoundProblem::of_places(key, clock.since, places.iter().copied(), found);
            let is_still = is_old(problem.since, now);
            let problem = FoundProblem { kind: ProblemKind::Clock(clock), ..problem };
            StatedAsIs { is_still, problem, places }
        })
    }
}
