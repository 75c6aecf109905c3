//! Which container gives the pods of a problem their cause ([§13.6](crate::specification#s13-6)).

use std::collections::HashMap;
use std::sync::Arc;

use super::blocks::NONE;
use podinit_core::lifecycle::{Record, RecordedContainer};
use podinit_core::pod::ContainerKind;

/// A container of a pod that has several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoundContainer {
    pub name: Arc<str>,
    pub kind: ContainerKind,
}

impl FoundContainer {
    /// `container` of the pod of `record`; `None` where it is the only one.
    pub(super) fn from_record(record: &Record, container: &RecordedContainer) -> Option<Arc<Self>> {
        let kind = match (container.init, container.is_sidecar) {
            (false, _) => ContainerKind::Regular,
            (true, false) => ContainerKind::Init,
            (true, true) => ContainerKind::RestartableInit,
        };
        let name = Arc::clone(&container.name);
        (record.containers.len() > 1).then(|| Arc::new(Self { name, kind }))
    }
}

/// The number that nine tenths of `numbers` are; `None` if no container is so frequent.
pub(super) fn shared(numbers: impl Iterator<Item = u32>) -> Option<u32> {
    let mut pods_with: HashMap<u32, usize> = HashMap::new();
    let mut all = 0;
    for number in numbers {
        all += 1;
        *pods_with.entry(number).or_default() += 1;
    }
    let is_shared = |(number, pods): &(u32, usize)| *number != NONE && 10 * pods >= 9 * all;
    let found = pods_with.into_iter().find(is_shared)?;
    Some(found.0)
}
