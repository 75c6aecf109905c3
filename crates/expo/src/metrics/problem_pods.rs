//! How many pods each of the largest problems has ([§13.9](crate::specification#s13-9)).

use parking_lot::Mutex;
use podinit_core::lifecycle::Cause;
use podinit_core::pod::text::cut;
use podinit_instruments::{
    AnyText, ExpositionEncoder, FamilyDoc, FamilyHead, FamilySource, GaugeVec3, SampleNumber,
    SavedFamilies, computed_families,
};
use podinit_text::strangers_text::label;
use tokio::time::Instant;

/// So many problems have a series.
pub const MOST_PROBLEMS: usize = 8;

/// The longest value of a label, in bytes.
const LONGEST_VALUE: usize = 128;

computed_families! {
    /// What is broken.
    pub const PROBLEMS {
        PROBLEM_PODS: GaugeVec3<AnyText, AnyText, AnyText> =
            "podinit_problem_pods", ["cause", "dimension", "value"], experimental, not_saved,
            "Pods that a problem affects, of the largest problems: by cause, and by what they share.";
    }
}

/// One series.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProblemSeries {
    cause: &'static str,
    dimension: &'static str,
    value: Box<str>,
    pods: u64,
}

/// A problem, as far as its series shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedProblem<'a> {
    /// What its pods wait for, or what ended them
    pub cause: Cause,
    /// What they share: the name of a dimension, and the value; `None` if they share nothing
    pub shared: Option<(&'static str, &'a str)>,
    /// How many it affects
    pub pods: usize,
}

/// Exposes the problems that were stated last, as long as that says something of the present.
#[derive(Debug, Default)]
pub struct ProblemPods(Mutex<StatedProblems>);

/// Problems, and until when they say something of the present.
#[derive(Clone, Debug, Default)]
struct StatedProblems {
    series: Vec<ProblemSeries>,
    until: Option<Instant>,
}

impl ProblemPods {
    /// States the first [`MOST_PROBLEMS`] of these, the worst first, as what is broken until then. Values that are equal
    /// as labels count as one.
    pub fn state<'a>(&self, problems: impl IntoIterator<Item = StatedProblem<'a>>, until: Instant) {
        let mut all: Vec<ProblemSeries> = Vec::new();
        for problem in problems.into_iter().take(MOST_PROBLEMS) {
            let (dimension, value) = match problem.shared {
                None => ("none", "".into()),
                Some((dimension, value)) => (dimension, label(value)),
            };
            let value = cut(&value, LONGEST_VALUE);
            let cause = problem.cause.as_str();
            let pods = problem.pods as u64;
            let same = |one: &&mut ProblemSeries| {
                (one.cause, one.dimension, &*one.value) == (cause, dimension, value)
            };
            match all.iter_mut().find(same) {
                Some(one) => one.pods += pods,
                None => all.push(ProblemSeries { cause, dimension, value: value.into(), pods }),
            }
        }
        all.sort_by(|one, other| {
            let key = |one: &ProblemSeries| (one.cause, one.dimension);
            (key(one).cmp(&key(other))).then_with(|| one.value.cmp(&other.value))
        });
        *self.0.lock() = StatedProblems { series: all, until: Some(until) };
    }
}

impl FamilySource for ProblemPods {
    fn families(&self) -> Vec<FamilyDoc> {
        PROBLEMS.to_vec()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        let StatedProblems { series, until } = self.0.lock().clone();
        let is_fresh = until.is_some_and(|until| Instant::now() <= until);
        out.family(FamilyHead::from(&PROBLEM_PODS));
        for one in series.iter().filter(|_| is_fresh) {
            let labels =
                [("cause", one.cause), ("dimension", one.dimension), ("value", &*one.value)];
            out.number(&labels, SampleNumber::Integer(one.pods));
        }
    }

    fn save(&self, _: &mut SavedFamilies) {}

    fn restore(&self, _: &SavedFamilies) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use super::*;
    use crate::metrics::{ExpositionBuilder, LabelConfig};
    use podinit_instruments::ExpositionFormat;
    use std::time::Duration;

    /// The series of an exposition in which these problems are stated.
    fn series(problems: &[StatedProblem<'_>], format: ExpositionFormat) -> Vec<String> {
        let source = Arc::new(ProblemPods::default());
        let builder =
            ExpositionBuilder::new(LabelConfig::default()).source(Box::new(Arc::clone(&source)));
        let (_, exposition) = builder.build().unwrap();
        source.state(problems.iter().copied(), Instant::now() + Duration::from_secs(15));
        let text = String::from_utf8_lossy(&exposition.encode(format).unwrap()).into_owned();
        let lines = text.lines().filter(|line| line.starts_with("podinit_problem_pods"));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn the_first_eight_have_a_series_and_one_without_a_value_says_none() {
        let nodes: Vec<_> = (0..9).map(|n| format!("node-{n}")).collect();
        let on = nodes.iter().enumerate().map(|(n, node)| StatedProblem {
            cause: Cause::Cni,
            shared: Some(("node", node)),
            pods: 20 - n,
        });
        let mut problems: Vec<_> = on.collect();
        problems.insert(1, StatedProblem { cause: Cause::Image, shared: None, pods: 19 });
        let found = series(&problems, ExpositionFormat::Text);
        assert_eq!(found.len(), MOST_PROBLEMS);
        assert_eq!(
            found[0],
            "podinit_problem_pods{cause=\"cni\",dimension=\"node\",value=\"node-0\"} 20"
        );
        assert_eq!(
            found[7],
            "podinit_problem_pods{cause=\"image\",dimension=\"none\",value=\"\"} 19"
        );
        assert_eq!(series(&problems, ExpositionFormat::OpenMetrics), found);
        assert_eq!(series(&[], ExpositionFormat::Text), Vec::<String>::new());
    }

    #[test]
    fn long_values_are_cut_between_characters_and_equal_ones_are_one_series() {
        let long = format!("r/{}é", "x".repeat(125));
        let values = ["1", "2"].map(|tail| format!("{long}{tail}"));
        let problems = values.each_ref().map(|value| StatedProblem {
            cause: Cause::Image,
            shared: Some(("image", value)),
            pods: 3,
        });
        let value = format!("r/{}", "x".repeat(125));
        assert_eq!(value.len(), LONGEST_VALUE - 1);
        let expected = format!(
            "podinit_problem_pods{{cause=\"image\",dimension=\"image\",value=\"{value}\"}} 6"
        );
        assert_eq!(series(&problems, ExpositionFormat::Text), [expected]);
    }

    #[test]
    fn what_a_stranger_named_is_escaped_and_one_line() {
        let hostile = ["a\"} 1\nb\\\u{202e}", "a\"} 1\rb\\\u{1b}"];
        let problem =
            |name| StatedProblem { cause: Cause::Probe, shared: Some(("image", name)), pods: 1 };
        let expected = "podinit_problem_pods{cause=\"probe\",dimension=\"image\",value=\"a\\\"} 1 b\\\\\u{fffd}\"} 2";
        assert_eq!(series(&hostile.map(problem), ExpositionFormat::Text), [expected]);
    }
}
