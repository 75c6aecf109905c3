//! The lines of the watch for some versions, damaged on their way or not.

use bytes::Bytes;

use crate::proof::history::{Kind, Place};
use crate::proof::server::State;

/// Longer than a list-watch of the proof accepts.
pub const OVERSIZE: usize = 64 << 10;

/// What is written at once.
pub struct Batch {
    pub bytes: Vec<u8>,
    /// Everything up to this version has been sent
    pub sent: u64,
}

/// The lines of the versions `due`, with which everything up to version `up_to` is sent.
pub fn of(mut due: Vec<Place>, up_to: u64, source: usize, state: &mut State) -> Batch {
    due.retain(|place| state.history.version(*place).kind != Kind::Unseen);
    coalesce(&mut due, source, state);
    if state.faults.shuffle {
        shuffle(&mut due, state);
    }
    let now = state.now();
    let mut bytes = Vec::new();
    for place in due {
        let version = state.history.version(place);
        let (kind, number) = (version.kind, version.number);
        let faults = &state.faults;
        let (corrupt, garble, oversize) = (faults.corrupt, faults.garble, faults.oversize);
        let (lose, duplicate) = (faults.lose, faults.duplicate);
        if state.rng.chance(lose) {
            continue;
        }
        let garbled = state.rng.chance(garble);
        let damaged = if garbled {
            Some(b"\xff\xfe{\"type\":\n".to_vec())
        } else if state.rng.chance(corrupt) {
            Some(corrupted(kind, number, state))
        } else if state.rng.chance(oversize) {
            let mut line = line(state, place);
            line.pop();
            line.resize(OVERSIZE + 1, b' ');
            line.push(b'\n');
            Some(line)
        } else {
            None
        };
        if let Some(line) = damaged {
            bytes.extend_from_slice(&line);
            state.logs[source].damaged.push(place);
            if garbled || kind == Kind::Deleted {
                // A deletion, or what may be one, does not come again, so a list has to tell of it.
                // The rest of the stream need not be read any more.
                state.logs[source].gap(number);
                return Batch { bytes, sent: number };
            }
            continue;
        }
        let times = 1 + usize::from(state.rng.chance(duplicate));
        for _ in 0..times {
            bytes.extend_from_slice(&line(state, place));
            let log = &mut state.logs[source];
            if log.covers(state.history.nature(place)) {
                log.event(place, now);
            }
        }
    }
    Batch { bytes, sent: up_to }
}

/// The line of one version.
pub fn line(state: &State, place: Place) -> Vec<u8> {
    let version = state.history.version(place);
    let kind = match version.kind {
        Kind::Added => "ADDED",
        Kind::Modified => "MODIFIED",
        Kind::Deleted | Kind::Unseen => "DELETED",
    };
    let mut line = format!(r#"{{"type":"{kind}","object":"#).into_bytes();
    line.extend_from_slice(&version.json);
    line.extend_from_slice(b"}\n");
    line
}

pub fn bookmark(number: u64) -> Bytes {
    format!(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"kind\":\"Pod\",\"metadata\":{{\"resourceVersion\":\"{number}\"}}}}}}\n"
    )
    .into()
}

pub fn error(code: u16, message: &str) -> Bytes {
    format!(
        "{{\"type\":\"ERROR\",\"object\":{{\"kind\":\"Status\",\"code\":{code},\"message\":\"{message}\"}}}}\n"
    )
    .into()
}

/// An event whose object is none.
fn corrupted(kind: Kind, number: u64, state: &mut State) -> Vec<u8> {
    let kind = match kind {
        Kind::Added => "ADDED",
        Kind::Modified => "MODIFIED",
        Kind::Deleted | Kind::Unseen => "DELETED",
    };
    let object = match state.rng.below(4) {
        0 => format!(r#"{{"kind":"Pod","metadata":{{"resourceVersion":"{number}"}}}}"#),
        1 => "null".to_owned(),
        2 => format!(r#"{{"metadata":{{"resourceVersion":"{number}","uid":"#),
        _ => format!(r#"{{"metadata":[{number}],"status":7}}"#),
    };
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into_bytes()
}

/// Leaves out events of a pod that later ones of it supersede.
fn coalesce(due: &mut Vec<Place>, source: usize, state: &mut State) {
    if state.faults.coalesce == 0.0 {
        return;
    }
    let pods: Vec<u32> = due.iter().map(|place| state.history.version(*place).pod).collect();
    let mut kept = Vec::new();
    for (index, place) in due.iter().enumerate() {
        let superseded = pods[index + 1..].contains(&pods[index]);
        if superseded && state.rng.chance(state.faults.coalesce) {
            state.logs[source].damaged.push(*place);
        } else {
            kept.push(*place);
        }
    }
    *due = kept;
}

/// Lets events of different pods change places; those of one pod stay in their order.
fn shuffle(due: &mut [Place], state: &mut State) {
    for last in (1..due.len()).rev() {
        let other = state.rng.below(last as u64 + 1) as usize;
        due.swap(last, other);
    }
    let pod_of = |place: &Place| state.history.version(*place).pod;
    let mut pods: Vec<u32> = due.iter().map(pod_of).collect();
    pods.sort_unstable();
    pods.dedup();
    for pod in pods {
        let slots: Vec<usize> = (0..due.len()).filter(|slot| pod_of(&due[*slot]) == pod).collect();
        let mut places: Vec<Place> = slots.iter().map(|slot| due[*slot]).collect();
        places.sort_unstable();
        for (slot, place) in slots.into_iter().zip(places) {
            due[slot] = place;
        }
    }
}
