//! Maps the sources of the checkpoint to the sources that are watched now.

use podinit_checkpoint::content::Watched;
use podinit_core::lifecycle::{SourceId, SourceSuccessor};
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::requests::PodScope;

/// What each scope of `config` covers.
pub(super) fn watched(config: &WatchConfig) -> Vec<Watched> {
    let watched = |scope: &PodScope| Watched {
        namespace: match scope {
            PodScope::Cluster => None,
            PodScope::Namespace(name) => Some(name.clone()),
        },
        label: config.selectors.label.clone(),
        field: config.selectors.field.clone(),
    };
    config.scopes.iter().map(watched).collect()
}

/// By source of the checkpoint: which source it is now.
pub(super) struct SourceMap(Vec<SourceSuccessor>);

impl SourceMap {
    /// Matches sources by the scope that they cover. The history of a source continues only if the
    /// selectors are the same too.
    pub(super) fn matched(saved: &[Watched], present: &[Watched]) -> Self {
        let successor = |saved: &Watched| {
            let mut numbered = (0..=u16::MAX).zip(present);
            let found = numbered.find(|(_, present)| present.namespace == saved.namespace);
            match found {
                Some((number, present)) if present == saved => {
                    SourceSuccessor::Same(SourceId(number))
                }
                Some((number, _)) => SourceSuccessor::SelectionChanged(SourceId(number)),
                None => SourceSuccessor::Gone,
            }
        };
        Self(saved.iter().map(successor).collect())
    }

    /// Which source a source of the checkpoint is now.
    pub(super) fn successor(&self, saved: SourceId) -> SourceSuccessor {
        let successor = self.0.get(usize::from(saved.0));
        successor.copied().unwrap_or(SourceSuccessor::Gone)
    }

    /// The sources of the checkpoint.
    pub(super) fn saved(&self) -> impl Iterator<Item = SourceId> {
        (0..=u16::MAX).zip(&self.0).map(|(number, _)| SourceId(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(namespace: &str, label: Option<&str>) -> Watched {
        Watched {
            namespace: Some(namespace.to_owned()),
            label: label.map(str::to_owned),
            field: None,
        }
    }

    #[test]
    fn a_source_is_matched_by_scope_and_continues_with_the_same_selectors() {
        let saved = [watched("a", None), watched("b", None), watched("c", None)];
        let present = [watched("c", None), watched("a", Some("app=web"))];
        let sources = SourceMap::matched(&saved, &present);
        let successors = [0, 1, 2, 3].map(|saved| sources.successor(SourceId(saved)));
        let expected = [
            SourceSuccessor::SelectionChanged(SourceId(1)),
            SourceSuccessor::Gone,
            SourceSuccessor::Same(SourceId(0)),
            SourceSuccessor::Gone,
        ];
        assert_eq!(successors, expected);
    }
}
