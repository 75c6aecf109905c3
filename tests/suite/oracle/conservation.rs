//! The events of SLOs add up, after every document of a history.

use super::figures::Exposition;
use super::history::{self, History};
use super::reading::{self, Options};
use super::{implementation, seeds};

/// Random histories that are read once for each of their documents.
const PREFIXED_HISTORIES: u64 = 100;

/// [§6](crate::specification#s6): "at every scrape, per SLO: good + bad + excluded + undecided =
/// pods discovered that match it", and no event is taken back.
#[test]
fn every_pod_has_one_event_per_slo_or_is_undecided_after_every_document() {
    let failing = seeds::first(PREFIXED_HISTORIES, |seed| {
        let History { documents, options } = history::generate(seed);
        let options = Options {
            until: None,
            ..options
        };
        let mut before = Exposition::new();
        (1..=documents.len()).any(|read| {
            let documents = &documents[..read];
            let ours = reading::read(documents, &options).exposition();
            let theirs = implementation::figures(&history::text(documents), &options);
            // The stream that turns out to be the first list begins anew.
            let begins_anew = documents[read - 1]["type"] == "BOOKMARK";
            let taken_back = !begins_anew
                && before.iter().any(|(series, value)| {
                    series.starts_with("podinit_slo_e") && ours[series] < *value
                });
            let unbalanced = options.slos.iter().any(|slo| {
                let standing = reading::standing(documents, &options, slo);
                let decided = standing.matching - standing.undecided;
                standing.forgotten > 0
                    || [&ours, &theirs]
                        .iter()
                        .any(|figures| slo_events(figures, &slo.name) != decided as f64)
            });
            before = ours;
            taken_back || unbalanced
        })
    });
    assert_eq!(failing, None, "a seed whose events do not add up");
}

/// Good, bad and excluded.
fn slo_events(figures: &Exposition, slo: &str) -> f64 {
    let label = format!("slo=\"{slo}\"");
    let is_event = |series: &str| series.starts_with("podinit_slo_e") && series.contains(&label);
    let events = figures.iter().filter(|(series, _)| is_event(series));
    events.map(|(_, value)| value).sum()
}
