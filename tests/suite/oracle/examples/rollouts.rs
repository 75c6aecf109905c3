//! [§17](crate::specification#s17): lives of rollouts. The pods of the first list are up.

use serde_json::{Value, json};

use super::{API, Example, example};
use crate::oracle::build::{
    Pod, READY, added, at, bookmark, deleted, expired, list, modified, pod, time,
};

/// A pod of the Deployment `web`, created long ago.
fn web(name: &str, revision: &str) -> Pod {
    let owner = format!("web-{revision}");
    of(name, "ReplicaSet", &owner, "pod-template-hash", revision)
}

fn of(name: &str, kind: &str, owner: &str, label: &str, revision: &str) -> Pod {
    let owners = json!([{"kind": kind, "name": owner, "controller": true}]);
    pod(name).created(-1000.0).put("metadata", "ownerReferences", owners).put(
        "metadata",
        "labels",
        json!({label: revision}),
    )
}

fn stateful(name: &str, revision: &str, uid: &str) -> Pod {
    of(name, "StatefulSet", "db", "controller-revision-hash", revision).uid(uid)
}

fn cloned(name: &str, revision: &str) -> Pod {
    of(name, "CloneSet", "web", "controller-revision-hash", revision).up(-900.0)
}

trait Life {
    fn up(self, seconds: f64) -> Pod;
    fn down(self, seconds: f64) -> Pod;
    fn ending(self, asked: f64, grace: f64) -> Pod;
}

impl Life for Pod {
    fn up(self, seconds: f64) -> Pod {
        self.yes(READY, seconds).phase("Running")
    }

    fn down(self, seconds: f64) -> Pod {
        self.no(READY, seconds).phase("Running")
    }

    fn ending(self, asked: f64, grace: f64) -> Pod {
        self.put("metadata", "deletionTimestamp", time(asked + grace)).put(
            "metadata",
            "deletionGracePeriodSeconds",
            (grace as u64).into(),
        )
    }
}

fn olds<const N: usize>(names: [&str; N]) -> [Pod; N] {
    names.map(|name| web(name, "a").up(-900.0))
}

fn tick(seconds: f64) -> Value {
    at(seconds, bookmark(false))
}

/// A pod that is shown as it is created.
fn new(pod: &Pod, seconds: f64) -> Value {
    at(seconds, added(&pod.clone().created(seconds.floor())))
}

/// A pod that becomes ready.
fn up(pod: &Pod, created: f64, seconds: f64) -> Value {
    at(seconds, modified(&pod.clone().created(created).up(seconds.floor())))
}

fn ends(pod: &Pod, seconds: f64) -> Value {
    at(seconds, modified(&pod.clone().ending(seconds.floor(), 30.0)))
}

fn gone(pod: &Pod, seconds: f64) -> Value {
    at(seconds, deleted(pod))
}

pub(super) fn examples() -> Vec<Example> {
    let said = |says, documents, expected| example(says, API, documents, expected);
    vec![
        said(
            "§17.2, §17.5: a rolling update of 3 with surge 1",
            rolling(),
            "
            rollouts completed 1
            rollout 1 41.5
            held starting 39
            held controller 2.5",
        ),
        said(
            "§17.2: the begin of an ordered StatefulSet is when the first deletion was asked for",
            ordered(),
            "
            rollouts completed 1
            rollout 1 37
            held starting 19.6
            held ending 16
            held controller 1.4",
        ),
        said(
            "§17.2: so is that of a Deployment that recreates, of the last of its pods",
            recreate(),
            "
            rollouts completed 1
            rollout 1 15
            held starting 11
            held ending 4",
        ),
        said(
            "§17.2: a bad image is rolled back",
            rolled_back(),
            "
            rollouts rolled_back 1
            held starting 300",
        ),
        said(
            "§17.2: the old revision had no pod left when it came back, and starts slowly",
            rolled_back_from_nothing(),
            "
            rollouts rolled_back 1
            held starting 60
            held controller 1",
        ),
        said(
            "§17.2: a third revision supersedes, and the next one wants as many",
            superseded(),
            "
            rollouts superseded 1
            rollouts completed 1
            rollout 1 21
            held starting 78
            held controller 3",
        ),
        said(
            "§17.3: a canary that stays is in progress, held by its controller",
            canary(),
            "
            progress controller 1
            held starting 10
            held controller 390",
        ),
        said(
            "§17.2: an end counts once it has lasted for 10 s: a canary's only pod is drained",
            drained_canary(),
            "
            progress controller 1
            held starting 15
            held controller 185",
        ),
        said(
            "§17.2: fewer than wanted live for 2 minutes: scaled down meanwhile",
            scaled_down(),
            "
            rollouts completed 1
            rollout 1 20.3
            held starting 10.2
            held ending 9.1
            held controller 1",
        ),
        said(
            "§17.2: not before 2 minutes",
            scaled_down_a_moment_ago(),
            "
            rollouts completed 0
            progress controller 1
            held starting 10.2
            held ending 9.1
            held controller 1",
        ),
        said(
            "§17.2: a drain begins nothing, nor do pods of the same revision",
            drained(),
            "
            discovered 3
            rollouts completed 0",
        ),
        said(
            "§17.4: found in the first list, with no outcome and no duration",
            found(),
            "
            rollouts completed 0
            held starting 10
            held controller 52",
        ),
        said(
            "§17.4: found in the first list, and superseded",
            found_superseded(),
            "
            rollouts superseded 1
            progress starting 1
            held starting 10
            held controller 50",
        ),
        said(
            "§17.3: pods that are down",
            down(),
            "
            rollouts completed 1
            rollout 1 51
            held starting 10
            held not_ready 30
            held controller 11",
        ),
        said(
            "§17.2: no pod is left for 10 minutes",
            removed(),
            "
            rollouts removed 1
            held starting 10",
        ),
        said(
            "§17.2: it begins in a gap, at the creation that the list states",
            begun_in_gap(),
            "
            rollouts completed 1
            rollout 1 51
            held starting 10
            held controller 41",
        ),
        said(
            "§17.2: when it ended in a gap is not known",
            ended_in_gap(),
            "
            rollouts completed 1
            held starting 30",
        ),
        said(
            "§17.2: nothing ends out of sync",
            ended_out_of_sync(),
            "
            rollouts completed 0
            progress controller 1
            held starting 10
            held controller 1",
        ),
        said(
            "§17.2: nothing begins out of sync",
            begun_out_of_sync(),
            "
            discovered 2
            rollouts completed 0",
        ),
        said(
            "§17.2: what a list shows first is in the order of its creation",
            two_in_a_list(),
            "
            rollouts superseded 1
            progress starting 1
            held starting 50",
        ),
        said(
            "§17.1: a pod that a list shows first may be down",
            found_down(),
            "
            rollouts completed 0
            progress not_ready 1
            held not_ready 20",
        ),
        said(
            "§17.1: an ending pod is never up",
            up_while_ending(),
            "
            progress starting 1
            held ending 1
            held starting 16
            held controller 2",
        ),
        said(
            "§17.3: starting goes before not_ready",
            down_and_starting(),
            "
            progress starting 1
            held starting 19
            held controller 1",
        ),
        said(
            "§17.2: at least one is wanted",
            none_wanted(),
            "
            progress starting 1
            held starting 50",
        ),
        said(
            "§17.2: no pod is left, but not yet for 10 minutes",
            removed_a_moment_ago(),
            "
            progress controller 1
            held starting 10",
        ),
        said(
            "§17.1: labels that change begin nothing, and become the own revision",
            moved(),
            "
            rollouts completed 0
            progress starting 1
            held starting 10",
        ),
        said(
            "§17.2: an end that stands counts when the next revision comes",
            deployed_again(),
            "
            rollouts completed 1
            rollout 1 11
            progress starting 1
            held starting 15
            held controller 1",
        ),
        said(
            "§17.2: the surge of the rollout before is not wanted, whose end counts with the next revision",
            deployed_again_and_done(),
            "
            rollouts completed 2
            rollout 2 22
            held starting 20
            held controller 2",
        ),
        said(
            "§17.2: nor is it where that end has counted",
            deployed_twice(),
            "
            rollouts completed 2
            rollout 2 22
            held starting 20
            held controller 2",
        ),
        said(
            "§17.2: pods whose labels become of a third revision supersede it",
            moved_to_a_third(),
            "
            rollouts superseded 1
            held starting 10
            held controller 2",
        ),
        said(
            "§17.2: a third revision that comes while no pod lives leaves no time out",
            superseded_from_nothing(),
            "
            rollouts superseded 1
            progress starting 1
            held starting 15
            held controller 5",
        ),
        said(
            "§17.1: pods that lose their controller have gone",
            orphaned(),
            "
            rollouts completed 1
            rollout 1 12
            held starting 10
            held controller 2",
        ),
        said(
            "§17.4: of two revisions of the same second none is found",
            found_tie(),
            "
            discovered 2
            rollouts completed 0
            progress starting 0",
        ),
        said(
            "§17.1: Jobs, static pods and pods without a controller have no part",
            without_part(),
            "
            discovered 6
            rollouts completed 0",
        ),
        said(
            "§17.1: the first label counts: an Argo Rollout",
            argo(),
            "
            rollouts completed 1
            rollout 1 11
            held starting 10
            held controller 1",
        ),
        said(
            "§17.1, §17.2: a pod that has failed lives no longer",
            evicted(),
            "
            rollouts completed 1
            rollout 1 11
            held starting 10
            held controller 1",
        ),
        said(
            "§17.2: scaled to nothing for longer than 10 minutes, no revision is another",
            from_nothing(),
            "
            discovered 3
            rollouts completed 0",
        ),
        said(
            "§17.2: pods that come later do not extend it",
            later_pods(),
            "
            rollouts completed 1
            rollout 1 11
            held starting 10
            held controller 1",
        ),
        said(
            "§17.2: what lived more than 10 minutes ago is not wanted",
            scaled_down_before(),
            "
            rollouts completed 1
            rollout 1 11
            held starting 10
            held controller 1",
        ),
        said(
            "§17.2: pods that end are not wanted, and one that vanished hides the begin",
            vanished_before(),
            "
            rollouts completed 1
            held starting 10.5",
        ),
    ]
}

fn rolling() -> Vec<Value> {
    let [a, b, c] = olds(["a1", "a2", "a3"]);
    let [d, e, f] = ["b1", "b2", "b3"].map(|name| web(name, "b"));
    vec![
        at(0.0, list(&[a.clone(), b.clone(), c.clone()])),
        new(&d, 100.0),
        up(&d, 100.0, 110.0),
        ends(&a, 110.5),
        new(&e, 111.0),
        up(&e, 111.0, 121.0),
        ends(&b, 121.5),
        new(&f, 122.0),
        gone(&a, 140.0),
        up(&f, 122.0, 141.0),
        ends(&c, 141.5),
        gone(&b, 150.0),
        tick(151.5),
        gone(&c, 171.0),
    ]
}

fn ordered() -> Vec<Value> {
    let [one, two] =
        [stateful("db-0", "a", "u0").up(-900.0), stateful("db-1", "a", "u1").up(-900.0)];
    let [three, four] = [stateful("db-1", "b", "u2"), stateful("db-0", "b", "u3")];
    vec![
        at(0.0, list(&[one.clone(), two.clone()])),
        at(100.2, modified(&two.clone().ending(100.0, 10.0))),
        at(108.0, deleted(&two.clone().ending(100.0, 10.0))),
        new(&three, 108.5),
        up(&three, 108.0, 118.0),
        at(119.0, modified(&one.clone().ending(119.0, 10.0))),
        at(127.0, deleted(&one.clone().ending(119.0, 10.0))),
        new(&four, 127.4),
        up(&four, 127.0, 137.0),
        tick(147.0),
    ]
}

fn recreate() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let [d, e] = ["b1", "b2"].map(|name| web(name, "b"));
    vec![
        at(0.0, list(&[a.clone(), b.clone()])),
        at(100.1, modified(&a.clone().ending(100.0, 5.0))),
        at(101.2, modified(&b.clone().ending(101.0, 5.0))),
        at(104.0, deleted(&a.ending(100.0, 5.0))),
        at(105.0, deleted(&b.ending(101.0, 5.0))),
        new(&d, 105.5),
        new(&e, 105.6),
        up(&d, 105.0, 115.0),
        up(&e, 105.0, 116.0),
        tick(126.0),
    ]
}

fn rolled_back() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let bad = web("b1", "b");
    vec![
        at(0.0, list(&[a, b])),
        new(&bad, 100.0),
        ends(&bad.clone().created(100.0), 400.0),
        gone(&bad, 401.0),
        tick(410.0),
    ]
}

fn rolled_back_from_nothing() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let (bad, again) = (web("b1", "b"), web("a2", "a"));
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        // Recreate: a minute ago
        at(39.0, deleted(&a.ending(39.0, 0.0))),
        new(&bad, 100.0),
        ends(&bad.clone().created(100.0), 130.0),
        // B is ending, and no other pod lives.
        new(&again, 131.0),
        gone(&bad, 140.0),
        up(&again, 131.0, 161.0),
        tick(171.0),
    ]
}

fn superseded() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let (d, [e, f]) = (web("b1", "b"), ["c1", "c2"].map(|name| web(name, "c")));
    vec![
        at(0.0, list(&[a.clone(), b.clone()])),
        new(&d, 100.0),
        new(&e, 160.0),
        ends(&d.clone().created(100.0), 165.0),
        gone(&d, 166.0),
        up(&e, 160.0, 170.0),
        ends(&a, 171.0),
        new(&f, 172.0),
        up(&f, 172.0, 180.0),
        ends(&b, 181.0),
        tick(191.0),
    ]
}

fn canary() -> Vec<Value> {
    let canary = web("b1", "b");
    vec![
        at(0.0, list(&olds(["a1", "a2", "a3"]))),
        new(&canary, 100.0),
        up(&canary, 100.0, 110.0),
        tick(500.0),
    ]
}

fn drained_canary() -> Vec<Value> {
    let [one, two] = ["b1", "b2"].map(|name| web(name, "b"));
    vec![
        at(0.0, list(&olds(["a1", "a2"]))),
        new(&one, 100.0),
        up(&one, 100.0, 105.0),
        ends(&one.clone().created(100.0).up(105.0), 200.0),
        new(&two, 205.0),
        gone(&one, 206.0),
        up(&two, 205.0, 215.0),
        tick(300.0),
    ]
}

fn scaling_down() -> Vec<Value> {
    let olds = olds(["a1", "a2", "a3", "a4"]);
    let [d, e] = ["b1", "b2"].map(|name| web(name, "b"));
    let mut documents = vec![
        at(0.0, list(&olds)),
        new(&d, 100.0),
        new(&e, 100.1),
        up(&d, 100.0, 110.0),
        up(&e, 100.0, 110.2),
    ];
    let places = (0..).zip(&olds);
    documents.extend(places.clone().map(|(place, old)| ends(old, 111.0 + f64::from(place) / 10.0)));
    documents.extend(places.map(|(place, old)| gone(old, 120.0 + f64::from(place) / 10.0)));
    documents
}

fn scaled_down() -> Vec<Value> {
    [scaling_down(), vec![tick(240.2), tick(240.3)]].concat()
}

fn scaled_down_a_moment_ago() -> Vec<Value> {
    [scaling_down(), vec![tick(240.2)]].concat()
}

fn drained() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let c = web("a3", "a");
    vec![
        at(0.0, list(&[a.clone(), b])),
        ends(&a, 100.0),
        new(&c, 100.5),
        gone(&a, 120.0),
        up(&c, 100.0, 130.0),
        tick(900.0),
    ]
}

fn found_rollout() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let d = web("b1", "b").created(-50.0).up(-40.0);
    vec![at(0.0, list(&[a, d, b]))]
}

fn found() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let [e, f] = ["b2", "b3"].map(|name| web(name, "b"));
    let rest = vec![
        new(&e, 50.0),
        new(&f, 50.0),
        up(&e, 50.0, 60.0),
        up(&f, 50.0, 60.0),
        ends(&a, 61.0),
        ends(&b, 62.0),
        gone(&a, 63.0),
        gone(&b, 63.5),
        tick(73.0),
    ];
    [found_rollout(), rest].concat()
}

fn found_superseded() -> Vec<Value> {
    let next = web("c1", "c");
    [found_rollout(), vec![new(&next, 50.0), tick(60.0)]].concat()
}

fn down() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let d = web("b1", "b");
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        new(&d, 100.0),
        up(&d, 100.0, 110.0),
        at(120.0, modified(&d.clone().created(100.0).down(120.0))),
        up(&d, 100.0, 150.0),
        ends(&a, 151.0),
        gone(&a, 152.0),
        tick(161.0),
    ]
}

fn removed() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let d = web("b1", "b");
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        new(&d, 100.0),
        gone(&a, 105.0),
        gone(&d, 110.0),
        tick(710.0),
    ]
}

fn begun_in_gap() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let [d, e] = ["b1", "b2"].map(|name| web(name, "b"));
    vec![
        at(0.0, list(&[a.clone(), b])),
        at(100.0, expired()),
        at(160.0, list(&[a.clone(), d.created(130.0).up(140.0)])),
        new(&e, 170.0),
        up(&e, 170.0, 180.0),
        ends(&a, 181.0),
        tick(191.0),
    ]
}

fn ended_in_gap() -> Vec<Value> {
    let d = web("b1", "b");
    vec![
        at(0.0, list(&olds(["a1"]))),
        new(&d, 100.0),
        at(110.0, expired()),
        at(130.0, list(&[d.created(100.0).up(115.0)])),
        tick(140.0),
    ]
}

fn ended_out_of_sync() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let d = web("b1", "b");
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        new(&d, 100.0),
        up(&d, 100.0, 110.0),
        ends(&a, 111.0),
        at(115.0, expired()),
        tick(200.0),
    ]
}

fn moved() -> Vec<Value> {
    let [a, b] = ["a1", "a2"].map(|name| cloned(name, "a"));
    let moved = |name| cloned(name, "b");
    vec![
        at(0.0, list(&[a, b])),
        at(100.0, modified(&moved("a1"))),
        at(101.0, modified(&moved("a2"))),
        new(&moved("b3"), 200.0),
        new(&of("c1", "CloneSet", "web", "controller-revision-hash", "c"), 300.0),
        tick(310.0),
    ]
}

fn one_for_another(new_one: &Pod, old: &Pod) -> Vec<Value> {
    vec![
        at(0.0, list(std::slice::from_ref(old))),
        new(new_one, 100.0),
        up(new_one, 100.0, 110.0),
        ends(old, 111.0),
        gone(old, 112.0),
    ]
}

fn deployed_again() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let rest = vec![new(&web("c1", "c"), 115.0), tick(120.0)];
    [one_for_another(&web("b1", "b"), &a), rest].concat()
}

fn done_again(begun: f64) -> Vec<Value> {
    let [b, c] = [web("b1", "b"), web("c1", "c")];
    vec![new(&c, begun), up(&c, begun, begun + 10.0), ends(&b, begun + 11.0), tick(begun + 22.0)]
}

fn deployed_again_and_done() -> Vec<Value> {
    let [a] = olds(["a1"]);
    [one_for_another(&web("b1", "b"), &a), done_again(115.0)].concat()
}

fn deployed_twice() -> Vec<Value> {
    let [a] = olds(["a1"]);
    [one_for_another(&web("b1", "b"), &a), vec![tick(125.0)], done_again(200.0)].concat()
}

fn moved_to_a_third() -> Vec<Value> {
    let of = |name, revision| of(name, "CloneSet", "web", "controller-revision-hash", revision);
    vec![
        at(0.0, list(&[cloned("a1", "a")])),
        new(&of("b1", "b"), 100.0),
        up(&of("b1", "b"), 100.0, 110.0),
        at(111.0, modified(&cloned("a1", "c"))),
        up(&of("b1", "c"), 100.0, 112.0),
        tick(123.0),
    ]
}

fn superseded_from_nothing() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let b = web("b1", "b");
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        new(&b, 100.0),
        gone(&a, 105.0),
        gone(&b, 110.0),
        new(&web("c1", "c"), 115.0),
        tick(120.0),
    ]
}

fn orphaned() -> Vec<Value> {
    let b = web("b1", "b");
    let [one, two] = olds(["a1", "a2"]);
    let orphan = |pod: &Pod| modified(&pod.clone().put("metadata", "ownerReferences", json!([])));
    let orphans = [at(111.0, orphan(&one)), at(112.0, orphan(&two))];
    let mut documents = vec![at(0.0, list(&[one, two])), new(&b, 100.0), up(&b, 100.0, 110.0)];
    documents.extend(orphans);
    documents.push(tick(233.0));
    documents
}

fn found_tie() -> Vec<Value> {
    vec![at(0.0, list(&[web("a1", "a").up(-900.0), web("b1", "b")])), tick(10.0)]
}

fn without_part() -> Vec<Value> {
    let job = |name, revision| of(name, "Job", "import", "controller-revision-hash", revision);
    let alone = |name, revision| {
        let pod = web(name, revision).put("metadata", "ownerReferences", json!([]));
        pod.put("metadata", "labels", json!({"pod-template-hash": revision}))
    };
    let fixed = |name, revision| web(name, revision).mirror();
    let olds = [job("j1", "a"), alone("p1", "a"), fixed("s1", "a")];
    let news = [job("j2", "b"), alone("p2", "b"), fixed("s2", "b")];
    let news = news.iter().map(|pod| new(pod, 100.0));
    [at(0.0, list(&olds))].into_iter().chain(news).chain([tick(150.0)]).collect()
}

fn argo() -> Vec<Value> {
    let rollout = |name: &str, revision: &str| {
        let pod = of(name, "ReplicaSet", &format!("web-{revision}"), "x", "");
        let labels = json!({"pod-template-hash": "same", "rollouts-pod-template-hash": revision});
        pod.put("metadata", "labels", labels)
    };
    let mut documents = one_for_another(&rollout("b1", "b"), &rollout("a1", "a").up(-900.0));
    documents.push(tick(121.0));
    documents
}

fn evicted() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let mut documents = one_for_another(&web("b1", "b"), &a);
    documents.truncate(3);
    documents.extend([at(111.0, modified(&a.phase("Failed"))), tick(121.0)]);
    documents
}

fn from_nothing() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let [d, e] = ["b1", "b2"].map(|name| web(name, "b"));
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        gone(&a, 100.0),
        new(&d, 700.0),
        new(&e, 700.5),
        up(&d, 700.0, 710.0),
        up(&e, 700.0, 711.0),
        tick(900.0),
    ]
}

fn later_pods() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let rest = vec![new(&web("b2", "b"), 111.5), tick(121.0)];
    let mut documents = one_for_another(&web("b1", "b"), &a);
    documents.truncate(4);
    [documents, rest].concat()
}

fn scaled_down_before() -> Vec<Value> {
    let [a, b] = olds(["a1", "a2"]);
    let mut documents = one_for_another(&web("b1", "b"), &a);
    documents[0] = at(-600.0, list(&[a, b.clone()]));
    documents.insert(1, gone(&b, -500.0));
    documents.push(tick(121.0));
    documents
}

fn vanished_before() -> Vec<Value> {
    let [one, two] =
        [stateful("db-0", "a", "u0").up(-900.0), stateful("db-1", "a", "u1").up(-900.0)];
    let three = stateful("db-0", "b", "u2");
    vec![
        at(0.0, list(&[one, two.ending(-10.0, 30.0)])),
        at(60.0, expired()),
        at(100.5, list(&[three.clone().created(100.0)])),
        up(&three, 100.0, 110.5),
        tick(120.5),
    ]
}

fn begun_out_of_sync() -> Vec<Value> {
    let d = web("b1", "b");
    vec![at(0.0, list(&olds(["a1"]))), at(100.0, expired()), new(&d, 110.0), tick(150.0)]
}

fn two_in_a_list() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let (d, e) = (web("b1", "b").created(120.0), web("c1", "c").created(150.0));
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        at(100.0, expired()),
        at(160.0, list(&[e, d, a])),
        tick(170.0),
    ]
}

fn found_down() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let d = web("b1", "b").created(-50.0).started(-45.0).down(-10.0);
    vec![at(0.0, list(&[a, d])), tick(20.0)]
}

fn up_while_ending() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let [d, e] = ["b1", "b2"].map(|name| web(name, "b"));
    let ending = d.clone().created(100.0).ending(105.0, 30.0);
    vec![
        at(0.0, list(std::slice::from_ref(&a))),
        at(99.5, deleted(&a.ending(99.0, 0.0))),
        new(&d, 100.0),
        at(105.0, modified(&ending)),
        at(106.0, modified(&ending.up(106.0))),
        new(&e, 107.0),
        tick(118.0),
    ]
}

fn down_and_starting() -> Vec<Value> {
    let [d, e] = ["b1", "b2"].map(|name| web(name, "b"));
    vec![
        at(0.0, list(&olds(["a1", "a2"]))),
        new(&d, 100.0),
        up(&d, 100.0, 110.0),
        new(&e, 111.0),
        at(115.0, modified(&d.created(100.0).down(115.0))),
        tick(120.0),
    ]
}

fn none_wanted() -> Vec<Value> {
    let [a] = olds(["a1"]);
    let [d, e] = ["b1", "b2"].map(|name| web(name, "b"));
    vec![
        at(0.0, list(&[a.ending(-10.0, 300.0)])),
        new(&d, 100.0),
        new(&e, 100.5),
        ends(&d.created(100.0), 105.0),
        tick(150.0),
    ]
}

fn removed_a_moment_ago() -> Vec<Value> {
    let mut documents = removed();
    documents.pop();
    documents.push(tick(709.9));
    documents
}
