//! Clusters in which controllers roll out: every surge and unavailability, ordered StatefulSets, DaemonSets, Recreate,
//! updates in place; drains, evictions, other numbers of replicas, roll backs, third revisions and canaries meanwhile.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::lives::Version;
use super::rng::Rng;
use super::rollouts_delivery::deliver;
use super::{History, LABELS_OF_WORKLOADS};
use crate::oracle::build::{Pod, READY, instant, pod, time};
use crate::oracle::reading::{Options, Timestamps};

/// The history of rollouts that the seed stands for.
pub(crate) fn rollouts(seed: u64) -> History {
    let rng = &mut Rng::new(seed ^ 0x726f_6c6c);
    let mut log = Controller::run(rng, "web");
    if rng.percent(30) {
        log.extend(Controller::run(rng, "api"));
        log.sort_by(|one, other| one.at.total_cmp(&other.at));
    }
    for (version, number) in log.iter_mut().zip(100..) {
        version.pod = version.pod.clone().version(number);
    }
    let ends = log.last().map_or(0.0, |version| version.at);
    let documents = deliver(rng, &log);
    let until = rng.percent(15).then(|| instant((ends * rng.fraction()).floor() + 100.0));
    let options = Options {
        timestamps: rng.pick(&[Timestamps::Api, Timestamps::Fused]),
        backfill: rng.percent(15),
        until,
        labels: rng.pick(&[&[], LABELS_OF_WORKLOADS]),
        ..Options::DEFAULT
    };
    History { documents, options }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Deployment,
    Recreate,
    Argo,
    StatefulSet,
    DaemonSet,
    InPlace,
}

const KINDS: [Kind; 8] = [
    Kind::Deployment,
    Kind::Deployment,
    Kind::Deployment,
    Kind::Recreate,
    Kind::Argo,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::InPlace,
];

const REVISIONS: [&str; 4] = ["a", "b", "c", "d"];

/// A pod that is there.
struct Running {
    uid: String,
    pod: Pod,
    revision: usize,
    /// The number of a StatefulSet's pod, the node of a DaemonSet's
    ordinal: usize,
    up: bool,
    ending: bool,
    failed: bool,
    /// When it becomes ready
    ready: Option<f64>,
    /// When it goes
    goes: Option<f64>,
}

impl Running {
    fn stays(&self) -> bool {
        !self.ending && !self.failed
    }
}

struct Controller<'r> {
    rng: &'r mut Rng,
    name: &'static str,
    kind: Kind,
    at: f64,
    replicas: usize,
    surge: usize,
    unavailable: usize,
    revision: usize,
    before: usize,
    /// How many pods of the new revision there are to be, of a canary
    at_most: usize,
    /// The revisions that never get ready
    bad: usize,
    pods: Vec<Running>,
    serial: usize,
    log: Vec<Version>,
}

impl<'r> Controller<'r> {
    fn run(rng: &'r mut Rng, name: &'static str) -> Vec<Version> {
        let replicas = 1 + rng.below(4);
        let surge = rng.below(3);
        let unavailable = if surge == 0 { 1 + rng.below(2) } else { rng.below(3) };
        let kind = rng.pick(&KINDS);
        let mut controller = Self {
            name,
            kind,
            at: 0.0,
            replicas,
            surge,
            unavailable,
            revision: 0,
            before: 0,
            at_most: usize::MAX,
            bad: REVISIONS.len(),
            pods: Vec::new(),
            serial: 0,
            log: Vec::new(),
            rng,
        };
        controller.reconcile();
        let ticks = 30 + controller.rng.below(60);
        for _ in 0..ticks {
            controller.tick();
        }
        controller.log
    }

    fn tick(&mut self) {
        self.at += self.rng.pick(&[0.3, 0.9, 1.0, 2.1, 2.5, 4.0, 6.5]);
        if self.rng.percent(5) {
            self.at += self.rng.pick(&[11.0, 70.0, 130.0, 640.0]);
        }
        self.kubelets();
        match self.rng.below(100) {
            0..7 if self.at > 20.0 => self.deploy(),
            7..10 => self.replicas = self.rng.pick(&[0, 1, 2, 3, 4, 5]),
            10..14 => self.strike(|controller, place| controller.end(place)),
            14..16 => self.strike(Self::fail),
            16..19 => self.strike(Self::unready),
            19..21 => self.at_most = self.rng.pick(&[1, 2]),
            21..25 => self.at_most = usize::MAX,
            _ => {}
        }
        if !self.rng.percent(15) {
            self.reconcile();
        }
    }

    /// Another revision, or the one before.
    fn deploy(&mut self) {
        // Revisions that begin in the same second would have no order.
        self.at = self.at.ceil() + 1.1;
        let next = match self.rng.percent(35) {
            true => self.before,
            false => self.rng.below(REVISIONS.len()),
        };
        self.before = self.revision;
        self.revision = next;
        if self.rng.percent(20) {
            self.bad = next;
        } else if self.rng.percent(50) {
            self.bad = REVISIONS.len();
        }
    }

    /// Something happens to a pod that stays.
    fn strike(&mut self, blow: fn(&mut Self, usize)) {
        let staying = (0..self.pods.len()).filter(|place| self.pods[*place].stays());
        let staying: Vec<usize> = staying.collect();
        if !staying.is_empty() {
            let place = self.rng.pick(&staying);
            blow(self, place);
        }
    }

    /// What kubelets do: pods get ready, and go.
    fn kubelets(&mut self) {
        for place in (0..self.pods.len()).rev() {
            let pod = &self.pods[place];
            if pod.goes.is_some_and(|goes| goes <= self.at) {
                self.write(place, true);
                self.pods.remove(place);
            } else if pod.ready.is_some_and(|ready| ready <= self.at) && !pod.failed {
                let ready = self.at.floor();
                let pod = &mut self.pods[place];
                (pod.ready, pod.up) = (None, true);
                pod.pod = pod.pod.clone().yes(READY, ready).phase("Running");
                self.write(place, false);
            }
        }
    }

    fn fail(&mut self, place: usize) {
        self.pods[place].failed = true;
        self.pods[place].up = false;
        let pod = self.pods[place].pod.clone().phase("Failed");
        self.pods[place].pod = pod.put("status", "reason", "Evicted".into());
        let stays = self.rng.below(60) as f64;
        self.pods[place].goes = self.rng.percent(60).then_some(self.at + stays);
        self.write(place, false);
    }

    fn unready(&mut self, place: usize) {
        if self.pods[place].up {
            let back = self.at + self.rng.below(60) as f64;
            let pod = &mut self.pods[place];
            (pod.up, pod.ready) = (false, Some(back));
            pod.pod = pod.pod.clone().no(READY, self.at.floor());
            self.write(place, false);
        }
    }

    fn end(&mut self, place: usize) {
        let grace = self.rng.pick(&[0, 2, 5, 30]);
        let asked = self.at.floor();
        let takes = self.rng.fraction() * f64::from(grace);
        let pod = &mut self.pods[place];
        pod.ending = true;
        pod.goes = Some(self.at + takes);
        pod.pod = pod
            .pod
            .clone()
            .put("metadata", "deletionTimestamp", time(asked + f64::from(grace)))
            .put("metadata", "deletionGracePeriodSeconds", grace.into());
        if grace > 0 {
            self.write(place, false);
        }
        if self.rng.percent(20) && self.pods[place].up {
            self.pods[place].up = false;
            self.pods[place].pod = self.pods[place].pod.clone().no(READY, asked);
            self.write(place, false);
        }
    }

    fn create(&mut self, ordinal: usize, revision: usize) {
        self.at += 0.05;
        self.serial += 1;
        let uid = self.rng.uid();
        let (kind, owner, label) = match self.kind {
            Kind::Deployment | Kind::Recreate => ("ReplicaSet", true, "pod-template-hash"),
            Kind::Argo => ("ReplicaSet", true, "rollouts-pod-template-hash"),
            Kind::StatefulSet => ("StatefulSet", false, "controller-revision-hash"),
            Kind::DaemonSet => ("DaemonSet", false, "controller-revision-hash"),
            Kind::InPlace => ("CloneSet", false, "controller-revision-hash"),
        };
        let owner = match owner {
            true => format!("{}-{}", self.name, REVISIONS[revision]),
            false => self.name.to_owned(),
        };
        let name = match self.kind {
            Kind::StatefulSet => format!("{}-{ordinal}", self.name),
            _ => format!("{}-{}", self.name, self.serial),
        };
        let mut labels = json!({label: REVISIONS[revision]});
        if self.kind == Kind::Argo {
            labels["pod-template-hash"] = "same".into();
        }
        let pod = pod(&name)
            .uid(&uid)
            .created(self.at.floor())
            .put("metadata", "labels", labels)
            .put(
                "metadata",
                "ownerReferences",
                json!([{"kind": kind, "name": owner, "controller": true}]),
            )
            .put("spec", "nodeName", format!("node-{ordinal}").into());
        let takes = self.rng.pick(&[0.0, 2.0, 5.0, 9.0, 20.0, 45.0]);
        self.pods.push(Running {
            uid,
            pod,
            revision,
            ordinal,
            up: false,
            ending: false,
            failed: false,
            ready: (revision != self.bad).then_some(self.at + takes),
            goes: None,
        });
        let place = self.pods.len() - 1;
        self.write(place, false);
        if self.rng.percent(50) {
            let started = self.at.floor();
            let pod = self.pods[place].pod.clone().started(started).no(READY, started);
            self.pods[place].pod = pod;
            self.write(place, false);
        }
    }

    fn write(&mut self, place: usize, is_deletion: bool) {
        self.at += 0.001;
        let Running { uid, pod, .. } = &self.pods[place];
        self.log.push(Version { at: self.at, uid: uid.clone(), pod: pod.clone(), is_deletion });
    }

    fn reconcile(&mut self) {
        match self.kind {
            Kind::Deployment | Kind::Argo => self.roll(),
            Kind::Recreate => self.recreate(),
            Kind::StatefulSet => self.in_order(),
            Kind::DaemonSet => self.node_by_node(),
            Kind::InPlace => self.in_place(),
        }
    }

    fn staying(&self, of: impl Fn(&Running) -> bool) -> Vec<usize> {
        let places = 0..self.pods.len();
        places.filter(|place| self.pods[*place].stays() && of(&self.pods[*place])).collect()
    }

    fn roll(&mut self) {
        let revision = self.revision;
        let all = self.staying(|_| true).len();
        let new = self.staying(|pod| pod.revision == revision);
        let wanted = self.replicas.min(self.at_most.max(usize::from(all == 0)));
        if new.len() < wanted && all < self.replicas + self.surge {
            for _ in 0..(wanted - new.len()).min(self.replicas + self.surge - all) {
                self.create(0, revision);
            }
        } else if new.len() > wanted {
            self.end(new[0]);
        }
        let up = self.staying(|pod| pod.up).len();
        let mut spare = (up + self.unavailable).saturating_sub(self.replicas);
        let keep = self.replicas.saturating_sub(self.at_most);
        let mut olds = self.staying(|pod| pod.revision != revision);
        olds.sort_by_key(|place| self.pods[*place].up);
        for place in olds.iter().take(olds.len().saturating_sub(keep)) {
            if self.pods[*place].up {
                if spare == 0 {
                    break;
                }
                spare -= 1;
            }
            self.end(*place);
        }
    }

    fn recreate(&mut self) {
        let revision = self.revision;
        for place in self.staying(|pod| pod.revision != revision) {
            self.end(place);
        }
        let is_old = |pod: &Running| pod.revision != revision && !pod.failed;
        if !self.pods.iter().any(is_old) {
            self.scale(revision);
        }
    }

    fn scale(&mut self, revision: usize) {
        let there = self.staying(|_| true);
        for _ in there.len()..self.replicas {
            self.create(0, revision);
        }
        if let Some(place) = there.get(self.replicas) {
            self.end(*place);
        }
    }

    fn in_order(&mut self) {
        if let Some(failed) = self.pods.iter().position(|pod| pod.failed) {
            self.pods[failed].goes = Some(self.at);
            return;
        }
        let by_ordinal: BTreeMap<usize, usize> =
            self.pods.iter().enumerate().map(|(place, pod)| (pod.ordinal, place)).collect();
        let partition = self.replicas.saturating_sub(self.at_most);
        for ordinal in 0..self.replicas {
            let Some(place) = by_ordinal.get(&ordinal) else {
                let revision = if ordinal < partition { self.before } else { self.revision };
                self.create(ordinal, revision);
                return;
            };
            if !self.pods[*place].up {
                return;
            }
        }
        let revision = self.revision;
        let mut olds = self.staying(|pod| {
            pod.ordinal >= self.replicas || pod.revision != revision && pod.ordinal >= partition
        });
        olds.sort_by_key(|place| self.pods[*place].ordinal);
        if let Some(last) = olds.last() {
            self.end(*last);
        }
    }

    fn node_by_node(&mut self) {
        let nodes = self.replicas.max(1);
        for node in 0..nodes {
            if !self.pods.iter().any(|pod| pod.ordinal == node && !pod.failed) {
                self.create(node, self.revision);
            }
        }
        let revision = self.revision;
        let up = self.staying(|pod| pod.up).len();
        let olds = self.staying(|pod| pod.revision != revision || pod.ordinal >= nodes);
        if up + self.unavailable.max(1) > nodes
            && let Some(place) = olds.first()
        {
            self.end(*place);
        }
    }

    fn in_place(&mut self) {
        let revision = self.revision;
        self.scale(revision);
        let olds = self.staying(|pod| pod.revision != revision);
        if let Some(place) = olds.first().copied() {
            let labels: Value = json!({"controller-revision-hash": REVISIONS[revision]});
            self.pods[place].revision = revision;
            self.pods[place].pod = self.pods[place].pod.clone().put("metadata", "labels", labels);
            self.write(place, false);
        }
    }
}
