//! What a scrape shows and a checkpoint saves of the SLOs in force.

use std::borrow::Cow;

use super::{
    SLO_BAD_CAUSES, SLO_EVENTS, SLO_EXCLUDED, SLO_OBJECTIVE, SLO_THRESHOLD, SLO_WINDOW, SloBoard,
    SloSeries,
};
use crate::metrics::namespaces::NamespaceNames;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::ExclusionReason;
use podinit_instruments::{
    ExpositionEncoder, FamilyDoc, FamilyHead, FamilySource, Instrument, LabelPair,
    PersistentInstrument, SampleNumber, SavedFamilies, SavedSeries,
};

/// Writes the events and the causes of the bad ones, which are counted in one place and read once, so
/// that they add up.
fn collect_events(
    out: &mut dyn ExpositionEncoder,
    slos: &[SloSeries],
    namespaces: &NamespaceNames,
) {
    let mut events = Vec::new();
    for SloSeries { doc, counts } in slos {
        for (place, namespace) in namespaces.shown() {
            let snapshot = counts.snapshot(place);
            // Another namespace may just have got the place.
            if namespaces.is_still(place, namespace.as_ref()) {
                events.push((&*doc.rule.name, namespace, snapshot));
            }
        }
    }
    let number = |labels: &[LabelPair<'_>],
                  namespace: Option<&str>,
                  count,
                  out: &mut dyn ExpositionEncoder| {
        let namespace = namespace.map(|name| ("namespace", name));
        let labels = labels.iter().copied().chain(namespace);
        out.number(&labels.collect::<Vec<_>>(), SampleNumber::Integer(count));
    };
    out.family(FamilyHead::from(&SLO_EVENTS));
    for (slo, namespace, events) in &events {
        for (result, count) in events.iter() {
            let labels = [("slo", *slo), ("result", result.as_str())];
            number(&labels, namespace.as_deref(), count, out);
        }
    }
    out.family(FamilyHead::from(&SLO_BAD_CAUSES));
    for (slo, namespace, events) in &events {
        for ([stage, cause], count) in events.bad.iter() {
            let labels = [("slo", *slo), ("stage", stage), ("cause", cause)];
            number(&labels, namespace.as_deref(), count, out);
        }
    }
}

/// The series of one family to save: the labels, the namespace last where there is one.
fn saved_series<const N: usize>(
    labels: [&str; N],
    namespace: Option<&str>,
    value: u64,
) -> SavedSeries {
    let labels = labels.into_iter().chain(namespace);
    SavedSeries::new(labels.map(|text| Cow::Owned(text.to_owned())).collect(), value)
}

/// Writes how many pods were excluded for each reason that can be: what the SLO selects by is one.
fn collect_excluded(out: &mut dyn ExpositionEncoder, slos: &[SloSeries]) {
    out.family(FamilyHead::from(&SLO_EXCLUDED));
    for SloSeries { doc, counts } in slos {
        for (reason, (text, count)) in ExclusionReason::ALL.into_iter().zip(counts.excluded.iter())
        {
            let can_be = reason.is_exposed_at_zero()
                || doc.rule.selection.leaves_out_for(reason)
                || doc.rule.interval.excludes_for(reason);
            if can_be || count > 0 {
                let labels = [("slo", &*doc.rule.name), ("reason", text)];
                out.number(&labels, SampleNumber::Integer(count));
            }
        }
    }
}

impl FamilySource for SloBoard {
    fn families(&self) -> Vec<FamilyDoc> {
        super::SLOS.to_vec()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        let slos = self.current();
        collect_events(out, &slos, &self.namespaces);
        collect_excluded(out, &slos);
        out.family(FamilyHead::from(&SLO_OBJECTIVE));
        for SloSeries { doc, .. } in slos.iter() {
            out.number(&[("slo", &doc.rule.name)], SampleNumber::Float(doc.objective_ratio));
        }
        out.family(FamilyHead::from(&SLO_THRESHOLD));
        for SloSeries { doc, .. } in slos.iter() {
            let labels = [("slo", &*doc.rule.name), ("interval", &*doc.rule.interval.text())];
            out.number(&labels, SampleNumber::Float(doc.rule.threshold.as_secs_f64()));
        }
        let windows = slos
            .iter()
            .map(|slo| (&*slo.doc.rule.name, SampleNumber::Float(slo.doc.window_seconds)));
        SLO_WINDOW.write_by_label(out, windows);
    }

    fn save(&self, saved: &mut SavedFamilies) {
        let slos = self.current();
        let (mut saved_events, mut causes) = (Vec::new(), Vec::new());
        for SloSeries { doc, counts } in slos.iter() {
            for (place, namespace) in self.namespaces.shown() {
                let events = counts.snapshot(place);
                for (result, value) in events.iter() {
                    let labels = [&*doc.rule.name, result.as_str()];
                    saved_events.push(saved_series(labels, namespace.as_deref(), value));
                }
                let counted = events.bad.iter().filter(|(_, value)| *value > 0);
                for ([stage, cause], value) in counted {
                    let labels = [&*doc.rule.name, stage, cause];
                    causes.push(saved_series(labels, namespace.as_deref(), value));
                }
            }
        }
        saved.put(&SLO_EVENTS, saved_events);
        saved.put(&SLO_BAD_CAUSES, causes);
        saved.put_samples(&SLO_EXCLUDED, |put| {
            for SloSeries { doc, counts } in slos.iter() {
                let name = &*doc.rule.name;
                counts.excluded.each(&mut |labels, sample| {
                    put(&[&[name], labels].concat(), sample);
                });
            }
        });
    }

    /// What was saved of SLOs that are not in force is ignored. The events are restored by the
    /// recorder, which knows their namespaces.
    fn restore(&self, saved: &SavedFamilies) {
        for SloSeries { doc, counts } in self.current().iter() {
            for series in saved.series(&SLO_EXCLUDED) {
                if let [slo, labels @ ..] = &*series.labels
                    && **slo == *doc.rule.name
                {
                    counts.excluded.restore(labels, series);
                }
            }
        }
    }
}
