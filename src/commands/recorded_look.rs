//! Opens a recording for the commands that look at pods: at its end.

use super::one_shot_list::slos_of;
use super::reports::{recorded, warn_of_clocks};
use crate::args::{LookArgs, RecordedArgs};
use crate::inspect::explain::quoted;
use crate::inspect::listed_cluster::decode_options;
use crate::inspect::problems::LookedAtRecording;
use crate::reports::reader::{ClockAhead, SoFar};
use crate::reports::replay::ReplayConfig;
use podinit_core::lifecycle::TrackerConfig;

/// Reads the recording to its end, and returns the clocks that are ahead of it, after a warning.
///
/// # Errors
/// If it or the SLO file cannot be read.
pub(super) fn look(
    args: &RecordedArgs,
    look: &LookArgs,
) -> anyhow::Result<(LookedAtRecording, Vec<ClockAhead>)> {
    let config = ReplayConfig {
        tracker: TrackerConfig {
            timestamps: args.timestamps,
            events: look.evidence.events(),
            nodes: look.evidence.nodes(),
            stuck_after: slos_of(look.slo.as_deref())?.stuck_after,
            ..TrackerConfig::default()
        },
        shard: None,
        until: None,
    };
    let so_far = SoFar::default();
    let documents = recorded(args, decode_options(), &so_far);
    let seen = LookedAtRecording::of(documents, config)?;
    let clocks_ahead = so_far.clocks_ahead();
    warn_of_clocks(&clocks_ahead);
    Ok((seen, clocks_ahead))
}

/// The options by which another command looks at the same.
pub(super) fn source(args: &RecordedArgs) -> String {
    let files =
        (args.files.iter()).map(|file| format!(" --file {}", quoted(&file.display().to_string())));
    let same_moment = args.same_moment.then(|| " --same-moment".to_owned());
    files.chain(same_moment).collect()
}
