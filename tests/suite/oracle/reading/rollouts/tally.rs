//! What the families of [§17.5](crate::specification#s17-5) count.

use std::collections::BTreeSet;

use super::walk::{Sum, Walk};
use super::workload::{Key, Source, Workload, part};
use super::{HOLDERS, OUTCOMES};
use crate::oracle::figures::Figures;
use crate::oracle::reading::Options;
use crate::oracle::reading::life::{self, Life};
use crate::oracle::reading::rules::Rules;
use crate::oracle::reading::stream::Recording;

const DURATION: &str = "podinit_rollout_duration_seconds";
const TOTAL: &str = "podinit_rollouts_total";
const IN_PROGRESS: &str = "podinit_rollouts_in_progress";
const HELD: &str = "podinit_rollout_held_seconds_total";

/// Adds the rollouts of every workload. "With `--shard` […] the families of this section are absent".
pub(crate) fn count(
    rules: &dyn Rules,
    recording: &Recording,
    options: &Options,
    figures: &mut Figures,
) {
    if options.shard.is_some() {
        return;
    }
    let histories = recording.pods.iter();
    let lives: Vec<Life> = histories.flat_map(|history| life::lives(rules, history).0).collect();
    let shown = lives.iter().flat_map(|life| &life.folded);
    let keys: BTreeSet<Key> =
        shown.filter_map(|folded| part(rules, &folded.pod)).map(|(key, _)| key).collect();
    let source = Source {
        rules,
        deliveries: &recording.deliveries,
        timestamps: options.timestamps,
        began: recording.first_list_began,
    };
    for key in &keys {
        let of_key = |life: &&Life| {
            let mut parts = life.folded.iter().filter_map(|folded| part(rules, &folded.pod));
            parts.any(|(of, _)| of == *key)
        };
        let lives: Vec<Life> = lives.iter().filter(of_key).cloned().collect();
        let workload = Workload::new(source, key, &lives);
        let sum = Walk::sum(&workload, recording.now, options.until);
        add(key, &sum, options, figures);
    }
}

fn add([namespace, kind, name]: &Key, sum: &Sum, options: &Options, figures: &mut Figures) {
    let kind = kind.to_lowercase();
    let of_workload = [("workload_type", kind.as_str()), ("workload", name.as_str())];
    let mut labels = vec![("namespace", namespace.as_str())];
    labels.extend(of_workload.iter().filter(|(label, _)| options.labels.contains(label)));
    let with = |label: &'static str, value: &'static str| [&labels[..], &[(label, value)]].concat();
    for outcome in OUTCOMES {
        let times = sum.outcomes.iter().filter(|one| **one == outcome).count();
        figures.add(TOTAL, &with("outcome", outcome), times);
    }
    for by in HOLDERS {
        let is_held = sum.in_progress == Some(by);
        figures.add(IN_PROGRESS, &with("held_by", by), usize::from(is_held));
        let held = sum.held.get(by).copied().unwrap_or(0);
        figures.add_time(HELD, &with("held_by", by), held);
    }
    figures.histogram(DURATION, &labels).extend(&sum.durations);
}
