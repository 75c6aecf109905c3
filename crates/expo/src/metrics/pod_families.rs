//! The families of pods (specification, section 7): what the recorder counts.

use podinit_core::kube_event::CapacityState;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    AnomalyKind, EvictedState, Milestone, NetworkEvidence, Outcome, PodObservation, RefusalReason,
    Stage, StageOrStep, Step, UnobservedReason, WaitReason,
};
use podinit_core::pod::DisruptionReason;
use podinit_histogram::layout::ClassicBuckets;
use podinit_instruments::{
    AnyText, Counter, CounterVec, CounterVec2, FamilyType, Gauge, GaugeVec, HistogramWith,
    LabelText, MetricType, SecondsCounter, SecondsGauge, TimestampGauge, computed_families,
    families, family_type,
};

family_type! {
    /// Histograms with the configured label set, for each stage.
    pub(super) struct DurationsByStage = Histogram [Stage] + LABEL_SET;
}
family_type! {
    /// Histograms with the configured label set, for each step.
    pub(super) struct DurationsByStep = Histogram [Step] + LABEL_SET;
}

family_type! {
    /// Histograms with the configured label set alone.
    pub(super) struct LabelSetDurations = Histogram [] + LABEL_SET;
}

computed_families! {
    /// The durations, by label set. Histograms are saved apart from counters (see `saved`).
    pub(super) const DURATIONS {
        STAGE_DURATION: DurationsByStage =
            "podinit_stage_duration_seconds", ["stage"], stable, saved,
            "Time that pods took for one stage of their startup.";
        STEP_DURATION: DurationsByStep =
            "podinit_step_duration_seconds", ["step"], experimental, saved,
            "Time that pods took for one step inside the stages unschedulable, network and containers.";
        SCHEDULED_TO_READY: LabelSetDurations =
            "podinit_scheduled_to_ready_duration_seconds", [], stable, saved,
            "Time from a pod's binding to a node until it was first ready.";
        CREATED_TO_READY: LabelSetDurations =
            "podinit_created_to_ready_duration_seconds", [], stable, saved,
            "Time from a pod's creation until it was first ready.";
    }
}

/// Gauges for each stage and cause that can be.
#[derive(Debug)]
pub(super) struct GaugesByWaiting;

impl FamilyType for GaugesByWaiting {
    const KIND: MetricType = MetricType::Gauge;
    const LABELS: usize = 2;
    const SLO_LABELS: bool = true;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [stage, cause] if WaitReason::from_texts(stage, cause).is_some())
    }
}

computed_families! {
    /// How many pods there are, by state: they add up at every scrape. Only the finished ones are
    /// saved as counts; those in flight are saved as pods, and the discovered ones are the sum.
    pub(super) const POD_COUNTS {
        INFLIGHT: GaugeVec<Stage> =
            "podinit_inflight_pods", ["stage"], stable, not_saved,
            "Pods that are starting up, by the stage they are in.";
        WAITING: GaugesByWaiting =
            "podinit_waiting_pods", ["stage", "cause"], stable, not_saved,
            "Pods that are starting up, by the stage they are in and why they wait there.";
        UNSCHEDULABLE: GaugeVec<CapacityState> =
            "podinit_unschedulable_pods", ["capacity"], experimental, not_saved,
            "Pods in the stage unschedulable, by what the last Event of an autoscaler says of a node for them.";
        STUCK: GaugesByWaiting =
            "podinit_stuck_pods", ["stage", "cause"], experimental, not_saved,
            "Pods that have been in their stage for longer than a start should take, by stage and cause.";
        OLDEST_INFLIGHT: GaugeVec<Stage> =
            "podinit_oldest_inflight_pod_timestamp_seconds", ["stage"], stable, not_saved,
            "Unix time at which the pod that has been in the stage longest entered it; absent when none is in it.";
        DISCOVERED: Counter =
            "podinit_pods_discovered_total", [], stable, not_saved,
            "Pods seen, by their UID.";
        FINISHED: CounterVec<Outcome> =
            "podinit_pods_finished_total", ["outcome"], stable, saved,
            "Pods whose startup is over, by how it ended.";
    }
}

families! {
    /// What is counted of single pods, besides how many there are.
    pub(super) struct PodFamilies {
        pub(super) unobserved: CounterVec2<StageOrStep, UnobservedReason> =
            "podinit_unobserved_total", ["interval", "reason"], stable, saved,
            "Stages and steps of pods that were not observed although they apply, by reason.";
        pub(super) network_evidence: CounterVec<NetworkEvidence> =
            "podinit_network_evidence_total", ["source"], experimental, saved,
            "Pods whose network became ready, by what gave the time.";
        pub(super) disruptions: CounterVec<DisruptionReason> =
            "podinit_startups_disrupted_total", ["reason"], stable, saved,
            "Pods that ended as disrupted, by the reason of their condition DisruptionTarget.";
        pub(super) reentries: CounterVec<ReenterableMilestone> =
            "podinit_reentries_total", ["milestone"], experimental, saved,
            "Times that a condition became true again on a pod on which it had been true before.";
        pub(super) relapsed: Counter =
            "podinit_startups_relapsed_total", [], experimental, saved,
            "Pods that were in CrashLoopBackOff again less than ten minutes after they had become ready.";
        pub(super) anomalies: CounterVec<AnomalyKind> =
            "podinit_clock_anomalies_total", ["kind"], experimental, saved,
            "Odd times and durations, by kind.";
    }
}

impl PodFamilies {
    /// Counts an observation that takes no more than a counter.
    pub(super) fn count(&self, observation: PodObservation) {
        match observation {
            PodObservation::Unobserved { stage, reason } => {
                self.unobserved.with(stage, reason).increment();
            }
            PodObservation::NetworkReady { evidence, .. } => {
                self.network_evidence.with(evidence).increment();
            }
            PodObservation::Disrupted(reason) => self.disruptions.with(reason).increment(),
            PodObservation::Reentered(milestone) => self.reenter(milestone),
            PodObservation::Anomaly(kind) => self.anomalies.with(kind).increment(),
            // The recorder accounts for these itself.
            PodObservation::Moved { .. }
            | PodObservation::Stuck { .. }
            | PodObservation::OldestInFlight { .. }
            | PodObservation::Bound
            | PodObservation::NodeKnown
            | PodObservation::Applies(_)
            | PodObservation::Startup { .. }
            | PodObservation::Measured { .. }
            | PodObservation::CustomMeasured { .. }
            | PodObservation::CustomUnobserved { .. }
            | PodObservation::Slo { .. }
            | PodObservation::StartupSli(_)
            // Only a report sets pods aside.
            | PodObservation::SetAside { .. }
            | PodObservation::Refused(_)
            | PodObservation::Delivered(_) => {}
        }
    }

    fn reenter(&self, milestone: Milestone) {
        let reenterable = ReenterableMilestone::new(milestone);
        if let Some(milestone) = reenterable {
            self.reentries.with(milestone).increment();
        }
    }
}

families! {
    /// What is counted of deliveries.
    pub(super) struct DeliveryFamilies {
        pub(super) delay: HistogramWith<{ ClassicBuckets::WatchDelivery as usize }> =
            "podinit_watch_delivery_seconds", [], experimental, saved,
            "Delay between the time of a binding in the API and the watch event that showed it.";
    }
}

computed_families! {
    /// Counters whose label values depend on the configuration.
    pub(super) const LABEL_FAMILIES {
        LABEL_VALUES_DROPPED: CounterVec<AnyText> =
            "podinit_label_overflow_pods_total", ["label"], stable, saved,
            "Pods whose value of the label lay past the cap and became _other; _label_set counts those whose whole set did.";
        LABEL_VALUES_EXPIRED: CounterVec<AnyText> =
            "podinit_label_values_expired_total", ["label"], experimental, saved,
            "Values of the label whose series ended after a day without a pod, so that others could have their places; _label_set counts whole sets.";
    }
}

families! {
    /// What is counted of the tracker as a whole.
    pub(super) struct TrackerFamilies {
        pub(super) gaps: SecondsCounter =
            "podinit_observation_gap_seconds_total", [], experimental, saved,
            "Time in which pods may have been created and deleted unseen, before the lists that closed gaps of the watch.";
        pub(super) remembered: Gauge =
            "podinit_remembered_pods", [], experimental, not_saved,
            "Pods that are remembered: in flight, finished, or deleted less than ten minutes ago.";
        pub(super) judged: TimestampGauge =
            "podinit_deadlines_judged_timestamp_seconds", [], experimental, not_saved,
            "Unix time until which the deadlines of all pods have been judged. It stands still while the watch is out of sync, and lies back while it is late.";
        pub(super) lag: SecondsGauge =
            "podinit_watch_lag_seconds", [], experimental, not_saved,
            "How late the watch delivers, by the last bindings or creations; absent while too few tell. Above 5 s it is late.";
        pub(super) evicted: CounterVec<EvictedState> =
            "podinit_pods_evicted_total", ["state"], experimental, saved,
            "Pods that are no longer remembered because the cap was reached, by what they were.";
        pub(super) refused: CounterVec<RefusalReason> =
            "podinit_snapshots_refused_total", ["reason"], experimental, saved,
            "Snapshots of unknown pods that were refused because of the cap on remembered pods, by reason.";
    }
}

/// A milestone that can be reached again: the values of the label `milestone`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReenterableMilestone(Milestone);

impl ReenterableMilestone {
    /// None for a milestone that cannot be reached again.
    pub(super) fn new(milestone: Milestone) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|reenterable| reenterable.0 == milestone)
    }
}

impl LabelValue for ReenterableMilestone {
    const ALL: &'static [Self] = &{
        let mut all = [Self(Milestone::REENTERABLE[0]); Milestone::REENTERABLE.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(Milestone::REENTERABLE[index]);
            index += 1;
        }
        all
    };

    fn as_str(self) -> &'static str {
        self.0.as_str()
    }

    fn index(self) -> usize {
        let mut all = Self::ALL.iter();
        all.position(|other| other.0 == self.0).unwrap_or_default()
    }
}
