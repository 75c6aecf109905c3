//! [§14](crate::specification#s14): the nodes of a recording, and what pods know of theirs.

pub(crate) mod life;
mod pod;
mod rules;
mod snapshot;
mod startup;
pub(crate) mod tally;

pub(crate) use life::{NodeLife, NodeStep, Said};
pub(crate) use rules::{NodeRules, SpecNodes};
pub(crate) use snapshot::NodeSnapshot;

/// What the nodes of a recording were.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    pub(crate) lives: Vec<NodeLife>,
}

impl Nodes {
    /// "a pod's node is the newest of that name", by what was delivered before a step, with the place of its newest
    /// snapshot.
    fn newest(&self, rules: &dyn NodeRules, name: &str, step: usize) -> Option<(&NodeLife, usize)> {
        let named = self.lives.iter().filter_map(|life| {
            let place = life.newest_before(step)?;
            (life.folded[0].node.name == name).then_some((life, place))
        });
        let named: Vec<(&NodeLife, usize)> = named.collect();
        let ages: Vec<(&NodeLife, (usize, usize))> =
            named.iter().map(|(life, _)| (*life, life.delivered())).collect();
        rules.newest(&ages).map(|which| named[which])
    }
}
