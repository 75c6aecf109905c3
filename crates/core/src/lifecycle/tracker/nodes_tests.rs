//! A tracker that passes over updates which change nothing tells the same as one that folds every update.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::observation::{Observation, TrackerObservation};
use crate::lifecycle::saved::read_back;
use crate::lifecycle::sources::SourceSuccessor;
use crate::lifecycle::tracker::TrackerConfig;
use crate::lifecycle::tracker::fixtures::at;
use crate::node::NodeSnapshot;
use crate::pod::{ConditionStatus, PodSnapshot, PodUid, StatusCondition};

/// What happens to one of three nodes, or to all.
#[derive(Clone, Debug)]
enum Step {
    Applied(NodeSnapshot),
    Deleted(NodeSnapshot),
    Listed(Vec<NodeSnapshot>),
    RolledBack,
    /// So many seconds pass
    Passed(i64),
    /// A pod is bound to a node
    Bound(usize),
    Restarted,
}

fn any_node(number: usize) -> impl Strategy<Value = NodeSnapshot> {
    let ready = prop_oneof![
        Just(None),
        (any::<bool>(), 0..3_i64).prop_map(|(is_ready, second)| {
            Some(StatusCondition {
                status: match is_ready {
                    true => ConditionStatus::True,
                    false => ConditionStatus::False,
                },
                last_transition: Some(at(second)),
            })
        }),
    ];
    let version = prop_oneof![Just(None), (0..20_u64).prop_map(Some)];
    let flags = (0..8_u8).prop_map(|bits| [bits == 1, bits == 2]);
    let pool = prop_oneof![5 => Just("a"), 1 => Just("b")];
    (ready, version, flags, pool).prop_map(move |(ready, version, flags, pool)| {
        let name = format!("n{number}");
        let mut node = NodeSnapshot::bare(PodUid::from_text(&name), name.as_str());
        node.created = Some(at(0));
        node.resource_version = version;
        node.ready = ready;
        node.unschedulable = flags[0];
        node.startup_taints = startup_taints(flags[1]);
        node.labels.pool = pool.into();
        node
    })
}

/// Whether it has a startup taint.
fn startup_taints(has: bool) -> Vec<std::sync::Arc<str>> {
    has.then(|| "node.cilium.io/agent-not-ready".into()).into_iter().collect()
}

fn any_step() -> impl Strategy<Value = Step> {
    let one = || (0..3_usize).prop_flat_map(any_node);
    let listed = (any_node(0), any_node(1), any_node(2), 1..8_u8);
    prop_oneof![
        12 => one().prop_map(Step::Applied),
        1 => one().prop_map(Step::Deleted),
        1 => listed.prop_map(|(one, two, three, shown)| {
            let nodes = [one, two, three].into_iter().zip(0..);
            let nodes = nodes.filter(|(_, bit)| shown & 1 << bit != 0);
            Step::Listed(nodes.map(|(node, _)| node).collect())
        }),
        1 => Just(Step::RolledBack),
        2 => prop::sample::select(vec![1, 20, 400, 900]).prop_map(Step::Passed),
        1 => (0..3_usize).prop_map(Step::Bound),
        1 => Just(Step::Restarted),
    ]
}

/// All that a tracker tells in the steps, and how many updates it has passed over. One that `forgets` passes over
/// none.
fn told(steps: &[Step], forgets: bool) -> (Vec<String>, usize) {
    let config = || TrackerConfig { nodes: true, ..TrackerConfig::default() };
    let mut tracker = Tracker::new(config());
    let (mut told, mut passed_over, mut second) = (Vec::new(), 0, 100);
    let mut sink = |_, observation: Observation<'_>| match observation {
        Observation::Tracker(TrackerObservation::Advanced { .. }) => {}
        other => told.push(format!("{other:?}")),
    };
    tracker.advance(at(second), &mut sink);
    for (number, step) in steps.iter().cloned().enumerate() {
        let event = match step {
            Step::Applied(node) => PodEvent::Nodes(NodeEvent::Applied(Box::new(node))),
            Step::Deleted(node) => PodEvent::Nodes(NodeEvent::Deleted(Box::new(node))),
            Step::Listed(nodes) => {
                let began = at(second);
                PodEvent::Nodes(NodeEvent::Listed { nodes, began })
            }
            Step::RolledBack => PodEvent::Nodes(NodeEvent::RolledBack),
            Step::Passed(seconds) => {
                second += seconds;
                tracker.advance(at(second), &mut sink);
                continue;
            }
            Step::Bound(node) => {
                let name = format!("p{number}");
                let mut pod = PodSnapshot::bare(PodUid::from_text(&name), "ns", name.as_str());
                pod.created = Some(at(second));
                pod.info.node = Some(format!("n{node}").into());
                PodEvent::Applied(pod)
            }
            Step::Restarted => {
                let (saved, pods) = (tracker.saved(), read_back(&tracker));
                tracker =
                    Tracker::restored(config(), saved, pods, SourceSuccessor::Same, &mut sink);
                continue;
            }
        };
        // Each update comes a second time, with another version: most updates are like that.
        let repeated = match &event {
            PodEvent::Nodes(NodeEvent::Applied(node)) => {
                let mut later = node.clone();
                later.resource_version = later.resource_version.map(|version| version + 1);
                Some(PodEvent::Nodes(NodeEvent::Applied(later)))
            }
            _ => None,
        };
        for event in [Some(event), repeated].into_iter().flatten() {
            if forgets && let Some(nodes) = &mut tracker.shared.nodes {
                nodes.forget_contents();
            }
            let of_pods = !matches!(event, PodEvent::Nodes(_));
            let delivery = Delivery {
                source: SourceId(0),
                event,
                now: if of_pods { at(second) } else { Timestamp::EPOCH },
                observed: Some(at(second)),
                version: None,
            };
            passed_over += usize::from(tracker.repeats_node(&delivery));
            tracker.apply(delivery, &mut sink);
        }
    }
    let saved = tracker.saved().nodes.map(|mut nodes| {
        nodes.nodes.sort_by_key(|node| node.uid);
        format!("{nodes:?}")
    });
    told.extend(saved);
    (told, passed_over)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(0x706f_6469_6e69_7433),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn updates_that_change_nothing_can_be_passed_over(steps in prop::collection::vec(any_step(), 8..40)) {
        let (folded, none) = told(&steps, true);
        let (passed, _) = told(&steps, false);
        prop_assert_eq!(none, 0);
        prop_assert_eq!(passed, folded);
    }
}

#[test]
fn an_update_is_passed_over_unless_something_changes() {
    let mut node = NodeSnapshot::bare(PodUid::from_text("n"), "n");
    node.resource_version = Some(1);
    let mut tainted = node.clone();
    (tainted.resource_version, tainted.startup_taints) = (Some(5), startup_taints(true));
    let steps =
        |second: &NodeSnapshot| [Step::Applied(node.clone()), Step::Applied(second.clone())];
    // Each comes twice.
    assert_eq!(told(&steps(&node), false).1, 3);
    assert_eq!(told(&steps(&tainted), false).1, 2);
}
