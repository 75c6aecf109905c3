//! What a pod waited for whose node had to start ([§14.6](crate::specification#s14-6)).

use crate::text::human_time::seconds;
use podinit_core::lifecycle::{Interval, Record, Stage, StartupCapacity, Step};

/// Whether the pod was unschedulable until a new node came.
pub(super) fn waited(record: &Record) -> bool {
    record.startup_capacity == Some(StartupCapacity::New)
        && record
            .intervals
            .iter()
            .any(|one| one.interval == Interval::Stage(Stage::Unschedulable) && one.began.is_some())
}

/// The steps of the wait, such as "38s until it existed, 95s until it was ready, 7s until the pod was bound".
/// Those that were not observed are left out; `None` if none was.
pub(super) fn steps(record: &Record) -> Option<String> {
    if !waited(record) {
        return None;
    }
    let steps = [
        (Step::NodeLaunch, "until it existed"),
        (Step::NodeReady, "until it was ready"),
        (Step::NodeJoin, "until the pod was bound"),
    ];
    let observed = steps.into_iter().filter_map(|(step, until)| {
        let took = record.duration(Interval::Step(step))?;
        Some(format!("{} {until}", seconds(took.as_nanos() as f64 / 1e9)))
    });
    let observed: Vec<String> = observed.collect();
    (!observed.is_empty()).then(|| observed.join(", "))
}
