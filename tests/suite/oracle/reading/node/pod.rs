//! What a pod knows of its node, and of its images ([§14.2](crate::specification#s14-2) to
//! [§14.6](crate::specification#s14-6)).

use super::rules::NodeRules;
use super::startup::times_of;
use super::{NodeLife, Nodes};
use crate::oracle::instant::Nanos;
use crate::oracle::reading::evidence::pull;
use crate::oracle::reading::rollouts::lasting;
use crate::oracle::reading::rules::{Entry, Verdict};
use crate::oracle::reading::startup::Startup;
use crate::oracle::reading::vocabulary::Milestone;

/// The labels of nodes that the label set of pods can have, and the node's label of each.
pub(crate) const LABELS: [(&str, &str); 4] = [
    ("zone", "topology.kubernetes.io/zone"),
    ("instance_type", "node.kubernetes.io/instance-type"),
    ("arch", "kubernetes.io/arch"),
    ("capacity_type", "karpenter.sh/capacity-type"),
];

impl Startup<'_> {
    fn node_rules(&self) -> &dyn NodeRules {
        self.rules.nodes()
    }

    /// "When a pod's Scheduled is latched": the place of that snapshot.
    pub(crate) fn scheduled(&self) -> Option<usize> {
        let view = self.view(self.last_of_startup());
        Some(view.milestone(Milestone::Scheduled)?.place)
    }

    /// The pod's node when it was scheduled, by what was delivered.
    fn node_when_scheduled(&self) -> Option<&NodeLife> {
        let folded = &self.life.folded[self.scheduled()?];
        let name = &folded.pod.node_name;
        let (life, _) = self.nodes.newest(self.node_rules(), name, folded.step)?;
        (!name.is_empty()).then_some(life)
    }

    /// [§14.3](crate::specification#s14-3)
    pub(crate) fn capacity(&self) -> &'static str {
        let rules = self.node_rules();
        let adopted_with_it = self.entry() == Entry::Adopted && self.scheduled() == Some(0);
        if adopted_with_it && rules.capacity_of_adopted_is_unknown() {
            return "unknown";
        }
        match self.node_when_scheduled() {
            Some(node) => rules.capacity(self.life.folded[0].pod.created, node.created()),
            None => "unknown",
        }
    }

    /// [§14.4](crate::specification#s14-4), by the Events that were delivered before the end of the startup
    pub(crate) fn images(&self) -> &'static str {
        self.images_at(self.last_of_startup())
    }

    /// The same, by the Events up to a place.
    pub(crate) fn images_at(&self, place: usize) -> &'static str {
        if !self.events {
            return "unknown";
        }
        let pulls = pull::pulls(self, place);
        let of_container = |name: &str| {
            let own = pulls.iter().filter(|found| found.container == name);
            let mut own = own.map(|found| found.read.result.name());
            own.find(|result| *result != "failed")
        };
        let containers = &self.life.folded[0].pod.containers;
        let came_to: Vec<Option<&'static str>> =
            containers.iter().map(|container| of_container(&container.name)).collect();
        self.node_rules().images(&came_to)
    }

    /// [§14.6](crate::specification#s14-6): what became of the three steps, and the place at which they were judged
    pub(crate) fn waits_for_a_node(&self) -> Vec<(&'static str, usize, Verdict)> {
        let rules = self.node_rules();
        let judged = || {
            if !matches!(self.entry(), Entry::Full | Entry::Adopted) {
                return None;
            }
            let place = self.scheduled()?;
            let view = self.view(place);
            let traits = view.traits();
            if !rules.waited(traits.unschedulable, self.capacity()) {
                return None;
            }
            let from = match rules.waits_from_ungated(traits.gated) {
                true => Milestone::Ungated,
                false => Milestone::Created,
            };
            let from = view.time(from).flatten();
            let scheduled = view.time(Milestone::Scheduled).flatten();
            let node = self.node_when_scheduled()?;
            let times = times_of(self.rules, node, self.timestamps);
            let step = self.life.folded[place].step;
            let ready = times
                .first_ready
                .filter(|ready| rules.is_ready_by_then(node.folded[*ready].step, step));
            let ready = ready.and(times.ready);
            let verdict =
                |from: Option<Nanos>, to: Option<Nanos>| self.rules.verdict_of(from.zip(to));
            Some(vec![
                ("node_launch", place, verdict(from, times.created)),
                ("node_ready", place, verdict(times.created, ready)),
                ("node_join", place, verdict(ready, scheduled)),
            ])
        };
        judged().unwrap_or_default()
    }

    /// [§14.2](crate::specification#s14-2): the values of the asked labels with the snapshot at a place: "known once
    /// the pod is bound and its node is known, empty before", and then "that of the moment at which it is first known"
    pub(crate) fn labels_of_node(&self, place: usize) -> Vec<(&'static str, String)> {
        let rules = self.node_rules();
        let known = |step: usize| {
            let bound = self.life.folded[..=place]
                .iter()
                .find(|folded| folded.step <= step && !folded.pod.node_name.is_empty())?;
            let (life, newest) = self.nodes.newest(rules, &bound.pod.node_name, step)?;
            Some((life, newest))
        };
        let here = self.life.folded[place].step;
        let first = match rules.labels_are_latched() {
            true => (0..=here).find_map(known),
            false => known(here),
        };
        let of_workload = || lasting(&self.life.folded[0].pod);
        let value = |label: &str| -> String {
            match label {
                "workload_type" => return of_workload().0.to_lowercase(),
                "workload" => return of_workload().1,
                _ => {}
            }
            let Some((life, newest)) = first else {
                return String::new();
            };
            let node = &life.folded[newest].node;
            match label {
                "nodepool" => rules.pool(&node.labels, self.pool_label),
                "kubelet_version" => rules.cut(&node.kubelet_version),
                label => {
                    let named = LABELS.iter().find(|(name, _)| *name == label);
                    let value = named.and_then(|(_, of_node)| node.labels.get(*of_node));
                    rules.cut(value.map_or("", String::as_str))
                }
            }
        };
        let asked = self.labels.iter();
        asked.map(|label| (*label, value(label))).collect()
    }
}

impl Nodes {
    /// The node on which a pod is at some step, if it is known then.
    pub(super) fn of_pod_at(
        &self,
        rules: &dyn NodeRules,
        name: &str,
        step: usize,
    ) -> Option<&NodeLife> {
        let known = self.newest(rules, name, step).filter(|_| !name.is_empty());
        known.map(|(life, _)| life)
    }
}
