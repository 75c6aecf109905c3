//! Random pods, affected or not, of which most of a set are alike so that all rules come to bear.

use proptest::prelude::*;

use super::given::{Given, KINDS, Lack, says_only_the_end};

prop_compose! {
    /// A pod of few values, most of a set alike, so that all rules come to bear.
    fn one(affected: f64, lacks: Vec<Lack>)(
        image in prop_oneof![4 => Just(0_u8), 3 => 0..6_u8],
        node in prop::option::weighted(0.8, prop_oneof![3 => Just(0_u8), 3 => 0..9_u8]),
        workload in prop::option::weighted(0.8, prop_oneof![4 => Just(0_u8), 2 => 0..9_u8]),
        namespace in prop_oneof![2 => Just(0_u8), 3 => 0..4_u8],
        affected in prop::option::weighted(affected, (
            prop_oneof![
                1 => 1_000..5_000_i64,
                2 => 8_195..8_205_i64,
                // Fifteen minutes before and after it.
                2 => prop::sample::select(vec![7_299_i64, 7_300, 8_200, 9_100, 9_101]),
                4 => 9_800..9_940_i64,
            ],
            prop::sample::select(lacks),
        )),
        ready in 1_000..10_000_i64,
        is_pulled in any::<bool>(),
        claims in (prop::bool::weighted(0.2), prop::bool::weighted(0.2)),
        said in prop::option::weighted(0.93, (
            prop_oneof![3 => 0..3_u8, 2 => 0..KINDS],
            prop_oneof![2 => 0..400_u64, 1 => 0..1_u64 << 40],
        )),
    ) -> Given {
        let said = said.map(|(kind, ids)| (of_cause(kind, affected), ids));
        Given { image, node, workload, namespace, affected, ready, is_pulled, claims, said }
    }
}

/// Only of crashes it is said how a container ended.
fn of_cause(kind: u8, affected: Option<(i64, Lack)>) -> u8 {
    match affected {
        Some((_, Lack::Crash)) | None => kind,
        _ if says_only_the_end(kind) => kind - 10,
        _ => kind,
    }
}

/// Some have one cause, some have few to compare with.
fn given() -> impl Strategy<Value = Vec<Given>> {
    let lacks = prop_oneof![
        2 => Just(Lack::ALL.to_vec()),
        1 => Just(vec![Lack::Crash]),
        1 => Just(vec![Lack::Image]),
        1 => Just(vec![Lack::Volume]),
        1 => Just(vec![Lack::Claim]),
        1 => Just(vec![Lack::Resources]),
    ];
    let most = prop_oneof![Just(0.8), Just(0.5), Just(0.9)];
    (most, lacks)
        .prop_flat_map(|(affected, lacks)| prop::collection::vec(one(affected, lacks), 1..60))
}

/// Many nodes that each stand out, beside as many that start well.
fn many_nodes() -> impl Strategy<Value = Vec<Given>> {
    let crowd = prop::collection::vec(one(0.99, vec![Lack::Crash]), 12..80);
    let nodes = 4..16_usize;
    (crowd, nodes, prop::collection::vec(one(0.01, vec![Lack::Crash]), 0..80)).prop_map(
        |(mut crowd, nodes, mut well)| {
            for (number, pod) in crowd.iter_mut().enumerate() {
                // The first nodes have most of the pods.
                let node = (number * number / 7) % nodes;
                pod.node = (number % 11 > 0).then_some(node as u8);
                pod.workload = None;
            }
            for pod in &mut well {
                pod.node = Some(100);
            }
            crowd.extend(well);
            crowd
        },
    )
}

prop_compose! {
    /// Pods that share nothing but their cause, of a few workloads of which each mostly has one or two kinds of texts.
    fn several_faults()(
        lack in prop::sample::select(vec![
            Lack::Claim, Lack::Crash, Lack::Crash, Lack::Image, Lack::Image, Lack::Resources, Lack::Volume,
        ]),
    )(
        crowd in prop::collection::vec(one(0.99, vec![lack]), 2..45),
        well in prop::collection::vec(one(0.01, vec![lack]), 0..14),
        workloads in prop_oneof![1..4_u8, 3..13_u8],
        (kinds, first, step) in (1..8_u8, 0..KINDS, 1..5_u8),
        picks in prop::collection::vec(0..40_u8, 45),
        by_registry in any::<bool>(),
    ) -> Vec<Given> {
        let mut all = crowd;
        for (number, (pod, pick)) in all.iter_mut().zip(picks).enumerate() {
            let workload = pick % workloads;
            (pod.node, pod.namespace) = (Some(10 + number as u8), workload % 4);
            pod.workload = pod.workload.map(|_| workload);
            let (mut image, mut place) = (6 + number as u8, workload);
            // Of a few registries.
            if pick % 3 > 0 {
                image = image / 8 * 8 + pick % 4;
            }
            if by_registry {
                place = image % 8;
            }
            pod.image = image;
            let other = place + u8::from(pick % 4 == 0);
            let kind = match pick {
                0..35 => (first + other % kinds * step) % KINDS,
                _ => (first + pick) % KINDS,
            };
            pod.said = pod.said.map(|(_, ids)| (of_cause(kind, pod.affected), ids));
        }
        all.extend(well);
        all
    }
}

pub(super) fn any_given() -> impl Strategy<Value = Vec<Given>> {
    prop_oneof![3 => given(), 1 => many_nodes(), 3 => several_faults()]
}
