//! What a recorder has counted, as plain values that outlive the process. Exemplars are not among
//! them: the next observations bring others.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::custom_milestones::SavedMilestones;
use super::label_sets::{SavedLabel, SavedLabels};
use super::label_values::SavedPlace;
use super::saved_before::{SavedColdStart, SavedGate, SavedPool, SavedPulls};
use super::saved_holds::SavedHolds;
use super::start_times::SavedStartTimes;
use podinit_core::lifecycle::Interval;
use podinit_histogram::layout::LAYOUT;
use podinit_instruments::{FamilyDoc, LabelText, SavedFamilies, SavedHistogram};

/// Everything that has been counted. Gauges are not among it: those of pods in flight follow from the
/// pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedMetrics {
    /// All counters, of every crate, and the histograms that have no label set
    pub families: SavedFamilies,
    /// The upper bounds of the cells of all histograms, in nanoseconds, ascending
    pub bounds: Vec<u64>,
    /// The namespaces by which SLO events are counted, where they are
    pub slo_namespaces: Vec<Arc<str>>,
    /// The labels of the duration series and the values that they have taken
    pub labels: SavedLabels,
    /// The names of the intervals that have durations
    pub intervals: Vec<LabelText>,
    /// By label set (see [`SavedLabels::sets`]): the durations of each of these intervals
    pub durations: Vec<Vec<SavedHistogram>>,
    /// By label set: the stages that are exposed although not all pods have them
    pub conditional: Vec<Vec<LabelText>>,
    /// By label set: the startup SLI; none while Events were no source
    pub startup_sli: Vec<SavedHistogram>,
    /// The durations of milestones of your own
    pub milestones: SavedMilestones,
    /// How many nodes were starting
    pub starting_nodes: u64,
    /// Which label values have a pod
    pub holds: SavedHolds,
    /// The values of labels that stand for themselves
    pub places: SavedPlaces,
    /// Since when all of it counts
    pub starts: SavedStartTimes,
    /// Where an earlier podinit has kept histograms without a label set; nothing since
    pub delivery: SavedHistogram,
    pub resize: SavedHistogram,
    pub inplace_update: SavedHistogram,
    pub gates: Vec<SavedGate>,
    pub pulls: Vec<SavedPulls>,
    pub cold_starts: Option<Vec<SavedColdStart>>,
    pub pools: Option<Vec<SavedPool>>,
}

/// Which values have places of their own, by label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedPlaces {
    pub gates: Vec<SavedPlace>,
    pub registries: Vec<SavedPlace>,
    pub pools: Vec<SavedPlace>,
    pub rollouts: Vec<SavedPlace>,
}

impl SavedMetrics {
    /// Makes of the families what those of `known_families` have now. Returns how many of them, and how many intervals, were skipped
    /// because they are not known.
    pub fn adapt(&mut self, known_families: &[FamilyDoc]) -> u64 {
        let is_known = |name: &LabelText| Interval::ALL.iter().any(|known| known.as_str() == name);
        let known: Vec<bool> = self.intervals.iter().map(is_known).collect();
        let mut is_known = known.iter().copied();
        self.intervals.retain(|_| is_known.next().unwrap_or_default());
        for durations in self.durations.iter_mut().filter(|all| all.len() == known.len()) {
            let mut is_known = known.iter().copied();
            durations.retain(|_| is_known.next().unwrap_or_default());
        }
        let intervals = known.iter().filter(|is_known| !**is_known).count();
        self.take_earlier();
        self.families.adapt(known_families) + intervals as u64
    }

    /// Resets what no recorder can have saved together, and returns why: nothing if all fits. A cell that this podinit
    /// does not have counts in the one that its bound lies in.
    ///
    /// Counters are left as they are, whatever histograms are about.
    pub fn keep_what_fits(&mut self) -> Vec<&'static str> {
        let mut misfits = Vec::new();
        if let Err(why) = self.check() {
            misfits.push(why);
            let Self { mut families, slo_namespaces, holds, starts, .. } = std::mem::take(self);
            families.drop_histograms();
            *self = Self { families, slo_namespaces, holds, starts, ..Self::default() };
        }
        let sets = self.labels.sets.len();
        if !self.starts.is_empty() && self.starts.sets.len() != sets {
            misfits.push("a label set has no start");
            self.starts.sets = vec![None; sets];
        }
        if let Err(why) = self.check_holds() {
            misfits.push(why);
            let ended_events = std::mem::take(&mut self.holds.ended_events);
            self.holds = SavedHolds { ended_events, ..SavedHolds::default() };
        }
        if self.bounds != LAYOUT.bounds() {
            let cells = LAYOUT.cells_of(&self.bounds);
            self.histograms_mut().for_each(|histogram| histogram.move_to(&cells));
            self.bounds = LAYOUT.bounds().to_vec();
        }
        misfits
    }

    fn histograms_mut(&mut self) -> impl Iterator<Item = &mut SavedHistogram> {
        let of_sets = self.durations.iter_mut().chain(&mut self.milestones.durations).flatten();
        of_sets.chain(&mut self.startup_sli).chain(self.families.histograms_mut())
    }

    /// Checks what histograms are about.
    ///
    /// # Errors
    /// What is wrong.
    fn check(&mut self) -> Result<(), &'static str> {
        if self.bounds.is_empty() || !self.bounds.is_sorted_by(|one, next| one < next) {
            return Err("the bounds of cells do not ascend");
        }
        let SavedLabels { labels, sets } = &self.labels;
        // Two values, none and the rest, are not written out.
        let has = |(label, value): (&SavedLabel, &u32)| (*value as usize) < label.values.len() + 2;
        let fits = |set: &Vec<u32>| set.len() == labels.len() && labels.iter().zip(set).all(has);
        if !sets.iter().all(fits) {
            return Err("a label set has other values than its labels");
        }
        let intervals = self.intervals.len();
        let complete = |durations: &Vec<SavedHistogram>| durations.len() == intervals;
        if self.durations.len() != sets.len() || !self.durations.iter().all(complete) {
            return Err("a label set has other intervals");
        }
        if !self.conditional.is_empty() && self.conditional.len() != sets.len() {
            return Err("a label set has no stages");
        }
        if !self.startup_sli.is_empty() && self.startup_sli.len() != sets.len() {
            return Err("a label set has no startup SLI");
        }
        let cells = self.bounds.len();
        if !self.histograms_mut().all(|histogram| histogram.fits(cells)) {
            return Err("a histogram has other cells");
        }
        Ok(())
    }

    /// Checks what no recorder can have saved of which label values have a pod.
    ///
    /// # Errors
    /// What is wrong.
    fn check_holds(&self) -> Result<(), &'static str> {
        let SavedHolds { values, sets, slo_namespaces, holds, .. } = &self.holds;
        if self.holds.is_empty() {
            return Ok(());
        }
        let labels = &self.labels.labels;
        let values = values.iter().map(Vec::len);
        let is_complete = values.eq(labels.iter().map(|label| label.values.len()))
            && sets.len() == self.labels.sets.len()
            && slo_namespaces.len() == self.slo_namespaces.len();
        if !is_complete {
            return Err("it is not said of each label value whether it has a pod");
        }
        // Two places, no namespace and those past the cap, are not written out.
        let places = self.slo_namespaces.len() + 2;
        let is_there =
            |(set, place): &(u32, u32)| (*set as usize) < sets.len() && (*place as usize) < places;
        match holds.iter().flatten().all(is_there) {
            true => Ok(()),
            false => Err("pods have a label set that is not there"),
        }
    }
}

/// Whether the duration series continue from what was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoredDurations {
    /// They continue
    Continued,
    /// They carry other labels than before, so they begin at zero
    OtherLabels,
}
