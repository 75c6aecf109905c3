//! The spans of a startup: a root, below it a span for each stage and image pull, and below a stage one
//! for each of its steps. Their times are those of the record.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{Event, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::attributes;
use super::ids::{SpanName, span_id, trace_id};
use podinit_core::lifecycle::{
    GateKind, GateState, Interval, IntervalResult, Milestone, Outcome, Progress, Record,
    RecordedGate, SloResult, Stage, StageSpans, TimelineSpan, UnobservedReason,
};
use podinit_core::timestamp::Timestamp;

/// The name of the event of a root span that says what the pod waits for from then on.
const WAITING: &str = "waiting";

/// The name of the event of a root span that says that a milestone of your own was reached.
const MILESTONE: &str = "milestone";

/// Makes the spans of startups.
#[derive(Debug)]
pub(super) struct SpanBuilder {
    scope: InstrumentationScope,
    label_keys: Vec<String>,
}

impl SpanBuilder {
    /// `label_keys` are the keys of the chosen pod labels.
    pub(crate) fn new(label_keys: Vec<String>) -> Self {
        let scope = InstrumentationScope::builder("podinit");
        let scope = scope.with_version(env!("CARGO_PKG_VERSION")).build();
        Self { scope, label_keys }
    }

    /// The spans of a startup that has ended, the root first; none of one under way.
    pub(crate) fn spans(&self, record: &Record) -> Vec<SpanData> {
        let Progress::Ended { outcome, at, .. } = record.progress else {
            return Vec::new();
        };
        let startup = TracedStartup {
            record,
            outcome,
            began: record.reached(Milestone::Created).unwrap_or(record.discovered),
            ended: record.reached(Milestone::Ready).unwrap_or(at),
            attributes: attributes::of_pod(record.uid, &record.pod, &self.label_keys),
            scope: &self.scope,
        };
        let mut spans = vec![startup.root()];
        // One that the startup never ended lasts as long as the startup.
        for stage in record.timeline(Some(startup.ended)) {
            spans.extend(startup.stage(&stage));
        }
        spans.extend(startup.pulls());
        spans
    }
}

/// The stage in which a gate holds a pod.
const fn stage_of(kind: GateKind) -> Stage {
    match kind {
        GateKind::Scheduling => Stage::Gated,
        GateKind::Readiness => Stage::Readiness,
    }
}

/// A startup that has ended.
struct TracedStartup<'a> {
    record: &'a Record,
    outcome: Outcome,
    began: Timestamp,
    ended: Timestamp,
    /// Those of every span
    attributes: Vec<KeyValue>,
    scope: &'a InstrumentationScope,
}

impl TracedStartup<'_> {
    fn root(&self) -> SpanData {
        let missed = self.missed();
        let missed: Vec<&str> = missed.iter().map(|(slo, _)| *slo).collect();
        let more = attributes::of_startup(self.record, &missed);
        let mut span = self.span(SpanName::Startup, None, (self.began, self.ended), more);
        span.status = self.status(&missed);
        span.events = self.events();
        span
    }

    /// The span of a stage and those of its steps; none where the stage has no times.
    fn stage(&self, spans: &StageSpans<'_>) -> Vec<SpanData> {
        let Some(times) = usable(&spans.whole) else {
            return Vec::new();
        };
        let name = SpanName::Interval(Interval::Stage(spans.stage));
        let mut span = self.span(name, Some(SpanName::Startup), times, Vec::new());
        let missed = self.missed();
        let missed = (missed.iter()).filter(|(_, inside)| *inside == Some(spans.stage));
        let missed: Vec<&str> = missed.map(|(slo, _)| *slo).collect();
        if !missed.is_empty() {
            span.status = Status::error(missed_text(&missed));
        }
        let steps = spans.steps.iter().filter_map(|(step, inside)| {
            let step = SpanName::Interval(Interval::Step(*step));
            Some(self.span(step, Some(name), usable(inside)?, Vec::new()))
        });
        [span].into_iter().chain(steps).chain(self.gates(spans.stage, name, times)).collect()
    }

    /// The waits for the gates that held the pod in a stage, within that.
    fn gates(
        &self,
        stage: Stage,
        parent: SpanName<'_>,
        (from, to): (Timestamp, Timestamp),
    ) -> impl Iterator<Item = SpanData> {
        let gates = self.record.gates.iter().filter(move |one| stage_of(one.kind) == stage);
        gates.filter_map(move |RecordedGate { kind, gate, state, passed, .. }| {
            // One that was passed at a time that nobody knows says nothing. One that was not lasts as long as the stage.
            let until = match state {
                GateState::Passed => *passed,
                GateState::Holding | GateState::Waiting => Some(to),
            };
            let until = until.filter(|until| *until > from)?.min(to);
            let name = SpanName::Gate { kind: *kind, gate };
            Some(self.span(name, Some(parent), (from, until), attributes::of_gate(*kind, gate)))
        })
    }

    fn pulls(&self) -> impl Iterator<Item = SpanData> {
        let pulls = self.record.pulls.iter();
        pulls.filter_map(|pull| {
            let container = &*pull.container;
            let mut containers = self.record.containers.iter();
            let of_spec = containers.find(|one| *one.name == *container);
            let image = of_spec.and_then(|one| one.image.as_deref());
            let more = attributes::of_pull(pull, image);
            let name = SpanName::ImagePull { container };
            let span = self.span(name, Some(SpanName::Startup), pull.span()?, more);
            Some(span)
        })
    }

    /// The SLOs that the pod missed, and the stage in which it was then, where that is known.
    fn missed(&self) -> Vec<(&str, Option<Stage>)> {
        let slos = self.record.slos.iter();
        let missed = slos.filter_map(|slo| match slo.result {
            SloResult::Bad { reason } => Some((&*slo.slo, reason.stage())),
            _ => None,
        });
        missed.collect()
    }

    fn status(&self, missed: &[&str]) -> Status {
        let failed =
            matches!(self.outcome, Outcome::Failed | Outcome::Rejected | Outcome::Disrupted);
        let failed = failed.then(|| self.outcome.as_str().to_owned());
        let missed = (!missed.is_empty()).then(|| missed_text(missed));
        let faults: Vec<String> = failed.into_iter().chain(missed).collect();
        match faults.is_empty() {
            true => Status::Unset,
            false => Status::error(faults.join("; ")),
        }
    }

    /// What the pod waited for, and since when; and the milestones of your own.
    fn events(&self) -> SpanEvents {
        let causes = self.record.causes.iter().map(|cause| {
            let attributes = attributes::of_waiting(cause.waiting);
            Event::new(WAITING, system_time(cause.began), attributes, 0)
        });
        let mut events = SpanEvents::default();
        let reached = self.record.custom_milestones.iter().filter_map(|one| {
            let attributes = attributes::of_milestone(&one.milestone);
            Some(Event::new(MILESTONE, system_time(one.time?), attributes, 0))
        });
        events.events = causes.chain(reached).collect();
        events
    }

    fn span(
        &self,
        name: SpanName<'_>,
        parent: Option<SpanName<'_>>,
        (from, to): (Timestamp, Timestamp),
        more: Vec<KeyValue>,
    ) -> SpanData {
        let uid = self.record.uid;
        let id = |name| span_id(uid, name);
        let (flags, state) = (TraceFlags::SAMPLED, TraceState::default());
        let mut attributes = self.attributes.clone();
        attributes.extend(more);
        SpanData {
            span_context: SpanContext::new(trace_id(uid), id(name), flags, false, state),
            parent_span_id: parent.map_or(SpanId::INVALID, id),
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: name.as_str().into(),
            start_time: system_time(from),
            end_time: system_time(to.max(from)),
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: self.scope.clone(),
        }
    }
}

/// The times of a stage or a step; none where they are unusable.
fn usable(span: &TimelineSpan<'_>) -> Option<(Timestamp, Timestamp)> {
    let unusable = IntervalResult::Unobserved { reason: UnobservedReason::Time };
    let times = span.times().filter(|_| span.recorded.result != unusable);
    // Below zero by at most a second is noise of the truncation ([§4.5](crate::specification#s4-5)).
    times.map(|(from, to)| (from, to.max(from)))
}

fn missed_text(slos: &[&str]) -> String {
    format!("missed the SLO {}", slos.join(", "))
}

fn system_time(at: Timestamp) -> SystemTime {
    let nanos = u64::try_from(at.as_nanos()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos)
}

#[cfg(test)]
#[path = "spans_tests.rs"]
mod tests;
