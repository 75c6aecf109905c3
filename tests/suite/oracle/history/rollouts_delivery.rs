//! How rollouts are recorded: from the beginning or in the middle, with gaps, lists, doubled and lost deliveries.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lives::Version;
use super::rng::Rng;
use crate::oracle::build::{Pod, at, bookmark, event, expired, list, page, pod};

struct Recorder<'r> {
    rng: &'r mut Rng,
    log: &'r [Version],
    documents: Vec<Value>,
    /// Whether documents state when they were observed
    observed: bool,
    delay: f64,
    met: BTreeSet<String>,
}

/// A recording of the log.
pub(super) fn deliver(rng: &mut Rng, log: &[Version]) -> Vec<Value> {
    let mut recorder = Recorder {
        observed: rng.percent(75),
        delay: rng.pick(&[0.02, 0.02, 0.4, 1.7]),
        rng,
        log,
        documents: Vec::new(),
        met: BTreeSet::new(),
    };
    recorder.run();
    recorder.documents
}

impl Recorder<'_> {
    fn run(&mut self) {
        let mut place = if self.rng.percent(60) { self.rng.below(self.log.len()) } else { 0 };
        if self.rng.percent(90) {
            self.list(place);
        }
        while place < self.log.len() {
            place = self.go_on(place);
        }
        self.tick();
    }

    fn go_on(&mut self, place: usize) -> usize {
        match self.rng.below(100) {
            0..4 => return self.gap(place),
            4..5 => self.list(place),
            5..9 => self.write(place, bookmark(false)),
            9..11 if place + 1 < self.log.len() => {
                self.event(place + 1, place + 1);
                self.event(place, place + 1);
                return place + 2;
            }
            // A deletion that is lost
            11..13 if self.log[place].is_deletion => return place + 1,
            _ => {}
        }
        self.event(place, place);
        if self.rng.percent(5) {
            let older = self.rng.below(place + 1);
            self.event(older, place);
        }
        place + 1
    }

    /// The watch expires, and a list follows; of what comes meanwhile some events may be delivered.
    fn gap(&mut self, place: usize) -> usize {
        self.write(place, expired());
        let mut after = (place + self.rng.below(12)).min(self.log.len());
        // At most so long
        while after > place && self.log[after - 1].at > self.log[place].at + 400.0 {
            after -= 1;
        }
        if self.rng.percent(25) {
            for lost in place..after {
                if self.rng.percent(60) {
                    self.event(lost, lost);
                }
            }
        }
        self.list(after);
        after
    }

    fn event(&mut self, place: usize, time_of: usize) {
        let version = &self.log[place];
        let is_new = self.met.insert(version.uid.clone());
        let kind = match (version.is_deletion, is_new) {
            (true, _) => "DELETED",
            (false, true) => "ADDED",
            (false, false) => "MODIFIED",
        };
        self.write(time_of, event(kind, &version.pod));
    }

    fn list(&mut self, place: usize) {
        let mut standing: Vec<&Version> = Vec::new();
        for version in &self.log[..place] {
            standing.retain(|held| held.uid != version.uid);
            if !version.is_deletion {
                standing.push(version);
            }
        }
        let mut pods: Vec<Pod> = standing.iter().map(|version| version.pod.clone()).collect();
        self.met.extend(standing.iter().map(|version| version.uid.clone()));
        self.rng.shuffle(&mut pods);
        match self.rng.below(10) {
            0..7 => self.write(place, list(&pods)),
            7..8 => {
                let (first, second) = pods.split_at(self.rng.below(pods.len() + 1));
                self.write(place, page(first));
                self.write(place, list(second));
            }
            _ => {
                for pod in &pods {
                    self.write(place, event("ADDED", pod));
                }
                self.write(place, bookmark(true));
            }
        }
    }

    fn write(&mut self, place: usize, document: Value) {
        let happened = self.log[place.min(self.log.len() - 1)].at;
        self.documents.push(match self.observed {
            true => at(happened + self.delay, document),
            false => document,
        });
    }

    /// Time passes in the end.
    fn tick(&mut self) {
        let last = self.log[self.log.len() - 1].at;
        let later = last + self.rng.pick(&[0.0, 4.0, 10.0, 11.0, 121.0, 700.0]);
        let observed = self.observed;
        self.documents.push(match observed {
            true => at(later + self.delay, bookmark(false)),
            false => event("ADDED", &pod("ticker").created(later.floor())),
        });
    }
}
