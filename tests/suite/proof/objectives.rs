//! The events of SLOs: exactly one for each pod, and the right one wherever the API's times decide.

use podinit_core::lifecycle::Outcome;

use crate::proof::audit::{Fault, Findings};
use crate::proof::expected::Expected;
use crate::proof::facts::Nature;
use crate::proof::tally::{Counted, SLOS};

/// As in [`crate::proof::exporter::OBJECTIVES`].
pub const NAMES: [&str; SLOS] = ["scheduling", "network", "ready", "created"];

/// By SLO: the interval, in the order of `Interval::ALL`, and the threshold in seconds.
const RULES: [(usize, i64); SLOS] = [(1, 5), (3, 10), (7, 20), (8, 60)];

/// The SLO that leaves out a namespace.
const READY: usize = 2;

/// The grace that a deadline has, in seconds.
const GRACE: i64 = 5;

const SECOND: i64 = 1_000_000_000;

pub fn check(
    pod: u32,
    nature: &Nature,
    expected: &Expected,
    counted: &Counted,
    findings: &mut Findings,
) {
    for (slo, events) in counted.slos.into_iter().enumerate() {
        let name = NAMES[slo];
        let matches = expected.discovered && (slo != READY || nature.namespace != "kube-system");
        let all: u32 = events.iter().sum();
        let ended = expected.outcome.is_some();
        if all < u32::from(matches && ended) {
            findings.add(Fault::Lost, Some(pod), format!("the event of SLO {name}"));
        }
        if all > u32::from(matches) {
            findings.add(Fault::Double, Some(pod), format!("{all} events of SLO {name}"));
        }
        if matches && let Some(fault) = wrong(slo, expected, events) {
            findings.add(Fault::Wrong, Some(pod), format!("SLO {name}: {fault} {events:?}"));
        }
    }
}

/// Why the event cannot be right.
fn wrong(slo: usize, expected: &Expected, [good, bad, _]: [u32; 3]) -> Option<String> {
    let (interval, threshold) = RULES[slo];
    if matches!(expected.outcome, Some(Outcome::Static | Outcome::Preexisting)) {
        return (good + bad > 0).then(|| "judged though it was there before".to_owned());
    }
    let Some(length) = expected.lengths[interval] else {
        return (good > 0).then(|| "good though its end was not seen".to_owned());
    };
    let seconds = length.seconds?;
    if good > 0 && seconds > threshold {
        return Some(format!("good after {seconds} s"));
    }
    // What is adopted counts for nothing where its interval or deadline lay before first sight.
    let excluded_is_right = expected.from_before || seconds < 0 || length.lacked;
    if excluded_is_right {
        return None;
    }
    if good + bad == 0 {
        return Some(format!("not judged after {seconds} s"));
    }
    if bad > 0 && seconds < threshold {
        // Bad is right only where the deadline had passed when the end was shown.
        let deadline = (length.began? + threshold + GRACE) * SECOND;
        let in_time = length.shown.is_some_and(|shown| shown < deadline);
        return in_time.then(|| format!("bad after {seconds} s, which was known in time"));
    }
    None
}
