//! Planted bugs in nodes ([§14](crate::specification#s14)).

use std::collections::BTreeMap;

use super::Mutant;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::{NodeLife, NodeRules, NodeSnapshot, Rules, SpecNodes, Timestamps};

mutants! {
    NodeRules as nodes;
    PutsEksBeforeKarpenter {
        fn pool_labels(&self) -> Vec<&'static str> {
            let mut labels = SpecNodes.pool_labels();
            labels.swap(0, 1);
            labels
        }
    }
    KnowsNoKops {
        fn pool_labels(&self) -> Vec<&'static str> {
            let mut labels = SpecNodes.pool_labels();
            labels.pop();
            labels
        }
    }
    AsksForThePoolLabelLast {
        fn pool(&self, labels: &BTreeMap<String, String>, asked: Option<&'static str>) -> String {
            let mut order = self.pool_labels().into_iter().chain(asked);
            let pool = order.find_map(|label| labels.get(label));
            pool.map_or_else(|| "_none".to_owned(), |pool| self.cut(pool))
        }
    }
    StatesWholeValues {
        fn cut(&self, value: &str) -> String {
            value.to_owned()
        }
    }
    MovesLabels {
        fn labels_are_latched(&self) -> bool {
            false
        }
    }
    TakesTheOldestOfAName {
        fn newest(&self, named: &[(&NodeLife, (usize, usize))]) -> Option<usize> {
            (0..named.len()).min_by_key(|place| (named[*place].0.created(), named[*place].1))
        }
    }
    TakesTheLastDeliveredOfAName {
        fn newest(&self, named: &[(&NodeLife, (usize, usize))]) -> Option<usize> {
            (0..named.len()).max_by_key(|place| named[*place].1)
        }
    }
    TakesNodesOfTheSameSecondForNew {
        fn capacity(&self, pod: Option<Nanos>, node: Option<Nanos>) -> &'static str {
            match pod.is_some() && pod == node {
                true => "new",
                false => SpecNodes.capacity(pod, node),
            }
        }
    }
    TakesUnknownAgesForExisting {
        fn capacity(&self, pod: Option<Nanos>, node: Option<Nanos>) -> &'static str {
            match SpecNodes.capacity(pod, node) {
                "unknown" => "existing",
                known => known,
            }
        }
    }
    KnowsTheNodesOfAdoptedPods {
        fn capacity_of_adopted_is_unknown(&self) -> bool {
            false
        }
    }
    TakesOnePresentImageForAll {
        fn images(&self, pulls: &[Option<&'static str>]) -> &'static str {
            match SpecNodes.images(pulls) {
                "unknown" if pulls.contains(&Some("present")) => "present",
                images => images,
            }
        }
    }
    NeedsAllImagesPulled {
        fn images(&self, pulls: &[Option<&'static str>]) -> &'static str {
            match SpecNodes.images(pulls) {
                "pulled" if pulls.iter().any(|pull| *pull != Some("pulled")) => "unknown",
                images => images,
            }
        }
    }
    MeasuresTheWaitOfAllPods {
        fn waited(&self, _: bool, capacity: &'static str) -> bool {
            capacity == "new"
        }
    }
    MeasuresTheWaitForExistingNodes {
        fn waited(&self, unschedulable: bool, capacity: &'static str) -> bool {
            unschedulable && capacity != "unknown"
        }
    }
    WaitsFromCreatedAlways {
        fn waits_from_ungated(&self, _: bool) -> bool {
            false
        }
    }
    SeesReadyNodesAheadOfTheirDelivery {
        fn is_ready_by_then(&self, _: usize, _: usize) -> bool {
            true
        }
    }
    TakesTheLastReady {
        fn first_ready(&self, showing: &[usize]) -> Option<usize> {
            showing.last().copied()
        }
    }
    KnowsNoReadinessTaints {
        fn is_startup_taint(&self, key: &str) -> bool {
            !key.starts_with("readiness.k8s.io/") && SpecNodes.is_startup_taint(key)
        }
    }
    TakesEveryTaintForAStartupTaint {
        fn is_startup_taint(&self, _: &str) -> bool {
            true
        }
    }
    SchedulesToCordonedNodes {
        fn is_schedulable(&self, node: &NodeSnapshot) -> bool {
            let node = NodeSnapshot { is_cordoned: false, ..node.clone() };
            SpecNodes.is_schedulable(&node)
        }
    }
    SchedulesToTaintedNodes {
        fn is_schedulable(&self, node: &NodeSnapshot) -> bool {
            node.is_ready && !node.is_cordoned
        }
    }
    ArrivesWithinTheSecondInApiMode {
        fn arrival(&self, o: Option<Nanos>, _: Timestamps) -> Option<Nanos> {
            o
        }
    }
    CutsArrivalsInFusedMode {
        fn arrival(&self, o: Option<Nanos>, _: Timestamps) -> Option<Nanos> {
            o.map(|o| o / SECOND * SECOND)
        }
    }
    TakesTheArrivalAlone {
        fn schedulable_at(&self, arrival: Option<Nanos>, _: Option<Nanos>) -> Option<Nanos> {
            arrival
        }
    }
    TakesTheReadyAlone {
        fn schedulable_at(&self, _: Option<Nanos>, ready: Option<Nanos>) -> Option<Nanos> {
            ready
        }
    }
    TakesReadyWhereTheArrivalIsUnknown {
        fn schedulable_at(&self, arrival: Option<Nanos>, ready: Option<Nanos>) -> Option<Nanos> {
            arrival.max(ready)
        }
    }
    CountsDaemons {
        fn may_be_first_pod(&self, _: &str) -> bool {
            true
        }
    }
    TakesTheEarliestReadyOfPods {
        fn first_pod(&self, ready: &[Option<Nanos>]) -> Option<usize> {
            (0..ready.len()).min_by_key(|place| ready[*place])
        }
    }
    StartsReadyNodesOfTheFirstList {
        fn is_preexisting(&self, life: &NodeLife) -> bool {
            let mut later = life.clone();
            later.in_first_list = false;
            SpecNodes.is_preexisting(&later)
        }
    }
    TakesAllOfTheFirstListForPreexisting {
        fn is_preexisting(&self, life: &NodeLife) -> bool {
            life.in_first_list || SpecNodes.is_preexisting(life)
        }
    }
    StartsOldNodes {
        fn is_preexisting(&self, life: &NodeLife) -> bool {
            life.in_first_list && life.folded[0].node.is_ready
        }
    }
    TakesNodesOfThirtySecondsForOld {
        fn is_preexisting(&self, life: &NodeLife) -> bool {
            let at_most = life.created().zip(life.appeared);
            at_most.is_some_and(|(created, appeared)| created == appeared - 30 * SECOND)
                || SpecNodes.is_preexisting(life)
        }
    }
    EndsWithTheLastSchedulable {
        fn ending(&self, schedulable: &[usize]) -> Option<usize> {
            schedulable.last().copied()
        }
    }
    NeverEnds {
        fn ending(&self, _: &[usize]) -> Option<usize> {
            None
        }
    }
    TakesOlderVersionsOfNodes {
        fn is_older(&self, _: Option<u64>, _: Option<u64>) -> bool {
            false
        }
    }
    RevivesDeletedNodes {
        fn remembers_deleted(&self, _: Nanos, _: Nanos) -> bool {
            false
        }
    }
    RemembersDeletedNodesForever {
        fn remembers_deleted(&self, _: Nanos, _: Nanos) -> bool {
            true
        }
    }
    KeepsAbsentNodes {
        fn forgets_absent(&self) -> bool {
            false
        }
    }
    IgnoresTheLastStateOfNodes {
        fn folds_deleted(&self) -> bool {
            false
        }
    }
    KnowsNodesByName {
        fn identity(&self, node: &NodeSnapshot) -> String {
            node.name.clone()
        }
    }
    PutsNodesAfterThePodsOfAList {
        fn nodes_come_first(&self) -> bool {
            false
        }
    }
}
