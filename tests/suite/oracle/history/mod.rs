//! Random pod histories and their adversarial delivery, each from one seed.

mod capacity;
mod containers;
mod delivery;
mod kube_events;
mod lives;
mod messages;
mod objectives;
mod rng;

use serde_json::Value;

use super::build::instant;
use super::reading::{Options, Timestamps};
use rng::Rng;

/// One recording and how it is to be replayed.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) documents: Vec<Value>,
    pub(crate) options: Options,
}

/// The history that the seed stands for.
pub(crate) fn generate(seed: u64) -> History {
    let mut rng = Rng::new(seed);
    let log = lives::cluster(&mut rng);
    let (first, last) = (log[0].at, log[log.len() - 1].at);
    let documents = delivery::record(&mut rng, log);
    let events = rng.percent(60);
    // A recording may hold Events that nobody asked for.
    let documents = match events || rng.percent(15) {
        // With seeds of their own, so that everything else of a history stays what it was without them.
        true => capacity::scatter(
            &mut Rng::new(!seed),
            kube_events::scatter(&mut rng, documents),
        ),
        false => documents,
    };
    let until = rng.percent(12).then(|| {
        let within = (last - first) * rng.fraction();
        instant((first + within).floor())
    });
    let options = Options {
        timestamps: rng.pick(&[Timestamps::Api, Timestamps::Fused]),
        backfill: rng.percent(25),
        until,
        slos: objectives::objectives(&mut rng),
        events,
    };
    History { documents, options }
}

/// The documents as `replay` reads them: one a line.
pub(crate) fn text(documents: &[Value]) -> String {
    documents
        .iter()
        .map(|document| format!("{document}\n"))
        .collect()
}
