//! The fields of a node that podinit reads ([§14.1](crate::specification#s14-1)). They are read by the same
//! readers as those of pods, so that a recording may hold both.

pub mod watch;

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess};

use crate::pod::lenient::{LenientField, LenientSeed, LenientText, skip};
use podinit_core::node::{
    ARCH_LABEL, CAPACITY_TYPE_LABEL, INSTANCE_TYPE_LABEL, MOST_STARTUP_TAINTS, NO_POOL, NodeLabels,
    POOL_LABELS, ZONE_LABEL, is_startup_taint, taint_key,
};

/// How nodes are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeOptions {
    /// The label that names the pool of a node, before all others
    pub pool_label: Option<String>,
}

/// What is read of the labels of a node.
#[derive(Debug, Default)]
pub(super) struct ReadNodeLabels {
    /// The rank of the label that names the pool, the label and its value
    pool: Option<(usize, Box<str>, Box<str>)>,
    zone: Box<str>,
    instance_type: Box<str>,
    arch: Box<str>,
    capacity_type: Box<str>,
}

impl ReadNodeLabels {
    /// Takes a label. What is of no use is skipped.
    pub(crate) fn take(&mut self, key: &str, value: &str, options: &NodeOptions) {
        if let Some(rank) = options.rank(key)
            && self.pool.as_ref().is_none_or(|(known, ..)| rank < *known)
        {
            self.pool = Some((rank, key.into(), NodeLabels::value(value)));
        }
        let field = match key {
            ZONE_LABEL => &mut self.zone,
            INSTANCE_TYPE_LABEL => &mut self.instance_type,
            ARCH_LABEL => &mut self.arch,
            CAPACITY_TYPE_LABEL => &mut self.capacity_type,
            _ => return,
        };
        *field = NodeLabels::value(value);
    }

    /// All that a node states, whose kubelet is of `kubelet_version`.
    pub(crate) fn with_version(self, kubelet_version: &str) -> NodeLabels {
        let pool = self.pool.map(|(_, label, pool)| (Some(label), pool));
        let (pool_label, pool) = pool.unwrap_or_else(|| (None, NO_POOL.into()));
        NodeLabels {
            pool,
            pool_label,
            zone: self.zone,
            instance_type: self.instance_type,
            arch: self.arch,
            capacity_type: self.capacity_type,
            kubelet_version: NodeLabels::value(kubelet_version),
        }
    }
}

impl NodeOptions {
    /// The place of a label among those that name the pool; the first that a node has counts.
    fn rank(&self, key: &str) -> Option<usize> {
        if self.pool_label.as_deref() == Some(key) {
            return Some(0);
        }
        let rank = POOL_LABELS.iter().position(|label| *label == key)?;
        Some(rank + 1)
    }
}

/// The keys of those of `taints` that are there only until the node has started.
pub(super) struct StartupTaints;

impl<'de> LenientField<'de> for StartupTaints {
    type Value = Vec<Arc<str>>;

    fn absent(self) -> Self::Value {
        Vec::new()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        let key = || LenientSeed(OneText("key"));
        while let Some(key) = seq.next_element_seed(key())? {
            let key = key.flatten().filter(|key| is_startup_taint(key));
            if let Some(key) = key.filter(|_| found.len() < MOST_STARTUP_TAINTS) {
                found.push(taint_key(&key));
            }
        }
        Ok(found)
    }
}

/// The version of the kubelet in `nodeInfo`, which nothing but a node has; the inner `None` where it is not
/// stated.
pub(super) type NodeInfo<'de> = Option<Option<Cow<'de, str>>>;

/// Reads [`NodeInfo`].
pub(super) const NODE_INFO: OneText = OneText("kubeletVersion");

/// Reads one text of an object; the outer `None` where it is no object.
pub(crate) struct OneText(pub &'static str);

impl<'de> LenientField<'de> for OneText {
    type Value = Option<Option<Cow<'de, str>>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut text = None;
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() == Some(self.0) {
                true => text = map.next_value_seed(LenientSeed(LenientText))?,
                false => skip(&mut map)?,
            }
        }
        Ok(Some(text))
    }
}
