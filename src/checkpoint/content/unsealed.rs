//! Writing a checkpoint: the task that owns the pods adds them, some at a time, and another thread does the rest.

use std::borrow::Borrow;

use serde::Serialize;

use super::capacity::Capacities;
use super::collected::CollectedWriter;
use super::evidence::PodNodes;
use super::holds::HoldsWriter;
use super::marks::Marks;
use super::section::{
    CAPACITY, CLAIMS, COLLECTED, CRASHES, ENDINGS, EVIDENCE, HINTS, HOLDS, MARKS, METRICS, PODS,
    RECORDS, SCOPE, SHARD, SHOWN, START_TIMES, TRACKER, append,
};
use super::{Content, SavedShard, claims, endings, records};
use crate::checkpoint::frame::{Section, Writer};
use podinit_core::lifecycle::{PodInFlight, SavedHints, SavedPod, Tracker};
use podinit_core::shard::Shard;

/// From so many pods on, the file has megabytes. It is begun with more than 32 MiB then, which glibc takes straight
/// from the operating system: what a growing buffer leaves behind in a heap would stay part of the process.
const MANY_PODS: usize = 100_000;
const RESERVED: usize = 33 << 20;

/// A checkpoint that lacks pods, what follows them, and its checksum.
#[derive(Debug)]
pub struct Unsealed {
    content: Content,
    file: Writer,
    pods: Section,
    collected: CollectedWriter,
    shown: Vec<u8>,
    marks: Marks,
    holds: HoldsWriter,
    capacities: Capacities,
    hints: Vec<(u64, SavedHints)>,
    nodes: PodNodes,
    /// How many pods in flight were added
    in_flight: u64,
}

impl Unsealed {
    /// A checkpoint without pods, of which there are at most so many.
    pub fn begin(content: Content, most_pods: usize) -> Self {
        let mut file = Writer::begin();
        if most_pods >= MANY_PODS {
            file.reserve(RESERVED);
        }
        file.section(SCOPE, |out| append(out, &content.scope));
        if content.scope.shard != Shard::ALL {
            let saved = SavedShard::from(content.scope.shard);
            file.section(SHARD, |out| append(out, &saved));
        }
        Self {
            content,
            pods: file.open(PODS),
            file,
            collected: CollectedWriter::default(),
            shown: Vec::new(),
            marks: Marks::default(),
            holds: HoldsWriter::default(),
            capacities: Capacities::default(),
            hints: Vec::new(),
            nodes: PodNodes::default(),
            in_flight: 0,
        }
    }

    /// Adds some of the pods that `tracker` is saving. False if these were the last.
    pub fn add_chunk(&mut self, tracker: &mut Tracker) -> bool {
        let mut deleted = Vec::new();
        let is_left = tracker.save_chunk(|pod| self.add(&pod), |pod| deleted.push(pod));
        self.content.tracker.deleted.append(&mut deleted);
        is_left
    }

    /// Adds the next pod.
    fn add<P: Borrow<PodInFlight> + Serialize>(&mut self, pod: &SavedPod<P>) {
        append(self.file.end(), pod);
        self.marks.add(pod);
        self.holds.add(pod);
        if let Some(pod) = pod.in_flight() {
            self.collected.add(pod);
            append(&mut self.shown, &pod.shown());
            self.capacities.add_pod(self.in_flight, pod);
            let hints = pod.hints();
            self.hints.extend(hints.map(|hints| (self.in_flight, hints)));
            self.nodes.add(pod);
            self.in_flight += 1;
        }
    }

    /// The complete file, of these pods.
    pub fn finish(self) -> Vec<u8> {
        let Self {
            content,
            mut file,
            pods,
            collected,
            shown,
            marks,
            holds,
            mut capacities,
            hints,
            nodes,
            ..
        } = self;
        let Content { tracker, metrics, records, .. } = content;
        file.close(pods);
        if let Some(collected) = collected.finish() {
            file.section(COLLECTED, |out| out.extend(collected));
        }
        if !shown.is_empty() {
            file.section(SHOWN, |out| out.extend(shown));
        }
        if let Some(marks) = marks.finish() {
            file.section(MARKS, |out| out.extend(marks));
        }
        if let Some(holds) = holds.finish(&metrics.holds) {
            file.section(HOLDS, |out| out.extend(holds));
        }
        file.section(TRACKER, |out| append(out, &tracker));
        if !tracker.crashes.is_empty() {
            file.section(CRASHES, |out| append(out, &tracker.crashes));
        }
        file.section(METRICS, |out| append(out, &metrics));
        if !metrics.starts.is_empty() {
            file.section(START_TIMES, |out| append(out, &metrics.starts));
        }
        if let Some(evidence) = nodes.finish(&metrics, &tracker, &records) {
            file.section(EVIDENCE, |out| append(out, &evidence));
        }
        if records.count > 0 {
            let written = records::newest(&records.records);
            capacities.add_records(written);
            file.section(RECORDS, |out| records::write(out, records.count, written));
            let endings = endings::of(written);
            if !endings.is_empty() {
                file.section(ENDINGS, |out| append(out, &endings));
            }
            let claims = claims::of(written);
            if !claims.is_empty() {
                file.section(CLAIMS, |out| append(out, &claims));
            }
        }
        if !hints.is_empty() {
            file.section(HINTS, |out| append(out, &hints));
        }
        if !capacities.is_empty() {
            file.section(CAPACITY, |out| append(out, &capacities));
        }
        file.finish()
    }
}

/// Writes a checkpoint, but for what [`Unsealed::finish`] does.
pub fn encode<P: Borrow<PodInFlight> + Serialize>(
    content: &Content,
    pods: impl Iterator<Item = SavedPod<P>>,
) -> Unsealed {
    let most_pods = pods.size_hint().1.unwrap_or_default();
    let mut file = Unsealed::begin(content.clone(), most_pods);
    pods.for_each(|pod| file.add(&pod));
    file
}
