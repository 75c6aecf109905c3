//! A literal reading of the specification, §1 to §5, §7 (label `namespace` alone) and §8.
//!
//! It is as slow as it is plain: the documents become, for each UID, the complete list of what
//! happened to it ([`stream`]); that becomes the lives under which the UID was known ([`life`]);
//! and each life is read from its raw snapshots, again from the first one for every question
//! ([`view`], [`startup`]). Nothing is kept up to date. The clauses that can be got wrong are the
//! methods of [`Rules`], so that [`super::mutants`] can get them wrong.
//!
//! Deadlines (§6) would be one more question to a life: [`startup::Startup::judgements`] says when
//! every interval was judged and with what, [`view::View`] what had been seen at any point.

mod life;
mod rules;
mod snapshot;
mod startup;
mod stream;
mod tally;
mod view;
mod vocabulary;

use serde_json::Value;

pub(crate) use rules::{Entry, FirstSight, Rules, Showing, Spec, Verdict};
pub(crate) use snapshot::{Condition, Snapshot};
pub(crate) use vocabulary::{Interval, Milestone, Traits};

use super::figures::Figures;
use super::instant::Nanos;

/// `--timestamps`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timestamps {
    /// Differences of API times, as they are
    Api,
    /// Estimates from the API's second and the instant of observation
    Fused,
}

/// The options of `replay` that decide figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) timestamps: Timestamps,
    pub(crate) backfill: bool,
    pub(crate) until: Option<Nanos>,
}

impl Options {
    /// The defaults of `replay` (§4, §8).
    pub(crate) const DEFAULT: Self = Self {
        timestamps: Timestamps::Api,
        backfill: false,
        until: None,
    };
}

/// The figures that the specification expects of the documents.
pub(crate) fn read(documents: &[Value], options: &Options) -> Figures {
    read_by(&Spec, documents, options)
}

/// The figures under the given rules, right or wrong.
pub(crate) fn read_by(rules: &dyn Rules, documents: &[Value], options: &Options) -> Figures {
    let recording = stream::read(rules, documents, options);
    let mut figures = tally::known_from_the_start();
    for (kind, count) in &recording.watch_events {
        figures.add("podinit_watch_events_total", &[("type", kind)], *count);
    }
    for history in &recording.pods {
        for life in life::lives(rules, history) {
            let startup = startup::Startup {
                rules,
                life: &life,
                timestamps: options.timestamps,
                backfill: options.backfill,
                first_list_began: recording.first_list_began,
            };
            tally::count(&startup, &mut figures);
        }
    }
    figures
}
