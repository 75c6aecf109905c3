//! The clocks by which pods state times that lie in the future ([§8.7](crate::specification#s8-7)).

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use podinit_core::pod::PodUid;
use podinit_core::timestamp::NANOS_PER_SECOND;
use podinit_text::words::count;

/// So many clocks are named in a line of text.
const MOST_NAMED: usize = 3;

/// A clock that is ahead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "clock_ahead")]
pub struct ClockAhead {
    /// The node whose clock it is; `None` for the clock of the API server and the scheduler
    pub node: Option<String>,
    /// By how many seconds it is ahead at least
    pub seconds: f64,
    /// How many pods state times that lie in the future
    pub pods: u64,
}

/// `the clock of node-1 is at least 1h59m ahead (2 pods)`
impl fmt::Display for ClockAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ahead = at_least(self.seconds as u64);
        let pods = count(self.pods, "pod", "pods");
        match &self.node {
            Some(node) => write!(f, "the clock of {node} is at least {ahead} ahead ({pods})"),
            None => write!(
                f,
                "the clock of the API server is at least {ahead} ahead of this machine's ({pods})"
            ),
        }
    }
}

impl ClockAhead {
    /// All of `clocks` in one line; `None` where there are none.
    pub fn line(clocks: &[Self]) -> Option<String> {
        let named = clocks.iter().take(MOST_NAMED);
        let mut parts: Vec<String> = named.map(Self::to_string).collect();
        if clocks.len() > MOST_NAMED {
            parts.push(format!("and {} more clocks", clocks.len() - MOST_NAMED));
        }
        (!parts.is_empty()).then(|| {
            format!(
                "{}; times that lie in the future do not tell the time of the recording",
                parts.join(", ")
            )
        })
    }
}

/// The pods that state times in the future, and how far their clocks are ahead.
#[derive(Debug, Default)]
pub(super) struct ClocksAhead {
    pods: HashSet<PodUid>,
    /// By node; the clock of the control plane is that of none
    clocks: BTreeMap<Option<Arc<str>>, AheadClock>,
}

#[derive(Debug, Default)]
struct AheadClock {
    nanos: i64,
    pods: u64,
}

impl ClocksAhead {
    /// A pod states a time by the clock of `node` that is `nanos` later than the present.
    pub(super) fn add(&mut self, pod: PodUid, node: Option<&Arc<str>>, nanos: i64) {
        let is_new = self.pods.insert(pod);
        let clock = self.clocks.entry(node.cloned()).or_default();
        clock.nanos = clock.nanos.max(nanos);
        clock.pods += u64::from(is_new);
    }

    /// The clocks, the one furthest ahead first.
    pub(super) fn found(&self) -> Vec<ClockAhead> {
        let mut all: Vec<_> = self.clocks.iter().collect();
        all.sort_by_key(|(_, ahead)| std::cmp::Reverse(ahead.nanos));
        let clocks = all.into_iter().map(|(node, ahead)| ClockAhead {
            node: node.as_deref().map(str::to_owned),
            seconds: ahead.nanos as f64 / NANOS_PER_SECOND as f64,
            pods: ahead.pods,
        });
        clocks.collect()
    }
}

/// A duration in its two largest units, never longer than it is: `42s`, `12m5s`, `1h59m`.
fn at_least(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(node: &str, seconds: f64) -> ClockAhead {
        ClockAhead { node: (!node.is_empty()).then(|| node.to_owned()), seconds, pods: 2 }
    }

    #[test]
    fn a_line_names_the_worst_clocks_and_never_says_too_much() {
        assert_eq!(ClockAhead::line(&[]), None);
        assert_eq!(
            clock("node-1", 7199.9).to_string(),
            "the clock of node-1 is at least 1h59m ahead (2 pods)"
        );
        let cases = [(59.9, "59s"), (60.0, "1m0s"), (3599.0, "59m59s"), (90_000.0, "25h0m")];
        for (seconds, text) in cases {
            let said = clock("a", seconds).to_string();
            assert!(said.contains(&format!("least {text} ahead")), "{said}");
        }
        let many: Vec<ClockAhead> = (0..9).map(|at| clock(&format!("n{at}"), 60.0)).collect();
        let line = ClockAhead::line(&many).unwrap_or_default();
        assert!(line.contains("n2 is") && line.contains("and 6 more clocks"), "{line}");
        assert!(!line.contains("n3"), "{line}");
        assert!(clock("", 60.0).to_string().contains("the API server"));
    }

    #[test]
    fn a_pod_counts_once() {
        let mut ahead = ClocksAhead::default();
        let node = Arc::from("node-1");
        for nanos in [7, 9, 8] {
            ahead.add(PodUid::from_text("a"), Some(&node), nanos * NANOS_PER_SECOND);
        }
        ahead.add(PodUid::from_text("b"), None, 20 * NANOS_PER_SECOND);
        let found = ahead.found();
        assert_eq!((found[0].node.as_deref(), found[0].pods), (None, 1));
        assert_eq!((found[1].seconds, found[1].pods), (9.0, 1));
    }
}
