//! Rollouts for people.

use super::{Rollout, Rollouts};
use podinit_text::document::{DocumentFormat, TerminalStyle, TextDocument};
use podinit_text::human_time::{long, since};
use podinit_text::strangers_text::shown;
use podinit_text::table::{TextTable, cell};
use podinit_text::words::counted;

const COLUMNS: [&str; 8] =
    ["NAMESPACE", "WORKLOAD", "HELD BY", "READY", "STARTING", "DOWN", "OTHERS", "SINCE"];
/// How many rollouts that have ended the narrow table names, newest first.
const MOST_ENDED: usize = 5;

impl Rollouts {
    /// A sentence for each rollout in progress, a table of their figures, and the last ones that ended; with `wide`, the
    /// next command of each, and all that ended.
    pub fn to_table(&self, wide: bool, style: TerminalStyle) -> String {
        let mut document = TextDocument::new(DocumentFormat::Text(style));
        let (in_progress, ended): (Vec<&Rollout>, Vec<&Rollout>) =
            self.rollouts.iter().partition(|one| one.in_progress.is_some());
        match (&self.none_because, in_progress.is_empty()) {
            (Some(why), _) => document.sentence(&shown(why)),
            (None, true) if self.time.is_none() => document.sentence("Nothing is known yet."),
            (None, true) => document.sentence("No rollout is in progress."),
            (None, false) if wide => {
                let blocks: Vec<String> = in_progress.iter().map(|one| block(one)).collect();
                document.paragraph(&blocks.join("\n\n"));
            }
            (None, false) => {
                document.list(in_progress.iter().map(|one| sentence(one)));
                let rows = in_progress.iter().map(|one| self.cells(one));
                document.table(&TextTable::new(&COLUMNS, rows));
            }
        }
        let most = if wide { usize::MAX } else { MOST_ENDED };
        let (named, others) = ended.split_at(ended.len().min(most));
        if !named.is_empty() {
            let more = Some(others.len()).filter(|others| *others > 0);
            let more = more.map(|others| format!("… and {others} more, which -o wide lists"));
            let lines = named.iter().map(|one| sentence(one));
            let lines = ["Ended lately:".to_owned()].into_iter().chain(lines).chain(more);
            document.paragraph(&lines.collect::<Vec<_>>().join("\n"));
        }
        if self.more > 0 {
            let more = counted(self.more, "rollout is", "rollouts are");
            document.paragraph(&format!("{more} left out; raise --limit to see more."));
        }
        document.finish()
    }

    fn cells(&self, rollout: &Rollout) -> Vec<String> {
        let Some(standing) = &rollout.in_progress else { return Vec::new() };
        let pods = |pods: u32| pods.to_string();
        let began = self.time.map(|now| long(since(rollout.began, now)));
        let guessed = if rollout.found_in_progress { "?" } else { "" };
        let cells = [
            rollout.namespace.to_string(),
            rollout.workload.to_string(),
            standing.held_by.as_str().to_owned(),
            format!("{}/{}", standing.new.up, standing.new.of_wanted(rollout.wanted)),
            pods(standing.new.starting),
            pods(standing.new.down),
            pods(standing.others.all()),
            began.unwrap_or_default() + guessed,
        ];
        cells.iter().map(|text| cell(text)).collect()
    }
}

fn sentence(rollout: &Rollout) -> String {
    shown(&rollout.sentence).into_owned() + "."
}

/// The sentence, and what to do next.
fn block(rollout: &Rollout) -> String {
    let standing = rollout.in_progress.as_ref();
    let says = standing.and_then(|standing| standing.message.as_deref());
    let next = standing.map(|standing| &*standing.next_command);
    let lines = [("says", says), ("next", next)];
    let lines = lines.into_iter().filter_map(|(name, text)| Some((name, text?)));
    let lines = lines.map(|(name, text)| format!("  {name:<11}{}", cell(text)));
    [sentence(rollout)].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}
