//! Gates and milestones of your own in an explanation ([§16](crate::specification#s16)).

use std::borrow::Cow;

use super::explanation::MilestoneLine;
use super::uncertainty;
use super::waterfall::WaterfallRow;
use podinit_core::lifecycle::{
    Cause, CustomStart, GateKind, GateState, Milestone, MilestoneSource, Record, RecordedGate,
    Stage,
};
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::{date_and_time, since};

/// The milestones that were reached and the gates that were passed, by time. Those whose time is not known come last.
pub(super) fn milestones(record: &Record, began: Timestamp) -> Vec<MilestoneLine> {
    let line = |milestone: Cow<'static, str>, time: Option<Timestamp>, source| MilestoneLine {
        milestone,
        time,
        after_seconds: time.map(|at| since(began, at)),
        source,
        uncertain: None,
    };
    let reached = record.milestones.iter().map(|reached| MilestoneLine {
        uncertain: uncertainty::of_milestone(record, *reached),
        ..line(reached.milestone.as_str().into(), reached.time, reached.source)
    });
    let passed = record.gates.iter().filter(|gate| gate.state == GateState::Passed);
    let passed = passed.map(|gate| {
        let source = match gate.kind {
            GateKind::Scheduling => MilestoneSource::Watch,
            GateKind::Readiness => MilestoneSource::Condition,
        };
        let name = format!("gate {}", last_word(gate));
        line(name.into(), gate.passed, gate.passed.map(|_| source))
    });
    let custom = record.custom_milestones.iter().filter_map(|custom| {
        let time = custom.time?;
        Some(line(
            custom.milestone.to_string().into(),
            Some(time),
            Some(MilestoneSource::Condition),
        ))
    });
    let mut lines: Vec<MilestoneLine> = reached.chain(passed).chain(custom).collect();
    lines.sort_by_key(|line| (line.time.is_none(), line.time));
    lines
}

/// The bars of a stage that gates and milestones of your own give it, from `began` on; what is open lasts until `end`.
pub(super) fn rows(
    record: &Record,
    stage: Stage,
    (began, end): (Timestamp, Timestamp),
) -> impl Iterator<Item = WaterfallRow> {
    let row = move |label: String, from: Timestamp, to: Option<Timestamp>| WaterfallRow {
        label,
        stage: stage.as_str(),
        is_inside: true,
        from_seconds: Some(since(began, from)),
        to_seconds: Some(since(began, to.unwrap_or(end))),
        seconds: to.map(|to| since(from, to)),
        is_pull: false,
        is_open: to.is_none(),
        p50_seconds: None,
        uncertain: None,
    };
    let gates = record.gates.iter().filter_map(move |gate| {
        let (of_stage, start) = match gate.kind {
            GateKind::Scheduling => (Stage::Gated, Milestone::Created),
            GateKind::Readiness => (Stage::Readiness, Milestone::ContainersReady),
        };
        let from = record.reached(start).filter(|_| of_stage == stage)?;
        let label = format!("gate {}", last_word(gate));
        match (gate.state, gate.passed) {
            (GateState::Holding, _) => Some(row(label, gate.since.unwrap_or(from), None)),
            // What was passed before has held nothing up.
            (GateState::Passed, Some(to)) if to > from => Some(row(label, from, Some(to))),
            _ => None,
        }
    });
    let custom = record.custom_milestones.iter().filter_map(move |custom| {
        let start = match custom.seconds(CustomStart::ContainersStarted) {
            Some(_) => Milestone::ContainersStarted,
            None => Milestone::Created,
        };
        let (from, to) = (record.reached(start)?, custom.time?);
        (stage_at(record, to)? == stage).then(|| row(custom.milestone.to_string(), from, Some(to)))
    });
    gates.chain(custom)
}

/// The stage that a pod was in at an instant, or else its last.
fn stage_at(record: &Record, at: Timestamp) -> Option<Stage> {
    let stages: Vec<_> = record.timeline(None).collect();
    let during = stages.iter().find(|one| one.whole.to.is_none_or(|to| at <= to));
    during.or(stages.last()).map(|one| one.stage)
}

/// The end of a gate's name, which distinguishes it from other gates of its controller.
fn last_word(gate: &RecordedGate) -> &str {
    gate.gate.rsplit('/').next().unwrap_or(&gate.gate)
}

/// Where a gate is, and since when.
pub(crate) fn gate_in_words(gate: &RecordedGate) -> String {
    match (gate.state, gate.since.or(gate.passed)) {
        (GateState::Holding, Some(_)) if gate.since.is_none() => {
            "holds the pod again, after it was passed".to_owned()
        }
        (GateState::Holding, Some(since)) => {
            format!("holds the pod since {}", date_and_time(since))
        }
        (GateState::Holding, None) => "holds the pod".to_owned(),
        (GateState::Waiting, _) => "not passed yet; containers are not ready".to_owned(),
        (GateState::Passed, Some(at)) => format!("passed at {}", date_and_time(at)),
        (GateState::Passed, None) => "passed, nothing says when".to_owned(),
    }
}

/// Which gates hold a pod that waits for this cause, in words.
pub(super) fn held_by(record: &Record, cause: Cause) -> Option<String> {
    let first = record.gate_of(cause)?;
    let others = record.holding_gates().filter(|gate| gate.kind == first.kind).count() - 1;
    let (kind, gate) = (first.kind.as_str(), &first.gate);
    Some(match others {
        0 => format!("the {kind} gate {gate} holds it"),
        1 => format!("the {kind} gate {gate} and another one hold it"),
        more => format!("the {kind} gate {gate} and {more} others hold it"),
    })
}
