//! Records of the pods of a real control plane and real kubelets: they say what was counted, and their
//! documents are what the schema says.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::files::recordings;
use crate::support::json_schema;
use podinit_core::lifecycle::{
    EndedStartup, Interval, IntervalResult, Latency, MOST_CAUSES, Observation, Observer, Outcome,
    PodObservation, PodState, Record, SloResult, SloVerdict, TimestampMode, UnobservedReason,
};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_oncall::api::SCHEMA;
use podinit_oncall::api::model::ApiStartup;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::{ReplayConfig, replayed};
use podinit_slo::SloFile;
use serde_json::Value;

/// What was counted of one startup.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    measured: BTreeMap<Interval, Latency>,
    unobserved: BTreeMap<Interval, UnobservedReason>,
    slos: Vec<SloVerdict>,
    outcome: Option<Outcome>,
}

/// Compares each record with what was counted of its pod.
struct Compare {
    counted: BTreeMap<(String, String), Counted>,
    schema: Value,
    compared: usize,
}

fn key(pod: &PodInfo) -> (String, String) {
    (pod.namespace.to_string(), pod.name.to_string())
}

impl Observer for Compare {
    fn observe(&mut self, _now: Timestamp, observation: Observation<'_>) {
        let Observation::Pod(pod, observation) = observation else {
            return;
        };
        let counted = self.counted.entry(key(pod)).or_default();
        match observation {
            PodObservation::Measured { interval, latency } => {
                counted.measured.insert(interval, latency);
            }
            PodObservation::Unobserved { stage, reason } => {
                counted.unobserved.insert(stage.interval(), reason);
            }
            PodObservation::Slo { verdict, .. } => counted.slos.push(verdict),
            PodObservation::Moved { to, .. } => match to {
                PodState::Finished(outcome) => counted.outcome = Some(outcome),
                // A pod of this name begins anew.
                PodState::InFlight(..) if counted.outcome.is_some() => {
                    *counted = Counted::default()
                }
                PodState::InFlight(..) | PodState::Undiscovered => {}
            },
            _ => {}
        }
    }

    fn ended(&mut self, startup: EndedStartup) {
        let record = startup.record();
        let counted = self.counted.remove(&key(startup.pod())).unwrap();
        let of_result = |wanted: fn(IntervalResult) -> bool| {
            let all = record.intervals.iter();
            all.filter(move |one| wanted(one.result))
        };
        let measured = of_result(|result| matches!(result, IntervalResult::Measured { .. }));
        let measured: BTreeMap<_, _> =
            measured.map(|one| (one.interval, record.duration(one.interval).unwrap())).collect();
        assert_eq!(measured, counted.measured, "{record:#?}");
        let unobserved: BTreeMap<_, _> = record
            .intervals
            .iter()
            .filter(|one| one.interval.stage_or_step().is_some())
            .filter_map(|one| match one.result {
                IntervalResult::Unobserved { reason } => Some((one.interval, reason)),
                _ => None,
            })
            .collect();
        assert_eq!(unobserved, counted.unobserved, "{record:#?}");
        let results = record.slos.iter().map(|slo| slo.result);
        let results: Vec<_> = results.filter(|result| *result != SloResult::Undecided).collect();
        assert_eq!(results.len(), counted.slos.len());
        for result in results {
            let mut counted = counted.slos.iter();
            assert!(counted.any(|verdict| SloResult::from(Some(*verdict)) == result));
        }
        assert_eq!(record.outcome(), counted.outcome);
        assert!((1..=MOST_CAUSES).contains(&record.causes.len()));
        let document = serde_json::to_value(ApiStartup::from_record(&record, &[])).unwrap();
        let read: Record = serde_json::from_value(document.clone()).unwrap();
        let again = serde_json::to_value(&read).unwrap();
        assert_eq!(again, document, "it is read as it was");
        json_schema::check(&self.schema, "startup", &document);
        self.compared += 1;
    }
}

#[test]
fn records_of_a_real_cluster_say_what_was_counted() {
    let mut compared = 0;
    for path in recordings() {
        for events in [false, true] {
            let mut config = ReplayConfig::default();
            config.tracker.timestamps = TimestampMode::Fused;
            config.tracker.events = events;
            config.tracker.slos = slos();
            let sink = |_: &_| {
                Ok(Compare {
                    counted: BTreeMap::new(),
                    schema: serde_json::from_str(SCHEMA).unwrap(),
                    compared: 0,
                })
            };
            let documents = Recording::open(&path, DecodeOptions::default()).unwrap();
            let end = replayed(documents, config, sink, |_, _| {}).unwrap();
            compared += end.sink.compared;
        }
    }
    assert!(compared > 300, "{compared} records were compared");
}

fn slos() -> Arc<[podinit_core::lifecycle::SloRule]> {
    let file = SloFile::built_in();
    file.slos.iter().map(|slo| slo.rule.clone()).collect()
}
