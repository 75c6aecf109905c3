//! Every metric family of podinit (§7), for the encoders and for whoever checks the documentation
//! against them.

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only ever grows; its name ends in `_total`
    Counter,
    /// Goes up and down
    Gauge,
    /// Counts by bucket
    Histogram,
    /// Of no known type; met only in families that are not podinit's own
    Untyped,
}

impl Kind {
    /// The name in the text formats; OpenMetrics says `unknown` for [`Kind::Untyped`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Untyped => "untyped",
        }
    }
}

/// What is constant about a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyDoc {
    /// The name as Prometheus shows it, `_total` of a counter included
    pub name: &'static str,
    /// The type
    pub kind: Kind,
    /// The labels, those of the label set aside
    pub labels: &'static [&'static str],
    /// Whether the configured label set comes after `labels`
    pub label_set: bool,
    /// One sentence
    pub help: &'static str,
    /// The unit, where the name ends in one
    pub unit: Option<&'static str>,
}

const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> FamilyDoc {
    FamilyDoc {
        name,
        kind: Kind::Counter,
        labels,
        label_set: false,
        help,
        unit: None,
    }
}

const fn gauge(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> FamilyDoc {
    FamilyDoc {
        kind: Kind::Gauge,
        ..counter(name, labels, help)
    }
}

const fn duration(
    name: &'static str,
    labels: &'static [&'static str],
    label_set: bool,
    help: &'static str,
) -> FamilyDoc {
    FamilyDoc {
        kind: Kind::Histogram,
        label_set,
        unit: Some("seconds"),
        ..counter(name, labels, help)
    }
}

pub(super) const STAGE_DURATION: FamilyDoc = duration(
    "podinit_stage_duration_seconds",
    &["stage"],
    true,
    "Time that pods took for one stage of their startup.",
);
pub(super) const SCHEDULED_TO_READY: FamilyDoc = duration(
    "podinit_scheduled_to_ready_duration_seconds",
    &[],
    true,
    "Time from a pod's binding to a node until it was first ready.",
);
pub(super) const CREATED_TO_READY: FamilyDoc = duration(
    "podinit_created_to_ready_duration_seconds",
    &[],
    true,
    "Time from a pod's creation until it was first ready.",
);
pub(super) const INFLIGHT: FamilyDoc = gauge(
    "podinit_inflight_pods",
    &["stage"],
    "Pods that are starting up, by the stage they are in.",
);
pub(super) const OLDEST_INFLIGHT: FamilyDoc = FamilyDoc {
    unit: Some("seconds"),
    ..gauge(
        "podinit_oldest_inflight_pod_timestamp_seconds",
        &["stage"],
        "Unix time at which the pod that has been in the stage longest entered it; absent when none is in it.",
    )
};
pub(super) const DISCOVERED: FamilyDoc = counter(
    "podinit_pods_discovered_total",
    &[],
    "Pods seen, by their UID.",
);
pub(super) const FINISHED: FamilyDoc = counter(
    "podinit_pods_finished_total",
    &["outcome"],
    "Pods whose startup is over, by how it ended.",
);
pub(super) const UNOBSERVED: FamilyDoc = counter(
    "podinit_unobserved_total",
    &["stage", "reason"],
    "Stages of pods that were not observed although they apply, by why.",
);
pub(super) const REENTRIES: FamilyDoc = counter(
    "podinit_reentries_total",
    &["milestone"],
    "Times that a condition became true again on a pod on which it had been true before.",
);
pub(super) const CLOCK_ANOMALIES: FamilyDoc = counter(
    "podinit_clock_anomalies_total",
    &["kind"],
    "Times and durations that were odd, by how.",
);
pub(super) const WATCH_DELIVERY: FamilyDoc = duration(
    "podinit_watch_delivery_seconds",
    &[],
    false,
    "Delay between a milestone's time in the API and the watch event that showed it.",
);
pub(super) const LABEL_VALUES_DROPPED: FamilyDoc = counter(
    "podinit_label_values_dropped_total",
    &["label"],
    "Pods whose value of the label lay past the cap and became _other; _label_set counts those whose whole set did.",
);
pub(super) const OBSERVATION_GAP: FamilyDoc = FamilyDoc {
    unit: Some("seconds"),
    ..counter(
        "podinit_observation_gap_seconds_total",
        &[],
        "Time in which pods may have been born and gone unseen, before the lists that closed gaps of the watch.",
    )
};
pub(super) const REMEMBERED: FamilyDoc = gauge(
    "podinit_remembered_pods",
    &[],
    "Pods that are remembered: in flight, finished, or deleted less than ten minutes ago.",
);
pub(super) const EVICTED: FamilyDoc = counter(
    "podinit_pods_evicted_total",
    &["state"],
    "Pods that are no longer remembered because the cap was reached, by what they were.",
);
pub(super) const REFUSED: FamilyDoc = counter(
    "podinit_snapshots_refused_total",
    &["reason"],
    "Snapshots of unknown pods that were refused because of the cap on remembered pods, by why.",
);
pub(super) const SLO_EVENTS: FamilyDoc = counter(
    "podinit_slo_events_total",
    &["slo", "result"],
    "Pods that met the SLO (good) or whose deadline passed (bad).",
);
pub(super) const SLO_EXCLUDED: FamilyDoc = counter(
    "podinit_slo_excluded_total",
    &["slo", "reason"],
    "Pods that count neither as good nor as bad for the SLO, by why.",
);
pub(super) const SLO_OBJECTIVE: FamilyDoc = FamilyDoc {
    unit: Some("ratio"),
    ..gauge(
        "podinit_slo_objective_ratio",
        &["slo"],
        "Share of pods that are to be good.",
    )
};
pub(super) const SLO_THRESHOLD: FamilyDoc = FamilyDoc {
    unit: Some("seconds"),
    ..gauge(
        "podinit_slo_threshold_seconds",
        &["slo"],
        "Duration within which the interval of the SLO is to end.",
    )
};
pub(super) const WATCH_EVENTS: FamilyDoc = counter(
    "podinit_watch_events_total",
    &["type"],
    "Events that the watch delivered, by type.",
);
pub(super) const WATCH_ERRORS: FamilyDoc = counter(
    "podinit_watch_errors_total",
    &["reason"],
    "Faults of the list-watch, by reason.",
);
pub(super) const RELISTS: FamilyDoc = counter(
    "podinit_relists_total",
    &["reason"],
    "Lists made to begin or to mend the watch, by reason.",
);
pub(super) const SYNCED: FamilyDoc = gauge(
    "podinit_synced",
    &[],
    "Whether the watch is in sync with the API server (1) or not (0).",
);
pub(super) const LAST_CONTACT_AGE: FamilyDoc = FamilyDoc {
    unit: Some("seconds"),
    ..gauge(
        "podinit_watch_last_contact_age_seconds",
        &[],
        "Time since the API server was last heard, by the list-watch that has waited longest; absent before the first contact.",
    )
};
pub(super) const CLOCK_STEPS: FamilyDoc = counter(
    "podinit_clock_steps_total",
    &[],
    "Times that the machine's clock and the API server's came apart, or together again.",
);
pub(super) const CLOCK_CORRECTION: FamilyDoc = FamilyDoc {
    unit: Some("seconds"),
    ..gauge(
        "podinit_clock_correction_seconds",
        &[],
        "What podinit adds to the machine's clock to tell the time; about 0 while that clock is right.",
    )
};
pub(super) const CONFIG_RELOAD_SUCCESSFUL: FamilyDoc = gauge(
    "podinit_config_last_reload_successful",
    &[],
    "Whether the SLO file as it stands is in force (1) or is broken, so that an older one is (0).",
);
pub(super) const CONFIG_RELOAD_TIMESTAMP: FamilyDoc = FamilyDoc {
    unit: Some("seconds"),
    ..gauge(
        "podinit_config_last_reload_success_timestamp_seconds",
        &[],
        "Unix time at which SLOs were last put in force.",
    )
};
pub(super) const CHECKPOINT_LOADS: FamilyDoc = counter(
    "podinit_checkpoint_loads_total",
    &["result"],
    "Starts with a state directory, by what became of the checkpoint in it.",
);
pub(super) const CHECKPOINT_WRITES: FamilyDoc = counter(
    "podinit_checkpoint_writes_total",
    &["result"],
    "Times that the checkpoint was written, by result.",
);
pub(super) const CHECKPOINT_SIZE: FamilyDoc = FamilyDoc {
    unit: Some("bytes"),
    ..gauge(
        "podinit_checkpoint_size_bytes",
        &[],
        "Size of the checkpoint as it was last written.",
    )
};
pub(super) const CHECKPOINT_DURABLE: FamilyDoc = gauge(
    "podinit_checkpoint_durable",
    &[],
    "Whether everything that scrapes were shown is in the checkpoint on disk (1) or not (0).",
);
pub(super) const HTTP_REQUESTS_REFUSED: FamilyDoc = counter(
    "podinit_http_requests_refused_total",
    &["reason"],
    "Requests that access control refused, by why.",
);
pub(super) const TLS_HANDSHAKE_FAILURES: FamilyDoc = counter(
    "podinit_tls_handshake_failures_total",
    &[],
    "TLS handshakes that failed or did not complete in time.",
);
pub(super) const WEB_CONFIG_RELOADS: FamilyDoc = counter(
    "podinit_web_config_reloads_total",
    &["result"],
    "Times that the web configuration file, or one that it names, was found changed, by whether it was put in force.",
);
pub(super) const WEB_CONFIG_RELOAD_SUCCESSFUL: FamilyDoc = gauge(
    "podinit_web_config_last_reload_successful",
    &[],
    "Whether the web configuration file as it stands is in force (1) or is broken, so that an older one is (0).",
);
pub(super) const WEB_CONFIG_RELOAD_TIMESTAMP: FamilyDoc = FamilyDoc {
    unit: Some("seconds"),
    ..gauge(
        "podinit_web_config_last_reload_success_timestamp_seconds",
        &[],
        "Unix time at which a web configuration was last put in force.",
    )
};
pub(super) const BUILD_INFO: FamilyDoc = gauge(
    "podinit_build_info",
    &["version", "revision"],
    "The running build of podinit; always 1.",
);

/// The families, in the order in which they are exposed.
static FAMILIES: &[FamilyDoc] = &[
    STAGE_DURATION,
    SCHEDULED_TO_READY,
    CREATED_TO_READY,
    INFLIGHT,
    OLDEST_INFLIGHT,
    DISCOVERED,
    FINISHED,
    UNOBSERVED,
    REENTRIES,
    CLOCK_ANOMALIES,
    WATCH_DELIVERY,
    LABEL_VALUES_DROPPED,
    OBSERVATION_GAP,
    REMEMBERED,
    EVICTED,
    REFUSED,
    SLO_EVENTS,
    SLO_EXCLUDED,
    SLO_OBJECTIVE,
    SLO_THRESHOLD,
    WATCH_EVENTS,
    WATCH_ERRORS,
    RELISTS,
    SYNCED,
    LAST_CONTACT_AGE,
    CLOCK_STEPS,
    CLOCK_CORRECTION,
    CONFIG_RELOAD_SUCCESSFUL,
    CONFIG_RELOAD_TIMESTAMP,
    CHECKPOINT_LOADS,
    CHECKPOINT_WRITES,
    CHECKPOINT_SIZE,
    CHECKPOINT_DURABLE,
    HTTP_REQUESTS_REFUSED,
    TLS_HANDSHAKE_FAILURES,
    WEB_CONFIG_RELOADS,
    WEB_CONFIG_RELOAD_SUCCESSFUL,
    WEB_CONFIG_RELOAD_TIMESTAMP,
    BUILD_INFO,
];

/// Every family that podinit can expose, in the order of exposition; `process_*` aside.
pub fn families() -> &'static [FamilyDoc] {
    FAMILIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions() {
        for family in families() {
            let name = family.name;
            assert!(name.starts_with("podinit_"));
            assert_eq!(
                name.ends_with("_total"),
                family.kind == Kind::Counter,
                "{name}"
            );
            assert_eq!(
                name.trim_end_matches("_total").ends_with("_seconds"),
                family.unit == Some("seconds"),
                "{name}"
            );
            assert!(family.help.ends_with('.'), "{name}");
            assert_eq!(
                families().iter().filter(|other| other.name == name).count(),
                1
            );
        }
    }
}
