//! The documents as what the replay does: pages joined, streamed lists found.

use super::document::{
    Dated, has_further_page, is_end_of_streamed_list, is_event, is_page, observed_at, pods_of,
};
use crate::oracle::instant::Nanos;
use crate::oracle::reading::rules::Rules;
use crate::oracle::reading::snapshot::Snapshot;

/// What the replay does next.
pub(crate) enum Step {
    List {
        pods: Vec<Snapshot>,
        began: Nanos,
        now: Nanos,
    },
    Event {
        kind: String,
        object: Option<Box<Snapshot>>,
        o: Option<Nanos>,
        now: Nanos,
    },
    EndOfStreamedList {
        o: Option<Nanos>,
        now: Nanos,
    },
}

/// Joins the pages of each list. A list that never completes is as if it had not been there.
pub(super) fn join_pages(rules: &dyn Rules, dated: &[Dated<'_>]) -> Vec<Step> {
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
                        object: pods_of(document).pop().map(Box::new),
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
            let now = rest[pages - 1].now;
            let greatest = pods.iter().filter_map(Snapshot::greatest_api_time).max();
            let began = observed_at(document).or(greatest).unwrap_or(now);
            steps.push(Step::List { pods, began, now });
        }
        rest = &rest[pages..];
    }
    steps
}

/// How many of the documents that follow a list's first page are further pages of it.
pub(super) fn pages_after(first: &Dated<'_>, after: &[Dated<'_>]) -> usize {
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
pub(super) fn replace_first_streamed_list(rules: &dyn Rules, steps: &mut Vec<Step>) -> bool {
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
    let greatest = pods.iter().filter_map(Snapshot::greatest_api_time).max();
    let (
        Some(Step::EndOfStreamedList { now, .. }),
        Some(Step::Event { o, .. } | Step::EndOfStreamedList { o, .. }),
    ) = (events.last(), events.first())
    else {
        return false;
    };
    let list = Step::List {
        pods,
        began: o.or(greatest).unwrap_or(*now),
        now: *now,
    };
    steps.insert(0, list);
    true
}

/// The newest version of every pod that was ADDED or MODIFIED and not DELETED since; a late
/// duplicate does not revive a deleted one ([§5.1](crate::specification#s5-1)).
pub(super) fn standing(rules: &dyn Rules, events: &[Step]) -> Vec<Snapshot> {
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
                    ..Snapshot::clone(pod)
                };
            }
            (_, None) => {
                let is_remembered = |(of, at): &(String, Nanos)| {
                    *of == identity && rules.remembers_deleted(*at, *now)
                };
                if !deleted.iter().any(is_remembered) {
                    standing.push(Snapshot::clone(pod));
                }
            }
        }
    }
    standing
}
