//! [§5.10](crate::specification#s5-10): pods that fall back after they were Ready.

use super::{API, Example, READY_IN_FULL, example, ready};
use crate::oracle::build::*;
use serde_json::json;

/// The pod waits in CrashLoopBackOff; its Ready is False since then.
fn crashes(since: f64) -> Pod {
    let status = json!({"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}});
    ready("a")
        .put("spec", "containers", json!([{"name": "main"}]))
        .put("status", "containerStatuses", json!([status]))
        .no(READY, since)
}

/// With these lines besides those of a ready pod.
fn with(lines: &str) -> &'static str {
    format!("{READY_IN_FULL}\nevidence condition 1\n{lines}").leak()
}

pub(super) fn examples() -> Vec<Example> {
    let again = ready("a").yes(READY, 30.0);
    vec![
        example(
            "§5.10: \"counts a pod that ended as `ready` once\"",
            API,
            vec![
                added(&ready("a")),
                modified(&crashes(20.0)),
                modified(&again),
                modified(&crashes(40.0)),
            ],
            with("relapsed 1\nreentries Ready 1"),
        ),
        example(
            "§5.10: \"less than 10 minutes after its first Ready\"",
            API,
            vec![added(&ready("a")), modified(&crashes(610.0))],
            with(""),
        ),
        example(
            "§5.10: the last second of the 10 minutes",
            API,
            vec![added(&ready("a")), modified(&crashes(609.0))],
            with("relapsed 1"),
        ),
        example(
            "§5.10: \"a pod that ended as `ready`\" and not one that had been Ready before",
            API,
            vec![list(&[ready("a")]), modified(&crashes(20.0))],
            "finished preexisting 1",
        ),
        example(
            "§5.10: the object of a DELETED event counts",
            API,
            vec![added(&ready("a")), deleted(&crashes(20.0))],
            with("relapsed 1"),
        ),
    ]
}
