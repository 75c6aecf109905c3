//! Whether the state directory can be used, and what is in it.

use std::path::Path;

use super::names::count;
use super::report::{Check, Finding};
use crate::checkpoint::{FoundCheckpoint, OpenFault, inspect};

/// Inspects the directory without changing it. `running`: a podinit has the address to listen on
/// already, so that it is no surprise that one has the directory too.
pub(super) fn check(dir: Option<&Path>, running: bool) -> Finding {
    const CHECK: Check = Check::StateDir;
    let Some(dir) = dir else {
        return Finding::ok(
            CHECK,
            "none is given: counters begin at zero after a restart",
        );
    };
    let name = dir.display();
    let inspection = match inspect(dir) {
        Ok(inspection) => inspection,
        Err(error) => {
            return Finding::error(CHECK, error.to_string()).mend(match error.cause {
                OpenFault::NotADirectory => "name a directory with --state-dir",
                OpenFault::Create(_) | OpenFault::NotWritable(_) | OpenFault::Lock(_) => {
                    "mount a volume there that the user of podinit may write to (fsGroup)"
                }
                OpenFault::InUse => IN_USE,
            });
        }
    };
    if inspection.in_use && !running {
        let found = format!("{name} is used by another process");
        return Finding::error(CHECK, found).mend(IN_USE);
    }
    let by = if inspection.in_use {
        ", and used by a podinit that runs here already"
    } else {
        ""
    };
    match inspection.checkpoint {
        FoundCheckpoint::Absent if !inspection.exists => Finding::ok(
            CHECK,
            format!("{name} does not exist yet; it would be created"),
        ),
        FoundCheckpoint::Absent => Finding::ok(
            CHECK,
            format!("{name} is writable, and without a checkpoint yet{by}"),
        ),
        FoundCheckpoint::Whole { bytes, pods } => {
            let pods_known = count(pods as u64, "pod", "pods");
            let found = format!("{name} is writable, with a checkpoint of {pods_known}{by}");
            Finding::ok(CHECK, found)
                .detail("bytes", bytes)
                .detail("pods", pods)
        }
        FoundCheckpoint::Unusable(why) => {
            let found = format!("{name}: the checkpoint cannot be used: {why}");
            Finding::warning(CHECK, found).mend(
                "nothing, if counters may begin at zero: serve sets it aside; else restore it, or \
                 run the podinit that wrote it",
            )
        }
    }
}

const IN_USE: &str = "give each podinit a directory of its own, or end the other one";
