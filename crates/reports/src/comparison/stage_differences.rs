//! Whose the seconds of a difference are ([§15.4](crate::specification#s15-4)). Durations are sums, so means divide:
//! quantiles do not.

use serde::Serialize;

use super::mix::PodMatches;
use super::presence::MOST_KNOWN;
use super::quantile::IntervalQuantile;
use super::row::Moved;
use super::side::{ComparedPod, ComparisonSide};
use super::statistics::{DividedDuration, DividedSample, Resampled, ends, widened};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Interval, Latency, Stage};

/// The draws are the same in each run.
const SEEDS: [u64; 2] = [15_400, 15_401];
/// A stage is named alone with this part of the difference.
const HALF: f64 = 0.5;
/// Two stages are named with this part together, and a quarter each.
const TWO_THIRDS: f64 = 2.0 / 3.0;
const QUARTER: f64 = 0.25;
/// The intervals of all stages together err in this part of comparisons.
const OF_STAGES: f64 = 0.05;

/// What a duration is divided into: the stages, then its pulls, whether they are known, and itself.
const PARTS: usize = Stage::ALL.len() + 3;
const PULLS: usize = Stage::ALL.len();
const KNOWS_PULLS: usize = PULLS + 1;
const WHOLE: usize = KNOWS_PULLS + 1;

/// The difference of the means of a duration, by stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StageDifferences {
    /// The duration that is divided
    pub(super) interval: &'static str,
    /// The means leave out this part of each side, its slowest pods
    left_out: f64,
    /// The shares of the pods before and after all of whose stages are known
    pub(super) known: [f64; 2],
    /// The difference of the means, in seconds
    pub(super) difference: f64,
    /// The stages that any of these pods has, in their order
    pub(super) stages: Vec<StageDifference>,
    /// The difference of the means of image pulls, in seconds, where they are known of most pods on both sides
    #[serde(skip_serializing_if = "Option::is_none")]
    pulls: Option<f64>,
    /// Most network times after may include pulls: kubelets up to 1.35 set the condition late
    #[serde(skip)]
    network_has_pulls: bool,
}

/// What a stage makes of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct StageDifference {
    #[serde(serialize_with = "stage_name")]
    pub(super) stage: Stage,
    /// The difference of its means, in seconds; 0 counts of a pod that lacks it
    pub(super) difference: f64,
    /// The ends of its interval of 95 %
    interval: [f64; 2],
}

fn stage_name<S: serde::Serializer>(stage: &Stage, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(stage.as_str())
}

/// The stages between the milestones of an end-to-end duration.
fn stages_of(whole: Interval) -> impl Iterator<Item = Stage> {
    let is_before_binding =
        |stage: &Stage| matches!(stage, Stage::Gated | Stage::Scheduling | Stage::Unschedulable);
    let has_all = whole == Interval::CreatedToReady;
    Stage::ALL.into_iter().filter(move |stage| has_all || !is_before_binding(stage))
}

impl StageDifferences {
    /// Of the duration that answers, by the quantile that the answer is about; of the pods that have a match, weighted as before,
    /// where these answer.
    pub(super) fn from_sides(
        sides: [&ComparisonSide; 2],
        whole: Interval,
        quantile: IntervalQuantile,
        matches: Option<&PodMatches>,
    ) -> Self {
        let parts = |pod: &ComparedPod| parts_of(pod, whole);
        let weights = match matches {
            Some(matches) => matches.weights(sides, |pod| parts(pod).is_some()),
            None => sides.map(|side| vec![Some(1.0); side.pods().len()]),
        };
        let has_match = |number: usize, index: usize| {
            matches.is_none_or(|matches| matches.has_match(number, index))
        };
        let mut known = [0.0; 2];
        let samples = [0, 1].map(|number| {
            let pods = || sides[number].pods().iter().enumerate();
            let answering = pods()
                .filter(|(index, pod)| pod.duration(whole).is_some() && has_match(number, *index));
            let counted = pods().filter_map(|(index, pod)| {
                let parts = parts(pod)?;
                let weight = weights[number][index]?;
                let nanos = pod.duration(whole)?.as_nanos();
                Some(DividedDuration { nanos, minute: pod.minute, weight, parts })
            });
            let sample = DividedSample::new(counted);
            known[number] = sample.count() as f64 / answering.count().max(1) as f64;
            sample
        });
        let left_out = match quantile {
            IntervalQuantile::P50 => 0.1,
            IntervalQuantile::P90 => 0.05,
        };
        let kept = 1.0 - left_out;
        let [before, after] = samples.each_ref().map(|sample| sample.means(kept));
        let resampled = Resampled::from_counts(samples[0].minutes(), samples[1].minutes());
        let draw = |number: usize| samples[number].resampled_means(kept, resampled, SEEDS[number]);
        let drawn = super::breakdown::in_parallel(&[0, 1], |number| draw(*number));
        let stage = |stage: Stage| {
            let number = stage.index();
            let differences = drawn[0]
                .iter()
                .zip(&drawn[1])
                .map(|(one, other)| (other[number] - one[number]) as i64);
            let (low, high) = ends(differences);
            StageDifference {
                stage,
                difference: (after[number] - before[number]) / 1e9,
                interval: [low, high],
            }
        };
        let has_any = |stage: &Stage| before[stage.index()] + after[stage.index()] > 0.0;
        let knows_pulls = [&before, &after].map(|means| means[KNOWS_PULLS]);
        let pulls = knows_pulls.into_iter().all(|share| share >= HALF).then(|| {
            (after[PULLS] / after[KNOWS_PULLS] - before[PULLS] / before[KNOWS_PULLS]) / 1e9
        });
        Self {
            interval: whole.as_str(),
            left_out,
            known,
            difference: (after[WHOLE] - before[WHOLE]) / 1e9,
            stages: Stage::ALL.into_iter().filter(has_any).map(stage).collect(),
            pulls,
            network_has_pulls: sides[1].network_with_pulls() >= HALF,
        }
    }

    /// Whether the stages of enough pods are known.
    pub(super) fn is_known(&self) -> bool {
        self.known.into_iter().all(|share| share >= MOST_KNOWN)
    }

    /// The stages that make a difference of this direction, the one with most of it first: one, two, or none.
    pub(super) fn named(&self, moved: Moved) -> Vec<&StageDifference> {
        let sign = match moved {
            Moved::Slower => 1.0,
            Moved::Faster => -1.0,
        };
        let whole = self.difference * sign;
        if whole <= 0.0 || !self.is_known() {
            return Vec::new();
        }
        let part = |one: &StageDifference| one.difference * sign / whole;
        let of_stages = OF_STAGES / self.stages.len() as f64;
        let is_proven = |one: &StageDifference| {
            let wide = widened(one.interval, one.difference, of_stages);
            wide.into_iter().all(|end| end * sign > 0.0)
        };
        let mut stages: Vec<&StageDifference> = self.stages.iter().collect();
        stages.sort_by(|one, other| part(other).total_cmp(&part(one)));
        let [first, second] =
            [stages.first(), stages.get(1)].map(|one| one.copied().filter(|one| is_proven(one)));
        match (first, second) {
            (Some(first), Some(second))
                if part(second) >= QUARTER && part(first) + part(second) >= TWO_THIRDS =>
            {
                vec![first, second]
            }
            (Some(first), _) if part(first) >= HALF => vec![first],
            _ => Vec::new(),
        }
    }

    /// Whether a stage that is named alone is slower or faster by image pulls.
    pub(super) fn is_by_pulls(&self, named: &[&StageDifference]) -> bool {
        matches!(named, [one] if self.pulls_in(one).is_some())
    }

    /// The difference of image pulls, in seconds, where it is at least half of that of the stage.
    pub(super) fn pulls_in(&self, stage: &StageDifference) -> Option<f64> {
        let may_have = match stage.stage {
            Stage::Network => self.network_has_pulls,
            other => matches!(other, Stage::Init | Stage::Containers),
        };
        self.pulls.filter(|pulls| may_have && pulls / stage.difference >= HALF)
    }
}

/// The parts of a startup, in nanoseconds; `None` where one of its stages is not known.
fn parts_of(pod: &ComparedPod, whole: Interval) -> Option<[f64; PARTS]> {
    let nanos = |took: Latency| took.as_nanos() as f64;
    let mut parts = [0.0; PARTS];
    parts[WHOLE] = nanos(pod.duration(whole)?);
    for stage in stages_of(whole) {
        parts[stage.index()] = nanos(pod.stage_or_zero(stage)?);
    }
    if let Some(pulls) = pod.pulls.all {
        (parts[PULLS], parts[KNOWS_PULLS]) = (nanos(pulls), 1.0);
    }
    Some(parts)
}
