//! What is counted for each value of one label, within the cap on its values: all values past it share one place.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::label_values::{AssignedPlace, LabelValuePlaces, OTHER_ID, SavedPlace, ValueId};
use super::labels::OTHER;
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{
    Counter, ExpositionEncoder, FamilyHead, FamilyRow, FamilySet, HistogramSnapshot, SavedFamilies,
};
use podinit_text::strangers_text::label;

/// The families `T` of each value: met by the recorder, read by scrapes. A value that has had nothing for a day gives its place to a
/// new one, and its `T` ends ([§7.5](crate::specification#s7-5)).
#[derive(Debug)]
pub(super) struct CappedFamilies<T> {
    /// The label, as `podinit_label_overflow_pods_total` names it
    pub(super) label: &'static str,
    /// The labels that a value is of, parted by [`SEPARATOR`]: whether series have them
    parts: Box<[bool]>,
    /// Of the recorder alone, so that it waits for no scrape here
    values: Mutex<LabelValuePlaces>,
    series: RwLock<BTreeMap<Arc<str>, Arc<T>>>,
    /// Pods with a value past the cap
    pub(super) dropped: Counter,
    /// Values that have given their places back
    pub(super) expired: Counter,
}

/// Between the parts of a value that is of several labels.
pub(super) const SEPARATOR: &str = "\u{1f}";

/// A value that something happened to.
pub(super) struct MetValue<T> {
    pub(super) id: ValueId,
    pub(super) series: Arc<T>,
    /// It has just got its place.
    pub(super) is_new: bool,
}

impl<T: Default> CappedFamilies<T> {
    pub(super) fn new(label: &'static str, max_values: usize) -> Self {
        Self {
            label,
            parts: [true].into(),
            values: Mutex::new(LabelValuePlaces::new(max_values)),
            series: RwLock::default(),
            dropped: Counter::default(),
            expired: Counter::default(),
        }
    }

    /// The same for values that are of these labels: whether series have them.
    pub(super) fn of_parts(mut self, parts: impl Into<Box<[bool]>>) -> Self {
        self.parts = parts.into();
        self
    }

    /// A saved value of several labels. Those that series lack now are empty.
    fn joined<'a>(&self, parts: impl Iterator<Item = &'a str>) -> String {
        let parts = self.parts.iter().zip(parts);
        let parts = parts.map(|(has, part)| if *has { label(part) } else { "".into() });
        parts.collect::<Vec<_>>().join(SEPARATOR)
    }

    /// The labels of a value; all are that of the rest where it lies past the cap.
    fn parts<'a>(&self, value: &'a str) -> Vec<&'a str> {
        match value == OTHER {
            true => self.parts.iter().map(|has| if *has { OTHER } else { "" }).collect(),
            false => value.splitn(self.parts.len(), SEPARATOR).collect(),
        }
    }

    /// Gives `value` a place at `now`, if it has none and there is room for it, also where a namespace is given that takes no
    /// more than its share. Without, it is that of the rest.
    pub(super) fn meet(
        &self,
        value: &str,
        namespace: Option<&Arc<str>>,
        now: Timestamp,
    ) -> MetValue<T> {
        let given = self.values.lock().give(value, namespace, now);
        let Some(AssignedPlace { id, is_new, ended }) = given else {
            return MetValue { id: OTHER_ID, series: self.series(OTHER), is_new: false };
        };
        if let Some(ended) = ended {
            self.series.write().remove(&ended);
            self.expired.increment();
        }
        MetValue { id, series: self.series(value), is_new }
    }

    /// `value`, if it has a place of its own.
    pub(super) fn known(&self, value: &str) -> Option<MetValue<T>> {
        let id = Some(self.id(value)).filter(|id| *id != OTHER_ID)?;
        Some(MetValue { id, series: self.series(value), is_new: false })
    }

    /// The number of `value`, or that of the rest.
    pub(super) fn id(&self, value: &str) -> ValueId {
        self.values.lock().known(value).unwrap_or(OTHER_ID)
    }

    /// The series of `value`, or those of the rest.
    pub(super) fn get(&self, value: &str) -> Arc<T> {
        self.series(if self.drops(value) { OTHER } else { value })
    }

    fn series(&self, name: &str) -> Arc<T> {
        let known = self.series.read().get(name).cloned();
        known.unwrap_or_else(|| Arc::clone(self.series.write().entry(Arc::from(name)).or_default()))
    }

    /// The value with this number has something more.
    pub(super) fn enter(&self, id: ValueId) {
        self.values.lock().enter(id as usize);
    }

    /// It has had that until `now`, or has had something at `now` only.
    pub(super) fn leave(&self, id: ValueId, now: Timestamp) {
        self.values.lock().leave(id as usize, now);
    }

    /// Whether the rest has something.
    pub(super) fn has_rest(&self) -> bool {
        self.values.lock().has_rest()
    }

    /// Whether `value`, which was met, lies past the cap.
    pub(super) fn drops(&self, value: &str) -> bool {
        self.id(value) == OTHER_ID
    }

    /// Whether any value was met.
    pub(super) fn is_met(&self) -> bool {
        !self.series.read().is_empty()
    }

    /// Which values have places.
    pub(super) fn saved_places(&self) -> Vec<SavedPlace> {
        self.values.lock().saved()
    }

    /// Meets again what was saved, under the cap that holds now. Before their series are.
    pub(super) fn restore_places(&self, saved: &[SavedPlace]) {
        let mut values = self.values.lock();
        saved.iter().for_each(|saved| values.restore_saved(saved));
    }

    /// The series of a value that was saved, which gets a place if there is room.
    fn restored(&self, value: &str) -> Arc<T> {
        let id = self.values.lock().resolve(value);
        self.series(if id == OTHER_ID { OTHER } else { value })
    }
}

/// The families of all values, whose label is the last of each.
impl<T: FamilySet + Default> CappedFamilies<T> {
    pub(super) fn collect(&self, out: &mut dyn ExpositionEncoder) {
        let met = self.met();
        let rows = self.rows_by_value(&met);
        let mut buffer = HistogramSnapshot::default();
        for (place, family) in T::DOCS.iter().enumerate() {
            out.family(FamilyHead::from(family));
            for (labels, rows) in &rows {
                rows[place].write(labels, &mut buffer, out);
            }
        }
    }

    pub(super) fn save(&self, saved: &mut SavedFamilies) {
        let met = self.met();
        let rows = self.rows_by_value(&met);
        for (place, family) in T::DOCS.iter().enumerate().filter(|(_, family)| family.saved) {
            saved.put_samples(family, |put| {
                for (more, rows) in &rows {
                    rows[place].instrument.each(&mut |labels, sample| {
                        put(&[labels, more].concat(), sample);
                    });
                }
            });
        }
    }

    /// All values that are shown, sorted.
    pub(super) fn met(&self) -> Vec<(Arc<str>, Arc<T>)> {
        let values = self.series.read();
        values.iter().map(|(value, one)| (Arc::clone(value), Arc::clone(one))).collect()
    }

    /// Adds what was saved, once places are restored.
    pub(super) fn restore(&self, saved: &SavedFamilies) {
        for (place, family) in T::DOCS.iter().enumerate() {
            for series in saved.series(family) {
                let own = series.labels.len().checked_sub(self.parts.len());
                let all = own.and_then(|own| series.labels.split_at_checked(own));
                if let Some((labels, parts)) = all {
                    let value = self.joined(parts.iter().map(|part| &**part));
                    let families = self.restored(&value);
                    if let Some(instrument) = families.rows()[place].persistent {
                        instrument.restore(labels, series);
                    }
                }
            }
        }
    }

    /// The labels of each value, and its instruments in the order of the families.
    fn rows_by_value<'a>(
        &self,
        met: &'a [(Arc<str>, Arc<T>)],
    ) -> Vec<(Vec<&'a str>, Vec<FamilyRow<'a>>)> {
        met.iter().map(|(value, families)| (self.parts(value), families.rows())).collect()
    }
}
