//! Over all shards: what one process would count once is counted by one shard, also where shards were killed
//! or numbered anew.

use podinit_core::lifecycle::{Interval, Outcome};

use crate::proof::audit::{Fault, Findings};
use crate::proof::expected::had_started_up;
use crate::proof::facts::READY;
use crate::proof::history::History;
use crate::proof::objectives;
use crate::proof::tally::{Counted, Tally};

/// The sums of what the processes have counted, pod by pod.
pub fn of<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Vec<Counted> {
    let mut sums: Vec<Counted> = Vec::new();
    for tally in tallies {
        if sums.len() < tally.pods.len() {
            sums.resize(tally.pods.len(), Counted::default());
        }
        for (sum, counted) in sums.iter_mut().zip(&tally.pods) {
            sum.add(counted);
        }
    }
    sums
}

/// What of the sums is counted more often than it can have happened.
///
/// A pod may come to another shard that was Ready, is not, and looks as if it never was
/// ([§5.2](crate::specification#s5-2)): no one who sees it first then can know better.
pub fn check(history: &History, sums: &[Counted], findings: &mut Findings) {
    for (pod, counted) in (0..).zip(sums) {
        if counted.outcomes[Outcome::Ready as usize] > 1 && looks_new_again(history, pod) {
            continue;
        }
        let mut once = |what: &str, count: u32| {
            if count > 1 {
                findings.add(Fault::Double, Some(pod), format!("{what} ({count} over all shards)"));
            }
        };
        for interval in &Interval::ALL[..Interval::WITHOUT_NODES] {
            once(interval.as_str(), counted.measured[interval.index()]);
        }
        for (slo, [good, bad, _]) in objectives::NAMES.iter().zip(counted.slos) {
            once(slo, good + bad);
        }
        let of = |outcome: Outcome| counted.outcomes[outcome as usize];
        // A pod that moves is the same pod at the next shard; one that was over when it came was counted before.
        let [moved, preexisting, is_static] =
            [Outcome::Moved, Outcome::Preexisting, Outcome::Static].map(of);
        let others = moved + preexisting + is_static;
        once("moved", moved);
        once("an outcome", counted.outcomes.iter().sum::<u32>() - others);
        once("discovered", counted.discovered.saturating_sub(others));
    }
}

/// Whether the pod has a version that does not show that it was Ready before.
fn looks_new_again(history: &History, pod: u32) -> bool {
    let mut versions = history.log.iter().filter(|version| version.pod == pod);
    versions.any(|version| version.shows.reached(READY).is_some())
        && versions.any(|version| !had_started_up(&version.shows))
}
