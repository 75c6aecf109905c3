//! The worst startups of a source, a line each: the stuck pods, and then what took longest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::explanation::{Explanation, ExplanationContext};
use podinit_core::lifecycle::{Outcome, Progress, Record};
use podinit_core::timestamp::Timestamp;
use podinit_recordings::SET_ASIDE;
use podinit_recordings::reader::ClockAhead;
use podinit_text::human_time::{as_of, seconds};
use podinit_text::strangers_text;
use podinit_text::table::{TextTable, cell};

/// How many startups are listed.
const MOST: usize = 10;
const HEAD: [&str; 4] = ["POD", "STATE", "TOOK", "VERDICT"];

/// The worst startups, the worst first: pods in flight, startups that ended as ready, and those that failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Worst {
    /// As of when it is; left out where that is the present
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The clocks by which a recording states times that lie in the future; left out where there are none
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks_ahead: Vec<ClockAhead>,
    pub(crate) worst: Vec<WorstStartup>,
    /// Pods that are not among them, because their status has lost when they started up, by why
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set_aside: BTreeMap<&'static str, u64>,
}

/// One startup, explained in a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct WorstStartup {
    pub namespace: String,
    pub name: String,
    /// `in_flight`, or the outcome
    pub state: &'static str,
    pub stuck: bool,
    /// How long it took, or has taken so far
    pub seconds: f64,
    /// One sentence
    pub verdict: String,
    /// The command that shows more
    pub next: String,
}

impl Worst {
    /// Adds the kubeconfig of the cluster to the next commands; `None` if kubectl finds it.
    pub fn about_cluster(mut self, kubeconfig: Option<&str>) -> Self {
        for one in &mut self.worst {
            one.next = super::addressed(&one.next, kubeconfig);
        }
        self
    }

    /// A table, or a line that says that there is nothing to list.
    pub fn to_table(&self, colour: bool) -> String {
        let aside = self.set_aside_note();
        let time = self.time.map_or_else(String::new, |time| format!("\n{}\n", as_of(time)));
        if self.worst.is_empty() {
            return format!("No startup is known.\n{time}{aside}");
        }
        let rows = self.worst.iter().map(|one| {
            let state = if one.stuck { "stuck" } else { one.state };
            let name = format!("{}/{}", one.namespace, one.name);
            let cells = [&*name, state, &seconds(one.seconds.round()), &one.verdict];
            cells.map(cell).to_vec()
        });
        TextTable::new(&HEAD, rows).to_text(colour) + &time + &aside
    }

    /// A line on what is not listed, as a report has it.
    fn set_aside_note(&self) -> String {
        let reasons = self.set_aside.iter();
        let reasons: Vec<String> = reasons.map(|(why, pods)| format!("{why} {pods}")).collect();
        match reasons.is_empty() {
            true => String::new(),
            false => format!("\n{SET_ASIDE}: {}\n", reasons.join(", ")),
        }
    }

    /// As JSON.
    ///
    /// # Errors
    /// None: its numbers are finite.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }

    /// Adds a startup as of `now`, beside its context.
    pub fn add(&mut self, record: &Record, context: ExplanationContext, now: Timestamp) {
        if let Some(lost) = context.lost.filter(|_| context.is_set_aside) {
            *self.set_aside.entry(lost.as_str()).or_default() += 1;
            return;
        }
        let stuck = match record.progress {
            Progress::InFlight { is_stuck, is_never_ready, .. } => {
                // It is no startup any more, and runs for as long as its job takes.
                if is_never_ready && !is_stuck {
                    return;
                }
                is_stuck
            }
            Progress::Ended { outcome, .. } => {
                // How long others ran says nothing of their startup.
                if !matches!(outcome, Outcome::Ready | Outcome::Failed | Outcome::Rejected) {
                    return;
                }
                false
            }
        };
        let explained = Explanation::new(record, context, now);
        // A startup of unknown duration is not among the worst.
        let Some(seconds) = explained.seconds else {
            return;
        };
        self.worst.push(WorstStartup {
            namespace: explained.namespace,
            name: explained.name,
            state: explained.state,
            stuck,
            seconds,
            verdict: explained.verdict,
            next: explained.next,
        });
        // Sorted now and then, so that what is kept is bounded and each costs little.
        if self.worst.len() >= 10 * MOST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let took = |one: &WorstStartup| Reverse((one.seconds * 1e3) as u64);
        let key = |one: &WorstStartup| (!one.stuck, took(one), one.namespace.clone());
        self.worst.sort_by_cached_key(|one| (key(one), one.name.clone()));
        self.worst.truncate(MOST);
    }

    /// The worst startups that were added, the worst first.
    pub fn sorted(mut self) -> Self {
        self.cut();
        self
    }
}
