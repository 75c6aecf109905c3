//! What a checkpoint holds of a pod in flight beside the pod itself, and what it lacks when it is read.

use std::sync::Arc;
use std::time::Duration;

use super::{PodInFlight, SharedState};
use crate::kube_event::CapacityState;
use crate::lifecycle::capacity::SavedCapacity;
use crate::lifecycle::cause::{Cause, ContainerEvidence, Detours, MOST_FOLLOWED, WaitReason};
use crate::lifecycle::hints::SavedHints;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::messages::{Message, about_warning};
use crate::lifecycle::network_evidence::NetworkEvidence;
use crate::lifecycle::observation::{Observer, Reporter};
use crate::lifecycle::pod_node::{PodNode, SavedPodNode, SavedStartupNode};
use crate::lifecycle::saved::{SavedCollected, SavedShown, UnreadWaiting, WaitingTable};
use crate::lifecycle::slo_verdict::SloVerdict;
use crate::node::NodeLabels;
use crate::pod::{Claims, ContainerKind, PodInfo, PodUid};

/// Among the signs that are saved: the pod can never be Ready any more.
const NEVER_READY: u8 = 1 << 7;
/// Among them, by how many bits what the pod claims is moved.
const CLAIMS: u8 = 4;
const _: () = assert!(NEVER_READY & Claims::BITS << CLAIMS == 0);
const _: () = assert!(Detours::BITS & (NEVER_READY | Claims::BITS << CLAIMS) == 0);

/// Why a pod waits that was read, until [`PodInFlight::take_shown`].
pub(super) fn not_told_yet() -> WaitReason {
    WaitReason::otherwise(Stage::Gated)
}

impl PodInFlight {
    /// Which pod.
    pub const fn uid(&self) -> PodUid {
        self.uid
    }

    /// Its names.
    pub const fn info(&self) -> &PodInfo {
        &self.info
    }

    /// Its names, to change them.
    pub const fn info_mut(&mut self) -> &mut PodInfo {
        &mut self.info
    }

    /// The stage that it is in, and why it waits there.
    pub const fn waiting(&self) -> WaitReason {
        self.waiting
    }

    /// It has had its event for the startup SLI, or was adopted while Events were no source, and is to
    /// have none.
    pub const fn has_startup_sli(&self) -> bool {
        self.sli.decided
    }

    /// How many SLOs match it.
    pub const fn slos(&self) -> usize {
        self.slos.len()
    }

    /// The texts of it that other pods may have as well.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut Arc<str>> {
        let names = [&mut self.info.namespace].into_iter();
        let containers = self.evidence.containers.iter_mut();
        let registries = self.images.0.iter_mut();
        names
            .chain(&mut self.info.node)
            .chain(containers.map(|container| &mut container.name))
            .chain(registries.filter_map(|image| image.registry.as_mut()))
    }

    /// Checks what was read from a checkpoint with `slos` SLOs.
    ///
    /// # Errors
    /// What it holds that no pod can have.
    pub fn check(&self, slos: usize) -> Result<(), &'static str> {
        if !self.startup.is_known() {
            return Err("no such milestone, condition or interval");
        }
        if self.images.0.len().max(self.evidence.containers.len()) > MOST_FOLLOWED {
            return Err("more containers than are followed");
        }
        match self.slos.are_among(slos) {
            true => Ok(()),
            false => Err("no such SLO"),
        }
    }

    /// Whether its message is not about its cause, but about its last warning.
    pub(in crate::lifecycle) fn is_message_announced(&self) -> bool {
        self.kept_message().is_some() && self.message().is_none()
    }

    /// What its record has collected.
    pub fn collected(&self) -> SavedCollected {
        let evidence = Some(self.startup.network_evidence);
        let verdicts = self.slos.verdicts();
        SavedCollected {
            causes: self.causes.iter().map(Into::into).collect(),
            preexisting: self.startup.preexisting,
            network_evidence: evidence.filter(|by| *by != NetworkEvidence::Condition),
            network_time: self.startup.network_time,
            verdicts: verdicts.map(|verdict| verdict.map(Into::into)).collect(),
            message: self.kept_message().map(|message| message.text.clone()),
        }
    }

    /// Takes back what its record had collected, with the numbers of `table`.
    ///
    /// # Errors
    /// If one of the numbers stands for nothing that is known here.
    pub fn take_collected(
        &mut self,
        collected: SavedCollected,
        table: &WaitingTable,
    ) -> Result<(), UnreadWaiting> {
        for cause in collected.causes {
            self.causes.push(cause.recorded(table)?);
        }
        let verdicts = collected.verdicts.into_iter();
        let verdicts = verdicts.map(|one| one.map(|one| one.verdict(table)).transpose());
        let verdicts: Vec<Option<SloVerdict>> = verdicts.collect::<Result<_, _>>()?;
        self.slos.set_verdicts(verdicts);
        self.startup.preexisting = collected.preexisting;
        if let Some(evidence) = collected.network_evidence {
            self.startup.network_evidence = evidence;
        }
        self.startup.network_time = collected.network_time;
        let about = self.waiting;
        let message =
            collected.message.map(|text| Message { about, is_of_attachment: false, text });
        self.read_message(message);
        Ok(())
    }

    /// What else its newest version shows.
    pub fn shown(&self) -> SavedShown {
        const _: () = assert!(MOST_FOLLOWED <= u64::BITS as usize);
        let containers = self.evidence.containers.iter().rev();
        SavedShown {
            signs: self.evidence.detours.bits()
                | (self.startup.traits.claims().bits() << CLAIMS)
                | (u8::from(self.startup.traits.is_never_ready()) * NEVER_READY),
            is_announced: self.is_message_announced(),
            has_started: containers.fold(0, |bits, one| bits << 1 | u64::from(one.has_started)),
            init_runs: Duration::from_nanos(self.evidence.init_runs),
        }
    }

    /// Takes back what else its newest version showed, after which it is known why the pod waits. A checkpoint
    /// without it is of a podinit that took a sidecar with a start for one that has started.
    pub fn take_shown(&mut self, shown: Option<SavedShown>) {
        let evidence = &mut self.evidence;
        for (place, container) in evidence.containers.iter_mut().enumerate() {
            container.has_started = match &shown {
                Some(shown) => shown.has_started >> place & 1 == 1,
                None => container.kind == ContainerKind::RestartableInit && container.started,
            };
        }
        let shown = shown.unwrap_or_default();
        evidence.detours = Detours::of_bits(shown.signs);
        let is_never_ready = shown.signs & NEVER_READY != 0;
        self.startup.traits.set_never_ready(is_never_ready);
        let claims = Claims::of_bits(shown.signs >> CLAIMS);
        self.startup.traits.set_claims(claims);
        evidence.init_runs = u64::try_from(shown.init_runs.as_nanos()).unwrap_or(u64::MAX);
        self.waiting = evidence.waiting(self.startup.standing());
        let warning = evidence.warning;
        let announced = warning.filter(|_| shown.is_announced);
        let waiting = self.waiting;
        if let Some(message) = self.read_message_mut() {
            message.about = announced.and_then(about_warning).unwrap_or(waiting);
        }
    }

    /// What Events say of it that gives no cause, if they do.
    pub fn hints(&self) -> Option<SavedHints> {
        let is_of_attachment =
            (self.kept_message()).is_some_and(|message| message.is_of_attachment);
        let hints = self.texts.as_ref().and_then(|texts| texts.hints.as_deref());
        SavedHints::of(hints, is_of_attachment)
    }

    /// Takes back what Events had said of it that gives no cause.
    pub fn take_hints(&mut self, saved: SavedHints) {
        if let Some(message) = self.read_message_mut() {
            message.is_of_attachment = saved.is_of_attachment;
        }
        self.texts.get_or_insert_default().hints = saved.hints().map(Box::new);
    }

    /// Whether a snapshot has shown that a container of it has run.
    pub const fn has_run(&self) -> bool {
        self.startup.has_run
    }

    /// Takes back whether a container of it has run. A checkpoint without it tells what the newest snapshot showed.
    pub fn take_has_run(&mut self, has_run: Option<bool>) {
        let mut containers = self.evidence.containers.iter();
        let shown = |one: &ContainerEvidence| {
            one.started || one.succeeded || one.problem == Some(Cause::Crash)
        };
        self.startup.has_run = has_run.unwrap_or_else(|| containers.any(shown));
    }

    /// Whether a node is on its way for it; counted in the stage `unschedulable` only.
    pub fn capacity_state(&self) -> CapacityState {
        self.capacity.state()
    }

    /// What is known of its capacity.
    pub fn capacity(&self) -> Option<SavedCapacity> {
        SavedCapacity::of(&self.capacity)
    }

    /// Takes back what was known of its capacity.
    pub fn take_capacity(&mut self, saved: SavedCapacity) {
        self.capacity = saved.into();
    }

    /// What is saved of its node, if anything is known of it. `number` gives the number of what a node states.
    pub fn saved_node(
        &self,
        mut number: impl FnMut(&Arc<NodeLabels>) -> u32,
    ) -> Option<SavedPodNode> {
        let known = self.info.node_labels.as_ref();
        let node = self.startup.node.as_deref();
        if known.is_none() && node.is_none() {
            return None;
        }
        Some(SavedPodNode {
            uid: self.uid,
            known: known.map(&mut number),
            node: node.map(|node| SavedStartupNode {
                capacity: node.capacity,
                created: node.created,
                ready: node.ready,
                at_end: node.labels.as_ref().map(&mut number),
            }),
        })
    }

    /// Takes back what was known of its node, with what the nodes stated by number.
    pub fn take_node(&mut self, saved: &SavedPodNode, labels: &[Arc<NodeLabels>]) {
        let stated = |number: Option<u32>| labels.get(number? as usize).cloned();
        self.info.node_labels = stated(saved.known);
        self.startup.node = saved.node.as_ref().map(|node| {
            Box::new(PodNode {
                capacity: node.capacity,
                created: node.created,
                ready: node.ready,
                labels: stated(node.at_end),
            })
        });
    }

    /// Takes the pod, which was read, into what all pods in flight share. Its deadlines are still to be set.
    pub(in crate::lifecycle) fn restore(
        &mut self,
        shared: &mut SharedState,
        reporter: &mut Reporter<'_, impl Observer>,
    ) {
        if self.info.node_labels.is_none() {
            shared.learn_node(self.uid, &mut self.info);
        }
        self.count_texts(shared);
        self.capacity.restore(&mut shared.messages);
        self.update_wait(shared, reporter);
    }
}
