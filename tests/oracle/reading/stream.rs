//! §8: the documents, in their order, as what happened to every UID.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Options;
use super::rules::Rules;
use super::snapshot::Snapshot;
use crate::oracle::instant::{self, Nanos};

/// One thing that happened to one UID.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    /// Replay time
    pub(crate) now: Nanos,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// It stood in the first list
    InFirstList(Snapshot),
    /// It stood in a later list
    InList(Snapshot),
    /// ADDED or MODIFIED, with `o` (§4)
    Event {
        pod: Snapshot,
        o: Option<Nanos>,
        is_added: bool,
    },
    /// DELETED, with `o`
    Deleted { pod: Snapshot, o: Option<Nanos> },
    /// It was absent from a completed list
    Absent,
}

/// All that the documents say.
pub(crate) struct Recording {
    pub(crate) first_list_began: Option<Nanos>,
    pub(crate) watch_events: BTreeMap<String, usize>,
    /// What happened to each identity, in its order
    pub(crate) pods: Vec<Vec<Happened>>,
}

/// A document with the time of the replay once it has been read.
struct Dated<'a> {
    document: &'a Value,
    now: Nanos,
}

/// What the replay does next.
enum Step {
    List {
        pods: Vec<Snapshot>,
        began: Nanos,
        now: Nanos,
    },
    Event {
        kind: String,
        object: Option<Snapshot>,
        o: Option<Nanos>,
        now: Nanos,
    },
    EndOfStreamedList {
        o: Option<Nanos>,
        now: Nanos,
    },
}

pub(crate) fn read(rules: &dyn Rules, documents: &[Value], options: &Options) -> Recording {
    let dated = date(documents, options.until);
    let watch_events = count_types(&dated);
    let mut steps = join_pages(rules, &dated);
    let starts_with_list = matches!(steps.first(), Some(Step::List { .. }))
        || replace_first_streamed_list(rules, &mut steps);
    let first_list_began = match steps.first() {
        Some(Step::List { began, .. }) if starts_with_list => Some(*began),
        _ => None,
    };
    let pods = hand_out(rules, &steps, starts_with_list);
    Recording {
        first_list_began,
        watch_events,
        pods,
    }
}

/// "Without `observedAt`, time is the greatest API time seen so far (for a list, the greatest in
/// it)"; "`--until` stops at the first later document". Time never goes back; it starts at the
/// Unix epoch.
fn date(documents: &[Value], until: Option<Nanos>) -> Vec<Dated<'_>> {
    let mut now = 0;
    let mut greatest_seen = 0;
    let mut dated = Vec::new();
    for document in documents {
        let greatest_in_it = greatest_api_time(document);
        greatest_seen = greatest_seen.max(greatest_in_it);
        now = now.max(match observed_at(document) {
            Some(observed) => observed,
            None if is_event(document) => greatest_seen,
            None => greatest_in_it,
        });
        if until.is_some_and(|until| now > until) {
            break;
        }
        dated.push(Dated { document, now });
    }
    dated
}

fn greatest_api_time(document: &Value) -> Nanos {
    pods_of(document)
        .iter()
        .filter_map(Snapshot::greatest_api_time)
        .max()
        .unwrap_or(0)
}

fn pods_of(document: &Value) -> Vec<Snapshot> {
    if let Some(items) = document.get("items").and_then(Value::as_array) {
        return items.iter().map(Snapshot::read).collect();
    }
    let pod = document.get("object").unwrap_or(document);
    match pod["kind"].as_str() {
        Some("Pod") if document["type"] != "BOOKMARK" => vec![Snapshot::read(pod)],
        _ => Vec::new(),
    }
}

fn observed_at(document: &Value) -> Option<Nanos> {
    instant::parse(document.get("observedAt")?.as_str()?)
}

fn is_event(document: &Value) -> bool {
    document.get("type").is_some()
}

fn is_page(document: &Value) -> bool {
    document.get("items").is_some()
}

fn has_further_page(document: &Value) -> bool {
    document
        .pointer("/metadata/continue")
        .and_then(Value::as_str)
        .is_some_and(|token| !token.is_empty())
}

fn is_end_of_streamed_list(document: &Value) -> bool {
    document["type"] == "BOOKMARK"
        && document
            .pointer("/object/metadata/annotations/k8s.io~1initial-events-end")
            .and_then(Value::as_str)
            == Some("true")
}

/// §7 `podinit_watch_events_total{type}`: every watch event that was read.
fn count_types(dated: &[Dated<'_>]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for kind in dated
        .iter()
        .filter_map(|dated| dated.document["type"].as_str())
    {
        *counts.entry(kind.to_owned()).or_insert(0) += 1;
    }
    counts
}

/// Joins the pages of each list. A list that never completes is as if it had not been there.
fn join_pages(rules: &dyn Rules, dated: &[Dated<'_>]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = dated;
    while let Some((first, after)) = rest.split_first() {
        let document = first.document;
        if is_event(document) {
            let (o, now) = (observed_at(document), first.now);
            steps.push(
                match rules.closes_streamed_list(is_end_of_streamed_list(document)) {
                    true => Step::EndOfStreamedList { o, now },
                    false => Step::Event {
                        kind: document["type"].as_str().unwrap_or("").to_owned(),
                        object: pods_of(document).pop(),
                        o,
                        now,
                    },
                },
            );
            rest = after;
            continue;
        }
        let pages = 1 + pages_after(first, after);
        let is_complete = !has_further_page(rest[pages - 1].document);
        if let Some(counting) = rules.pages_that_count(pages, is_complete) {
            let pods: Vec<Snapshot> = rest[..counting]
                .iter()
                .flat_map(|page| pods_of(page.document))
                .collect();
            let greatest = pods
                .iter()
                .filter_map(Snapshot::greatest_api_time)
                .max()
                .unwrap_or(0);
            let began = observed_at(document).unwrap_or(greatest);
            steps.push(Step::List {
                pods,
                began,
                now: rest[pages - 1].now,
            });
        }
        rest = &rest[pages..];
    }
    steps
}

/// How many of the documents that follow a list's first page are further pages of it.
fn pages_after(first: &Dated<'_>, after: &[Dated<'_>]) -> usize {
    let mut pages = 0;
    let mut last = first.document;
    while has_further_page(last) {
        match after.get(pages) {
            Some(next) if is_page(next.document) => last = next.document,
            _ => break,
        }
        pages += 1;
    }
    pages
}

/// "A BOOKMARK annotated `k8s.io/initial-events-end` closes a streamed list: the pods that stand at
/// that point, since the stream began, are that list." Where nothing but that stream stands before
/// the bookmark, it is the first list, and puts a list in the place of its events.
fn replace_first_streamed_list(rules: &dyn Rules, steps: &mut Vec<Step>) -> bool {
    let is_end = |step: &Step| matches!(step, Step::EndOfStreamedList { .. });
    let Some(end) = steps.iter().position(is_end) else {
        return false;
    };
    let is_other = |step: &Step| match step {
        Step::List { .. } => true,
        Step::Event { kind, .. } => kind == "ERROR",
        Step::EndOfStreamedList { .. } => false,
    };
    if steps[..end].iter().any(is_other) {
        return false;
    }
    let events: Vec<Step> = steps.drain(..=end).collect();
    let pods = standing(rules, &events);
    let greatest = pods
        .iter()
        .filter_map(Snapshot::greatest_api_time)
        .max()
        .unwrap_or(0);
    let (
        Some(Step::EndOfStreamedList { now, .. }),
        Some(Step::Event { o, .. } | Step::EndOfStreamedList { o, .. }),
    ) = (events.last(), events.first())
    else {
        return false;
    };
    let list = Step::List {
        pods,
        began: o.unwrap_or(greatest),
        now: *now,
    };
    steps.insert(0, list);
    true
}

/// The newest version of every pod that was ADDED or MODIFIED and not DELETED since; a late
/// duplicate does not revive a deleted one (§5 rule 1).
fn standing(rules: &dyn Rules, events: &[Step]) -> Vec<Snapshot> {
    let mut standing: Vec<Snapshot> = Vec::new();
    let mut deleted: Vec<(String, Nanos)> = Vec::new();
    for event in events {
        let Step::Event {
            kind,
            object: Some(pod),
            now,
            ..
        } = event
        else {
            continue;
        };
        let identity = rules.identity(pod);
        let place = standing
            .iter()
            .position(|held| rules.identity(held) == identity);
        match (kind.as_str(), place) {
            ("DELETED", Some(place)) => {
                standing.remove(place);
                deleted.push((identity, *now));
            }
            ("DELETED", None) => {}
            (_, Some(place)) if rules.is_older(pod.version, standing[place].version) => {}
            (_, Some(place)) => {
                // A version that is none does not change the newest one held.
                let newest = pod.version.or(standing[place].version);
                standing[place] = Snapshot {
                    version: newest,
                    ..pod.clone()
                };
            }
            (_, None) => {
                let is_remembered = |(of, at): &(String, Nanos)| {
                    *of == identity && rules.remembers_deleted(*at, *now)
                };
                if !deleted.iter().any(is_remembered) {
                    standing.push(pod.clone());
                }
            }
        }
    }
    standing
}

/// Gives every identity its own history.
fn hand_out(rules: &dyn Rules, steps: &[Step], starts_with_list: bool) -> Vec<Vec<Happened>> {
    let mut histories: BTreeMap<String, Vec<Happened>> = BTreeMap::new();
    let mut in_this_stream: Vec<String> = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        match step {
            Step::List { pods, now, .. } => {
                let is_first = place == 0 && starts_with_list;
                for pod in pods {
                    let what = match is_first {
                        true => What::InFirstList(pod.clone()),
                        false => What::InList(pod.clone()),
                    };
                    histories
                        .entry(rules.identity(pod))
                        .or_default()
                        .push(Happened { now: *now, what });
                }
                let listed: Vec<String> = pods.iter().map(|pod| rules.identity(pod)).collect();
                mark_absent(&mut histories, &listed, *now);
                in_this_stream.clear();
            }
            Step::Event {
                kind,
                object,
                o,
                now,
            } => {
                if kind == "ERROR" {
                    in_this_stream.clear();
                }
                let Some(pod) = object else { continue };
                let identity = rules.identity(pod);
                let (pod, o) = (pod.clone(), *o);
                let what = match kind.as_str() {
                    "DELETED" => What::Deleted { pod, o },
                    kind => {
                        in_this_stream.push(identity.clone());
                        What::Event {
                            pod,
                            o,
                            is_added: kind == "ADDED",
                        }
                    }
                };
                histories
                    .entry(identity)
                    .or_default()
                    .push(Happened { now: *now, what });
            }
            Step::EndOfStreamedList { now, .. } => {
                mark_absent(&mut histories, &in_this_stream, *now);
                in_this_stream.clear();
            }
        }
    }
    histories.into_values().collect()
}

/// §5 rule 4: "the list is compared with what is known".
fn mark_absent(histories: &mut BTreeMap<String, Vec<Happened>>, listed: &[String], now: Nanos) {
    for (identity, history) in histories {
        if !listed.contains(identity) {
            history.push(Happened {
                now,
                what: What::Absent,
            });
        }
    }
}
