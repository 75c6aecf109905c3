//! A report on the records that running exporters have kept, instead of a recording.

use super::pods::ReportedPod;
use super::report_sink::ReportSink;
use super::{DetailedReport, ReportedPodName};
use podinit_core::lifecycle::{Progress, Record, Stage};
use podinit_core::timestamp::Timestamp;
use podinit_recordings::ExporterRecords;

/// Reports on what exporters have kept, with at most `top` of the slowest pods.
pub fn of_records(kept: ExporterRecords, top: usize) -> DetailedReport {
    let mut sink = ReportSink::new(top, &[]);
    let mut oldest: [Option<(Timestamp, ReportedPodName)>; Stage::ALL.len()] = Default::default();
    for record in kept.in_account() {
        sink.add(record);
        if let Progress::InFlight { waiting, entered, .. } = record.progress {
            let oldest = &mut oldest[waiting.stage() as usize];
            if oldest.as_ref().is_none_or(|(since, _)| entered < *since) {
                *oldest = Some((entered, ReportedPodName::from_pod(&record.pod)));
            }
        }
    }
    for record in &kept.slow {
        sink.name_if_slow(record);
    }
    if let Some(now) = kept.time {
        sink.advanced(now);
    }
    kept.in_account().for_each(|record| sink.add_waiting(record));
    let end = sink.end();
    let summary = sink.report_on_records(oldest.map(|oldest| oldest.map(|(_, name)| name)));
    let ExporterRecords { ended, in_flight, slow, .. } = kept;
    let reported = |records: Vec<Record>| records.into_iter().map(ReportedPod::from).collect();
    DetailedReport {
        end,
        summary,
        pods: reported(ended.into_iter().chain(in_flight).collect()),
        slow: reported(slow),
    }
}
