//! Label values without a pod give their places back ([§7.5](crate::specification#s7-5)).
#![allow(clippy::unwrap_used)]

use super::tests::{discovered, dropped, pod, recorder};
use super::*;
use crate::metrics::ExpositionBuilder;
use crate::metrics::labels::{LabelConfig, OTHER, WHOLE_SET};
use crate::metrics::node_families::PoolFamilies;
use crate::metrics::saved::SavedMetrics;
use crate::metrics::slo::SloDoc;
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Cause, LastSeen, LastTrue, MeasuredStep, NodeStep, SavedFinished, SavedPod, SloId, SloRule,
    SloVerdict, SourceId, Stage,
};
use podinit_core::pod::PodUid;

fn hour(hour: i64) -> Timestamp {
    Timestamp::from_seconds(hour * 3600)
}

/// A pod of this namespace and node is discovered and ready; with its hold.
fn live(recorder: &mut Recorder, at: i64, namespace: &str, node: Option<&str>) -> LabelHold {
    let pod = pod(namespace, node);
    recorder.observe_pod(hour(at), &pod, discovered());
    let hold = recorder.hold(hour(at), &pod);
    let measured = PodObservation::Measured {
        interval: Interval::CreatedToReady,
        latency: Latency::from_nanos(1),
    };
    recorder.observe_pod(hour(at), &pod, measured);
    recorder.observe_pod(hour(at), &pod, finish(queued()));
    hold
}

fn queued() -> WaitReason {
    WaitReason::new(Stage::Scheduling, Cause::Queue).unwrap()
}

/// It waits for this, and ends.
fn finish(from: WaitReason) -> PodObservation {
    PodObservation::Moved {
        from: PodState::InFlight(from, CapacityState::Unknown),
        to: PodState::Finished(podinit_core::lifecycle::Outcome::Ready),
    }
}

/// The same, and it is gone at once.
fn come_and_go(recorder: &mut Recorder, at: i64, namespace: &str) {
    let hold = live(recorder, at, namespace, None);
    recorder.release(hour(at), hold);
}

/// The label sets that are exposed, with how many pods became ready in each.
fn sets(recorder: &Recorder) -> Vec<(String, u64)> {
    let sets = recorder.store.sorted_sets();
    let sets = sets.iter().map(|set| {
        let values: Vec<&str> = set.values.iter().map(AsRef::as_ref).collect();
        let ready = set.interval(Interval::CreatedToReady).snapshot().count();
        (values.join("/"), ready)
    });
    sets.collect()
}

fn expired(recorder: &Recorder) -> Vec<u64> {
    recorder.store.expired().map(|(_, count)| count).collect()
}

fn named(sets: &[(&str, u64)]) -> Vec<(String, u64)> {
    let sets = sets.iter();
    sets.map(|(values, ready)| ((*values).to_owned(), *ready)).collect()
}

#[test]
fn a_new_value_gets_the_place_of_the_one_that_was_left_first_a_day_ago_and_begins_at_zero() {
    let mut recorder = recorder(2, 100);
    come_and_go(&mut recorder, 1, "b");
    come_and_go(&mut recorder, 2, "a");
    come_and_go(&mut recorder, 24, "early");
    assert_eq!(sets(&recorder), named(&[("_other/", 1), ("a/", 1), ("b/", 1)]));
    come_and_go(&mut recorder, 25, "c");
    assert_eq!(sets(&recorder), named(&[("_other/", 1), ("a/", 1), ("c/", 1)]));
    recorder.observe_pod(hour(26), &pod("d", None), discovered());
    assert_eq!(sets(&recorder), named(&[("_other/", 1), ("c/", 1), ("d/", 0)]));
    assert_eq!(expired(&recorder), [2, 0, 0]);
    assert_eq!(dropped(&recorder)[0], ("namespace", 1));
}

#[test]
fn a_value_with_a_pod_keeps_its_place_for_ever() {
    let mut recorder = recorder(1, 100);
    let first = live(&mut recorder, 1, "quiet", None);
    let second = live(&mut recorder, 1, "quiet", None);
    recorder.release(hour(2), first);
    come_and_go(&mut recorder, 1_000, "new");
    assert_eq!(sets(&recorder), named(&[("_other/", 1), ("quiet/", 2)]));
    recorder.release(hour(1_000), second);
    come_and_go(&mut recorder, 1_023, "new");
    assert_eq!(sets(&recorder), named(&[("_other/", 2), ("quiet/", 2)]));
    come_and_go(&mut recorder, 1_024, "new");
    assert_eq!(sets(&recorder), named(&[("_other/", 2), ("new/", 1)]));
}

#[test]
fn every_set_with_a_value_ends_and_a_node_that_becomes_known_gets_a_place_too() {
    let mut recorder = recorder(2, 100);
    for node in ["n1", "n2"] {
        let hold = live(&mut recorder, 1, "a", Some(node));
        recorder.release(hour(1), hold);
    }
    live(&mut recorder, 1, "b", None);
    recorder.observe_pod(hour(25), &pod("b", Some("n3")), PodObservation::Bound);
    assert_eq!(sets(&recorder), named(&[("a/n2", 1), ("b/", 1), ("b/n3", 0)]));
    assert_eq!(expired(&recorder), [0, 1, 0]);
    recorder.observe_pod(hour(25), &pod("c", None), discovered());
    assert_eq!(sets(&recorder), named(&[("b/", 1), ("b/n3", 0), ("c/", 0)]));
    assert_eq!(expired(&recorder), [1, 1, 0]);
}

#[test]
fn label_sets_give_their_places_back_like_values_and_never_the_one_of_the_others() {
    let mut recorder = recorder(100, 2);
    for namespace in ["a", "b", "c"] {
        come_and_go(&mut recorder, 1, namespace);
    }
    assert_eq!(sets(&recorder), named(&[("_other/_other", 1), ("a/", 1), ("b/", 1)]));
    for (at, namespace) in [(25, "d"), (26, "e"), (27, "f")] {
        come_and_go(&mut recorder, at, namespace);
    }
    assert_eq!(sets(&recorder), named(&[("_other/_other", 2), ("d/", 1), ("e/", 1)]));
    assert_eq!(expired(&recorder), [0, 0, 2]);
    assert_eq!(dropped(&recorder)[2], (WHOLE_SET, 2));
}

fn by_namespace(max_values: usize) -> Recorder {
    let config = LabelConfig { max_values, slo_namespace: true, ..LabelConfig::default() };
    let (recorder, _) = ExpositionBuilder::new(config).slos(vec![slo()]).build().unwrap();
    recorder
}

const CNI: fn() -> WaitReason = || WaitReason::new(Stage::Network, Cause::Cni).unwrap();

/// The pods in flight and those that are stuck, by namespace.
fn waiting(recorder: &Recorder) -> Vec<(String, u64, u64)> {
    let counts = recorder.store.pod_counts.snapshot();
    let shown = recorder.namespaces.names.shown();
    let pods = shown.map(|(place, name)| {
        let waiting = counts.waiting_at(place).iter().sum();
        let stuck = recorder.store.stuck.snapshot_at(place).iter().sum();
        (name.unwrap().to_string(), waiting, stuck)
    });
    pods.collect()
}

#[test]
fn pods_in_flight_move_with_their_namespace_and_none_is_counted_twice() {
    let mut recorder = by_namespace(1);
    come_and_go(&mut recorder, 1, "old");
    let queued = queued();
    let shop = pod("shop", None);
    recorder.observe_pod(hour(24), &shop, discovered());
    let moved = PodObservation::Moved {
        from: PodState::InFlight(queued, CapacityState::Unknown),
        to: PodState::InFlight(CNI(), CapacityState::Unknown),
    };
    recorder.observe_pod(hour(24), &shop, moved);
    let stuck = |from, to| PodObservation::Stuck { from, to };
    recorder.observe_pod(hour(24), &shop, stuck(None, Some(CNI())));
    let line = |name: &str, waiting, stuck| (name.to_owned(), waiting, stuck);
    assert_eq!(waiting(&recorder), [line(OTHER, 1, 1), line("old", 0, 0)]);
    recorder.observe_pod(hour(25), &shop, discovered());
    assert_eq!(waiting(&recorder), [line(OTHER, 0, 0), line("shop", 2, 1)]);
    recorder.observe_pod(hour(25), &shop, stuck(Some(CNI()), None));
    recorder.observe_pod(hour(25), &shop, finish(CNI()));
    recorder.observe_pod(hour(25), &shop, finish(queued));
    assert_eq!(waiting(&recorder), [line(OTHER, 0, 0), line("shop", 0, 0)]);
}

#[test]
fn a_value_keeps_the_place_to_which_pods_in_flight_have_moved() {
    let mut recorder = by_namespace(1);
    come_and_go(&mut recorder, 1, "old");
    let shop = pod("shop", None);
    recorder.observe_pod(hour(24), &shop, discovered());
    let of_rest = recorder.hold(hour(24), &shop);
    assert!(recorder.is_of_rest(of_rest));
    assert_eq!(recorder.next_move(), None);
    come_and_go(&mut recorder, 25, "shop");
    // Whoever knows the pods in flight holds those of the rest again.
    assert_eq!(recorder.next_move(), Some(LabelMove::Held));
    assert_eq!(recorder.next_move(), None);
    let own = recorder.hold(hour(25), &shop);
    recorder.release(hour(25), of_rest);
    assert!(!recorder.is_of_rest(own));
    let line = |name: &str, waiting| (name.to_owned(), waiting, 0);
    come_and_go(&mut recorder, 1_000, "new");
    assert_eq!(waiting(&recorder), [line(OTHER, 0), line("shop", 1)]);
    assert_eq!(sets(&recorder), named(&[("_other", 1), ("shop", 1)]));
    recorder.observe_pod(hour(1_000), &shop, finish(queued()));
    recorder.release(hour(1_000), own);
    come_and_go(&mut recorder, 1_024, "new");
    assert_eq!(sets(&recorder), named(&[("_other", 1), ("new", 1)]));
    assert_eq!(recorder.next_move(), None);
}

#[test]
fn a_pool_keeps_its_place_while_a_node_of_it_is_known_and_each_node_is_counted_once() {
    let max_values_of = vec![("nodepool".to_owned(), 1)];
    let config = LabelConfig { max_values_of, ..LabelConfig::default() };
    let (mut recorder, _) = ExpositionBuilder::new(config).nodes(true).build().unwrap();
    let step = |pool, is_first| {
        let (step, latency) = (NodeStep::Ready, Latency::from_nanos(1));
        NodeObservation::Measured(MeasuredStep { step, latency, pool, is_first })
    };
    let mut pools = |at: i64, observations: &[NodeObservation<'_>]| {
        for observation in observations {
            recorder.observe(hour(at), Observation::Node(*observation));
        }
        let pools = &recorder.store.nodes.as_ref().unwrap().pools;
        let met = pools.met().into_iter();
        let ready = |of: &PoolFamilies| of.startup.with(NodeStep::Ready).snapshot().count();
        let met = met.map(|(pool, families)| (pool.to_string(), ready(&families)));
        (met.collect::<Vec<_>>(), pools.dropped.get())
    };
    let (entered, left) = (NodeObservation::PoolEntered, NodeObservation::PoolLeft);
    pools(1, &[entered("old"), step("old", true)]);
    pools(2, &[entered("new"), entered("new")]);
    let found = pools(100, &[step("new", true), step("new", false), left("old")]);
    assert_eq!(found, (named(&[(OTHER, 2), ("old", 1)]), 1));
    assert_eq!(pools(123, &[step("new", true)]), (named(&[(OTHER, 3), ("old", 1)]), 2));
    let found = pools(124, &[step("new", true), left("new")]);
    assert_eq!(found, (named(&[(OTHER, 3), ("new", 1)]), 2));
    let found = pools(1_000, &[step("last", true), left("new")]);
    assert_eq!(found, (named(&[(OTHER, 4), ("new", 1)]), 3));
    assert_eq!(pools(1_024, &[step("last", true)]), (named(&[(OTHER, 4), ("last", 1)]), 3));
}

fn slo() -> SloDoc {
    SloDoc::new(&SloRule { name: "fast".into(), ..SloRule::default() }, 0.99, 604_800.0)
}

/// A recorder of two namespaces with one event of an SLO each, of which one had to end, and as it goes on after a
/// restart.
fn restarted() -> [Recorder; 2] {
    let mut before = by_namespace(2);
    let good = PodObservation::Slo { slo: SloId(0), verdict: SloVerdict::Good };
    for (at, namespace) in [(1, "a"), (2, "b"), (25, "c")] {
        come_and_go(&mut before, at, namespace);
        before.observe_pod(hour(at), &pod(namespace, None), good);
    }
    let mut after = by_namespace(2);
    let mut saved: SavedMetrics = before.saved();
    assert!(saved.keep_what_fits().is_empty());
    after.restore(&saved, []);
    after.restore_holds(hour(25), &mut []);
    [before, after]
}

#[test]
fn events_of_slos_begin_at_zero_and_their_sum_never_falls() {
    for recorder in restarted() {
        let shown = recorder.namespaces.names.shown();
        let shown: Vec<_> = shown.map(|(_, name)| name.unwrap().to_string()).collect();
        assert_eq!(shown, ["c", "b"]);
        assert_eq!(recorder.slos.good(), 3);
    }
}

#[test]
fn a_restart_knows_since_when_a_value_has_no_pod() {
    for mut recorder in restarted() {
        come_and_go(&mut recorder, 25, "d");
        assert_eq!(sets(&recorder), named(&[("_other", 1), ("b", 1), ("c", 1)]));
        come_and_go(&mut recorder, 26, "d");
        assert_eq!(sets(&recorder), named(&[("_other", 1), ("c", 1), ("d", 1)]));
        assert_eq!(expired(&recorder), [2, 0]);
    }
}

fn finished(hold: LabelHold) -> SavedPod {
    let last_seen = LastSeen {
        newest_version: 1,
        last_true: LastTrue::from_seconds([0; 5]),
        source: SourceId(0),
        is_static: false,
        created: 1,
        hold,
        ..LastSeen::default()
    };
    SavedPod::Finished(SavedFinished {
        uid: PodUid::from_text("u"),
        last_seen,
        ready: None,
        followed: None,
    })
}

#[test]
fn a_restart_knows_which_values_finished_pods_have() {
    let mut before = recorder(2, 100);
    come_and_go(&mut before, 1, "gone");
    let mut pods = [finished(live(&mut before, 1, "quiet", Some("n")))];
    let mut after = recorder(2, 100);
    after.restore(&before.saved(), []);
    after.restore_holds(hour(1), &mut pods);
    assert!(!after.awaits_list());
    for (at, namespace) in [(100, "new"), (200, "newer")] {
        come_and_go(&mut after, at, namespace);
    }
    let left = sets(&after);
    assert_eq!(left, named(&[("newer/", 1), ("quiet/n", 1)]));
    after.release(hour(150), pods[0].hold().unwrap());
    live(&mut after, 224, "newest", None);
    assert_eq!(sets(&after), named(&[("newer/", 1), ("newest/", 1)]));
}

#[test]
fn no_value_ends_while_a_pod_of_an_earlier_podinit_may_have_it() {
    let mut before = recorder(1, 100);
    come_and_go(&mut before, 1, "old");
    let mut saved = before.saved();
    saved.holds = Default::default();
    let mut pods = [finished(LabelHold::UNKNOWN)];
    let mut after = recorder(1, 100);
    after.restore(&saved, []);
    after.restore_holds(hour(1), &mut pods);
    assert!(after.awaits_list());
    come_and_go(&mut after, 100, "new");
    assert_eq!(sets(&after), named(&[("_other/", 1), ("old/", 1)]));
    // The pod is gone. Nobody knows since when the value has none.
    after.release(hour(100), LabelHold::UNKNOWN);
    come_and_go(&mut after, 100, "new");
    come_and_go(&mut after, 123, "new");
    assert_eq!(sets(&after), named(&[("_other/", 3), ("old/", 1)]));
    come_and_go(&mut after, 124, "new");
    assert_eq!(sets(&after), named(&[("_other/", 3), ("new/", 1)]));
}
