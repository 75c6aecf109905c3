//! Under which lives the UID of a node was known, and what was folded in each
//! ([§14.1](crate::specification#s14-1)).

use std::collections::BTreeMap;

use super::rules::NodeRules;
use super::snapshot::NodeSnapshot;
use crate::oracle::instant::Nanos;
use crate::oracle::reading::life::Closing;

/// What a document says of nodes.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    List {
        nodes: Vec<NodeSnapshot>,
        /// `observedAt`, "or else the greatest API time in it"
        began: Nanos,
    },
    Event {
        kind: String,
        node: Box<NodeSnapshot>,
        o: Option<Nanos>,
    },
    EndOfStreamedList,
}

/// One step of the replay that is about nodes.
#[derive(Clone, Debug)]
pub(crate) struct NodeStep {
    pub(crate) step: usize,
    /// "nodes do not move time"
    pub(crate) now: Nanos,
    pub(crate) said: Said,
}

/// A snapshot that was folded.
#[derive(Clone, Debug)]
pub(crate) struct FoldedNode {
    pub(crate) node: NodeSnapshot,
    pub(crate) o: Option<Nanos>,
    pub(crate) step: usize,
}

/// Everything that was folded from when a UID became known until it was forgotten.
#[derive(Clone, Debug)]
pub(crate) struct NodeLife {
    pub(crate) folded: Vec<FoldedNode>,
    pub(crate) in_first_list: bool,
    /// The time of "the list or event (`o`) in which it first appears"
    pub(crate) appeared: Option<Nanos>,
    /// With the step of the replay
    pub(crate) closing: Option<(Closing, usize)>,
    /// Its place in the list in which it first appeared
    item: usize,
}

impl NodeLife {
    pub(crate) fn created(&self) -> Option<Nanos> {
        self.folded[0].node.created
    }

    /// With which step it was first delivered, and its place in the list of that step.
    pub(crate) fn delivered(&self) -> (usize, usize) {
        (self.folded[0].step, self.item)
    }

    /// The place of the newest snapshot that was delivered before a step, while the node was known.
    pub(crate) fn newest_before(&self, step: usize) -> Option<usize> {
        if self.closing.is_some_and(|(_, closed)| closed < step) {
            return None;
        }
        self.folded.iter().rposition(|folded| folded.step < step)
    }

    fn newest_version(&self) -> Option<u64> {
        let versions = self.folded.iter().filter_map(|folded| folded.node.version);
        versions.max()
    }
}

/// The lives of all nodes.
pub(crate) fn lives(rules: &dyn NodeRules, steps: &[NodeStep]) -> Vec<NodeLife> {
    let mut books =
        Books { rules, lives: Vec::new(), current: BTreeMap::new(), deleted: BTreeMap::new() };
    let mut in_this_stream: Vec<String> = Vec::new();
    for (number, NodeStep { step, now, said }) in steps.iter().enumerate() {
        match said {
            Said::List { nodes, began } => {
                for (item, node) in nodes.iter().enumerate() {
                    let arrived = Arrived {
                        step: *step,
                        now: *now,
                        o: None,
                        appeared: *began,
                        in_first_list: number == 0,
                        item,
                    };
                    books.fold(node, arrived);
                }
                let listed = nodes.iter().map(|node| rules.identity(node)).collect();
                books.close_all_but(listed, *step);
                in_this_stream.clear();
            }
            Said::Event { kind, node, o } => {
                let identity = rules.identity(node);
                let arrived = Arrived {
                    step: *step,
                    now: *now,
                    o: *o,
                    // "A watch event without `o` is of the accounted time"
                    appeared: o.unwrap_or(*now),
                    in_first_list: false,
                    item: 0,
                };
                if kind == "DELETED" {
                    books.delete(node, arrived);
                } else {
                    in_this_stream.push(identity);
                    books.fold(node, arrived);
                }
            }
            Said::EndOfStreamedList => {
                let shown = std::mem::take(&mut in_this_stream);
                books.close_all_but(shown, *step);
            }
        }
    }
    books.lives.extend(books.current.into_values());
    books.lives
}

#[derive(Clone, Copy)]
struct Arrived {
    step: usize,
    now: Nanos,
    o: Option<Nanos>,
    appeared: Nanos,
    in_first_list: bool,
    item: usize,
}

struct Books<'r> {
    rules: &'r dyn NodeRules,
    lives: Vec<NodeLife>,
    current: BTreeMap<String, NodeLife>,
    /// When a UID was deleted
    deleted: BTreeMap<String, Nanos>,
}

impl Books<'_> {
    fn fold(&mut self, node: &NodeSnapshot, arrived: Arrived) {
        let identity = self.rules.identity(node);
        let folded = FoldedNode { node: node.clone(), o: arrived.o, step: arrived.step };
        if let Some(life) = self.current.get_mut(&identity) {
            if !self.rules.is_older(node.version, life.newest_version()) {
                life.folded.push(folded);
            }
            return;
        }
        let deleted = self.deleted.get(&identity);
        if deleted.is_some_and(|deleted| self.rules.remembers_deleted(*deleted, arrived.now)) {
            return;
        }
        self.current.insert(
            identity,
            NodeLife {
                folded: vec![folded],
                in_first_list: arrived.in_first_list,
                appeared: Some(arrived.appeared),
                closing: None,
                item: arrived.item,
            },
        );
    }

    fn delete(&mut self, node: &NodeSnapshot, arrived: Arrived) {
        let identity = self.rules.identity(node);
        if !self.current.contains_key(&identity) {
            return;
        }
        if self.rules.folds_deleted() {
            self.fold(node, arrived);
        }
        if let Some(mut life) = self.current.remove(&identity) {
            life.closing = Some((Closing::Deleted, arrived.step));
            self.lives.push(life);
        }
        self.deleted.insert(identity, arrived.now);
    }

    fn close_all_but(&mut self, shown: Vec<String>, step: usize) {
        if !self.rules.forgets_absent() {
            return;
        }
        let (kept, absent): (BTreeMap<_, _>, BTreeMap<_, _>) = std::mem::take(&mut self.current)
            .into_iter()
            .partition(|(identity, _)| shown.contains(identity));
        self.current = kept;
        for mut life in absent.into_values() {
            life.closing = Some((Closing::Absent, step));
            self.lives.push(life);
        }
    }
}
