//! Lists of pods in a small cluster, of which it is known what keeps each from starting.

use std::sync::Arc;

use podinit_core::lifecycle::{
    Cause, Latency, Milestone, MilestoneSource, NodeFaults, Outcome, Progress, Record,
    RecordedCause, RecordedContainer, RecordedImage, RecordedMilestone, RecordedPull, WaitReason,
};
use podinit_core::pod::{PodInfo, PodUid, Workload};
use podinit_core::reason;
use podinit_core::timestamp::Timestamp;
use podinit_oncall::problems::{Problem, ProblemSnapshot};
use podinit_testing::records;

use super::kinds::{CAUSES, FaultKind, Ids, KINDS, Reach};
use crate::oracle::history::Rng;

/// So many pods start well.
const HEALTHY: usize = 60;
/// So much of a text a record keeps, in bytes.
const KEPT: usize = 256;
const MINUTE: i64 = 60;

const SERVICES: [&str; 36] = [
    "checkout",
    "catalog",
    "gateway",
    "indexer",
    "thumbs",
    "web",
    "transcoder",
    "inference",
    "sessions",
    "ledger",
    "billing",
    "invoices",
    "mailer",
    "search",
    "ranking",
    "profile",
    "avatars",
    "feeds",
    "events",
    "audit",
    "reports",
    "quotes",
    "orders",
    "shipping",
    "returns",
    "pricing",
    "coupons",
    "wishlist",
    "reviews",
    "stock",
    "suppliers",
    "routes",
    "geocoder",
    "weather",
    "alerts",
    "notifier",
];
const NAMESPACES: [&str; 5] = ["shop", "media", "payments", "search", "users"];
const REGISTRIES: [&str; 6] = [
    "registry.example.com",
    "quay.io",
    "ghcr.io",
    "harbor.corp.example",
    "gcr.io",
    "402175839274.dkr.ecr.eu-central-1.amazonaws.com",
];

/// A pod that does not start.
pub(super) struct ListedPod {
    /// The position of its fault
    pub fault: usize,
    pub uid: PodUid,
    pub namespace: String,
    pub name: String,
    pub text: String,
}

/// A list, and what was put into it.
pub(super) struct List {
    pub seed: u64,
    pub faults: Vec<&'static FaultKind>,
    pub pods: Vec<ListedPod>,
    /// What is found
    found: ProblemSnapshot,
}

impl List {
    pub(super) fn new(seed: u64) -> Self {
        ListMaker::new(seed).list()
    }

    pub(super) fn problems(&self) -> &[Problem] {
        &self.found.problems.problems
    }

    /// Whether these words are said of a pod, or of its fault: a reason may leave words out.
    pub(super) fn is_told(&self, pod: &ListedPod, sign: &str) -> bool {
        pod.text.contains(sign) || self.faults[pod.fault].signs.contains(&sign)
    }

    /// The position of the problem that a pod is one of.
    pub(super) fn problem_of(&self, pod: &ListedPod) -> Option<usize> {
        let problem = self.found.problem_of(pod.uid)?;
        self.problems().iter().position(|one| std::ptr::eq(one, problem))
    }
}

/// A workload of a fault.
struct ListedWorkload {
    namespace: &'static str,
    service: &'static str,
    registry: &'static str,
    image: String,
}

struct ListMaker {
    seed: u64,
    rng: Rng,
    now: Timestamp,
    base: Record,
    services: Vec<&'static str>,
    registries: Vec<&'static str>,
    nodes: usize,
}

impl ListMaker {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let (mut services, mut registries) = (SERVICES.to_vec(), REGISTRIES.to_vec());
        rng.shuffle(&mut services);
        rng.shuffle(&mut registries);
        let nodes = 3 + rng.below(6);
        let base = records::record("shop", "base");
        Self { seed, rng, now: records::at(20_000), base, services, registries, nodes }
    }

    /// Two to five faults, mostly of one cause.
    fn faults(&mut self) -> Vec<&'static FaultKind> {
        let number = 2 + self.rng.below(4);
        let cause = self.rng.percent(75).then(|| self.rng.pick(&CAUSES));
        let mut kinds: Vec<&FaultKind> =
            KINDS.iter().filter(|kind| cause.is_none_or(|cause| kind.waits.1 == cause)).collect();
        self.rng.shuffle(&mut kinds);
        let mut faults: Vec<&FaultKind> = Vec::new();
        for kind in kinds {
            let is_like =
                |other: &&FaultKind| kind.signs.iter().any(|sign| other.signs.contains(sign));
            if faults.len() < number && !faults.iter().any(is_like) {
                faults.push(kind);
            }
        }
        faults
    }

    fn list(mut self) -> List {
        let faults = self.faults();
        let (mut pods, mut records) = (Vec::new(), Vec::new());
        let shared = self.rng.percent(40).then(|| self.rng.pick(&NAMESPACES));
        let mut broken = Vec::new();
        for (position, kind) in faults.iter().enumerate() {
            let namespace = shared.unwrap_or_else(|| self.rng.pick(&NAMESPACES));
            let number = match self.rng.below(4) {
                0 => 3 + self.rng.below(3),
                1 => 5 + self.rng.below(4),
                2 => 9 + self.rng.below(7),
                _ => 16 + self.rng.below(15),
            };
            let registry = self.registries[position];
            broken.extend((kind.reach == Reach::Registry).then_some(registry));
            let workloads = self.workloads(kind, namespace, registry, number);
            let first = self.rng.below(self.nodes);
            let few = 1 + self.rng.below(2);
            let age = match self.rng.percent(12) {
                true => 120 * MINUTE,
                false => 6 * MINUTE + self.rng.below(15 * 60) as i64,
            };
            for _ in 0..number {
                let workload = &workloads[self.rng.below(workloads.len())];
                let node = match kind.reach {
                    Reach::Nodes => (first + self.rng.below(few)) % self.nodes,
                    _ => self.rng.below(self.nodes),
                };
                let since = self.now.plus_nanos((self.rng.below(180) as i64 - age) * 1_000_000_000);
                let (pod, record) = self.pod(position, kind, workload, (node, since));
                pods.push(pod);
                records.push(record);
            }
        }
        // An exporter knows what has started well before; one list does not.
        let newest = match self.rng.percent(50) {
            true => self.healthy(&broken),
            false => Vec::new(),
        };
        let found =
            ProblemSnapshot::from_records(records, &newest, NodeFaults::default(), Some(self.now));
        List { seed: self.seed, faults, pods, found }
    }

    fn workloads(
        &mut self,
        kind: &FaultKind,
        namespace: &'static str,
        registry: &'static str,
        pods: usize,
    ) -> Vec<ListedWorkload> {
        let number = match kind.reach {
            Reach::Workload => 1,
            _ => 1 + self.rng.below((pods / 2).min(6)),
        };
        let mut workload = || {
            let registry = match kind.reach {
                Reach::Registry => registry,
                _ => self.rng.pick(&REGISTRIES),
            };
            let service = self.services.pop().unwrap();
            let image = format!("{registry}/{namespace}/{service}:1.{}.0", self.rng.below(90));
            ListedWorkload { namespace, service, registry, image }
        };
        (0..number).map(|_| workload()).collect()
    }

    fn pod(
        &mut self,
        fault: usize,
        kind: &FaultKind,
        workload: &ListedWorkload,
        (node, since): (usize, Timestamp),
    ) -> (ListedPod, Record) {
        let ListedWorkload { namespace, service, registry, image } = workload;
        let name = self.pod_name(service);
        let words = [self.word(), self.word()];
        let uid = PodUid::from_words(words);
        let written = uid.to_string();
        let mut ids = Ids {
            rng: &mut self.rng,
            namespace,
            service,
            name: &name,
            uid: &written,
            registry,
            image,
        };
        let text = (kind.text)(&mut ids);
        let text = reason::keep(&text, KEPT).into_owned();
        let waiting = WaitReason::new(kind.waits.0, kind.waits.1).unwrap();
        let is_of_container = !matches!(kind.waits.1, Cause::Cni | Cause::Sandbox | Cause::Volume);
        let progress = Progress::InFlight {
            waiting,
            entered: since,
            stuck_at: since.plus_nanos(900_000_000_000),
            is_stuck: false,
            is_never_ready: false,
        };
        let cause =
            RecordedCause { waiting, began: since, container: is_of_container.then_some(0) };
        let record = Record {
            uid,
            progress,
            causes: vec![cause],
            message: Some(text.as_str().into()),
            ..self.started((namespace, service, &name), node, image)
        };
        let (namespace, name) = ((*namespace).to_owned(), name);
        (ListedPod { fault, uid, namespace, name, text }, record)
    }

    fn word(&mut self) -> u64 {
        (0..4).fold(0, |word, _| word << 16 | self.rng.below(1 << 16) as u64) | 1 << 63
    }

    fn pod_name(&mut self, service: &str) -> String {
        let letters: Vec<char> = "bcdfghjklmnpqrstvwxz2456789".chars().collect();
        let mut word =
            |length: usize| (0..length).map(|_| self.rng.pick(&letters)).collect::<String>();
        format!("{service}-{}-{}", word(10), word(5))
    }

    /// The record of a pod of a Deployment, of which nothing else is known.
    fn started(
        &self,
        (namespace, service, name): (&str, &str, &str),
        node: usize,
        image: &str,
    ) -> Record {
        let workload = Workload { kind: "Deployment".into(), name: service.into() };
        Record {
            pod: PodInfo {
                namespace: namespace.into(),
                name: name.into(),
                node: Some(format!("node-{node}").into()),
                workload: Some(Arc::new(workload)),
                ..PodInfo::default()
            },
            discovered: self.now.plus_nanos(-10_000 * 1_000_000_000),
            containers: vec![RecordedContainer {
                name: "main".into(),
                init: false,
                is_sidecar: false,
                image: Some(image.into()),
                registry: None,
                volume_image: None,
                problem: None,
            }],
            ..self.base.clone()
        }
    }

    /// Pods that became ready in the last hour. Nothing was pulled from what is broken.
    fn healthy(&mut self, broken: &[&str]) -> Vec<Record> {
        let one = |number: usize| {
            let service = format!("steady{}", number % 14);
            let (namespace, name) = (self.rng.pick(&NAMESPACES), self.pod_name(&service));
            let (node, registry) = (self.rng.below(self.nodes), self.rng.pick(&REGISTRIES));
            let image = format!("{registry}/{namespace}/{service}:2.0");
            let at = self.now.plus_nanos(-1_000_000_000 * (self.rng.below(3_600) as i64));
            let is_pulled = self.rng.percent(40) && !broken.contains(&registry);
            let pulled = match is_pulled {
                true => RecordedImage::Pulled {
                    ended: Some(at),
                    with_wait: Latency::from_nanos(2_000_000_000),
                },
                false => RecordedImage::Present,
            };
            Record {
                uid: PodUid::from_words([self.word(), self.word()]),
                progress: Progress::Ended { outcome: Outcome::Ready, at, ending: None },
                milestones: vec![RecordedMilestone {
                    milestone: Milestone::Ready,
                    time: Some(at),
                    source: Some(MilestoneSource::Condition),
                }],
                intervals: Vec::new(),
                causes: Vec::new(),
                pulls: vec![RecordedPull {
                    container: "main".into(),
                    init: false,
                    registry: registry.into(),
                    has_failed: false,
                    image: pulled,
                }],
                ..self.started((namespace, &service, &name), node, &image)
            }
        };
        (0..HEALTHY).map(one).collect()
    }
}
