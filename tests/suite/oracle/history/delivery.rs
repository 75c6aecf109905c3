//! What is recorded of it: lists, watch events, gaps, duplicates and lies.

use std::collections::BTreeSet;

use serde_json::Value;

use super::lives::{self, Version};
use super::rng::Rng;
use crate::oracle::build::{Pod, at, bookmark, event, expired, list, page};

/// Writes the documents of one recording.
pub(crate) struct Recorder<'r> {
    rng: &'r mut Rng,
    /// What happens, in its order
    log: Vec<Version>,
    documents: Vec<Value>,
    /// In so many of a hundred documents `observedAt` stands
    observed: usize,
    /// By how much the recorder's clock is off
    clock: f64,
    /// UIDs that a selector hides, and up to which place in the log
    hidden: Option<(String, usize)>,
    /// UIDs of which something has been delivered
    met: BTreeSet<String>,
}

/// A recording of the log.
pub(crate) fn record(rng: &mut Rng, log: Vec<Version>) -> Vec<Value> {
    let observed = rng.pick(&[0, 50, 100, 100]);
    let clock = rng.pick(&[0.0, 0.0, 0.0, -0.4, -1.5, -3.0]);
    let hidden = rng
        .percent(15)
        .then(|| (rng.pick(&log.iter().collect::<Vec<_>>()).uid.clone(), rng.below(log.len())));
    let mut recorder =
        Recorder { rng, log, documents: Vec::new(), observed, clock, hidden, met: BTreeSet::new() };
    recorder.run();
    recorder.documents
}

impl Recorder<'_> {
    fn run(&mut self) {
        let mut place = match self.rng.percent(60) {
            true => self.rng.below(self.log.len()),
            false => 0,
        };
        if self.rng.percent(75) {
            self.list_somehow(place);
        }
        while place < self.log.len() {
            place = self.go_on(place);
        }
        if self.rng.percent(60) {
            self.newcomer();
        }
        if self.rng.percent(60) {
            self.late_duplicates();
        }
        if self.rng.percent(15) {
            self.list_somehow(self.log.len());
        }
    }

    /// Delivers what comes at this place of the log, well or badly, and says where to go on.
    fn go_on(&mut self, place: usize) -> usize {
        match self.rng.below(100) {
            0..7 => {
                let after = (place + 1 + self.rng.below(5)).min(self.log.len());
                if self.rng.percent(60) {
                    self.write(after, expired());
                }
                self.list_somehow(after);
                return after;
            }
            7..10 => self.list_somehow(place),
            10..13 => self.write(place, bookmark(false)),
            13..20 if place + 1 < self.log.len() => {
                self.deliver(place + 1, place + 1);
                self.deliver(place, place + 1);
                return place + 2;
            }
            _ => {}
        }
        self.deliver(place, place);
        if self.rng.percent(3) {
            // No list follows: what comes next comes out of sync.
            self.write(place, expired());
        }
        if self.rng.percent(12) {
            self.repeat_a_document(place);
        }
        if self.rng.percent(10) {
            let older = self.rng.below(place + 1);
            self.deliver(older, place);
        }
        place + 1
    }

    /// Writes the event of a version, at the time of another place of the log.
    fn deliver(&mut self, place: usize, time_of: usize) {
        let version = self.log[place].clone();
        if self.is_hidden(&version.uid, time_of) {
            return;
        }
        let is_new = self.met.insert(version.uid.clone());
        let kind = match (version.is_deletion, is_new) {
            _ if self.rng.percent(2) => self.rng.pick(&["ADDED", "MODIFIED"]),
            (true, _) => "DELETED",
            (false, true) => "ADDED",
            (false, false) => "MODIFIED",
        };
        self.write(time_of, event(kind, &version.pod));
    }

    fn is_hidden(&self, uid: &str, place: usize) -> bool {
        self.hidden.as_ref().is_some_and(|(hidden, until)| hidden == uid && place < *until)
    }

    /// The same document again, as it was or as if it came now.
    fn repeat_a_document(&mut self, place: usize) {
        let again = self.rng.below(self.documents.len());
        let Some(mut document) = self.documents.get(again).cloned() else {
            return;
        };
        if self.rng.percent(50)
            && let Some(fields) = document.as_object_mut()
        {
            fields.remove("observedAt");
            self.write(place, document);
        } else {
            self.documents.push(document);
        }
    }

    /// A document, with the instant of its arrival where the recording states it.
    fn write(&mut self, place: usize, document: Value) {
        let happened = self.log[place.min(self.log.len() - 1)].at;
        let delay = match self.rng.below(10) {
            0 => 3.0,
            1 => 1.0,
            2 => 0.0,
            _ => self.rng.fraction(),
        };
        let arrival = match self.rng.percent(15) {
            true => happened.ceil(),
            false => happened + delay + self.clock,
        };
        self.write_at(arrival, document);
    }

    fn write_at(&mut self, arrival: f64, document: Value) {
        self.documents.push(match self.rng.percent(self.observed) {
            true => at(arrival, document),
            false => document,
        });
    }

    /// The pods that stand before this place of the log.
    fn standing(&mut self, place: usize) -> Vec<Pod> {
        let mut standing: Vec<&Version> = Vec::new();
        for version in &self.log[..place] {
            standing.retain(|held| held.uid != version.uid);
            if !version.is_deletion && !self.is_hidden(&version.uid, place) {
                standing.push(version);
            }
        }
        let pods: Vec<Pod> = standing.iter().map(|version| version.pod.clone()).collect();
        let uids: Vec<String> = standing.iter().map(|version| version.uid.clone()).collect();
        self.met.extend(uids);
        pods
    }

    /// What stands, in one of the ways in which a list can come about.
    fn list_somehow(&mut self, place: usize) {
        let mut pods = self.standing(place);
        if self.rng.percent(3) && place > 0 {
            // A lagging cache, or a page that repeats what another one has shown.
            let again = self.rng.below(place);
            pods.push(self.log[again].pod.clone());
        }
        match self.rng.below(20) {
            0..8 => {
                let mut document = list(&pods);
                if self.rng.percent(30) {
                    document["kind"] = "List".into();
                }
                self.write(place, document);
            }
            8..12 => {
                let (first, second) = pods.split_at(self.rng.below(pods.len() + 1));
                self.write(place, page(first));
                if self.rng.percent(20) {
                    self.write(place, page(&[]));
                }
                self.write(place, list(second));
            }
            12..14 => {
                self.write(place, page(&pods[..pods.len() / 2]));
                if self.rng.percent(60) {
                    self.write(place, expired());
                    self.write(place, list(&pods));
                } else {
                    self.write(place, bookmark(false));
                }
            }
            14 => {
                if let [pod] = &pods[..] {
                    self.write(place, pod.0.clone());
                } else {
                    self.write(place, list(&pods));
                }
            }
            _ => self.stream(place, &pods),
        }
    }

    /// A list as a stream of ADDED events, which now and then breaks or is disturbed.
    fn stream(&mut self, place: usize, pods: &[Pod]) {
        for pod in pods {
            self.write(place, event("ADDED", pod));
            if self.rng.percent(8) {
                let kind = self.rng.pick(&["ADDED", "MODIFIED", "DELETED"]);
                self.write(place, event(kind, pod));
            }
        }
        match self.rng.below(10) {
            0 => {
                self.write(place, expired());
                self.write(place, list(pods));
            }
            1 => self.write(place, bookmark(false)),
            _ => self.write(place, bookmark(true)),
        }
    }

    /// A pod that is met last of all, though it is about as old as the first list, or older.
    fn newcomer(&mut self) {
        let began = self.documents.first().and_then(began).unwrap_or(0.0);
        // Not in a far year that only an absurd time in that list states.
        let began = if began > 1e7 { 0.0 } else { began };
        let age = self.rng.pick(&[0.0, 29.0, 30.0, 31.0, 32.0, 100.0]);
        let mut versions = lives::life(self.rng, began.floor() - age);
        let shown = self.rng.below(versions.len());
        lives::number(self.rng, &mut versions, 5_000);
        let end = self.log.len();
        let end_at = self.log[end - 1].at;
        if self.rng.percent(20) {
            let mut pods = self.standing(end);
            pods.push(versions[shown].pod.clone());
            self.write(end, list(&pods));
        }
        for version in &mut versions[shown..] {
            version.at = version.at.max(end_at);
            let kind = if version.is_deletion { "DELETED" } else { "MODIFIED" };
            let document = event(kind, &version.pod);
            let arrival = version.at + self.rng.fraction();
            self.write_at(arrival, document);
        }
    }

    /// What was deleted is delivered again, about ten minutes later.
    fn late_duplicates(&mut self) {
        let deletions: Vec<Value> = self
            .documents
            .iter()
            .filter(|document| document["type"] == "DELETED")
            .cloned()
            .collect();
        let Some(deletion) = deletions.last() else {
            return;
        };
        let later = self.rng.pick(&[1.0, 599.0, 600.0, 600.0, 600.5, 601.0, 900.0]);
        let mut again = deletion.clone();
        again["type"] = self.rng.pick(&["ADDED", "MODIFIED", "DELETED"]).into();
        if let Some(deleted_at) = seconds_observed(deletion) {
            self.documents.push(at(deleted_at + later, again));
            return;
        }
        // Without observedAt only another pod's API time can move the time on.
        let last = self.log.iter().map(|version| version.at).fold(0.0, f64::max);
        let ticker = crate::oracle::build::pod("ticker").created((last + later).floor());
        self.documents.push(event("ADDED", &ticker));
        if let Some(fields) = again.as_object_mut() {
            fields.remove("observedAt");
        }
        self.documents.push(again);
    }
}

/// When the recording's first document says that it was taken, or the latest time that a list
/// which does not say so shows.
fn began(document: &Value) -> Option<f64> {
    use crate::oracle::{build::ORIGIN, figures::seconds, reading::Snapshot};
    let pods = document["items"].as_array().into_iter().flatten();
    let latest = pods.filter_map(|pod| Snapshot::read(pod).greatest_api_time()).max();
    seconds_observed(document).or(latest.map(|latest| seconds(latest - ORIGIN)))
}

/// Seconds after the origin.
pub(super) fn seconds_observed(document: &Value) -> Option<f64> {
    use crate::oracle::{build::ORIGIN, figures::seconds, instant::parse};
    let observed = parse(document["observedAt"].as_str()?)?;
    Some(seconds(observed - ORIGIN))
}
