//! Writing a checkpoint: the task that owns the pods adds them, some at a time, and another thread does the rest.

use std::borrow::Borrow;

use super::pods::PodsWriter;
use super::section::{METRICS, PODS, RECORDS, SCOPE, SHAPES, TRACKER, append};
use super::{CheckpointContent, records, written_shapes};
use crate::frame::{OpenSection, SectionWriter};
use podinit_core::lifecycle::{PodInFlight, SavedPod, Tracker};

/// From so many pods on, the file has megabytes. It is begun with more than 32 MiB then, which glibc takes straight
/// from the operating system: what a growing buffer leaves behind in a heap would stay part of the process.
const MANY_PODS: usize = 100_000;
const RESERVED: usize = 33 << 20;

/// A checkpoint that lacks pods, what follows them, and its checksum.
#[derive(Debug)]
pub struct UnsealedCheckpoint {
    content: CheckpointContent,
    file: SectionWriter,
    section: OpenSection,
    pods: PodsWriter,
}

impl UnsealedCheckpoint {
    /// A checkpoint without pods, of which there are at most so many.
    pub fn begin(content: CheckpointContent, most_pods: usize) -> Self {
        let mut file = SectionWriter::begin();
        if most_pods >= MANY_PODS {
            file.reserve(RESERVED);
        }
        file.section(SCOPE, |out| append(out, &content.scope));
        let section = file.open(PODS);
        Self { content, file, section, pods: PodsWriter::default() }
    }

    /// Adds some of the pods that `tracker` is saving. False if these were the last.
    pub fn add_chunk(&mut self, tracker: &mut Tracker) -> bool {
        let mut deleted = Vec::new();
        let is_left = tracker.save_chunk(|pod| self.add(&pod), |pod| deleted.push(pod));
        self.content.tracker.deleted.append(&mut deleted);
        is_left
    }

    /// Adds the next pod.
    fn add<P: Borrow<PodInFlight>>(&mut self, pod: &SavedPod<P>) {
        self.pods.append(self.file.end(), pod);
    }

    /// The complete file, of these pods.
    pub fn finish(self) -> Vec<u8> {
        let Self { content, mut file, section, pods } = self;
        pods.finish(file.end());
        file.close(section);
        file.section(TRACKER, |out| append(out, &content.tracker));
        file.section(METRICS, |out| append(out, &content.metrics));
        file.section(RECORDS, |out| records::append(out, &content.records));
        file.section(SHAPES, |out| out.extend(written_shapes()));
        file.finish()
    }
}

/// Writes a checkpoint, but for what [`UnsealedCheckpoint::finish`] does.
pub fn encode<P: Borrow<PodInFlight>>(
    content: &CheckpointContent,
    pods: impl Iterator<Item = SavedPod<P>>,
) -> UnsealedCheckpoint {
    let most_pods = pods.size_hint().1.unwrap_or_default();
    let mut file = UnsealedCheckpoint::begin(content.clone(), most_pods);
    pods.for_each(|pod| file.add(&pod));
    file
}
