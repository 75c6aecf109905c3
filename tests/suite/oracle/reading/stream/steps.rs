//! The documents as what the replay does: pages joined, streamed lists found.

use super::bare::Role;
use super::document::{
    Dated, has_further_page, is_end_of_streamed_list, is_event, is_page, is_without_pods,
    kube_events_of, observed_at,
};
use crate::oracle::instant::Nanos;
use crate::oracle::reading::kube_event::KubeEvent;
use crate::oracle::reading::node::{NodeSnapshot, Said};
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
    /// A `v1` Event ([§9.5](crate::specification#s9-5))
    Heard {
        event: Box<KubeEvent>,
        now: Nanos,
    },
    /// Something of nodes ([§14.1](crate::specification#s14-1))
    OfNodes {
        said: Said,
        now: Nanos,
    },
}

impl Step {
    /// Nothing of pods
    pub(super) fn is_evidence(&self) -> bool {
        matches!(self, Self::Heard { .. } | Self::OfNodes { .. })
    }
}

/// Joins the pages of each list. A list that never completes is as if it had not been there.
pub(super) fn join_pages(rules: &dyn Rules, dated: &[Dated<'_>]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = dated;
    let mut nodes = NodePages::default();
    while let Some((first, after)) = rest.split_first() {
        let document = first.document;
        if is_without_pods(document) {
            steps.extend(heard(first));
            steps.extend(nodes.read(first));
            rest = after;
            continue;
        }
        if first.role == Role::OfFirstList {
            rest = bare_list(rest, &mut steps, &mut nodes);
            continue;
        }
        if let Some(kind) = first.kind() {
            let (o, now) = (observed_at(document), first.now);
            steps.push(match rules.closes_streamed_list(is_end_of_streamed_list(document)) {
                true => Step::EndOfStreamedList { o, now },
                false => Step::Event {
                    kind: kind.to_owned(),
                    object: first.pods().pop().map(Box::new),
                    o,
                    now,
                },
            });
            rest = after;
            continue;
        }
        let documents = 1 + pages_after(first, after);
        // Events between the pages come in the order of the file, and are no part of the list.
        let is_without_pods = |dated: &&Dated<'_>| is_without_pods(dated.document);
        let (events, pages): (Vec<_>, Vec<_>) = rest[..documents].iter().partition(is_without_pods);
        for evidence in events {
            steps.extend(heard(evidence));
            steps.extend(nodes.read(evidence));
        }
        let last = pages.last().unwrap_or(&first);
        let is_complete = !has_further_page(last.document);
        if let Some(counting) = rules.pages_that_count(pages.len(), is_complete) {
            let pods = pages[..counting].iter().flat_map(|page| page.pods());
            let pods = in_order(pods.collect());
            let among_them = pages.iter().flat_map(|page| page.nodes());
            let among_them: Vec<NodeSnapshot> = among_them.collect();
            let now = last.now;
            let greatest = pods.iter().filter_map(Snapshot::greatest_api_time).max();
            let began = observed_at(document).or(greatest).unwrap_or(now);
            let list = Step::List { pods, began, now };
            if among_them.is_empty() {
                steps.push(list);
            } else {
                let of_nodes = among_them.iter();
                let of_nodes = of_nodes.filter_map(NodeSnapshot::greatest_api_time).max();
                let began = observed_at(document).or(greatest.max(of_nodes));
                let of_nodes = Step::OfNodes {
                    said: Said::List { nodes: among_them, began: began.unwrap_or(now) },
                    now,
                };
                match rules.nodes().nodes_come_first() {
                    true => steps.extend([of_nodes, list]),
                    false => steps.extend([list, of_nodes]),
                }
            }
        }
        steps.extend(pages.into_iter().flat_map(heard));
        rest = &rest[documents..];
    }
    steps
}

/// Puts the first list together out of its bare pods, "of one moment": the Events before and between them count after
/// them. Returns what comes after it.
fn bare_list<'a, 'b>(
    rest: &'a [Dated<'b>],
    steps: &mut Vec<Step>,
    nodes: &mut NodePages,
) -> &'a [Dated<'b>] {
    let belongs =
        |dated: &&Dated<'_>| dated.role == Role::OfFirstList || is_without_pods(dated.document);
    let (group, rest) = rest.split_at(rest.iter().take_while(belongs).count());
    let is_pod = |dated: &Dated<'_>| dated.role == Role::OfFirstList;
    let pods: Vec<&Dated<'_>> = group.iter().filter(|dated| is_pod(dated)).collect();
    let (Some(first), Some(last)) = (pods.first(), pods.last()) else {
        return rest;
    };
    let end = group.iter().rposition(is_pod).unwrap_or_default();
    let (within, behind) = group.split_at(end);
    let (mut before, mut events): (Vec<Step>, Vec<Step>) =
        std::mem::take(steps).into_iter().partition(|step| !matches!(step, Step::Heard { .. }));
    before
        .extend(within.iter().filter(|dated| !is_pod(dated)).filter_map(|dated| nodes.read(dated)));
    let now = last.now;
    events.extend(group.iter().filter(|dated| !is_pod(dated)).flat_map(heard));
    for event in &mut events {
        if let Step::Heard { now: heard, .. } = event {
            *heard = now;
        }
    }
    let listed = in_order(pods.iter().flat_map(|dated| dated.pods()).collect());
    let greatest = listed.iter().filter_map(Snapshot::greatest_api_time).max();
    let began = observed_at(first.document).or(greatest).unwrap_or(now);
    let list = Step::List { pods: listed, began, now };
    let behind = behind.iter().filter(|dated| !is_pod(dated));
    steps.extend(before.into_iter().chain([list]).chain(events));
    steps.extend(behind.filter_map(|dated| nodes.read(dated)));
    rest
}

/// With the place of each pod in the list.
fn in_order(mut pods: Vec<Snapshot>) -> Vec<Snapshot> {
    for (place, pod) in pods.iter_mut().enumerate() {
        pod.item = place;
    }
    pods
}

/// The pages of a list of nodes.
#[derive(Default)]
struct NodePages {
    nodes: Vec<NodeSnapshot>,
    observed: Option<Option<Nanos>>,
}

impl NodePages {
    /// What a document without pods says of nodes, once all of its list is there.
    fn read(&mut self, dated: &Dated<'_>) -> Option<Step> {
        let (document, now) = (dated.document, dated.now);
        let step = |said| Some(Step::OfNodes { said, now });
        if is_end_of_streamed_list(document) && document["object"]["kind"] == "Node" {
            return step(Said::EndOfStreamedList);
        }
        let nodes = dated.nodes();
        if is_event(document) {
            let o = observed_at(document);
            let kind = document["type"].as_str().unwrap_or("").to_owned();
            let node = nodes.into_iter().next().map(Box::new)?;
            return step(Said::Event { kind, node, o });
        }
        if nodes.is_empty() && document["kind"] != "NodeList" {
            return None;
        }
        self.nodes.extend(nodes);
        let observed = *self.observed.get_or_insert(observed_at(document));
        if has_further_page(document) {
            return None;
        }
        let Self { nodes, .. } = std::mem::take(self);
        let greatest = nodes.iter().filter_map(NodeSnapshot::greatest_api_time);
        let began = observed.or(greatest.max()).unwrap_or(now);
        step(Said::List { nodes, began })
    }
}

/// The Events of a document, in its order.
fn heard(dated: &Dated<'_>) -> Vec<Step> {
    let events = kube_events_of(dated.document).into_iter();
    let step = |event| Step::Heard { event: Box::new(event), now: dated.now };
    events.map(step).collect()
}

/// How many of the documents that follow a list's first page are further pages of it, with the
/// Events between them.
pub(super) fn pages_after(first: &Dated<'_>, after: &[Dated<'_>]) -> usize {
    let mut documents = 0;
    let mut last = first.document;
    let mut next = 0;
    while has_further_page(last) {
        match after.get(next).map(|next| next.document) {
            Some(document) if is_without_pods(document) => {}
            Some(document) if is_page(document) => {
                last = document;
                documents = next + 1;
            }
            _ => break,
        }
        next += 1;
    }
    documents
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
        Step::EndOfStreamedList { .. } | Step::Heard { .. } | Step::OfNodes { .. } => false,
    };
    if steps[..end].iter().any(is_other) {
        return false;
    }
    let (before, events): (Vec<Step>, Vec<Step>) = steps.drain(..=end).partition(Step::is_evidence);
    let pods = in_order(standing(rules, &events));
    let greatest = pods.iter().filter_map(Snapshot::greatest_api_time).max();
    let (
        Some(Step::EndOfStreamedList { now, .. }),
        Some(Step::Event { o, .. } | Step::EndOfStreamedList { o, .. }),
    ) = (events.last(), events.first())
    else {
        return false;
    };
    let list = Step::List { pods, began: o.or(greatest).unwrap_or(*now), now: *now };
    steps.splice(..0, before.into_iter().chain([list]));
    true
}

/// [§8.4](crate::specification#s8-4): "The ADDED events with which a recording begins, up to any other document of pods and
/// up to a UID that comes again with another resourceVersion, are its first pods". When a recording without a list began:
/// nothing is accounted for before.
pub(super) fn begin_with_first_pods(rules: &dyn Rules, steps: &mut [Step]) -> Option<Nanos> {
    let start = steps.iter().position(|step| !step.is_evidence())?;
    let mut pods: Vec<&Snapshot> = Vec::new();
    let mut end = start;
    for step in &steps[start..] {
        match step {
            Step::Event { kind, object: Some(pod), .. } => {
                let before = pods.iter().find(|before| before.uid == pod.uid);
                let is_duplicate = before.is_some_and(|before| before.version == pod.version);
                if rules.ends_first_pods(kind, before.is_some(), is_duplicate) {
                    break;
                }
                pods.push(pod);
            }
            step if step.is_evidence() => {}
            _ => break,
        }
        end += 1;
    }
    let stated = pods.iter().filter_map(|pod| pod.greatest_api_time()).max();
    let observed = match &steps[start] {
        Step::Event { o, .. } if !pods.is_empty() => *o,
        _ => return None,
    };
    let began = rules.began_without_list(observed, stated)?;
    for step in &mut steps[start..end] {
        let (Step::List { now, .. }
        | Step::Event { now, .. }
        | Step::EndOfStreamedList { now, .. }
        | Step::Heard { now, .. }
        | Step::OfNodes { now, .. }) = step;
        *now = (*now).max(began);
    }
    Some(began)
}

/// The newest version of every pod that was ADDED or MODIFIED and not DELETED since; a late
/// duplicate does not revive a deleted one ([§5.1](crate::specification#s5-1)).
pub(super) fn standing(rules: &dyn Rules, events: &[Step]) -> Vec<Snapshot> {
    let mut standing: Vec<Snapshot> = Vec::new();
    let mut deleted: Vec<(String, Nanos)> = Vec::new();
    for event in events {
        let Step::Event { kind, object: Some(pod), now, .. } = event else {
            continue;
        };
        let identity = rules.identity(pod);
        let place = standing.iter().position(|held| rules.identity(held) == identity);
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
                standing[place] = Snapshot { version: newest, ..Snapshot::clone(pod) };
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
