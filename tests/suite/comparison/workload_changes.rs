//! What changed in workloads ([§15.4](crate::specification#s15-4)): examples, random sides against a second reading, and
//! pairs in which nothing changed.

use std::collections::{BTreeMap, BTreeSet};

use super::sides::{Pod, node_labels, random, side};
use podinit_core::lifecycle::{Interval, TimestampMode};
use podinit_reports::comparison::{
    Comparison, ComparisonConfig, Verdict, WorkloadAspect, WorkloadChanges, compare,
};
use podinit_text::document::TerminalStyle;

const PLAIN: TerminalStyle = TerminalStyle { colour: false, width: 200 };

/// So many pods of so many workloads each, on eight nodes of one pool.
fn pods(workloads: usize, each: usize) -> Vec<Pod> {
    let pod = |number: usize| Pod {
        created: 1_770_000_000 + 20 * number as i64,
        workload: Some(workload(number % workloads)),
        node: format!("node-{}", number % 8),
        labels: Some(node_labels("a", "z1")),
        images: vec!["httpd:1".to_owned()],
        durations: vec![(Interval::CreatedToReady, 10_000_000_000 + number as u64)],
        ..Pod::default()
    };
    (0..workloads * each).map(pod).collect()
}

fn workload(number: usize) -> (String, String, String) {
    ("shop".to_owned(), "Deployment".to_owned(), format!("web-{number}"))
}

fn changed(mut pods: Vec<Pod>, change: impl Fn(usize, &mut Pod)) -> Vec<Pod> {
    pods.iter_mut().enumerate().for_each(|(number, pod)| change(number, pod));
    pods
}

fn with(aspect: WorkloadAspect, name: &str) -> impl Fn(usize, &mut Pod) {
    move |_, pod| pod.names.push((aspect, name.to_owned()))
}

fn compared(before: &[Pod], after: &[Pod]) -> Comparison {
    let config = ComparisonConfig { timestamps: TimestampMode::Fused, margin_percent: 5.0 };
    compare(&side(before), &side(after), config)
}

/// Asserts that the answer ends with this, which is all that changed.
fn assert_told(before: &[Pod], after: &[Pod], sentence: &str) {
    let found = compared(before, after);
    let text = &found.answer.text;
    assert!(text.ends_with(&format!(" {sentence}.")), "{text}");
    assert_eq!(found.workload_changes.count, 1, "{found:?}");
    let line = format!("Changed in workloads: {sentence}\n");
    let printed = found.to_text(PLAIN);
    assert!(printed.contains(&line), "{printed}");
    assert!(found.to_html().unwrap().contains(sentence));
}

fn assert_nothing_told(before: &[Pod], after: &[Pod]) {
    let found = compared(before, after);
    assert_eq!(found.workload_changes, WorkloadChanges::default());
    assert!(!found.to_text(PLAIN).contains("Changed in workloads"));
}

#[test]
fn what_was_added_is_named_and_what_was_removed() {
    let usual = pods(12, 5);
    for (aspect, what) in [
        (WorkloadAspect::Container, "a container"),
        (WorkloadAspect::InitContainer, "an init container"),
        (WorkloadAspect::Sidecar, "a sidecar"),
        (WorkloadAspect::SchedulingGate, "a scheduling gate"),
        (WorkloadAspect::ReadinessGate, "a readiness gate"),
    ] {
        let more = changed(usual.clone(), with(aspect, "istio"));
        assert_told(&usual, &more, &format!("12 workloads have {what} more: istio"));
        assert_told(&more, &usual, &format!("12 workloads have {what} fewer: istio"));
    }
    let one = pods(1, 5);
    let more = changed(one.clone(), with(WorkloadAspect::InitContainer, "vault-agent-init"));
    let sentence = "shop/Deployment/web-0 has an init container more: vault-agent-init";
    assert_told(&one, &more, sentence);
    let two = changed(more, with(WorkloadAspect::InitContainer, "wait"));
    let sentence = "shop/Deployment/web-0 has 2 init containers more: vault-agent-init and wait";
    assert_told(&one, &two, sentence);
}

#[test]
fn what_another_took_the_place_of_is_named() {
    let usual = pods(3, 8);
    let image = changed(usual.clone(), |_, pod| pod.images = vec!["nginx:1".to_owned()]);
    assert_told(&usual, &image, "3 workloads have another image: nginx, before httpd");
    let pool = changed(usual.clone(), |_, pod| pod.labels = Some(node_labels("b", "z1")));
    assert_told(&usual, &pool, "3 workloads have another node pool: b, before a");
    let none = changed(usual.clone(), |_, pod| pod.labels = Some(node_labels("_none", "z1")));
    assert_told(&usual, &none, "3 workloads have another node pool: none, before a");
    let kubelet = changed(usual.clone(), |_, pod| {
        pod.labels.as_mut().unwrap().kubelet_version = "v1.36.0".into();
    });
    let sentence = "3 workloads have another kubelet version: v1.36.0, before v1.35.0";
    assert_told(&usual, &kubelet, sentence);
}

#[test]
fn what_the_same_workloads_have_is_one_sentence() {
    let usual = pods(12, 5);
    let more = changed(usual.clone(), with(WorkloadAspect::Container, "istio-proxy"));
    let more = changed(more, with(WorkloadAspect::InitContainer, "istio-init"));
    let sentence =
        "12 workloads have a container more (istio-proxy) and an init container more (istio-init)";
    assert_told(&usual, &more, sentence);
    // What a part of them has is a set of its own. Sets of most workloads come first.
    let others = changed(more, |number, pod| match number % 12 {
        0 => pod.images = vec!["nginx:1".to_owned()],
        1 | 2 => with(WorkloadAspect::ReadinessGate, "lb")(number, pod),
        _ => {}
    });
    let found = compared(&usual, &others);
    let text = format!(
        " {sentence}. 2 workloads have a readiness gate more: lb. shop/Deployment/web-0 has another image: nginx, \
         before httpd."
    );
    assert!(found.answer.text.ends_with(&text), "{}", found.answer.text);
    let json: serde_json::Value = serde_json::from_str(&found.to_json().unwrap()).unwrap();
    let second = serde_json::json!({
        "workloads": 2, "pods": 10, "names": ["shop/Deployment/web-1", "shop/Deployment/web-2"],
        "changes": [{"aspect": "readiness_gate", "after": "lb"}],
    });
    assert_eq!(json["workload_changes"]["count"], 3);
    assert_eq!(json["workload_changes"]["sets"][1], second);
}

#[test]
fn of_many_changes_the_answer_tells_three_and_a_list_twenty() {
    let usual = pods(30, 2);
    let more = changed(usual.clone(), |number, pod| {
        with(WorkloadAspect::Container, &format!("c-{}", number % 30))(number, pod);
    });
    let found = compared(&usual, &more);
    assert_eq!((found.workload_changes.count, found.workload_changes.sets.len()), (30, 20));
    assert_eq!(found.answer.text.matches(" has a container more: ").count(), 3);
    let printed = found.to_text(PLAIN);
    assert!(printed.contains("; and 10 more\n"), "{printed}");
}

#[test]
fn a_rollout_that_has_begun_or_not_ended_is_a_change_where_most_pods_have_it() {
    let usual = pods(1, 20);
    let of = |least: usize| {
        let proxy = with(WorkloadAspect::Container, "proxy");
        changed(usual.clone(), move |number, pod| {
            if number < least {
                proxy(number, pod);
                pod.images = vec!["nginx:1".to_owned()];
            }
        })
    };
    // The old image has to go, so that a half is not enough of it.
    let proxy = "shop/Deployment/web-0 has a container more: proxy";
    let both = "shop/Deployment/web-0 has a container more (proxy) and another image (nginx, before httpd)";
    assert_told(&of(2), &of(18), both);
    assert_told(&of(2), &of(11), proxy);
    assert_nothing_told(&of(2), &of(10));
    assert_nothing_told(&of(3), &of(18));
}

#[test]
fn tags_and_bare_pods_have_no_changes() {
    let usual = pods(3, 5);
    let tags = changed(usual.clone(), |_, pod| pod.images = vec!["httpd:2".to_owned()]);
    assert_nothing_told(&usual, &tags);
    let bare = |pods: Vec<Pod>| changed(pods, |_, pod| pod.workload = None);
    let more = changed(usual.clone(), with(WorkloadAspect::Container, "proxy"));
    assert_nothing_told(&bare(usual), &bare(more));
}

#[test]
fn a_workload_with_other_images_matches_as_a_whole() {
    let usual = pods(12, 10);
    let slower = |pods: Vec<Pod>| changed(pods, |_, pod| pod.durations[0].1 += 12_000_000_000);
    let more = changed(slower(usual.clone()), |_, pod| pod.images.push("istio/proxy".to_owned()));
    let found = compared(&usual, &more);
    assert_eq!((found.mix.before, found.mix.after, found.mix.matches), (1.0, 1.0, 12));
    assert_eq!(found.answer.verdict, Verdict::Slower, "{:?}", found.answer);
    let text = &found.answer.text;
    assert!(text.ends_with(" 12 workloads have a container more: c1."), "{text}");
    // A pod without a workload matches by images alone.
    let bare = |pods: Vec<Pod>| changed(pods, |_, pod| pod.workload = None);
    let found = compared(&bare(usual), &bare(more));
    assert_eq!((found.mix.before, found.mix.after, found.mix.matches), (0.0, 0.0, 0));
}

#[test]
fn names_of_strangers_are_escaped_in_each_format() {
    let usual = pods(1, 5);
    let more = changed(usual.clone(), with(WorkloadAspect::Container, "\u{1b}[2J<b>|*x*"));
    let found = compared(&usual, &more);
    let markdown = found.to_markdown();
    for text in [found.to_text(PLAIN), markdown.clone(), found.to_html().unwrap()] {
        assert!(!text.contains("\u{1b}[2J"), "{text}");
    }
    assert!(!found.to_html().unwrap().contains("<b>|"));
    let (answer, list) = markdown.split_once("Changed in workloads").unwrap();
    assert!(!answer.contains("<b>"), "{answer}");
    assert!(list.contains("`\u{fffd}[2J<b>"), "{list}");
}

/// Pods that spread over three pools with two versions, some workloads in one pool only.
fn spread(random: &mut fastrand::Rng, workloads: usize, each: usize) -> Vec<Pod> {
    changed(pods(workloads, each), |number, pod| {
        let home = number % workloads % 5;
        let mut random = fastrand::Rng::with_seed(random.clone().u64(..) ^ number as u64);
        let node = if home < 3 { 3 * random.usize(..4) + home } else { random.usize(..12) };
        let mut labels = node_labels(["a", "b", "c"][node % 3], "z1");
        labels.kubelet_version = ["v1.35.0", "v1.36.0"][node / 3 % 2].into();
        pod.node = format!("node-{node}");
        pod.labels = Some(labels);
    })
}

#[test]
fn of_the_same_workloads_on_other_nodes_nothing_is_told() {
    let mut told = 0;
    for seed in 0..100 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (workloads, each) = ([1, 5, 30][seed as usize % 3], random.usize(1..12));
        let [before, after] = [(); 2].map(|()| {
            random.u64(..);
            spread(&mut random, workloads, each)
        });
        told += usize::from(compared(&before, &after).workload_changes.count > 0);
    }
    assert!(told <= 1, "{told} of 100");
}

#[test]
fn another_pool_has_to_be_new_the_old_one_gone_and_neither_by_chance() {
    let usual = pods(2, 8);
    let on = |pods: &[Pod], pool: fn(usize) -> &'static str| {
        changed(pods.to_vec(), |number, pod| pod.labels = Some(node_labels(pool(number), "z1")))
    };
    // The second workload stays where it is, and both pools are on both sides.
    let before = on(&usual, |number| ["a", "b"][number % 2]);
    let after = on(&usual, |_| "b");
    assert_told(&before, &after, "shop/Deployment/web-0 has another node pool: b, before a");
    let one_stays = on(&usual, |number| if number == 0 { "a" } else { "b" });
    assert_nothing_told(&before, &one_stays);
    let few: Vec<Pod> = before.iter().take(8).cloned().collect();
    assert_nothing_told(&few, &after[..8]);
    // Of a burst on one node it may be chance.
    let burst = |pods: &[Pod]| {
        changed(pods.to_vec(), |_, pod| {
            (pod.created, pod.node) = (1_770_000_000, "node-1".to_owned());
        })
    };
    assert_nothing_told(&burst(&before), &burst(&after));
    // Where every pod moved, those of all workloads prove it.
    let (small, all) = (pods(20, 1), |pods: &[Pod], pool| on(pods, pool));
    let moved = "20 workloads have another node pool: b, before a";
    assert_told(&all(&small, |_| "a"), &all(&small, |_| "b"), moved);
}

/// What one pod has of an aspect: a name, or under a container's name a value.
type Traits = BTreeSet<(&'static str, String, String)>;

fn traits(pod: &Pod) -> Traits {
    let names =
        pod.names.iter().map(|(aspect, name)| (aspect.as_str(), name.clone(), String::new()));
    let containers =
        (0..pod.images.len()).map(|number| ("container", format!("c{number}"), String::new()));
    let images = pod.images.iter().enumerate().map(|(number, image)| {
        let short =
            if image.starts_with("registry:5000/app") { "registry:5000/app" } else { "side/car" };
        ("image", format!("c{number}"), short.to_owned())
    });
    names.chain(containers).chain(images).collect()
}

type Found = BTreeMap<BTreeSet<String>, BTreeSet<(&'static str, Option<String>, Option<String>)>>;

/// Section 15.4 read once more: each pod and each value is looked at again and again.
fn expected(before: &[Pod], after: &[Pod]) -> Found {
    let observed = |pods: &[Pod]| -> Vec<Pod> {
        pods.iter().filter(|pod| !pod.durations.is_empty()).cloned().collect()
    };
    let sides = [observed(before), observed(after)];
    let workloads = |side: usize| -> BTreeSet<(String, String, String)> {
        sides[side].iter().filter_map(|pod| pod.workload.clone()).collect()
    };
    let both: Vec<_> = workloads(0).intersection(&workloads(1)).cloned().collect();
    type Change = (&'static str, Option<String>, Option<String>);
    let mut of: BTreeMap<Change, BTreeSet<String>> = BTreeMap::new();
    for workload in &both {
        let own = [0, 1].map(|side: usize| -> Vec<Pod> {
            let own = sides[side].iter().filter(|pod| pod.workload.as_ref() == Some(workload));
            own.cloned().collect()
        });
        let share = |side: usize, one: &(&'static str, String, String)| {
            let having = own[side].iter().filter(|pod| traits(pod).contains(one)).count();
            having as f64 / own[side].len() as f64
        };
        let all: Traits = own.iter().flatten().flat_map(traits).collect();
        let come =
            |one: &&(&'static str, String, String)| share(1, one) > 0.5 && share(0, one) <= 0.1;
        let gone =
            |one: &&(&'static str, String, String)| share(0, one) > 0.5 && share(1, one) <= 0.1;
        let (kind, namespace, name) = (&workload.1, &workload.0, &workload.2);
        let name = format!("{namespace}/{kind}/{name}");
        let mut add =
            |aspect, old, new| of.entry((aspect, old, new)).or_default().insert(name.clone());
        for new in all.iter().filter(come) {
            if new.0 != "image" {
                add(new.0, None, Some(new.1.clone()));
            }
            for old in all
                .iter()
                .filter(gone)
                .filter(|old| old.0 == "image" && new.0 == "image" && old.1 == new.1)
            {
                add("image", Some(old.2.clone()), Some(new.2.clone()));
            }
        }
        for old in all.iter().filter(gone).filter(|old| old.0 != "image") {
            add(old.0, Some(old.1.clone()), None);
        }
        for (aspect, of) in [("node_pool", 0), ("kubelet_version", 1)] {
            let values = |pods: &[Pod]| -> Vec<String> {
                let placed = pods.iter().filter_map(|pod| {
                    let labels = pod.labels.as_ref()?;
                    let value = [&labels.pool, &labels.kubelet_version][of].to_string();
                    Some((pod.node.clone(), pod.created.div_euclid(60), value))
                });
                placed.collect::<BTreeSet<_>>().into_iter().map(|(.., value)| value).collect()
            };
            let own = own.each_ref().map(|pods| values(pods));
            for new in &own[1] {
                for old in &own[0] {
                    let most = |side: usize, value: &String| {
                        own[side].iter().filter(|one| *one == value).count() * 2 > own[side].len()
                    };
                    let proven = |of: [&Vec<String>; 2]| {
                        let later = of[1].iter().filter(|one| *one == new).count();
                        let ways = |from: usize| choose(from, later) as f64;
                        let chance = ways(of[1].len()) / ways(of[0].len() + of[1].len());
                        let is_apart = !of[0].contains(new) && !of[1].contains(old);
                        is_apart && chance < 0.01 / both.len() as f64
                    };
                    let everywhere = sides.each_ref().map(|pods| values(pods));
                    let apart = !own[0].contains(new) && !own[1].contains(old);
                    let is_proven =
                        || proven([&own[0], &own[1]]) || proven([&everywhere[0], &everywhere[1]]);
                    if apart && most(0, old) && most(1, new) && is_proven() {
                        add(aspect, Some(old.clone()), Some(new.clone()));
                    }
                }
            }
        }
    }
    let mut sets = Found::new();
    for (change, workloads) in of {
        sets.entry(workloads).or_default().insert(change);
    }
    sets
}

/// In how many ways so many can be taken of all.
fn choose(all: usize, taken: usize) -> u128 {
    let mut row = vec![1_u128];
    for _ in 0..all {
        let next = row.windows(2).map(|pair| pair[0].saturating_add(pair[1]));
        row = std::iter::once(1).chain(next).chain([1]).collect();
    }
    row.get(taken).copied().unwrap_or_default()
}

#[test]
fn random_changes_are_those_of_the_second_reading() {
    let mut aspects = BTreeSet::new();
    for seed in 0..30 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let drawn = |rng: &mut fastrand::Rng| {
            let (share, kubelet, pool) = (rng.usize(..4), rng.usize(..2), rng.usize(..3));
            let mut pods = random(rng, 100, false, 1.0);
            for pod in &mut pods {
                // Each row takes time.
                pod.durations.truncate(1);
                for aspect in [
                    WorkloadAspect::InitContainer,
                    WorkloadAspect::Sidecar,
                    WorkloadAspect::SchedulingGate,
                    WorkloadAspect::ReadinessGate,
                ] {
                    if rng.usize(..3) < share {
                        pod.names.push((aspect, format!("n{}", rng.usize(..2))));
                    }
                }
                // One pool, another one, or one for each node.
                let own = pod.node.clone();
                let mut labels = node_labels(["a", "b", &own][pool], "z1");
                labels.kubelet_version = ["v1.35.0", "v1.36.0"][kubelet].into();
                pod.labels = (rng.usize(..9) > 0).then_some(labels);
                if rng.usize(..3) < share {
                    pod.images.reverse();
                }
            }
            pods
        };
        let (before, after) = (drawn(&mut rng), drawn(&mut rng));
        let expected = expected(&before, &after);
        let found = compared(&before, &after).workload_changes;
        assert_eq!(found.count, expected.len(), "{found:?}\n{expected:?}");
        for set in &found.sets {
            let changes = set.changes.iter();
            let changes =
                changes.map(|one| (one.aspect.as_str(), one.before.clone(), one.after.clone()));
            let wanted = &expected[&set.names.iter().cloned().collect()];
            assert_eq!(&changes.collect::<BTreeSet<_>>(), wanted);
            aspects
                .extend(set.changes.iter().map(|one| (one.aspect.as_str(), one.before.is_some())));
        }
        let sizes: Vec<_> = found.sets.iter().map(|set| (set.workloads, set.pods)).collect();
        assert!(sizes.is_sorted_by(|one, next| one >= next), "{sizes:?}");
    }
    // Each is more and fewer, and another one. Schedulers are no part of records.
    assert_eq!(aspects.len(), 2 * 5 + 3, "{aspects:?}");
}
