//! How a node starts ([§14.7](crate::specification#s14-7)).

use super::{NodeLife, Nodes};
use crate::oracle::instant::Nanos;
use crate::oracle::reading::Timestamps;
use crate::oracle::reading::life::Closing;
use crate::oracle::reading::rules::{Rules, Verdict};

/// When a node was created and was first Ready: "estimated as those of pods".
pub(super) struct Times {
    pub(super) created: Option<Nanos>,
    /// The snapshot that first showed it Ready
    pub(super) first_ready: Option<usize>,
    pub(super) ready: Option<Nanos>,
}

pub(super) fn times_of(rules: &dyn Rules, life: &NodeLife, timestamps: Timestamps) -> Times {
    let estimated = |t: Option<Nanos>, place: usize| match timestamps {
        Timestamps::Api => t,
        Timestamps::Fused => t.map(|t| rules.estimate(t, life.folded[place].o)),
    };
    let showing = (0..life.folded.len()).filter(|place| life.folded[*place].node.is_ready);
    let first_ready = rules.nodes().first_ready(&showing.collect::<Vec<_>>());
    Times {
        created: estimated(life.created(), 0),
        first_ready,
        ready: first_ready.and_then(|place| estimated(life.folded[place].node.ready_since, place)),
    }
}

/// A pod that ended as `ready`.
pub(crate) struct ReadyPod {
    pub(crate) uid: String,
    /// The step, and the place in the list of that step
    pub(crate) delivered: (usize, usize),
    pub(crate) node_name: String,
    pub(crate) controller_kind: String,
    pub(crate) ready: Option<Nanos>,
}

/// One life of a node.
pub(super) struct NodeStartup<'a> {
    pub(super) rules: &'a dyn Rules,
    pub(super) nodes: &'a Nodes,
    pub(super) life: &'a NodeLife,
    pub(super) timestamps: Timestamps,
    /// Those that can be the first on it, in the order of delivery
    pub(super) pods: &'a [&'a ReadyPod],
}

impl NodeStartup<'_> {
    pub(super) fn is_preexisting(&self) -> bool {
        self.rules.nodes().is_preexisting(self.life)
    }

    fn schedulable(&self) -> Option<usize> {
        let rules = self.rules.nodes();
        let all = 0..self.life.folded.len();
        let schedulable = all.filter(|place| rules.is_schedulable(&self.life.folded[*place].node));
        rules.ending(&schedulable.collect::<Vec<_>>())
    }

    /// None while it starts.
    pub(super) fn outcome(&self) -> Option<&'static str> {
        if self.is_preexisting() {
            return Some("preexisting");
        }
        if self.schedulable().is_some() {
            return Some("ready");
        }
        self.life.closing.map(|(closing, _)| match closing {
            Closing::Deleted => "deleted",
            Closing::Absent => "vanished",
        })
    }

    /// What became of its steps, each with the place of the newest snapshot at that moment.
    pub(super) fn steps(&self) -> Vec<(&'static str, usize, Verdict)> {
        let mut steps = Vec::new();
        if self.is_preexisting() {
            return steps;
        }
        let rules = self.rules.nodes();
        let times = times_of(self.rules, self.life, self.timestamps);
        let since_created = |to: Option<Nanos>| self.rules.verdict_of(times.created.zip(to));
        if let Some(place) = times.first_ready {
            steps.push(("ready", place, since_created(times.ready)));
        }
        if let Some(place) = self.schedulable() {
            let arrival = rules.arrival(self.life.folded[place].o, self.timestamps);
            let at = rules.schedulable_at(arrival, times.ready);
            steps.push(("schedulable", place, since_created(at)));
        }
        let on_it: Vec<&&ReadyPod> = self.pods.iter().filter(|pod| self.has(pod)).collect();
        let ready: Vec<Option<Nanos>> = on_it.iter().map(|pod| pod.ready).collect();
        if let Some(first) = rules.first_pod(&ready) {
            let step = on_it[first].delivered.0;
            let place = self.life.newest_before(step).unwrap_or(0);
            steps.push(("first_pod", place, since_created(ready[first])));
        }
        steps
    }

    /// "the first pod on it […] that ends as `ready` while the node exists, and whose controller is no DaemonSet"
    fn has(&self, pod: &ReadyPod) -> bool {
        let rules = self.rules.nodes();
        let step = pod.delivered.0;
        let node = self.nodes.of_pod_at(rules, &pod.node_name, step);
        rules.may_be_first_pod(&pod.controller_kind)
            && node.is_some_and(|node| std::ptr::eq(node, self.life))
    }

    /// [§4.3](crate::specification#s4-3): "`o` earlier than `t`", of the creation and of the first Ready
    pub(super) fn skews(&self) -> usize {
        if self.is_preexisting() || self.timestamps == Timestamps::Api {
            return 0;
        }
        let times = times_of(self.rules, self.life, self.timestamps);
        let is_skewed = |t: Option<Nanos>, place: usize| {
            t.zip(self.life.folded[place].o).is_some_and(|(t, o)| o < t)
        };
        let ready = times
            .first_ready
            .is_some_and(|place| is_skewed(self.life.folded[place].node.ready_since, place));
        usize::from(is_skewed(self.life.created(), 0)) + usize::from(ready)
    }
}
