//! One page of a list.

use super::error::DecodeError;
use super::pod::envelope::DocumentEnvelope;
use super::pod::object::{ObjectFault, shorten};
use podinit_core::pod::PodSnapshot;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListPage {
    /// The pods on the page
    pub pods: Vec<PodSnapshot>,
    /// How many pods were left out because they belong to other shards
    pub of_other_shards: u64,
    /// How many items were left out because they are no pods or have no UID
    pub undecodable: u64,
    /// The version of the list, from which a watch may go on
    pub resource_version: Option<String>,
    /// Where the next page begins; `None` on the last one
    pub continue_token: Option<String>,
    /// About how many pods follow on further pages, where the API server says so
    pub remaining: Option<u64>,
    /// The API server has left out the pods of other shards, and says so (`metadata.shardInfo`,
    /// KEP-5866)
    pub sharded: bool,
}

impl ListPage {
    /// How many objects the API server has put on the page.
    pub fn objects(&self) -> usize {
        self.pods.len() + (self.of_other_shards + self.undecodable) as usize
    }

    /// The page that `envelope` is.
    pub(super) fn from_envelope(envelope: DocumentEnvelope<'_>) -> Result<Self, DecodeError> {
        let metadata = envelope.own.metadata;
        match envelope.own.kind.as_deref() {
            Some("PodList" | "List") => {}
            kind => return Err(ObjectFault::NotAList(shorten(kind.unwrap_or_default())).into()),
        }
        let items = envelope.items.ok_or(ObjectFault::NoItems)?;
        Ok(Self {
            pods: items.pods,
            of_other_shards: items.of_other_shards,
            undecodable: items.undecodable,
            resource_version: metadata.resource_version.map(String::from),
            continue_token: metadata.continue_token.map(String::from),
            remaining: metadata.remaining,
            sharded: metadata.has_shard_info,
        })
    }
}
