//! What the program has received about each pod, from what the server has delivered.

use crate::proof::delivery_log::{Delivered, DeliveryLog};
use crate::proof::history::{History, Kind, Place};
use crate::proof::kube_events::{Applied, Says};

/// How a version was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    FirstList,
    List,
    /// Not a version: an Event of the kubelet showed that the network is ready since this second
    KubeEvent(i64),
    /// By an event at this nanosecond
    Event(i64),
}

/// How the watching of a pod ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    Deleted,
    Absent,
    /// It belongs to another shard since
    Moved,
}

/// What was shown of one pod.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Versions that were news, in the order in which they were shown
    pub versions: Vec<(Place, How)>,
    pub gone: Option<Gone>,
    /// How many versions had been shown before the first restored server's list
    pub restored: Option<usize>,
    /// How the watching ended first, and how many of the versions had been shown by then: a backup
    /// may bring a pod back, but its startup is over
    pub ended: Option<(Gone, usize)>,
    /// How many of the versions had been shown when a backup brought it back, each time
    pub revived: Vec<usize>,
    /// What Events said of it while it stood, and how many of the versions had been shown before
    pub events: Vec<(usize, Says)>,
    newest: u64,
    known: bool,
}

impl Seen {
    fn show(&mut self, history: &History, place: Place, how: How) {
        let number = history.version(place).number;
        if self.gone.is_some() || number < self.newest {
            return;
        }
        self.known = true;
        self.newest = number;
        if self.versions.last().is_none_or(|(last, _)| *last != place) {
            self.versions.push((place, how));
        }
    }

    fn hear(&mut self, says: Says) {
        if self.known && self.gone.is_none() {
            self.events.push((self.versions.len(), says));
        }
    }

    fn end(&mut self, gone: Gone) {
        self.gone = Some(gone);
        self.ended.get_or_insert((gone, self.versions.len()));
    }

    /// Whether the program is to know it at all.
    pub fn is_known(&self) -> bool {
        self.known
    }
}

/// By pod.
pub fn all(history: &History, logs: &[DeliveryLog], applied: &[Applied]) -> Vec<Seen> {
    let mut pods = vec![Seen::default(); history.pods.len()];
    for (source, log) in logs.iter().enumerate() {
        let mut applied = applied.iter().filter(|applied| applied.source == source).peekable();
        let mut take = |pods: &mut [Seen], count: usize| {
            while let Some(event) = applied.next_if(|applied| applied.after <= count) {
                pods[event.pod as usize].hear(event.says);
            }
        };
        let mut resharded = log.resharded;
        for (count, delivered) in log.delivered.iter().enumerate() {
            take(&mut pods, count);
            if resharded.is_some_and(|resharded| resharded.delivered == count) {
                leave(history, log, &mut pods);
            }
            match delivered {
                Delivered::Event { place, at } => {
                    let version = history.version(*place);
                    let pod = &mut pods[version.pod as usize];
                    if version.kind != Kind::Deleted {
                        pod.show(history, *place, How::Event(*at));
                    } else if pod.known && pod.gone.is_none() {
                        pod.show(history, *place, How::Event(*at));
                        pod.end(Gone::Deleted);
                    }
                }
                Delivered::List { places, first, restored, .. } => {
                    if *restored {
                        // Versions so far are of another history, and deleted pods stand again.
                        for pod in &mut pods {
                            pod.newest = 0;
                            pod.restored.get_or_insert(pod.versions.len());
                            if pod.gone == Some(Gone::Deleted) {
                                pod.gone = None;
                                pod.revived.push(pod.versions.len());
                            }
                        }
                    }
                    let come = resharded.take_if(|resharded| resharded.delivered <= count);
                    let how = |pod: u32| match come {
                        Some(come) if !come.before.holds(history.pods[pod as usize].hash) => {
                            How::FirstList
                        }
                        _ if *first => How::FirstList,
                        _ => How::List,
                    };
                    list(history, log, &mut pods, places, how);
                }
            }
        }
        if resharded.is_some_and(|resharded| resharded.delivered == log.delivered.len()) {
            leave(history, log, &mut pods);
        }
        take(&mut pods, log.delivered.len());
    }
    pods
}

/// Pods that belong to another shard from now on.
fn leave(history: &History, log: &DeliveryLog, pods: &mut [Seen]) {
    for (nature, pod) in history.pods.iter().zip(pods) {
        if log.watches(nature) && !log.covers(nature) && pod.known && pod.gone.is_none() {
            pod.end(Gone::Moved);
        }
    }
}

fn list(
    history: &History,
    log: &DeliveryLog,
    pods: &mut [Seen],
    places: &[Place],
    how: impl Fn(u32) -> How,
) {
    let mut standing = vec![false; pods.len()];
    for place in places {
        let pod = history.version(*place).pod;
        standing[pod as usize] = true;
        pods[pod as usize].show(history, *place, how(pod));
    }
    for (number, pod) in pods.iter_mut().enumerate() {
        let covered = log.covers(&history.pods[number]);
        if covered && pod.known && pod.gone.is_none() && !standing[number] {
            pod.end(Gone::Absent);
        }
    }
}
