//! The nodes of a trial, of which each process learns through a watch that loses events and closes the gap with a
//! list, and what must have been counted of them ([§14.7](crate::specification#s14-7)).

use std::collections::BTreeMap;

use podinit_core::lifecycle::{NodeEvent, NodeObservation, NodeOutcome, NodeState, NodeStep};
use podinit_core::node::{NodeLabels, NodeSnapshot};
use podinit_core::pod::{Condition, ConditionStatus, PodUid};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_sim::rng::Rng;

use crate::proof::audit::{Fault, Findings};
use crate::proof::shard::{HashRange, hash};
use crate::support::scrape::Scrape;

const SECOND: i64 = NANOS_PER_SECOND;

/// How many of the events are lost; a list follows within a few seconds.
const LOST: f64 = 0.08;

/// What has become of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Registered,
    Ready,
    Schedulable,
    Gone,
}

#[derive(Clone, Debug)]
struct Machine {
    number: u32,
    created: Timestamp,
    ready: Option<Timestamp>,
    phase: Phase,
    version: u64,
    /// When it comes to the next phase; none for one that stays
    due: Option<Timestamp>,
}

/// Something that a process learns of nodes.
#[derive(Clone, Debug)]
pub struct SentNodes {
    pub event: NodeEvent,
    pub at: Timestamp,
}

/// The nodes there are, and of each process when a list closes its gap.
#[derive(Debug)]
pub struct Nodes {
    rng: Rng,
    machines: Vec<Machine>,
    next: Timestamp,
    versions: u64,
    gaps: BTreeMap<usize, Timestamp>,
    /// Whether events get lost
    pub loses: bool,
}

impl Nodes {
    pub fn new(seed: u64, now: Timestamp) -> Self {
        Self {
            rng: Rng::fork(seed, 7),
            machines: Vec::new(),
            next: now,
            versions: 0,
            gaps: BTreeMap::new(),
            loses: true,
        }
    }

    /// When something happens next.
    pub fn next_due(&self) -> Timestamp {
        self.next
    }

    /// What the nodes have come to by `now`, and what of it each of these processes learns.
    pub fn advance(&mut self, now: Timestamp, running: &[usize]) -> Vec<(usize, SentNodes)> {
        let mut sent = Vec::new();
        while self.next <= now {
            self.machines.push(Machine {
                number: self.machines.len() as u32,
                created: self.next,
                ready: None,
                phase: Phase::Registered,
                version: 0,
                due: Some(self.next),
            });
            self.next = self.next.plus_nanos(self.rng.between(SECOND / 2, 4 * SECOND));
        }
        for place in 0..self.machines.len() {
            while let Some(due) = self.machines[place].due.filter(|due| *due <= now) {
                let event = self.go_on(place, due);
                for process in running {
                    if self.gaps.contains_key(process) {
                        continue;
                    }
                    if self.loses && self.rng.chance(LOST) {
                        let closes = now.plus_nanos(self.rng.between(0, 5 * SECOND));
                        self.gaps.insert(*process, closes);
                        continue;
                    }
                    let event = event.clone();
                    sent.push((*process, SentNodes { event, at: now }));
                }
            }
        }
        for process in running {
            if self.gaps.get(process).is_some_and(|closes| *closes <= now) {
                sent.push((*process, self.list(*process, now)));
            }
        }
        sent
    }

    /// The list with which a process begins, or closes a gap.
    pub fn list(&mut self, process: usize, now: Timestamp) -> SentNodes {
        self.gaps.remove(&process);
        let there = (self.machines.iter()).filter(|machine| machine.is_there());
        let nodes = there.map(Machine::snapshot).collect();
        let began = now;
        SentNodes { event: NodeEvent::Listed { nodes, began }, at: now }
    }

    /// The next thing happens to a node.
    fn go_on(&mut self, place: usize, due: Timestamp) -> NodeEvent {
        self.versions += 1;
        let (version, rng) = (self.versions, &mut self.rng);
        let machine = &mut self.machines[place];
        let is_new = machine.version == 0;
        machine.version = version;
        if !is_new {
            machine.phase = match machine.phase {
                _ if rng.chance(0.12) => Phase::Gone,
                Phase::Registered => Phase::Ready,
                Phase::Ready => Phase::Schedulable,
                Phase::Schedulable | Phase::Gone => Phase::Gone,
            };
        }
        if machine.phase == Phase::Ready {
            machine.ready.get_or_insert(due);
        }
        let wait = match machine.phase {
            Phase::Registered | Phase::Ready => Some(rng.between(SECOND / 4, 25 * SECOND)),
            Phase::Schedulable if rng.chance(0.4) => Some(rng.between(SECOND, 60 * SECOND)),
            // Some never start.
            Phase::Schedulable | Phase::Gone => None,
        };
        machine.due = wait
            .filter(|_| machine.phase == Phase::Schedulable || !rng.chance(0.05))
            .map(|wait| due.plus_nanos(wait));
        let snapshot = Box::new(machine.snapshot());
        match machine.phase {
            Phase::Gone => NodeEvent::Deleted(snapshot),
            _ => NodeEvent::Applied(snapshot),
        }
    }

    /// The UIDs of the nodes that there are.
    fn there(&self) -> Vec<String> {
        let there = (self.machines.iter()).filter(|machine| machine.is_there());
        there.map(Machine::uid).collect()
    }
}

impl Machine {
    fn is_there(&self) -> bool {
        self.version > 0 && self.phase != Phase::Gone
    }

    fn uid(&self) -> String {
        format!("{:08x}-0000-4000-8000-000000000de5", self.number)
    }

    /// What the API states of it, every node in a pool of its own.
    fn snapshot(&self) -> NodeSnapshot {
        let second = |at: Timestamp| at.truncate_to_second();
        let ready = self.ready.map(|ready| Condition {
            status: ConditionStatus::True,
            last_transition: Some(second(ready)),
        });
        NodeSnapshot {
            resource_version: Some(self.version),
            created: Some(second(self.created)),
            latest_api_time: Some(second(self.ready.unwrap_or(self.created))),
            ready,
            has_startup_taint: self.phase != Phase::Schedulable,
            labels: NodeLabels { pool: self.uid().into(), ..NodeLabels::default() },
            ..NodeSnapshot::bare(PodUid::from_text(&self.uid()), format!("node-{}", self.number))
        }
    }
}

/// What was counted of nodes, and what it was counted from.
#[derive(Clone, Debug, Default)]
pub struct CountedNodes {
    pub applied: Vec<SentNodes>,
    discovered: u32,
    starting: i64,
    finished: [u32; NodeOutcome::ALL.len()],
    /// By step and pool, which is the node's UID
    measured: BTreeMap<(&'static str, String), u32>,
}

impl CountedNodes {
    pub fn count(&mut self, observation: NodeObservation<'_>) {
        match observation {
            NodeObservation::Moved { from, to } => {
                self.discovered += u32::from(from == NodeState::Undiscovered);
                self.starting -= i64::from(from == NodeState::Starting);
                self.starting += i64::from(to == NodeState::Starting);
                if let NodeState::Finished(outcome) = to {
                    self.finished[outcome as usize] += 1;
                }
            }
            NodeObservation::Measured { step, pool, .. } => {
                *self.measured.entry((step.as_str(), pool.to_owned())).or_default() += 1;
            }
            NodeObservation::Anomaly(_) | NodeObservation::Late(_) => {}
        }
    }

    /// What a process that accounts for these nodes must have counted of what it was given, against what it has.
    pub fn check(&self, range: HashRange, scrape: &Scrape, findings: &mut Findings) {
        let expected = expected(&self.applied, range);
        let mut equal = |what: &str, counted: f64, expected: u32| {
            let fault = match counted < f64::from(expected) {
                true => Fault::Lost,
                false => Fault::Double,
            };
            if counted != f64::from(expected) {
                findings.add(fault, None, format!("nodes {what}: {counted} of {expected}"));
            }
        };
        equal("discovered", self.discovered.into(), expected.discovered);
        equal("starting", self.starting as f64, expected.starting as u32);
        for outcome in NodeOutcome::ALL {
            let index = outcome as usize;
            let label = format!("\"{}\"", outcome.as_str());
            let finished = self.finished[index];
            equal(outcome.as_str(), finished.into(), expected.finished[index]);
            let all = scrape.of_name("podinit_nodes_finished_total");
            let of_outcome = all.filter(|(series, _)| series.contains(&label));
            let sum = of_outcome.map(|(_, value)| value).sum();
            equal("finished, scraped", sum, expected.finished[index]);
        }
        for name in ["podinit_nodes_discovered_total", "podinit_starting_nodes"] {
            let value = scrape.of_name(name).map(|(_, value)| value).sum();
            let expected = match name {
                "podinit_starting_nodes" => expected.starting as u32,
                _ => expected.discovered,
            };
            equal(name, value, expected);
        }
        let measured = scrape.of_name("podinit_node_startup_duration_seconds_count");
        let all: u32 = self.measured.values().sum();
        equal("measured, scraped", measured.map(|(_, value)| value).sum(), all);
        let steps: BTreeMap<_, _> = self
            .measured
            .keys()
            .chain(expected.measured.keys())
            .map(|step| (step.clone(), ()))
            .collect();
        for step in steps.keys() {
            let of = |counted: &Self| counted.measured.get(step).copied().unwrap_or_default();
            equal(&format!("{step:?}"), of(self).into(), of(&expected));
        }
    }
}

/// Over all processes, each node that there is was discovered by the one that it belongs to.
pub fn check_sums<'a>(
    nodes: &Nodes,
    counted: impl Iterator<Item = (&'a CountedNodes, HashRange)>,
    findings: &mut Findings,
) {
    for (counted, range) in counted {
        let own = nodes.there().into_iter().filter(|uid| range.holds(hash(uid)));
        if (counted.discovered as usize) < own.count() {
            findings.add(Fault::Lost, None, "a node that is there was never discovered");
        }
    }
}

/// What must have been counted of these deliveries, by the second of the API and the arrival alone.
fn expected(applied: &[SentNodes], range: HashRange) -> CountedNodes {
    let mut counted = CountedNodes::default();
    // By pool, whether it is starting and was Ready.
    let mut known: BTreeMap<String, (Option<NodeOutcome>, bool)> = BTreeMap::new();
    for (number, sent) in applied.iter().enumerate() {
        let (snapshots, in_list): (Vec<&NodeSnapshot>, bool) = match &sent.event {
            NodeEvent::Applied(node) | NodeEvent::Deleted(node) => (vec![node], false),
            NodeEvent::Listed { nodes, .. } => (nodes.iter().collect(), true),
            other => panic!("{other:?} is not sent"),
        };
        for node in &snapshots {
            let uid = node.labels.pool.to_string();
            let is_deleted = matches!(sent.event, NodeEvent::Deleted(_));
            if !range.holds(hash(&uid)) || (is_deleted && !known.contains_key(&uid)) {
                continue;
            }
            let is_ready = node.ready.is_some();
            let created = node.created.expect("it states its creation");
            let is_old = sent.at.nanos_since(created) > 30 * SECOND;
            let preexisting = is_old || (in_list && number == 0 && is_ready);
            let (outcome, was_ready) = known.entry(uid.clone()).or_insert_with(|| {
                counted.discovered += 1;
                (preexisting.then_some(NodeOutcome::Preexisting), false)
            });
            let starts = outcome.is_none();
            if is_ready && !*was_ready && starts {
                *counted.measured.entry((NodeStep::Ready.as_str(), uid.clone())).or_default() += 1;
            }
            *was_ready |= is_ready;
            if starts && is_ready && !node.has_startup_taint {
                *outcome = Some(NodeOutcome::Ready);
                if !in_list {
                    let step = NodeStep::Schedulable.as_str();
                    *counted.measured.entry((step, uid.clone())).or_default() += 1;
                }
            }
            if is_deleted {
                let (outcome, _) = known.remove(&uid).expect("it is known");
                counted.finished[outcome.unwrap_or(NodeOutcome::Deleted) as usize] += 1;
            }
        }
        if in_list {
            let listed: Vec<&str> = snapshots.iter().map(|node| &*node.labels.pool).collect();
            let is_absent = |uid: &String| !listed.contains(&uid.as_str());
            let absent: Vec<String> = known.keys().filter(|uid| is_absent(uid)).cloned().collect();
            for uid in absent {
                let (outcome, _) = known.remove(&uid).expect("it is known");
                counted.finished[outcome.unwrap_or(NodeOutcome::Vanished) as usize] += 1;
            }
        }
    }
    for (outcome, _) in known.into_values() {
        match outcome {
            Some(outcome) => counted.finished[outcome as usize] += 1,
            None => counted.starting += 1,
        }
    }
    counted
}
