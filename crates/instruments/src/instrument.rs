//! What a counter, gauge or histogram has to do besides count: each shows its series, and takes back what was saved of
//! them. From that one row of `families!` is written, saved and restored.

use std::sync::Arc;

use super::encoder::{ExpositionEncoder, FamilyHead, LabelPair, LabelText, SampleNumber};
use super::family::FamilyDoc;
use super::histogram::Histogram;
use super::histogram_snapshot::HistogramSnapshot;
use super::saved_families::{SavedFamilies, SavedSeries};

/// The value of a series at one moment.
#[derive(Clone, Copy, Debug)]
pub enum SampleValue<'a> {
    /// A whole number
    Count(u64),
    /// A counter of time, in nanoseconds; shown in seconds
    Nanos(u64),
    /// Any other number
    Float(f64),
    /// A histogram, to be read
    Histogram(&'a Histogram),
}

/// A family that has its values in itself.
pub trait Instrument {
    /// Shows each series that is exposed: the values of its labels, in their order, and its own.
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>));
}

/// A family whose values can outlive the process.
pub trait PersistentInstrument: Instrument {
    /// Adds what was saved of the series with these label values, the first of its own. One that cannot be any more is
    /// ignored.
    fn restore(&self, labels: &[LabelText], saved: &SavedSeries);
}

/// One family of a struct that [`families!`](crate::families) declares.
#[derive(Clone, Copy)]
pub struct FamilyRow<'a> {
    pub family: &'static FamilyDoc,
    pub instrument: &'a dyn Instrument,
    /// The same, if it is saved
    pub persistent: Option<&'a dyn PersistentInstrument>,
}

/// A struct that [`families!`](crate::families) declares.
pub trait FamilySet {
    /// Its families, in the order in which they are exposed.
    const DOCS: &'static [FamilyDoc];

    /// The same with their instruments.
    fn rows(&self) -> Vec<FamilyRow<'_>>;
}

impl FamilyRow<'_> {
    /// Writes its series, with the values `more` of further labels. A series lacks those whose value is empty.
    pub fn write(
        &self,
        more: &[&str],
        buffer: &mut HistogramSnapshot,
        out: &mut dyn ExpositionEncoder,
    ) {
        let names = self.family.labels.iter().copied();
        self.instrument.each(&mut |values, sample| {
            let own = names.clone().zip(values.iter().copied());
            let more = names.clone().skip(values.len()).zip(more.iter().copied());
            let more = more.filter(|(_, value)| !value.is_empty());
            let labels: Vec<LabelPair<'_>> = own.chain(more).collect();
            match sample {
                SampleValue::Count(count) => out.number(&labels, SampleNumber::Integer(count)),
                SampleValue::Nanos(nanos) => {
                    out.number(&labels, SampleNumber::Float(nanos as f64 / 1e9))
                }
                SampleValue::Float(value) => out.number(&labels, SampleNumber::Float(value)),
                SampleValue::Histogram(histogram) => {
                    let with_exemplars = out.wants_exemplars();
                    histogram.read(buffer, with_exemplars, |snapshot| {
                        out.histogram(&labels, snapshot);
                    });
                }
            }
        });
    }
}

/// Writes all families.
pub fn collect(families: &impl FamilySet, out: &mut dyn ExpositionEncoder) {
    let mut buffer = HistogramSnapshot::default();
    for row in families.rows() {
        out.family(FamilyHead::from(row.family));
        row.write(&[], &mut buffer, out);
    }
}

/// Adds the present values of those families that are saved.
pub fn save(families: &impl FamilySet, saved: &mut SavedFamilies) {
    for row in families.rows().iter().filter(|row| row.persistent.is_some()) {
        saved.put_samples(row.family, |put| row.instrument.each(put));
    }
}

/// Adds what was saved.
pub fn restore(families: &impl FamilySet, saved: &SavedFamilies) {
    for row in families.rows() {
        if let Some(instrument) = row.persistent {
            let series = saved.series(row.family).iter();
            series.for_each(|series| instrument.restore(&series.labels, series));
        }
    }
}

/// Exposes families, each whole and always in the same order, and keeps their values beyond the end
/// of the process. None of this may make anybody wait who counts.
pub trait FamilySource: Send + Sync {
    /// The families, also those that it does not expose at present.
    fn families(&self) -> Vec<FamilyDoc>;

    /// Writes the families with their present values.
    fn collect(&self, out: &mut dyn ExpositionEncoder);

    /// Adds the present values of those families that are saved.
    fn save(&self, saved: &mut SavedFamilies);

    /// Continues from what an earlier process has saved, by adding it. Series that do not exist any
    /// more are ignored.
    fn restore(&self, saved: &SavedFamilies);
}

impl<S: FamilySource> FamilySource for Arc<S> {
    fn families(&self) -> Vec<FamilyDoc> {
        self.as_ref().families()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        self.as_ref().collect(out);
    }

    fn save(&self, saved: &mut SavedFamilies) {
        self.as_ref().save(saved);
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.as_ref().restore(saved);
    }
}
