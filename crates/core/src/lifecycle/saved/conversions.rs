//! The conversions between the values that the core works with and their saved forms.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evidence::{Named, SavedEvidence};
use super::record::{SavedCause, SavedCollected, SavedEnded, SavedVerdict, SavedWaiting};
use super::{SavedInFlight, SavedSource, SavedStartup};
use crate::lifecycle::cause::{CauseLog, WaitEvidence};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::enum_set::EnumSet;
use crate::lifecycle::image_pulls::ImagePulls;
use crate::lifecycle::messages::{Message, about_warning};
use crate::lifecycle::network_evidence::NetworkEvidence;
use crate::lifecycle::observation::Reporter;
use crate::lifecycle::pod_in_flight::{PodInFlight, SharedState};
use crate::lifecycle::record::EndedStartup;
use crate::lifecycle::sink::Sink;
use crate::lifecycle::slo::{SloProgress, SloRule};
use crate::lifecycle::slo_verdict::SloVerdict;
use crate::lifecycle::sources::{SourceProgress, Sources, Successor};
use crate::lifecycle::startup::Startup;
use crate::lifecycle::startup_sli::SliProgress;
use crate::timestamp::Timestamp;

impl From<SavedStartup> for Startup {
    fn from(saved: SavedStartup) -> Self {
        Self {
            times: saved.times,
            reached: EnumSet::from_bits(saved.reached),
            types_seen: EnumSet::from_bits(saved.types_seen),
            decided: EnumSet::from_bits(saved.decided),
            preexisting: EnumSet::default(),
            network_evidence: NetworkEvidence::Condition,
            network_time: None,
            kept_evidence: saved.kept_evidence,
            has_init_containers: saved.has_init_containers,
            has_readiness_gates: saved.has_readiness_gates,
            seen_gated: saved.seen_gated,
            seen_unschedulable: saved.seen_unschedulable,
        }
    }
}

impl Startup {
    pub(in crate::lifecycle) const fn saved(&self) -> SavedStartup {
        SavedStartup {
            times: self.times,
            reached: self.reached.bits(),
            types_seen: self.types_seen.bits(),
            decided: self.decided.bits(),
            kept_evidence: self.kept_evidence,
            has_init_containers: self.has_init_containers,
            has_readiness_gates: self.has_readiness_gates,
            seen_gated: self.seen_gated,
            seen_unschedulable: self.seen_unschedulable,
        }
    }
}

impl PodInFlight {
    /// A pod as it was saved, in its place in the order of its stage. Its deadlines are still to be
    /// set.
    pub(in crate::lifecycle) fn restored(
        saved: SavedInFlight,
        shared: &mut SharedState,
        reporter: &mut Reporter<'_, impl Sink>,
    ) -> Self {
        let mut pod = Self::from(saved);
        let message = pod.message.take();
        let said = message.as_deref().map(Message::said);
        shared.messages.replace(&mut pod.message, said);
        pod.update_wait(shared, reporter);
        pod
    }

    pub(in crate::lifecycle) fn saved(&self) -> SavedInFlight {
        SavedInFlight {
            uid: self.uid,
            last_seen: self.last_seen,
            info: self.info.clone(),
            startup: self.startup.saved(),
            discovered: self.discovered,
            slos: self.slos.saved(),
            evidence: SavedEvidence {
                is_announced: self.message.is_some() && self.message().is_none(),
                ..SavedEvidence::from(&self.evidence)
            },
            images: self.images.saved(),
            is_stateful: self.sli.is_stateful,
            has_startup_sli: self.sli.decided,
            lacks_network_condition: self.lacks_network_condition,
            collected: self.collected(),
        }
    }

    fn collected(&self) -> SavedCollected {
        let by_condition = NetworkEvidence::Condition;
        let evidence = Some(self.startup.network_evidence);
        let verdicts = self.slos.verdicts();
        SavedCollected {
            causes: self.causes.iter().map(SavedCause::from).collect(),
            preexisting: self.startup.preexisting.bits(),
            network_evidence: evidence.filter(|by| *by != by_condition).map(Named),
            network_time: self.startup.network_time.map(Named),
            message: (self.message.as_deref()).map(|message| message.text.clone()),
            verdicts: verdicts
                .map(|verdict| verdict.map(SavedVerdict::from))
                .collect(),
        }
    }
}

impl From<SavedInFlight> for PodInFlight {
    /// A pod as it was saved, without a place in the order of its stage.
    fn from(saved: SavedInFlight) -> Self {
        let collected = saved.collected;
        let mut startup = Startup::from(saved.startup);
        startup.preexisting = EnumSet::from_bits(collected.preexisting);
        if let Some(Named(evidence)) = collected.network_evidence {
            startup.network_evidence = evidence;
        }
        startup.network_time = collected.network_time.map(|Named(time)| time);
        let causes = collected.causes.into_iter();
        let verdicts = collected.verdicts.into_iter();
        let verdicts = verdicts.map(|verdict| verdict.map(SloVerdict::from));
        let is_announced = saved.evidence.is_announced;
        let evidence = WaitEvidence::from(saved.evidence);
        let waiting = evidence.waiting(startup.standing());
        let announced = evidence.warning.filter(|_| is_announced);
        let about = |text| Message {
            about: announced.and_then(about_warning).unwrap_or(waiting),
            text,
        };
        Self {
            last_seen: saved.last_seen,
            uid: saved.uid,
            info: saved.info,
            waiting,
            container: None,
            message: collected.message.map(about).map(Box::new),
            causes: CauseLog::restored(causes.filter_map(SavedCause::recorded)),
            evidence,
            startup,
            slos: SloProgress::restored(&saved.slos, verdicts),
            images: ImagePulls::restored(saved.images),
            sli: SliProgress {
                is_stateful: saved.is_stateful,
                decided: saved.has_startup_sli,
            },
            lacks_network_condition: saved.lacks_network_condition,
            discovered: saved.discovered,
            entry: None,
            stuck: None,
        }
    }
}

impl EndedStartup {
    /// What is saved of it; [`EndedStartup::rules`] stand beside it.
    pub fn saved(&self) -> SavedEnded {
        let mut pod = self.pod.saved();
        if pod.evidence.is_announced {
            pod.collected.message = None;
        }
        SavedEnded {
            collected: std::mem::take(&mut pod.collected),
            images: (pod.info.images.take()).map_or_else(Vec::new, |images| images.to_vec()),
            pod,
            waiting: SavedWaiting::from(self.pod.waiting),
            outcome: Named(self.outcome),
            at: self.at,
        }
    }

    /// A startup that ended when the SLOs `rules` were in force, as it was saved.
    pub fn restored(saved: SavedEnded, rules: Arc<[SloRule]>) -> Self {
        let mut pod = PodInFlight::from(SavedInFlight {
            collected: saved.collected,
            ..saved.pod
        });
        let images = saved.images;
        pod.info.images = (!images.is_empty()).then(|| Arc::new(images));
        if let Some(waiting) = saved.waiting.get() {
            pod.waiting = waiting;
            if let Some(message) = &mut pod.message {
                message.about = waiting;
            }
        }
        let Named(outcome) = saved.outcome;
        Self::new(Box::new(pod), outcome, saved.at, rules)
    }
}

impl Sources {
    /// What is saved of each source, and when one last began to catch up.
    pub(in crate::lifecycle) fn saved(
        &self,
    ) -> (BTreeMap<SourceId, SavedSource>, Option<Timestamp>) {
        let saved = |(source, progress): (&SourceId, &SourceProgress)| {
            let source = *source;
            let saved = SavedSource {
                first_list: self.first_lists.get(&source).copied(),
                progress: progress.clone(),
            };
            (source, saved)
        };
        (self.progress.iter().map(saved).collect(), self.resumed)
    }

    /// Goes on from what was saved, under the numbers that `successor` gives. Every source is out of
    /// sync; one with another selection has no history.
    pub(in crate::lifecycle) fn restore(
        &mut self,
        saved: BTreeMap<SourceId, SavedSource>,
        resumed: Option<Timestamp>,
        successor: impl Fn(SourceId) -> Successor,
    ) {
        self.resumed = resumed;
        for (source, saved) in saved {
            match successor(source) {
                Successor::Same(source) => {
                    self.out_of_sync.insert(source);
                    if let Some(at) = saved.progress.complete_at {
                        self.reported.insert(source, at);
                    }
                    self.progress.insert(source, saved.progress);
                    if let Some(first_list) = saved.first_list {
                        self.first_lists.insert(source, first_list);
                    }
                }
                Successor::SelectionChanged(source) => {
                    self.out_of_sync.insert(source);
                }
                Successor::Gone => {}
            }
        }
    }
}
