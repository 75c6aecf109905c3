use super::fixtures::{at, delivery, rule};
use super::*;
use crate::lifecycle::delivery::{PodEvent, SourceId};
use crate::lifecycle::observation::Observation;
use crate::lifecycle::saved::SavedTracker;
use crate::lifecycle::saved::read_back;
use crate::lifecycle::slo::Namespaces;
use crate::lifecycle::sources::SourceSuccessor;
use crate::pod::{PodUid, Workload};

fn silent(_: Timestamp, _: Observation<'_>) {}

fn pod(namespace: &str, kind: &str, second: i64) -> PodSnapshot {
    let name = format!("{namespace}-{kind}");
    let mut pod = PodSnapshot::bare(PodUid::from_text(&name), namespace, &*name);
    pod.created = Some(at(second));
    pod.info.workload = Some(Arc::new(Workload { kind: kind.into(), name: "web".into() }));
    pod
}

/// An SLO of the pods of one namespace whose owners have these kinds, or of all its pods.
fn selected(name: &str, namespace: &str, kinds: &[&str]) -> SloRule {
    SloRule {
        namespaces: Namespaces::Include(vec![namespace.into()]),
        owner_kinds: kinds.iter().copied().map(Box::from).collect(),
        ..rule(name, 30)
    }
}

fn under(rules: &[SloRule]) -> TrackerConfig {
    TrackerConfig { slos: rules.into(), ..TrackerConfig::default() }
}

/// A tracker under these rules, to which a list delivers these pods at a second.
fn listed(rules: &[SloRule], pods: Vec<PodSnapshot>, second: i64) -> Tracker {
    let mut tracker = Tracker::new(under(rules));
    let list = PodEvent::Listed { pods: pods.into(), began: at(second) };
    tracker.expect(SourceId(0), at(0));
    tracker.apply(delivery(SourceId(0), second, list), &mut silent);
    tracker
}

/// What is named at a second: the SLO, since when, whether it has matched a pod, and the kinds.
fn named(tracker: &mut Tracker, second: i64) -> Vec<String> {
    tracker.advance(at(second), &mut silent);
    let named = tracker.unmatched_slos().into_iter().map(|one| {
        let since = one.since.nanos_since(at(0)) / 1_000_000_000;
        format!("{} {since} {} {:?}", one.slo, one.matched, one.kinds)
    });
    named.collect()
}

#[test]
fn an_slo_is_named_once_it_has_matched_no_pod_for_ten_minutes() {
    let rules = [rule("all", 30), selected("typo", "shpo", &[]), selected("shop", "shop", &[])];
    // Nothing is known before the first list.
    let mut tracker = listed(&rules, vec![pod("web", "Job", 5)], 2_000);
    assert_eq!(named(&mut tracker, 2_599), [""; 0]);
    assert_eq!(named(&mut tracker, 2_600), ["typo 2000 false []", "shop 2000 false []"]);
    let new = PodEvent::Applied(pod("shop", "Job", 2_700));
    tracker.apply(delivery(SourceId(0), 2_700, new), &mut silent);
    assert_eq!(named(&mut tracker, 2_701), ["typo 2000 false []"]);
    // Where the present is not known, nor is what has matched since.
    let mut blind = listed(&rules[1..2], Vec::new(), 2_000);
    blind.apply(delivery(SourceId(0), 2_100, PodEvent::SyncLost), &mut silent);
    assert_eq!(named(&mut blind, 9_000), [""; 0]);
}

#[test]
fn a_kind_is_named_that_no_pod_has_had() {
    let kinds = ["Job", "Deployments", "StatefulSet"];
    let pods = vec![pod("shop", "CronJob", 5), pod("web", "StatefulSet", 5)];
    let rules = [selected("some", "shop", &kinds), selected("none", "shop", &kinds[1..])];
    let mut tracker = listed(&rules, pods, 10);
    // A CronJob's pods are of its Jobs. That a pod of another namespace has a kind is enough.
    let expected = ["some 10 true [\"Deployments\"]", "none 10 false [\"Deployments\"]"];
    assert_eq!(named(&mut tracker, 700), expected);
    for number in 0..=64 {
        let other = PodEvent::Applied(pod("web", &format!("Kind{number}"), 701));
        tracker.apply(delivery(SourceId(0), 701, other), &mut silent);
    }
    assert_eq!(named(&mut tracker, 702), ["none 10 false []"]);
}

#[test]
fn what_slos_have_matched_outlives_another_file_and_a_restart() {
    let shop = selected("shop", "shop", &[]);
    let mut tracker = listed(std::slice::from_ref(&shop), vec![pod("shop", "Job", 5)], 10);
    let renamed = SloRule { name: "renamed".into(), ..shop.clone() };
    let rules = [renamed, selected("typo", "shop", &["Jobs"]), selected("web", "web", &[])];
    tracker.advance(at(300), &mut silent);
    tracker.set_slos(rules.clone().into());
    assert_eq!(named(&mut tracker, 800), [""; 0]);
    let expected = ["typo 300 false [\"Jobs\"]", "web 300 false []"];
    assert_eq!(named(&mut tracker, 900), expected);
    let restored = |saved| {
        let pods = read_back(&tracker);
        let mut after =
            Tracker::restored(under(&rules), saved, pods, SourceSuccessor::Same, &mut silent);
        let list = PodEvent::Listed { pods: Vec::new().into(), began: at(901) };
        after.apply(delivery(SourceId(0), 901, list), &mut silent);
        after
    };
    assert_eq!(named(&mut restored(tracker.saved()), 902), expected);
    // Of a checkpoint that does not say it, nothing is named.
    let older = SavedTracker { slo_matches: None, ..tracker.saved() };
    assert_eq!(named(&mut restored(older), 9_000), [""; 0]);
}
