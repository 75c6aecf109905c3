//! Whether the state directory can be used, and what it contains.

use std::path::Path;

use super::report::{Check, Finding};
use podinit_checkpoint::{FoundCheckpoint, OpenFault, inspect};
use podinit_core::shard::Shard;
use podinit_text::words::count;
use podinit_traces::TraceStats;

/// Inspects the directory without changing it. `running`: another podinit listens on the address, so
/// it is expected to use the directory too. `present` is the shard of this process.
pub(super) fn check(dir: Option<&Path>, running: bool, present: Shard) -> Finding {
    const CHECK: Check = Check::StateDir;
    let Some(dir) = dir else {
        return Finding::ok(CHECK, "no directory given: counters start at zero after a restart");
    };
    let name = dir.display();
    let inspection = match inspect(dir, &podinit_exporter::families(&TraceStats::FAMILIES)) {
        Ok(inspection) => inspection,
        Err(error) => {
            return Finding::error(CHECK, error.to_string()).fix(match error.cause {
                OpenFault::NotADirectory => "name a directory with --state-dir",
                OpenFault::Create(_) | OpenFault::NotWritable(_) | OpenFault::Lock(_) => {
                    "mount a volume there that the user of podinit may write to (fsGroup)"
                }
                OpenFault::InUse | OpenFault::OtherShard { .. } => IN_USE,
            });
        }
    };
    if inspection.in_use && !running {
        let found = format!("{name} is used by another process");
        return Finding::error(CHECK, found).fix(IN_USE);
    }
    let by = if inspection.in_use { ", and used by a podinit that already runs here" } else { "" };
    match inspection.checkpoint {
        FoundCheckpoint::Absent if !inspection.exists => {
            Finding::ok(CHECK, format!("{name} does not exist yet; it would be created"))
        }
        FoundCheckpoint::Absent => {
            Finding::ok(CHECK, format!("{name} is writable, without a checkpoint yet{by}"))
        }
        FoundCheckpoint::Whole { shard, .. } if shard.index() != present.index() => {
            let found =
                format!("{name} holds the state of shard {shard}, and this is shard {present}");
            Finding::error(CHECK, found).fix("give each shard a directory of its own")
        }
        FoundCheckpoint::Whole { bytes, pods, skipped, .. } => {
            let pods_known = count(pods, "pod", "pods");
            let found = format!("{name} is writable, with a checkpoint of {pods_known}{by}");
            let finding = Finding::ok(CHECK, found).detail("bytes", bytes).detail("pods", pods);
            match skipped {
                0 => finding,
                // Another version has written it.
                skipped => finding.detail("skipped", skipped),
            }
        }
        FoundCheckpoint::Unusable(why) => {
            let found = format!("{name}: the checkpoint cannot be used: {why}");
            Finding::warning(CHECK, found).fix(
                "nothing, if counters may start at zero: serve sets it aside; otherwise restore it, \
                 or run the version of podinit that wrote it",
            )
        }
    }
}

const IN_USE: &str = "give each podinit a directory of its own, or stop the other one";
